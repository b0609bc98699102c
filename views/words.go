package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/wording"
)

// clock formats a waiting time like a clock: 0:18, 12:05, 3:00:41.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// lasted formats a duration in one unit: 0.4 ms, 41 ms, 4.2 s, 3:07.
func lasted(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	}
	return clock(d)
}

// millis formats a latency as a number of milliseconds, for a column.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	case ms >= 10_000: // a person's time: milliseconds do not matter
		return clock(d)
	}
	return grouped(int64(ms + 0.5))
}

// grouped writes a number with narrow spaces between groups of three digits.
func grouped(n int64) string {
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

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}

// bytesWords formats a size: 512 bytes, 64 kB, 1.5 MB. Units are powers of 1000, as in
// filters.
func bytesWords(n int64) string {
	if n < 1000 {
		return plural(int(n), "byte", "bytes")
	}
	size, unit := float64(n)/1000, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if size < 999.5 {
			break
		}
		size, unit = size/1000, next
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', digits, 64), ".0") + " " + unit
}

// colour returns the class for a server's colour.
func colour(index int) string { return "s" + strconv.Itoa(index%6) }

func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// capital returns a text with a capital first letter.
func capital(s string) string {
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + s[size:]
}

// clockTime formats a wall-clock time to the second.
func clockTime(t time.Time) string { return t.Format(time.TimeOnly) }

// number formats a number with at most six digits.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// either returns yes if first is true, else no.
func either(first bool, yes, no string) string {
	if first {
		return yes
	}
	return no
}

func tabIndex(chosen bool) string { return either(chosen, "0", "-1") }

// squeezed returns the beginning of JSON in one line.
func squeezed(s string) string {
	return wording.Shorten(strings.Join(strings.Fields(s[:min(len(s), proseMost)]), " "), 120)
}
