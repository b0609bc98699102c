package elicit

import (
	"testing"
	"time"
	"unicode/utf8"
)

func TestFindMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern   string
		low, high int
		want      matchResult
	}{
		{``, 0, -1, matchFound},
		{`^$`, 0, -1, matchFound},
		{`^$`, 1, -1, noMatch},
		{`a`, 0, 0, noMatch},
		{`a`, 0, 1, matchFound},
		{`^[A-Z]{3}-[0-9]{1,5}$`, 0, -1, matchFound},
		{`^[A-Z]{3}-[0-9]{1,5}$`, 0, 4, noMatch},
		{`^[A-Z]{3}-[0-9]{1,5}$`, 9, 9, matchFound},
		{`^[A-Z]{3}-[0-9]{1,5}$`, 10, 40, noMatch},
		{`[A-Z]{3}-[0-9]{1,5}`, 10, 40, matchFound}, // not anchored
		{`^(ab)+$`, 3, 3, noMatch},
		{`^(ab)+$`, 4, 4, matchFound},
		{`^(?:\d{1,3}\.){3}\d{1,3}$`, 7, 15, matchFound},
		{`^#[0-9a-fA-F]{6}$`, 0, -1, matchFound},
		{`^(?=.*[A-Z])(?=.*[a-z])(?=.*\d)(?=.*[^A-Za-z0-9]).{12,}$`, 0, -1, matchFound},
		{`^(?!.*(.)\1).{10}$`, 0, -1, matchFound},
		{`^(\w)\1\1$`, 0, -1, matchFound},
		{`^(?<q>['"]).*\k<q>$`, 0, -1, matchFound},
		{`^[^\s@]+@[^\s@]+\.[^\s@]+$`, 0, 60, matchFound},
		{`^\p{Script=Han}{2,4}$`, 0, -1, matchFound},
		{`^\u{1F680}$`, 0, 1, matchFound},
		{`^[\u4e00-\u9fff]+$`, 0, -1, matchFound},
		{`^\x41\u0042\cA?$`, 0, -1, matchFound},
		{`^.{500}$`, 0, 500, matchFound},
		{`^.{500}$`, 0, 499, noMatch},
		{`^[a-z]{1,3}$|^$`, 4, 4000, noMatch},
		{`a$b`, 0, 10, noMatch},
		{`a^b`, 0, 10, noMatch},
		{`(?m:^b)`, 3, 3, matchFound},
		{`(?i:^hello$)`, 5, 5, matchFound},
		{`^(?=a)b$`, 0, -1, matchUnknown},
		{`[]`, 0, -1, matchUnknown},
		{`^\d{4}-\d{2}-\d{2}$`, 0, -1, matchFound},
		{`^[\w-.]+$`, 3, 20, matchFound},
		{`^(foo|bar|bazzz)?$`, 4, 4, noMatch},
		{`x$`, 1 << 31, -1, matchUnknown},
	} {
		re, err := compilePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		start := time.Now()
		got, text := findMatch(tt.pattern, re, tt.low, tt.high, start.Add(time.Minute))
		if got != tt.want {
			t.Errorf("%s from %d to %d: %d, want %d after %v", tt.pattern, tt.low, tt.high, got, tt.want, time.Since(start))
		}
		if got == matchFound {
			n := utf8.RuneCountInString(text)
			if ok, err := re.MatchString(text); !ok || err != nil || n < tt.low || tt.high >= 0 && n > tt.high {
				t.Errorf("%s from %d to %d is said to match %q", tt.pattern, tt.low, tt.high, text)
			}
		}
	}
	re, _ := compilePattern(`a`)
	if got, _ := findMatch(`a`, re, 0, -1, time.Now().Add(-time.Second)); got != notTried {
		t.Errorf("after the deadline: %d", got)
	}
}
