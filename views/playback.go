package views

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"elicitation-inspector/bridge/playback"
)

// Replay is what the page says of the transcript that it shows.
type Replay struct {
	Files    []string // their names
	Problems []string // lines that could not be read, the first of them, in words
	Damaged  int64    // lines that could not be read, in all
	Percent  int      // of the files that has been read; 100 when all has

	// Of a long transcript the latest calls and questions are shown.
	Calls, AllCalls         int
	Questions, AllQuestions int

	Err      string // why there may be more than could be read
	Playback playback.State
}

// clockRate is how fast the page's clocks go, as a factor.
func clockRate(p playback.State) string {
	if !p.Playing {
		return "0"
	}
	return factor(p.Speed)
}

func factor(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// millisOf is a time for the page's script; "0" where there is none.
func millisOf(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// positionWords word the position for who cannot see the slider.
func positionWords(p playback.State) string {
	return fmt.Sprintf("frame %s of %s, %s", grouped(p.Position), grouped(p.Frames), clock(p.At))
}

// speedsWith are those that can be chosen, and the present one.
func speedsWith(x float64) []float64 {
	speeds := []float64{0.25, 0.5, 1, 2, 4, 8, 16}
	if i, known := slices.BinarySearch(speeds, x); !known {
		return slices.Insert(speeds, i, x)
	}
	return speeds
}

// left says in words what is not shown of a long transcript; "" if all is.
func (r Replay) left() string {
	latest := func(shown, all int, what string) string {
		if all <= shown {
			return ""
		}
		return fmt.Sprintf("the latest %s of %s %s", grouped(int64(shown)), grouped(int64(all)), what)
	}
	parts := join(" and ", latest(r.Calls, r.AllCalls, "calls"), latest(r.Questions, r.AllQuestions, "questions"))
	if parts == "" {
		return ""
	}
	return capital(parts) + " are shown; the wire log has them all."
}
