package export

import (
	"math/bits"
	"slices"
	"time"

	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/wire"
)

// play holds the data for an exported page to play itself: the page's script shows each
// part at the time that moment returns for its frame.
type play struct {
	None    bool    // there are no calls and no sign-ins
	Asked   []asked // the first questions, as marks
	answers map[int64]bool
	before  time.Time     // of the latest frame with a time
	at      time.Duration // since the playback began
}

// asked is a question as a mark of the playback.
type asked struct {
	Position int64 // frames that are shown when it is asked
	Title    string
}

const marksMost = 500

// Giving is how long the page shows an answer being given, in milliseconds.
func (*play) Giving() int64 { return playback.Giving.Milliseconds() }

// plan reads the questions of the document's calls.
func (r *report) plan() error {
	r.answers = map[int64]bool{}
	if _, questions := r.conversation.Counts(); questions == 0 {
		return nil
	}
	for _, place := range r.Places {
		call, err := r.call(place)
		if err != nil {
			return err
		}
		for _, q := range call.Questions {
			if q.Action != "" && r.has(q.AnswerSeq) {
				r.answers[q.AnswerSeq] = true
			}
			if r.has(q.AskedSeq) {
				r.Asked = append(r.Asked, asked{r.position(q.AskedSeq), paper.Line(q.Title(), 80)})
			}
		}
	}
	slices.SortStableFunc(r.Asked, func(a, b asked) int { return int(a.Position - b.Position) })
	r.Asked = r.Asked[:min(len(r.Asked), marksMost)]
	return nil
}

// position counts the chosen frames up to one of them.
func (x *export) position(seq int64) (n int64) {
	if x.set == nil {
		return seq
	}
	for _, word := range x.set[:seq/64] {
		n += int64(bits.OnesCount64(word))
	}
	return n + int64(bits.OnesCount64(x.set[seq/64]<<(63-seq%64)))
}

// moment returns when the playback shows a frame, in milliseconds since it began: with
// the pauses of the session, long ones shortened, and time to show each answer.
func (p *play) moment(f *wire.Frame) int64 {
	gap := time.Duration(0)
	if !f.Time.IsZero() {
		if !p.before.IsZero() {
			gap = min(max(f.Time.Sub(p.before), 0), playback.ShortGap)
		}
		p.before = f.Time
	}
	if p.answers[f.Seq] {
		gap = max(gap, playback.Giving)
	}
	p.at += gap
	return p.at.Milliseconds()
}
