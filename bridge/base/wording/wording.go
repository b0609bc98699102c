// Package wording formats values as words for people, finds the word that a misspelt
// name means, and shows the characters of a text that nobody sees.
package wording

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Product is the name of the program, as people read it.
const Product = "MCP Elicitation Inspector"

// Sentence turns the text of an error into a sentence, with a capital and a full stop.
func Sentence(text string) string {
	if text = Capital(text); text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// Capital returns a text with a capital first letter.
func Capital(s string) string {
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + s[size:]
}

// Quoted quotes a text from others for use in a sentence: in quotation marks, with
// invisible characters escaped, and cut to 80 code points.
func Quoted(text string) string {
	return `"` + EscapeLine(inQuotes.Replace(Shorten(text, 80))) + `"`
}

var inQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Shorten cuts text to at most n code points, the last one an ellipsis.
func Shorten(text string, n int) string {
	last := 0 // where the last code point that fits begins
	for i := range text {
		if n--; n < 0 {
			return text[:last] + "…"
		}
		last = i
	}
	return text
}

// TextMost is how many bytes of a text of others are searched and judged.
const TextMost = 64 << 10

// Head returns the beginning of a text, of at most most bytes. It breaks no character.
func Head[T string | []byte](text T, most int) T {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Either returns yes if first is true, and else no.
func Either(first bool, yes, no string) string {
	if first {
		return yes
	}
	return no
}

// After returns intro and text; "" if text is empty.
func After(intro, text string) string {
	return Either(text != "", intro+text, "")
}

// Join joins the parts that are not empty.
func Join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// Numbers lists numbers: "3, 5, 8".
func Numbers(list []int64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}

// Series joins names for a sentence: "a, b and c".
func Series(names []string) string { return series(names, " and ") }

// Alternatives joins names for a sentence: "a, b or c".
func Alternatives(names []string) string { return series(names, " or ") }

func series(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + last + names[len(names)-1]
}

// QuotedSeries is Series of the first five names, each in quotation marks, with "others"
// for the rest.
func QuotedSeries(names []string) string {
	const most = 5
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, Quoted(name))
	}
	if len(names) > most {
		list = append(list, "others")
	}
	return Series(list)
}

// WithArticle returns a JSON type with its article: "an object", "null", or "nothing" if
// there is no value.
func WithArticle[T ~string](kind T) string {
	switch kind {
	case "object", "array":
		return "an " + string(kind)
	case "null":
		return "null"
	case "":
		return "nothing"
	}
	return "a " + string(kind)
}

// ShellWord quotes a word for a POSIX shell if necessary.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%+,-./:=@_^", r) || r > 127
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ShellWords splits a command line into words as a POSIX shell does, but expands
// nothing. It is the inverse of [ShellWord].
func ShellWords(line string) (words []string, err error) {
	var word strings.Builder
	var quote rune // the open quotation mark
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			begun, quote = true, r
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quotation mark is not closed, or a backslash ends the line")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

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

// Clock formats a position in a session like a clock, to the second as [Duration] does:
// 0:18, 12:05, 3:00:41.
func Clock(d time.Duration) string {
	s := int(max(0, d).Round(time.Second).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Duration formats a duration, in two units or with two or three digits: "1 h 2 min",
// "59 min 48 s", "12.3 s", "450 ms", "0.12 ms".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d.Round(time.Second) >= time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d.Round(100*time.Millisecond) >= time.Minute:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d.Round(10*time.Millisecond) >= 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d.Round(time.Millisecond) >= time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	case d >= 10*time.Millisecond:
		return strconv.FormatInt(int64(d.Round(time.Millisecond)/time.Millisecond), 10) + " ms"
	case d == 0:
		return "0 ms"
	case d.Round(time.Microsecond) < 100*time.Microsecond:
		return strconv.FormatFloat(float64(d)/float64(time.Microsecond), 'g', 2, 64) + " µs"
	}
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'g', 2, 64) + " ms"
}

// TimeOfDay formats a wall-clock time to the second.
func TimeOfDay(t time.Time) string { return t.Format(time.TimeOnly) }

// Grouped writes a number with narrow spaces between groups of three digits.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString("\u202f")
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Times formats a number of occurrences, "" for one.
func Times(n int) string { return Either(n > 1, "×"+Grouped(int64(n)), "") }

// Count returns n, in groups of digits, with the noun in the singular or plural.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(int64(n)) + " " + many
}

// Plural is like [Count] for a noun whose plural ends in s. It writes the digits without
// groups, for texts that programs compare.
func Plural(n int, noun string) string {
	return strconv.Itoa(n) + " " + noun + Either(n != 1, "s", "")
}

// Size formats a size: 512 bytes, 64 kB, 1.5 MB. Units are powers of 1000, as in
// filters.
func Size(n int64) string {
	if n < 1000 {
		return Count(int(n), "byte", "bytes")
	}
	size, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	for ; size >= 999.5 && len(units) > 1; units = units[1:] {
		size /= 1000
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', digits, 64), ".0") + " " + units[0]
}
