package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var sizeUnits = map[string]float64{
	"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30,
}

// ParseSize parses a size in bytes, such as 500, 10k, 1.5M or 64Mi: k, M and G are
// powers of 1000, and Ki, Mi and Gi are powers of 1024. A trailing B and the case are
// ignored.
func ParseSize(v string) (int64, error) {
	digits := strings.TrimRight(v, "kmgibKMGIB")
	factor, ok := sizeUnits[strings.TrimSuffix(strings.ToLower(v[len(digits):]), "b")]
	if n, isNumber := decimal(digits); ok && isNumber && n*factor < 1<<62 {
		return int64(n * factor), nil
	}
	return 0, fmt.Errorf("%q is no size; sizes look like 500, 10k or 1.5M", v)
}

// decimal parses digits with at most one point.
func decimal(s string) (n float64, ok bool) {
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// parseLatency parses a number of milliseconds, or a time span with a unit.
func parseLatency(v string) (time.Duration, error) {
	if n, ok := decimal(v); ok && n < 1e12 {
		return time.Duration(n * float64(time.Millisecond)), nil
	}
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no time span; they look like 500 (milliseconds), 2s or 1m30s", v)
}

// A moment returns a point in time, which may depend on the start of the log.
type moment func(start time.Time) time.Time

var momentLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	"15:04:05", "15:04", // with or without a fraction, on the day of start
}

func parseMoment(v string) (moment, error) {
	if since, ok := strings.CutPrefix(v, "+"); ok {
		if d, err := time.ParseDuration(since); err == nil && d >= 0 {
			return func(start time.Time) time.Time { return start.Add(d) }, nil
		}
	}
	for _, layout := range momentLayouts {
		t, err := time.ParseInLocation(layout, v, time.Local)
		switch {
		case err != nil:
		case t.Year() != 0:
			return func(time.Time) time.Time { return t }, nil
		default:
			return func(start time.Time) time.Time {
				year, month, day := start.Local().Date()
				return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.Local)
			}, nil
		}
	}
	return nil, fmt.Errorf("%q is no time; times look like 10:02:03, 2026-07-28T10:02:03 or +5s (since the first frame)", v)
}
