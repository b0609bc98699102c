package export

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

var (
	//go:embed ladder.svg.tmpl report.html.tmpl
	templateFiles embed.FS
	//go:embed report.css
	reportStyle string
	//go:embed report.js
	reportScript string
)

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(PageTemplates(PageStyle+reportStyle+LadderStyle, reportScript).Funcs(template.FuncMap{
		"add":   func(a, b int) int { return a + b },
		"sub":   func(a, b int) int { return a - b },
		"since": func(d time.Duration) string { return "+" + wording.Duration(d) },
		"clock": clockOf,
		"judge": link.Judge,
		"ladder": func(l *Ladder) drawing {
			return drawing{Ladder: l, Href: func(seq int64) string { return fmt.Sprintf("#f%d", seq) }}
		},
		"pairs":    pairs,
		"sentence": func(c *reportCall) string { return sentence(c.Call, plain) },
		"story":    func(q *conversation.Question) []string { return story(q, plain) },
		"way":      wayOf,
	}).ParseFS(templateFiles, "*.tmpl"))
})

// html writes one page that shows the log without a server or a network. Everything
// from the wire is plain text in it.
func (x *export) html(w io.Writer) error {
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
	out := bufio.NewWriterSize(w, 64<<10)
	if err := templates().ExecuteTemplate(wording.HTMLWriter{To: out}, "report", r); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return out.Flush()
}

// Mood returns the CSS class for the call's state.
func (c *reportCall) Mood() string {
	return map[conversation.State]string{
		conversation.Failed: "bad", conversation.ToolFailed: "bad", conversation.Running: "wait", conversation.Waiting: "wait", conversation.Stopped: "declined",
	}[c.State]
}

// Arrow returns an arrow in the direction of the frame, or "·".
func (f *reportFrame) Arrow() string {
	return cmp.Or(map[wire.Direction]string{wire.ClientToServer: "→", wire.ServerToClient: "←"}[f.Dir], "·")
}

// IsJSON reports whether the frame's bytes are complete JSON.
func (f *reportFrame) IsJSON() bool { return f.Kind.IsMessage() && !f.Truncated }

// PairWords describes the frame's pair, "" if it has none.
func (f *reportFrame) PairWords() string {
	switch {
	case f.Pair == 0:
		return ""
	case f.Kind == wire.Request:
		return fmt.Sprintf("answered by frame %d", f.Pair)
	}
	return fmt.Sprintf("answers frame %d", f.Pair)
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
	fact("secrets left out", f.Redacted)
	return strings.Join(facts, " · ")
}

// PageStyle is the style sheet that pages begin with.
//
//go:embed page.css
var PageStyle string

//go:embed page.html.tmpl
var pageParts string

// PageTemplates returns the templates "text", for Runs, and "code", for a Code, and the
// functions of pages with a style sheet and a script, "" for none. A page adds its own
// templates and functions.
func PageTemplates(style, script string) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"arrow":   DirectionWords,
		"code":    CodeOf,
		"json":    func(s string) Code { return CodeOf(rawjson.Pretty([]byte(s)), false) },
		"line":    Line,
		"plural":  wording.Plural,
		"policy":  func() string { return Policy(style, script) },
		"script":  func() template.JS { return template.JS(script) },
		"style":   func() template.CSS { return template.CSS(style) },
		"pretty":  func(raw json.RawMessage) Code { return CodeOf(rawjson.Pretty(raw), false) },
		"runs":    Runs,
		"product": func() string { return wording.Product },
		"took":    wording.Duration,
	}).Parse(pageParts))
}

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

// Code is a text from the wire, for display.
type Code struct {
	Text []Run
	JSON bool // a script can indent it
	Note string
}

// CodeOf returns the beginning of a text for display.
func CodeOf(s string, isJSON bool) Code {
	s, note := Cut(s)
	return Code{Runs(s), isJSON && note == "", note}
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

// Giving is how long the page shows an answer being given, in milliseconds.
func (*play) Giving() int64 { return giving.Milliseconds() }

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
