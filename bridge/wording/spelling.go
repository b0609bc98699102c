package wording

import (
	"fmt"
	"strings"
)

// longestName is the maximum length of a name in bytes for comparisons.
const longestName = 24

// Nearest returns the word that is most similar to name, ignoring case; "" if none is
// similar enough.
func Nearest(name string, words []string) string {
	if len(name) > longestName {
		return ""
	}
	best, meant := 3, ""
	for _, word := range words {
		// Allow fewer differences in short words.
		if d := distance(strings.ToLower(name), strings.ToLower(word)); d < best && d <= (len(word)+1)/3 {
			best, meant = d, word
		}
	}
	return meant
}

// DidYouMean returns "; did you mean" and the word that a name most likely means; "" if there is
// none.
func DidYouMean(name string, words []string) string {
	if meant := Nearest(name, words); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}

// distance returns the number of bytes to add, drop, change, or swap with their neighbour
// to turn a into b (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
