package views

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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
	Playback Playback
}

// Playback says where the transcript is.
type Playback struct {
	Playing  bool
	Position int64 // frames shown
	Frames   int64 // in all
	Speed    float64
	Short    bool          // long pauses are shortened
	At       time.Duration // since the first frame
	Length   time.Duration // of the session
	Now      time.Time     // of the last frame shown
	Err      string
}

// clockRate is how fast the page's clocks go, as a factor.
func (p Playback) clockRate() string {
	if !p.Playing {
		return "0"
	}
	return strconv.FormatFloat(p.Speed, 'g', -1, 64)
}

func (p Playback) nowMillis() string {
	if p.Now.IsZero() {
		return "0"
	}
	return strconv.FormatInt(p.Now.UnixMilli(), 10)
}

// place words the position for who cannot see the slider.
func (p Playback) place() string {
	return fmt.Sprintf("frame %s of %s, %s", grouped(p.Position), grouped(p.Frames), clock(p.At))
}

// speeds are those that can be chosen.
var speeds = []float64{0.25, 0.5, 1, 2, 4, 8, 16}

func speedWord(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) + "×" }

// speeds are those that can be chosen, and the present one.
func (p Playback) speeds() []float64 {
	for i, x := range speeds {
		if x == p.Speed {
			return speeds
		}
		if x > p.Speed {
			out := append([]float64(nil), speeds[:i]...)
			return append(append(out, p.Speed), speeds[i:]...)
		}
	}
	return append(append([]float64(nil), speeds...), p.Speed)
}

// left says in words what is not shown of a long transcript; "" if all is.
func (r Replay) left() string {
	var parts []string
	if r.AllCalls > r.Calls {
		parts = append(parts, fmt.Sprintf("the latest %s of %s calls", grouped(int64(r.Calls)), grouped(int64(r.AllCalls))))
	}
	if r.AllQuestions > r.Questions {
		parts = append(parts, fmt.Sprintf("the latest %s of %s questions", grouped(int64(r.Questions)), grouped(int64(r.AllQuestions))))
	}
	if len(parts) == 0 {
		return ""
	}
	return capital(strings.Join(parts, " and ")) + " are shown; the wire log has them all."
}

// hasForm reports whether there is a form to be shown as it looked.
func (q Question) hasForm() bool {
	return q.ReadOnly && q.elicits() && q.Address == nil && (len(q.Form.Fields) > 0 || q.Form.Trouble != "")
}
