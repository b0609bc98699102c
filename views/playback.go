package views

import (
	"fmt"
	"slices"
	"strconv"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/playback"
)

// Replay describes the transcript on show.
type Replay struct {
	Files    []string // their names
	Problems []string // the first of the unreadable lines, in words
	Damaged  int64    // number of unreadable lines
	Percent  int      // part of the files that was read; 100 when all was

	// Only the latest calls and questions of a long transcript are shown.
	Calls, AllCalls         int
	Questions, AllQuestions int

	Targets []string // what it can be replayed on
	Session bool     // it was replayed

	Err      string // why part of the files could not be read
	Playback playback.State
}

// clockRate returns the speed of the page's clocks, as a factor.
func clockRate(p playback.State) string {
	if !p.Playing {
		return "0"
	}
	return factor(p.Speed)
}

func factor(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func speedsWith(x float64) []float64 {
	speeds := []float64{0.25, 0.5, 1, 2, 4, 8, 16}
	if i, known := slices.BinarySearch(speeds, x); !known {
		return slices.Insert(speeds, i, x)
	}
	return speeds
}

// left describes the part of a long transcript that is not shown; "" if all is.
func (r Replay) left() string {
	latest := func(shown, all int, what string) string {
		if all <= shown {
			return ""
		}
		return fmt.Sprintf("the latest %s of %s %s", wording.Grouped(int64(shown)), wording.Grouped(int64(all)), what)
	}
	parts := wording.Join(" and ", latest(r.Calls, r.AllCalls, "calls"), latest(r.Questions, r.AllQuestions, "questions"))
	if parts == "" {
		return ""
	}
	return wording.Capital(parts) + " are shown; the wire log has them all."
}
