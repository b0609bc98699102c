package export

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

var (
	//go:embed ladder.svg.tmpl report.html.tmpl
	templateFiles embed.FS
	//go:embed report.css
	reportStyle string
	//go:embed report.js
	reportScript string
)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"add":   func(a, b int) int { return a + b },
	"sub":   func(a, b int) int { return a - b },
	"lane":  laneOf,
	"since": since,
	"took":  duration,
	"tear":  tear,
}).ParseFS(templateFiles, "*.tmpl"))

// reportPolicy lets a report load nothing, send nothing, and run nothing but
// its own script.
var reportPolicy = fmt.Sprintf(
	"default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'",
	digest(reportStyle+LadderStyle), digest(reportScript))

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Bounds of a report. The transcript has all of it.
const (
	codeMost  = 96 << 20 // bytes of the frames that are shown
	openMost  = 20       // exchanges that are open from the start
	drawnMost = 3000     // exchanges that are shown
)

// report is what the page is made from. Exchanges and frames are read while it
// is written.
type report struct {
	Title, Policy, Counts, Tool, Version string
	TitleText                            []run
	Style                                template.CSS
	Script                               template.JS
	Sessions                             []sessionAbout
	Found                                string // how many findings
	Findings                             []shownFinding
	Notes                                []shownNote
	Exchanges                            iter.Seq[*shownExchange]
	Frames                               iter.Seq[*shownFrame]
	Trouble                              func() string // asked for in the end
}

// html writes one page that shows the log without a server or a network.
// Whatever was said on the wire is text in it.
func (x *export) html(w io.Writer) error {
	c, places, err := x.conversation()
	if err != nil {
		return err
	}
	about, err := x.about()
	if err != nil {
		return err
	}
	said, err := x.remarks()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	var failed error
	left := 0
	r := report{
		Title: line(x.Title, 200), TitleText: runsOf(x.Title), Policy: reportPolicy, Counts: about.counts(),
		Tool: x.Tool, Version: x.Version, Style: template.CSS(reportStyle + LadderStyle), Script: template.JS(reportScript),
		Sessions: about.sessions, Found: said.counts(), Findings: showFindings(said.all),
	}
	for _, n := range said.notes() {
		r.Notes = append(r.Notes, shownNote{n, runsOf(n.Note)})
	}
	r.Exchanges = func(yield func(*shownExchange) bool) {
		n := 0
		for e, err := range x.calls(c, places) {
			if err != nil {
				failed = err
				return
			}
			if n++; n > drawnMost {
				left++
				continue
			}
			if !yield(showExchange(e, said, n <= openMost)) {
				return
			}
		}
	}
	r.Frames = func(yield func(*shownFrame) bool) {
		room := codeMost
		for f, err := range x.frames() {
			if err != nil {
				failed = err
				return
			}
			s := showFrame(&f, &room)
			s.Findings, s.Mark = showFindings(said.found[f.Seq]), shownNote{markedFrame: markedFrame{f.Seq, said.markOf(f.Seq)}}
			s.Mark.Text = runsOf(s.Mark.Note)
			if s.Pair != 0 && !x.has(s.Pair) {
				s.PairWords += unseen(true)
				s.Pair = 0 // there is nothing to lead to
			}
			if !yield(s) {
				return
			}
		}
	}
	r.Trouble = func() string {
		if left > 0 {
			return fmt.Sprintf("%s more are left out of the list of exchanges. Export a part of the log to see them.", counted(left, "exchange"))
		}
		return ""
	}
	if err := templates.ExecuteTemplate(out, "report", r); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	if failed != nil {
		return failed
	}
	return out.Flush()
}

// run is a piece of text that is drawn in one way.
type run struct {
	Text string
	Mark string // of what cannot be seen: what is drawn in its place
}

// runsOf splits a text into what can be seen and what cannot.
func runsOf(s string) []run {
	if !strange(s) {
		return []run{{Text: s}}
	}
	var out []run
	from := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		mark := ""
		switch {
		case r == utf8.RuneError && n == 1:
			mark = fmt.Sprintf(`\x%02x`, s[i])
		case hidden(r):
			mark = fmt.Sprintf("U+%04X", r)
		}
		if mark != "" {
			if i > from {
				out = append(out, run{Text: s[from:i]})
			}
			text := s[i : i+n]
			// HTML cannot hold these as they are.
			if r == 0 || r == '\r' || r == utf8.RuneError {
				text = ""
			}
			out = append(out, run{text, mark})
			from = i + n
		}
		i += n
	}
	if from < len(s) {
		out = append(out, run{Text: s[from:]})
	}
	return out
}

