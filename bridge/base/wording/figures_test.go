package wording

import (
	"strings"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0:00", 18 * time.Second: "0:18", 725 * time.Second: "12:05", 10841 * time.Second: "3:00:41", -time.Second: "0:00",
		164600 * time.Millisecond: "2:45", // as 2 min 45 s
	} {
		if got := Clock(d); got != want {
			t.Errorf("Clock(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1234567: "1 234 567"} {
		if got := strings.ReplaceAll(Grouped(n), "\u202f", " "); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 1550: "1.6 kB", 64_000: "64 kB", 999_600: "1 MB", 1_000_000: "1 MB", 67_108_864: "67 MB", 1 << 40: "1.1 TB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %q, not %q", n, got, want)
		}
	}
}
