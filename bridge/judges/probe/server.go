package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/servers/server"
	"elicitation-inspector/bridge/wire"
)

// Options configures a [Server].
type Options struct {
	Log     *wire.Log
	Version string // of the inspector
	// Base is the address of the server's own HTTP pages, without a path: the URLs that
	// clients are asked to open are below it. "" leaves the probes of URLs out.
	Base string
	// Patience is how long a question waits for its answer; 0 means ten minutes.
	Patience time.Duration
	// Revisions lists the revisions that the server speaks; nil means all.
	Revisions []string
	// Pause is the time that the server lets pass where a probe needs some: before it takes a
	// question back, and between progress notifications; 0 means three seconds.
	Pause time.Duration
}

// Server serves the probes, and keeps what they show of each client.
type Server struct {
	options Options
	core    *server.Server
	tasks   server.Tasks
	linter  *lint.Linter // of all that the clients send

	mu      sync.Mutex
	clients []*client
	pages   []*page // that clients are asked to open, the newest last
	runs    int     // runs of probes so far
	known   int     // clients so far
	closed  bool
	changed chan struct{}
	running sync.WaitGroup
}

// Bounds on what clients can make the server keep. The eldest client goes first.
const (
	clientsMost = 64
	statesMost  = 256 // in one session
	callsMost   = 64  // that run at the same time in one session
)

// New returns a server. Close ends it.
func New(o Options) *Server {
	o.Patience, o.Pause = cmp.Or(o.Patience, 10*time.Minute), cmp.Or(o.Pause, 3*time.Second)
	if o.Revisions == nil {
		o.Revisions = mcp.Revisions
	}
	s := &Server{options: o, changed: make(chan struct{}), linter: lint.NewLinter(o.Log, conversation.New(o.Log))}
	s.core = server.New(server.Options{
		Name: "probe", Info: `{"name":"elicitation-inspector probe","version":` + string(rawjson.Quoted(o.Version)) + `}`, Instructions: instructions,
		Capabilities: `"tools":{},"prompts":{},"resources":{}`, Revisions: o.Revisions, Append: o.Log.Append, Begin: s.begun, AnyRevisionHeader: true,
	})
	return s
}

// ServeLines serves one client over newline-delimited JSON, until in ends or ctx is done. It
// returns before a blocked read of in does.
func (s *Server) ServeLines(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.core.ServeLines(ctx, in, out)
}

// Handler serves Streamable HTTP at /mcp, and below /open the pages that clients are asked to
// open.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/open/", s.open)
	mux.Handle("/mcp", s.core)
	return mux
}

// Close ends all sessions, and waits for their probes.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.core.Close()
	s.running.Wait()
}

// Changed returns a channel that is closed when there is something new to report.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// client is one client in one revision over one transport, with the outcomes of its probes.
type client struct {
	Identity
	number      int // from 1
	first, last time.Time
	results     map[string]*outcome
	sessions    map[string]bool // in which it was seen
	answered    bool            // it has answered a round
}

// Identity tells clients apart.
type Identity struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Revision  string `json:"revision"`
	Transport string `json:"transport"` // stdio or http
	Declared  string `json:"declared"`  // the elicitation capability as JSON; "" if it is not declared
}

// outcome is the latest run of a probe.
type outcome struct {
	run     int
	finding finding
	late    []finding // that came while it ran
	began   time.Time
	took    time.Duration
	said    map[int]bool // what a person answered, by place in Probe.Looks
}

// clientOf returns the client, and adds it if it is new. The caller has the mutex.
func (s *Server) clientOf(id Identity, now time.Time) *client {
	i := slices.IndexFunc(s.clients, func(c *client) bool { return c.Identity == id })
	if i < 0 {
		if len(s.clients) == clientsMost {
			s.clients = s.clients[1:]
		}
		s.known++
		s.clients = append(s.clients, &client{Identity: id, number: s.known, first: now, results: map[string]*outcome{}, sessions: map[string]bool{}})
		i = len(s.clients) - 1
	}
	s.clients[i].last = now
	return s.clients[i]
}

// tell wakes those who wait for a change. The caller has the mutex.
func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// begin records that a probe runs, and returns its run.
func (s *Server) begin(c *call, p *Probe) *run {
	id := c.client
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	r := &run{call: c, probe: p, number: s.runs, began: time.Now()}
	said := map[int]bool{}
	of := s.clientOf(id, r.began)
	if len(of.sessions) < statesMost {
		of.sessions[c.session.Name] = true
	}
	of.results[p.Name] = &outcome{run: r.number, finding: finding{verdict: Running}, began: r.began, said: said}
	s.tell()
	return r
}

// answers reports whether a client has answered a round, by now or before.
func (s *Server) answers(id Identity, now bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clientOf(id, time.Now())
	c.answered = c.answered || now
	return c.answered
}

// amend adds a finding to a run that may be over, such as a second answer to its question.
func (s *Server) amend(r *run, f finding) {
	f = f.in(r.Revision)
	s.change(r, func(o *outcome) {
		if o.finding.verdict == Running {
			o.late = append(o.late, f)
		} else {
			o.finding = o.finding.with(f)
		}
	})
}

// with returns the graver of two findings, with the frames of both.
func (f finding) with(other finding) finding {
	out := worst(f, other)
	out.frames = append(slices.Clone(f.frames), other.frames...)
	return out
}

func (s *Server) change(r *run, change func(*outcome)) {
	id := r.client
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.clientOf(id, time.Now()).results[r.probe.Name]; o != nil && o.run == r.number {
		change(o)
		s.tell()
	}
}