// code is a text as it stood on the wire.
type code struct {
	Text []run
	JSON bool
	Note string
}

func codeOf(s string, isJSON bool) *code {
	s, note := cut(s)
	return &code{runsOf(s), isJSON && note == "", note}
}

// laidOut is JSON laid out for reading, nil if there is none.
func laidOut(raw json.RawMessage) *code {
	if raw == nil {
		return nil
	}
	return codeOf(rawjson.Pretty(raw), false)
}

type shownExchange struct {
	E                       *conversation.Call
	Name, Mood, Took, Asked string
	Sentence                string
	Open                    bool
	Arguments, Error        *code
	Picture                 drawing
	Questions               []shownQuestion
	Result                  []shownPart
}

type shownPart struct {
	About, Note string
	Text        []run
	Code        *code
}

func showExchange(e *conversation.Call, said *remarks, open bool) *shownExchange {
	s := &shownExchange{E: e, Open: open, Sentence: Sentence(e), Name: line(e.Name, 200), Error: laidOut(e.Error)}
	if !nothing(e.Arguments) {
		s.Arguments = laidOut(e.Arguments)
	}
	switch e.State {
	case conversation.Failed, conversation.ToolFailed:
		s.Mood = "bad"
	case conversation.Running, conversation.Waiting, conversation.Stopped:
		s.Mood = "wait"
	}
	if took := e.Took(); took > 0 {
		s.Took = duration(took)
	}
	if n := len(e.Questions); n > 0 {
		s.Asked = counted(n, "question")
	}
	s.Picture = drawing{Ladder: Draw(e), Href: func(seq int64) string { return fmt.Sprintf("#f%d", seq) }}
	for i := range e.Questions {
		q := showQuestion(i+1, &e.Questions[i])
		q.Findings = showFindings(said.of(&e.Questions[i]))
		s.Questions = append(s.Questions, q)
	}
	switch {
	case e.Result != nil:
		r := resultOf(e.Result)
		for _, b := range r.Blocks {
			p := shownPart{About: b.About}
			if b.Type != "text" || b.Role != "" || b.About != "" {
				p.About = strings.Trim(strings.Join([]string{b.Role, b.Type, b.About}, " · "), " ·")
			}
			if b.Text != "" {
				text, note := cut(b.Text)
				p.Text, p.Note = runsOf(text), note
			}
			s.Result = append(s.Result, p)
		}
		if r.JSON != "" {
			s.Result = append(s.Result, shownPart{Code: codeOf(r.JSON, false)})
		}
	case e.ResultSeq != 0 && e.Error == nil:
		s.Result = []shownPart{{Note: fmt.Sprintf("Too large to be shown here; see frame %d.", e.ResultSeq)}}
	}
	return s
}

type shownQuestion struct {
	Number          int
	Q               *conversation.Question
	Story           []string
	Followed        string
	Message         []run
	Address         *link.Verdict
	Trouble, Legend string
	Fields          []shownField
	Actions         []shownChoice
	Params, Answer  *code
	Findings        []shownFinding
	Anyway          [][]run
}

// shownFinding is a finding for reading.
type shownFinding struct {
	Severity, Rule, Pointer, Reference string
	Text                               []run
	Seq                                int64
}

func showFindings(list []findings.Found) []shownFinding {
	var out []shownFinding
	for _, f := range list {
		out = append(out, shownFinding{f.Severity.String(), f.Rule, line(f.Pointer, 200), f.Reference, runsOf(f.Text), f.Seq})
	}
	return out
}

// shownNote is what was noted of a frame, for reading.
type shownNote struct {
	markedFrame
	Text []run
}

