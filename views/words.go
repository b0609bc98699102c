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

// now is the clock that waiting times are counted against when they are drawn;
// the page goes on counting by itself.
var now = time.Now

// age is how long ago t was, in whole milliseconds, for the page's own clocks.
func age(t time.Time) string {
	return strconv.FormatInt(max(0, now().Sub(t).Milliseconds()), 10)
}

// clock words a waiting time as people read clocks: 0:18, 12:05, 3:00:41.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// lasted words a duration in one unit: 0.4 ms, 41 ms, 4.2 s, 3:07.
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

// millis words a latency as a bare number of milliseconds, for a column.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	case ms >= 10_000: // a person's time, which needs no milliseconds
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

// bytesWords words a size: 512 bytes, 64 kB, 1.5 MB. Units are powers of 1000,
// as in filters.
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

// colour is the class that gives a server its colour.
func colour(index int) string { return "s" + strconv.Itoa(index%6) }

func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// capital is a text with a capital letter first.
func capital(s string) string {
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + s[size:]
}

// clockTime is a wall-clock time to the second.
func clockTime(t time.Time) string { return t.Format(time.TimeOnly) }

// number writes a progress value without needless digits.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// either is one of two texts.
func either(first bool, yes, no string) string {
	if first {
		return yes
	}
	return no
}

func tabIndex(chosen bool) string { return either(chosen, "0", "-1") }

// squeezed is JSON in one line, for where there is room for no more.
func squeezed(s string) string {
	return wording.Shorten(strings.Join(strings.Fields(s[:min(len(s), proseMost)]), " "), 120)
}