// ErrUnknown is the error of [Server.Say] for something that was not asked.
var ErrUnknown = errors.New("there is no such question about a probe")

// Say records what a person has seen: the answer to question look of a probe, from 0. nil takes
// it back.
func (s *Server) Say(number int, probe string, look int, yes *bool) error {
	p := Find(probe)
	if p == nil || look < 0 || look >= len(p.Looks) {
		return ErrUnknown
	}
	s.mu.Lock()
	var of *outcome
	for _, c := range s.clients {
		if c.number == number {
			of = c.results[probe]
		}
	}
	if of == nil {
		s.mu.Unlock()
		return ErrUnknown
	}
	f := wire.Frame{Dir: wire.Meta, Note: &wire.Note{Kind: wire.NotePersonSaid, Of: probe, Why: p.Looks[look]}}
	if delete(of.said, look); yes != nil {
		of.said[look] = *yes
		f.Note.Said = Look{Yes: yes}.Word()
	}
	frames := of.finding.frames
	s.tell()
	s.mu.Unlock()
	if len(frames) > 0 {
		about := s.options.Log.Head(frames[0])
		f.Server, f.Session, f.Transport = about.Server, about.Session, about.Transport
	}
	s.options.Log.Append(f)
	return nil
}

// roundsMost is how many rounds probe_all takes in one call, unless the client says otherwise:
// SDKs give up after ten.
const roundsMost = 9

// perform runs the probes of a call, and answers it.
func (s *Server) perform(c *call, probes []*Probe) {
	defer c.session.done(c)
	var texts []string
	several, left := len(probes) > 1, 0
	most := roundsMost
	if n, err := strconv.Atoi(string(rawjson.Member(c.params, "arguments", "rounds"))); err == nil && n > 0 {
		most = n
	}
	if several && c.Rounds() { // those that the client has not called yet, or all if there are none
		s.mu.Lock()
		results := s.clientOf(c.client, time.Now()).results
		rest := slices.DeleteFunc(slices.Clone(probes), func(p *Probe) bool { return results[p.Name] != nil })
		s.mu.Unlock()
		if len(rest) > 0 {
			probes = rest
		}
	}
	for i, p := range probes {
		if i > 0 && c.Rounds() && c.rounds+max(p.rounds, 1) > most {
			left = len(probes) - i
		}
		if c.ctx.Err() != nil || left > 0 {
			break
		}
		if several {
			c.reportProgress(p.Name)
		}
		r := s.begin(c, p)
		f, took := r.judge(), time.Since(r.began)
		s.change(r, func(o *outcome) {
			o.finding, o.took = f, took
			for _, late := range o.late {
				o.finding = o.finding.with(late)
			}
		})
		texts = append(texts, wording.Join(". ", p.Name+": "+string(f.verdict), f.how))
	}
	if c.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	results := s.clientOf(c.client, time.Now()).results
	i := slices.IndexFunc(Table(), func(p *Probe) bool { return p.In(c.Revision) && s.serves(p) && results[p.Name] == nil })
	s.mu.Unlock()
	if i >= 0 && !several {
		texts = append(texts, "Not called yet: "+Table()[i].Name+". "+Table()[i].Do)
	}
	if left > 0 {
		texts = append(texts, fmt.Sprintf("Call %s again: %s left. A call has no more than %d rounds, because clients give up after some; the argument rounds changes that.", All, wording.Count(left, "probe is", "probes are"), most))
	} else if several {
		var apart []string
		for _, p := range Table() {
			if (p.Apart || p.Kind != conversation.Tool) && p.In(c.Revision) {
				apart = append(apart, p.Name)
			}
		}
		texts = append(texts, "These stand apart, and are called one by one: "+strings.Join(apart, ", ")+".")
	}
	c.finish(texts...)
}

// judge runs the probe, and adds what was wrong with the messages that carried the answers.
func (r *run) judge() finding {
	if why := r.undeclared(); why != "" {
		return undeclared(why)
	}
	list := append([]finding{r.probe.run(r)}, r.faults...)
	for i := range list {
		list[i] = list[i].in(r.Revision)
	}
	f := worst(list...)
	r.saw(f.frames...)
	f.frames = slices.Clone(r.frames)
	return f
}

// undeclared says why the client cannot be asked; "" if it can.
func (r *run) undeclared() string {
	switch mode := r.probe.Mode; {
	case mode == "":
		return ""
	case r.declared == nil || r.declared.Elicitation == nil:
		return "The client does not declare elicitation, so it is not asked."
	case !conversation.ClientSettingsOf(r.declared).Allows(string(mode), r.Revision):
		return fmt.Sprintf("The client declares elicitation as %s, without the mode %s, so it is not asked.", r.declared.Elicitation, mode)
	}
	return ""
}

// finish answers the call with texts, in the form that its method has.
func (c *call) finish(texts ...string) {
	if c.over {
		return
	}
	c.over = true
	more, text := "", rawjson.Quoted(strings.Join(texts, "\n"))
	if c.Rounds() {
		more = `"resultType":"complete",`
	}
	switch c.kind {
	case conversation.Prompt:
		c.Reply(fmt.Sprintf(`{%s"messages":[{"role":"user","content":{"type":"text","text":%s}}]}`, more, text))
	case conversation.Resource:
		if c.Rounds() {
			more += `"ttlMs":0,"cacheScope":"private",`
		}
		c.Reply(fmt.Sprintf(`{%s"contents":[{"uri":%s,"mimeType":"text/plain","text":%s}]}`, more, rawjson.Quoted(c.name), text))
	default:
		c.Reply(fmt.Sprintf(`{%s"content":[{"type":"text","text":%s}]}`, more, text))
	}
}
