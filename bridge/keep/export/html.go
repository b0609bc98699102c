package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/wire"
)

var (
	//go:embed report.css
	reportStyle string
	//go:embed report.js
	reportScript string
)

// writeHTML writes one page that shows the log without a server or a network. Everything
// from the wire is plain text in it.
func writeHTML(w io.Writer, x *export) error {
	r, err := x.report()
	if err == nil {
		err = x.readSignIns()
	}
	if err != nil {
		return err
	}
	left := max(0, len(r.Places)-drawnMost)
	r.Places = r.Places[:len(r.Places)-left]
	if left > 0 {
		r.Trouble = fmt.Sprintf("%s more are left out of the list of exchanges. Export a part of the log to see them.", wording.Plural(left, "exchange"))
	}
	r.None = len(r.Places)+len(r.signIns) == 0
	if err := r.plan(); err != nil {
		return err
	}
	return WritePage(r.ctx, w, r.page())
}

// WritePage writes a page. No character in it is hidden: those in texts become references.
func WritePage(ctx context.Context, w io.Writer, page templ.Component) error {
	to := &wording.HTMLWriter{To: w}
	err := page.Render(ctx, to)
	if err == nil {
		err = to.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// Arrow returns an arrow in the direction of the frame, or "·".
func (f *reportFrame) Arrow() string {
	return cmp.Or(map[wire.Direction]string{wire.ClientToServer: "→", wire.ServerToClient: "←"}[f.Dir], "·")
}

// Facts lists the frame's fields apart from its bytes.
func (f *reportFrame) Facts() string {
	var facts []string
	fact := func(words string, is bool) {
		if is {
			facts = append(facts, Line(words, 200))
		}
	}
	fact(f.Kind.String(), true)
	fact(wayOf(f.Dir), f.Dir == wire.ClientToServer || f.Dir == wire.ServerToClient)
	fact(f.Time.UTC().Format(time.RFC3339Nano), !f.Time.IsZero())
	fact("server "+f.Server, f.Server != "")
	fact("session "+f.Session, f.Session != "")
	fact("on "+f.Stream.String(), f.Stream != wire.StreamNone)
	fact(fmt.Sprintf("HTTP %d", f.Status), f.Status != 0)
	fact(fmt.Sprintf("call %d", f.Call), f.Call != 0)
	fact(fmt.Sprintf("round %d", f.Round), f.Round != 0)
	fact(fmt.Sprintf("question %d", f.Question), f.Question != 0)
	fact("by "+f.Actor, f.Actor != "" && f.Fault == "")
	fact("deliberate: "+f.Fault, f.Fault != "")
	fact("id used before", f.Duplicate && f.Kind == wire.Request)
	fact("the request was answered before", f.Duplicate && f.Kind.IsResponse())
	fact("answers no request", f.Orphan)
	fact("only the head was kept", f.Truncated)
	fact(wire.TooDeep, f.Message.TooDeep)
	fact("secrets left out", f.Redacted)
	return strings.Join(facts, " · ")
}

// PageStyle is the style sheet that pages begin with.
//
//go:embed page.css
var PageStyle string

// Policy is the content security policy of a page that loads nothing, sends nothing,
// and has only this style sheet and script; "" for no script.
func Policy(style, script string) string {
	scripts := "'none'"
	if script != "" {
		scripts = digest(script)
	}
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(style), scripts)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// play holds the data for an exported page to play itself: the page's script shows each
// part at the time that moment returns for its frame.
type play struct {
	None     bool    // there are no calls and no sign-ins
	Asked    []asked // the first questions, as marks
	readings map[int64]reading
	shown    map[int64]time.Duration // moment of each frame that asks
	before   time.Time               // of the latest frame with a time
	begun    bool                    // a frame of a call or a sign-in was shown
	at       time.Duration           // since the playback began
}

// asked is a question as a mark of the playback.
type asked struct {
	Position int64 // frames that are shown when it is asked
	Title    string
}

// reading is how long the questions that a frame settles stand before that.
type reading struct {
	asked int64 // latest frame that asks one of them
	took  time.Duration
	given bool // the frame has an answer, which the page shows being given
}

const marksMost = 500

// A playing page shows a question for readLetter per letter of its text, within the bounds
// readLeast and readMost, and then for giving its answer being filled in, standing, and
// being sent.
const (
	readLeast  = 4 * time.Second
	readMost   = 15 * time.Second
	readLetter = 60 * time.Millisecond
	giving     = 2800 * time.Millisecond
)

// opening is how long a playing page shows at most what came before its first exchange.
const opening = 500 * time.Millisecond

func (r *report) plan() error {
	r.readings, r.shown = map[int64]reading{}, map[int64]time.Duration{}
	if _, questions := r.conversation.Counts(); questions == 0 {
		return nil
	}
	for _, place := range r.Places {
		call, err := r.call(place)
		if err != nil {
			return err
		}
		for _, q := range call.Questions {
			if !r.has(q.AskedSeq) {
				continue
			}
			letters := utf8.RuneCountInString(q.Title())
			if request, _, err := q.Form(); err == nil { // what cannot be read has no fields
				for _, f := range request.Fields {
					letters += utf8.RuneCountInString(f.Label) + utf8.RuneCountInString(f.Description)
				}
			}
			took := max(readLeast, min(time.Duration(min(letters, 1000))*readLetter, readMost))
			end := cmp.Or(q.AnswerSeq, (&reportCall{Call: call}).To())
			was := r.readings[end]
			r.readings[end] = reading{max(was.asked, q.AskedSeq), min(was.took+took, readMost), was.given || q.Action != ""}
			r.shown[q.AskedSeq] = 0
			r.Asked = append(r.Asked, asked{r.position(q.AskedSeq), Line(q.Title(), 80)})
		}
	}
	slices.SortStableFunc(r.Asked, func(a, b asked) int { return int(a.Position - b.Position) })
	r.Asked = r.Asked[:min(len(r.Asked), marksMost)]
	return nil
}

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
// the pauses of the session, long ones shortened, and time to read each question and to
// show each answer.
func (p *play) moment(f *wire.Frame, isOfExchange bool) int64 {
	if !f.Time.IsZero() {
		if !p.before.IsZero() {
			p.at += min(max(f.Time.Sub(p.before), 0), playback.ShortGap)
		}
		p.before = f.Time
	}
	if !p.begun && !p.None {
		p.at = min(p.at, opening)
		p.begun = isOfExchange
	}
	if q, settles := p.readings[f.Seq]; settles {
		stands := p.shown[q.asked] + q.took
		if q.given {
			stands += giving
		}
		p.at = max(p.at, stands)
	}
	if _, asks := p.shown[f.Seq]; asks {
		p.shown[f.Seq] = p.at
	}
	return p.at.Milliseconds()
}
