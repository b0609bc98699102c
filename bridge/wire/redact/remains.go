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

// Remains says where values still stand that a rule leaves out elsewhere,
// because they are too short to be looked for, or were written before it was
// known that they are secrets.
type Remains struct {
	Rule   string
	Frames []int64 // the first of them, remainsMost at most
	More   int     // how many others there are
	last   int64   // the latest of them
}

// remainsMost is how many frames Remains names.
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

// Remaining lists what still stands in those frames of a log. asRecorded says
// that each was written with what was known when it came, as a Recorder does;
// else all of the log was known. With an error it is what was found until then.
func (r *Redaction) Remaining(ctx context.Context, l *wire.Log, seqs iter.Seq[int64], asRecorded bool) (list []Remains, err error) {
	if r == nil || r.values.empty() {
		return nil, nil
	}
	// Where all is left out wherever it stands, only frames that were written too
	// early can hold something.
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
			continue // what cannot be read was not written
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
