package redact

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"elicitation-inspector/bridge/wire"
)

// Remains lists the frames that still contain values which a rule redacts elsewhere,
// because the values are too short to be searched for, or because the frames were
// written before the values were known to be secret.
type Remains struct {
	Rule   string
	Frames []int64 // the first frames, at most remainsMost
	More   int     // number of further frames
	last   int64   // the latest frame
}

// remainsMost is how many frames Remains lists.
const remainsMost = 10

func (r Remains) String() string {
	frames := "frame"
	if len(r.Frames) > 1 || r.More > 0 {
		frames = "frames"
	}
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Frames), "[]"), " ", ", ")
	text := fmt.Sprintf("a value that %q leaves out also stands in %s %s", r.Rule, frames, list)
	if r.More > 0 {
		text += fmt.Sprintf(" and %d more", r.More)
	}
	return text
}

// Remaining lists the values that remain in some frames of a log. asRecorded means that
// each frame was written with the secrets known at its time, as a Recorder does;
// otherwise with those of the whole log. With an error, it returns the values found so
// far.
func (r *Redaction) Remaining(ctx context.Context, l *wire.Log, seqs iter.Seq[int64], asRecorded bool) (list []Remains, err error) {
	if r == nil || r.values.empty() {
		return nil, nil
	}
	// If all secrets are redacted everywhere, only frames written too early can contain
	// one.
	all, early := r.values.chancy.Load(), r.values.latest.Load()
	if !all && !asRecorded {
		return nil, nil
	}
	for seq := range seqs {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		if !all && seq >= early {
			continue
		}
		f, err := l.Frame(seq)
		if err != nil {
			continue // an unreadable frame was not written
		}
		s := sweep{r: r, upto: math.MaxInt64, stands: func(s *secret) { list = remain(list, s.rule, seq) }}
		if asRecorded {
			s.upto = seq
		}
		s.frame(&f)
	}
	return list, nil
}

func remain(list []Remains, rule string, seq int64) []Remains {
	i := slices.IndexFunc(list, func(r Remains) bool { return r.Rule == rule })
	if i < 0 {
		i, list = len(list), append(list, Remains{Rule: rule})
	}
	switch r := &list[i]; {
	case r.last == seq:
	case len(r.Frames) < remainsMost:
		r.last, r.Frames = seq, append(r.Frames, seq)
	default:
		r.last = seq
		r.More++
	}
	return list
}