func showQuestion(number int, q *conversation.Question) shownQuestion {
	s := shownQuestion{Number: number, Q: q, Followed: followed(q), Story: story(q, func(s string) string { return line(s, 200) })}
	for _, p := range q.Anyway() {
		s.Anyway = append(s.Anyway, runsOf(p.Text))
	}
	if s.Answer = laidOut(q.Answer); q.Error != nil {
		s.Answer = laidOut(q.Error)
	}
	if q.AskedUnseen {
		s.Message = runsOf(q.Message())
		return s
	}
	request, inputs, err := q.Form()
	if err != nil {
		if q.Method == mcp.MethodElicit {
			s.Trouble = "It cannot be read: " + err.Error()
		}
		s.Params = laidOut(q.Params)
		return s
	}
	s.Message = runsOf(request.Message)
	if request.URL != "" {
		v := link.Judge(request.URL)
		s.Address = &v
	}
	if request.Trouble != "" {
		s.Trouble = "No form can be drawn: " + request.Trouble
		s.Params = laidOut(q.Params)
	}
	s.Fields, s.Legend = fieldsOf(request.Fields, inputs), "As it was asked, with its defaults"
	if q.Action == "accept" {
		s.Legend = "As it was answered"
	}
	for _, title := range []string{"Accept", "Decline", "Cancel"} {
		s.Actions = append(s.Actions, shownChoice{Title: title, Picked: strings.ToLower(title) == q.Action})
	}
	return s
}

type shownFrame struct {
	Seq             int64
	Kind, Dir, Time string
	Way, Arrow      string
	Method, Summary string
	Latency, Size   string
	Facts           string
	Pair            int64
	PairWords       string
	Header          []harPair
	Code            *code
	Note            string
	Findings        []shownFinding
	Mark            shownNote
}

// Found says how many findings the frame has.
func (s *shownFrame) Found() string { return counted(len(s.Findings), "finding") }

// showFrame makes a frame ready to be shown. room is how many bytes of frames
// may yet be.
func showFrame(f *wire.Frame, room *int) *shownFrame {
	s := &shownFrame{
		Seq: f.Seq, Kind: f.Kind.String(), Dir: f.Dir.String(), Time: clockOf(f.Time), Method: line(f.Method, 80), Summary: f.Summary(),
		Way: arrowOf(f.Dir), Size: strconv.FormatInt(f.Size, 10) + " B", Pair: f.Pair, Header: pairs(f.Header),
	}
	switch f.Dir {
	case wire.ClientToServer:
		s.Arrow = "→"
	case wire.ServerToClient:
		s.Arrow = "←"
	default:
		s.Arrow = "·"
	}
	var facts []string
	fact := func(words string, is bool) {
		if is {
			facts = append(facts, line(words, 200))
		}
	}
	fact(s.Kind, true)
	fact(s.Way, f.Dir == wire.ClientToServer || f.Dir == wire.ServerToClient)
	fact(f.Time.UTC().Format(time.RFC3339Nano), !f.Time.IsZero())
	fact("server "+f.Server, f.Server != "")
	fact("session "+f.Session, f.Session != "")
	fact("on "+f.Stream.String(), f.Stream != wire.StreamNone)
	fact(fmt.Sprintf("HTTP %d", f.Status), f.Status != 0)
	fact(fmt.Sprintf("call %d", f.Call), f.Call != 0)
	fact(fmt.Sprintf("round %d", f.Round), f.Round != 0)
	fact(fmt.Sprintf("question %d", f.Question), f.Question != 0)
	fact("by "+f.Actor, f.Actor != "")
	fact("id used before", f.Duplicate && f.Kind == wire.Request)
	fact("the request was answered before", f.Duplicate && f.Kind.IsResponse())
	fact("answers no request", f.Orphan)
	fact("only the head was kept", f.Truncated)
	fact("secrets left out", f.Redacted)
	s.Facts = strings.Join(facts, " · ")
	if f.Pair != 0 {
		s.PairWords = fmt.Sprintf("answered by frame %d", f.Pair)
		if f.Kind != wire.Request {
			s.PairWords = fmt.Sprintf("answers frame %d", f.Pair)
			s.Latency = duration(f.Latency)
		}
	}
	switch {
	case f.Lost:
		s.Note = "The bytes are gone: storage failed."
	case len(f.Raw) > *room:
		s.Note = "Left out to keep this page small."
	default:
		s.Code = codeOf(string(f.Raw), f.Kind.IsMessage() && !f.Truncated)
		*room -= min(len(f.Raw), cutAt)
	}
	return s
}
