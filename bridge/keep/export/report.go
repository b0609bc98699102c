package export

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// Bounds of a report. The transcript has everything.
const (
	sessionsMost = 100      // sessions in the list
	othersMost   = 2000     // listed frames without a call, in Markdown
	drawnMost    = 3000     // calls, in HTML
	openMost     = 20       // calls that are unfolded at first
	codeMost     = 96 << 20 // total bytes of frames, in HTML
)

// report is the content of an HTML or Markdown document. Calls and frames are read one
// after the other, as they are written.
type report struct {
	*export
	*remarks
	play
	Counts   string // number of frames, and the times of the first and the last
	Sessions []session
	Trouble  string // what was left out, "" if nothing
	room     int    // how many bytes of frames can still be written
}

// session describes a session. Who is the summary of the server's initialize or
// discover result.
type session struct{ Server, Name, Transport, Who string }

func (x *export) report() (*report, error) {
	if err := x.follow(); err != nil {
		return nil, err
	}
	said, err := x.remarks()
	if err != nil {
		return nil, err
	}
	r := &report{export: x, remarks: said, room: codeMost}
	var first, last time.Time
	for f, err := range r.frames() {
		if err != nil {
			return nil, err
		}
		if first.IsZero() || !f.Time.IsZero() && f.Time.Before(first) {
			first = f.Time
		}
		if f.Time.After(last) {
			last = f.Time
		}
		i := slices.IndexFunc(r.Sessions, func(s session) bool { return s.Server == f.Server && s.Name == f.Session })
		if i < 0 && len(r.Sessions) == sessionsMost {
			continue
		}
		if i < 0 {
			i = len(r.Sessions)
			r.Sessions = append(r.Sessions, session{Server: f.Server, Name: f.Session, Transport: f.Transport})
		}
		if f.Kind == wire.Result && (f.Method == mcp.MethodInitialize || f.Method == mcp.MethodDiscover) {
			r.Sessions[i].Who = f.Summary()
		}
	}
	r.Counts = wording.Plural(int(r.chosen), "frame")
	if !first.IsZero() {
		from, to := first.UTC().Format(time.DateTime), last.UTC().Format(time.DateTime)
		if from == to {
			r.Counts += fmt.Sprintf(", at %s UTC", from)
		} else {
			r.Counts += fmt.Sprintf(", from %s to %s UTC", from, to)
		}
	}
	r.Counts += "."
	return r, nil
}

type reportCall struct {
	*conversation.Call
	Questions []question
	Content   []block // content of the result
	Open      bool    // unfolded at first
}

// Call reads a call; nil if none of its frames is chosen.
func (r *report) Call(place int) (*reportCall, error) {
	c, err := r.call(place)
	if err != nil || len(c.Frames) == 0 {
		return nil, err
	}
	out := &reportCall{Call: c, Content: blocksOf(c.Result), Open: place <= r.Places[min(openMost, len(r.Places))-1]}
	for i, q := range c.Questions {
		shown := questionOf(q, i+1, c.ResultSeq, r.remarks)
		shown.To = cmp.Or(q.AnswerSeq, out.To())
		out.Questions = append(out.Questions, shown)
	}
	return out, nil
}

// From is the first frame of the call.
func (c *reportCall) From() int64 { return c.Frames[0].Seq }

// To is the frame that ended the call, or its latest frame.
func (c *reportCall) To() int64 { return cmp.Or(c.ResultSeq, c.Frames[len(c.Frames)-1].Seq) }

// Given reports whether the call has arguments other than null and {}.
func (c *reportCall) Given() bool {
	kind := rawjson.KindOf(c.Arguments)
	return kind != rawjson.None && kind != rawjson.Null && string(rawjson.AppendCompact(nil, c.Arguments)) != "{}"
}

// TooLarge reports whether the log has a result that could not be read, such as a
// truncated one.
func (c *reportCall) TooLarge() bool { return c.ResultSeq != 0 && c.Result == nil && c.Error == nil }

// Seen names the first and the last frame of the call.
func (c *reportCall) Seen() string {
	first, last := c.Frames[0].Seq, c.Frames[len(c.Frames)-1].Seq
	if first == last {
		return fmt.Sprintf("frame %d", first)
	}
	return fmt.Sprintf("frames %d to %d", first, last)
}

type reportFrame struct {
	wire.Frame
	Findings  []lint.Found
	Mark      mark
	Moment    int64  // when the playback shows it, in milliseconds since it began
	Exchange  string // id of its call or sign-in, "" for none
	PairShown bool   // the frame's pair is also in the document
	Code      string // the bytes of the frame; "" if Note is set
	Note      string // why the bytes are missing
}

// Frame reads a frame.
func (r *report) Frame(seq int64) (*reportFrame, error) {
	f, err := r.frame(seq)
	if err != nil {
		return nil, err
	}
	out := &reportFrame{Frame: f, Findings: r.found[seq], Mark: r.mark(seq), Exchange: r.signedIn[seq], PairShown: r.has(f.Pair)}
	if place := r.conversation.PlaceOf(seq); place != 0 {
		out.Exchange = fmt.Sprintf("e%d", place)
	}
	out.Moment = r.moment(&f, out.Exchange != "")
	switch {
	case f.Lost:
		out.Note = "The bytes are gone: storage failed."
	case len(f.Raw) > r.room:
		out.Note = "Left out to keep this page small."
	default:
		out.Code = string(f.Raw)
		r.room -= min(len(f.Raw), CutAt)
	}
	return out, r.ctx.Err()
}

// remarks holds the linter's findings in the chosen frames. The linter judges the whole
// log.
type remarks struct {
	Findings []lint.Found // findings in the chosen frames, in order
	found    map[int64][]lint.Found
	gaps     string // see lint.FindingsOf
}

func (x *export) remarks() (*remarks, error) {
	all, gaps, err := lint.FindingsOf(x.ctx, x.Log)
	if err != nil {
		return nil, err
	}
	r := &remarks{found: make(map[int64][]lint.Found), gaps: gaps}
	for _, f := range all {
		if !x.has(f.Seq) {
			continue
		}
		if f.Finding, err = lint.Shared(f.Finding, f.Seq, x.Log, x.Redact); err != nil {
			return nil, err
		}
		r.Findings = append(r.Findings, f)
		r.found[f.Seq] = append(r.found[f.Seq], f)
	}
	return r, nil
}

// Found counts the findings of each severity in words, and says what is not known; "" if there
// is nothing to say.
func (r *remarks) Found() string {
	counts := lint.Tally{}
	for _, f := range r.Findings {
		counts[f.Severity]++
	}
	return wording.Join(" ", wording.Either(len(r.Findings) > 0, counts.Sum()+".", ""), r.gaps)
}

type mark struct {
	Seq int64 `json:"-"`
	wire.Mark
}

func (x *export) mark(seq int64) mark {
	m := x.Log.MarkOf(seq)
	m.Note = x.Redact.Text(m.Note)
	return mark{seq, m}
}

// Marks lists the marks of the chosen frames, in order.
func (x *export) Marks() []mark {
	seqs, _ := x.Log.Marked()
	var out []mark
	for _, seq := range seqs {
		if m := x.mark(seq); x.has(seq) && m != (mark{Seq: seq}) {
			out = append(out, m)
		}
	}
	return out
}
