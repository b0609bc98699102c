package wording

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
	s := strconv.Itoa(n) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

// Size formats a size: 512 bytes, 64 kB, 1.5 MB. Units are powers of 1000, as in
// filters.
func Size(n int64) string {
	if n < 1000 {
		return Count(int(n), "byte", "bytes")
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
