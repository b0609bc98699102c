// Package conversation reconstructs calls from the frames of a log: the rounds of
// each call, the questions asked in it, its outcome and times, and the servers that
// took part. It works the same for a log that grows while a server is inspected, for
// an opened transcript, and for one that is played back.
//
// It also holds the words of both sides: what a client declares ([ClientSettings]), what a
// server lists ([Catalog]), and what a response says ([Result], [RPCError],
// [InputRequired]), exactly as received.
//
// A Conversation goes once over the frames of the log, in order. For each frame it works out
// what it is to a call, and which call and which question it belongs to: the frame is then
// an event of that call. A call is read by going through its events: each changes its state
// and adds what the frame's bytes hold.
package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// Conversation assigns the frames of a log to calls. It keeps about 80 bytes for each
// call and 100 more for each question. It reads the bytes of a frame only if the head
// does not tell its call, or if a reader asks for the call.
//
// All methods are safe for concurrent use.
type Conversation struct {
	// NoReports leaves log messages and progress out of calls, and of what a linter judges; set it
	// before Update.
	NoReports bool

	attribution
	turn     chan struct{} // held by the goroutine that updates
	watching chan struct{} // held by the goroutine that watches
}

// attribution says to which call and question each frame belongs. It keeps what later frames can
// refer to, such as requests without a response.
type attribution struct {
	log *wire.Log

	mu       sync.Mutex
	watched  map[int]*reduction // calls that Watch reads, by place
	touched  map[uint32]uint32  // the latest touch of each place that got frames since the last Changes
	touches  uint32             // so far
	upTo     int64              // last frame that was applied
	calls    []outline
	events   []event           // of all calls, in the order of the log, after an empty one
	reports  []reportRun       // in order
	strays   map[uint32]uint32 // stray response by the frame of the note about it
	numbered map[uint32]uint32 // number of the first question in a frame
	fresh    []unnumbered      // frames whose questions have no number yet
	sessions map[connection]*session
	servers  []*Server
	waiting  map[string][]retry   // calls that wait for their next round, by server
	urls     map[urlID]questionOf // the latest question for each
	tasks    map[taskID]*taskOf

	callNumbers, questionNumbers numbers
	reserved                     int // the highest number that Numbers has returned
}

// connection identifies one session of a server.
type connection struct{ server, session string }

// urlID identifies a URL-mode elicitation of a server by its elicitationId.
type urlID struct{ server, elicitationID string }

// questionOf is a question of the call at an index; question counts them from 1.
type questionOf struct {
	call     int
	question uint32
	number   uint32 // as recorded, 0 if it has none
}

// unnumbered is a frame that asks questions: their count, and the recorded number of the
// first one, 0 for none.
type unnumbered struct{ seq, questions, recorded int }

// outline is the part of a call that the Conversation keeps in memory.
type outline struct {
	first, last uint32 // indices in Conversation.events
	number      uint32 // 0 for a server request outside of any call
	recorded    uint32
	questions   uint32 // how many were asked
	waiting     uint32 // requests of the server without an answer
	report      uint32 // frame of its latest report, 0 if it has none
	guessed     uint32 // first question that came while it was open, and whose call is a guess; 0 if none did
	session     *session
}

// session is the state of one connection.
type session struct {
	connection
	server    *Server
	handshake Handshake
	stream    string // URL of its event stream that was opened by GET
	legacy    bool   // it speaks HTTP+SSE
	exit      *exit
	signIns   []Span             // immutable; the time of the last one's end is zero while the person is at it
	exchanged time.Time          // of the latest exchange of a sign-in
	calls     map[int]int        // index in Conversation.calls by the recorded number
	questions map[int]questionOf // by the recorded number
	open      []pending          // the client's requests of calls without a response
	asked     map[int64]pending  // the server's requests without an answer, by their frames
	stray     uint32             // latest noise, or response that is unmatched or duplicate
}

// pending is a request that waits for its response.
type pending struct {
	call     int // index in Conversation.calls
	question uint32
	seq      int64
	round    int  // as recorded
	over     bool // the call has ended without a response
	// id is a wire.IDKey, token a progress token; both are "" until a notification has to be matched.
	id, token string
}

// New returns a conversation to which no frame was applied yet; see Update.
func New(l *wire.Log) *Conversation {
	return &Conversation{turn: make(chan struct{}, 1), watching: make(chan struct{}, 1), attribution: attribution{
		log: l, watched: make(map[int]*reduction), touched: make(map[uint32]uint32), events: make([]event, 1),
		strays: make(map[uint32]uint32), numbered: make(map[uint32]uint32),
		sessions: make(map[connection]*session), waiting: make(map[string][]retry), urls: make(map[urlID]questionOf),
		tasks: make(map[taskID]*taskOf),
	}}
}

// window is how many frames are applied before questions are numbered: frames of the
// same moment can be logged in either order.
const window = 256

// Update applies the frames that were added to the log. The calls that get them are
// still returned by the next Changes.
func (c *Conversation) Update(ctx context.Context) error {
	if err := acquire(ctx, c.turn); err != nil {
		return err
	}
	defer release(c.turn)
	return c.update(ctx)
}

// Changes is Update, and returns the places of the calls that got frames, each once,
// in the order of their latest frames.
func (c *Conversation) Changes(ctx context.Context) (places []int, err error) {
	if err := c.Update(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer clear(c.touched)
	for _, place := range slices.SortedFunc(maps.Keys(c.touched), func(a, b uint32) int { return cmp.Compare(c.touched[a], c.touched[b]) }) {
		places = append(places, int(place))
	}
	return places, nil
}

func (c *Conversation) update(ctx context.Context) error {
	last := c.log.Len()
	var f frame // one for all, because there can be millions
	for seq := c.upTo + 1; seq <= last; seq++ {
		leftOut := c.NoReports && IsReport(c.log.Entry(seq).Names().Method)
		if !leftOut {
			f = frame{Frame: c.log.Head(seq)}
			if err := c.read(&f); err != nil {
				return fmt.Errorf("reading the conversation: %w", err)
			}
		}
		c.mu.Lock()
		if !leftOut {
			c.apply(&f)
		}
		c.upTo = seq
		if seq%window == 0 || seq == last {
			c.numberQuestions()
		}
		c.mu.Unlock()
		if seq%window == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// acquire waits for a turn, which release passes on. A turn is no mutex, since frames are read
// meanwhile.
func acquire(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func release(turn chan struct{}) { <-turn }

// frame is a frame with those parts of its bytes that tell its call.
type frame struct {
	wire.Frame    // without its bytes, unless needsBytes
	input         input
	name          string
	arguments     json.RawMessage
	answers       []string // of a request: the keys of inputResponses
	about         int64    // of a cancellation by the client, or of progress: the frame of the request
	elicitationID string   // of a question that is a request, and of its completion
	task          string   // id of the task that it is about or makes, or that a question belongs to
}

// read reads from a frame's bytes what is needed to find its call; most frames need
// no bytes.
func (c *attribution) read(f *frame) (err error) {
	if !c.needsBytes(&f.Frame) {
		return nil
	}
	if f.Frame, err = c.log.Frame(f.Seq); err != nil {
		return err
	}
	params := f.Message.Params
	switch kind := kindOf(&f.Frame); {
	case kind == callTask || kind == questionTask || f.MakesTask:
		err = c.readTask(f)
	case kind == response && mcp.AsksForInput(f.Method), kind == listQuestions:
		revision := ""
		if s := c.sessions[connection{f.Server, f.Session}]; s != nil {
			revision = s.handshake.Protocol
		}
		f.input = inputOf(&f.Frame, revision)
		if f.input.wanted && f.Call == 0 && f.Pair != 0 && kind == response {
			request, err := c.log.Frame(f.Pair)
			if err != nil {
				return err
			}
			f.name, f.arguments = target(request.Method, request.Message.Params)
		}
	case kind == stopped:
		f.about, err = c.requestOf(f, func(p *pending) bool { return p.id == wire.IDKey(rawjson.Member(params, "requestId")) })
	case kind == progress:
		token := string(plain(rawjson.Member(params, "progressToken")))
		f.about, err = c.requestOf(f, func(p *pending) bool { return p.token == token })
	case kind == urlDone, kind == question:
		f.elicitationID = rawjson.Text(rawjson.Member(params, "elicitationId"))
		f.task = RelatedTaskID(params)
	case kind == request && mcp.AsksForInput(f.Method):
		f.name, f.arguments = target(f.Method, params)
		f.input.state = StateOf(params)
		for key := range elicit.KeywordsOf(rawjson.Member(params, "inputResponses")) {
			f.answers = append(f.answers, key)
		}
	}
	return err
}

func (c *attribution) needsBytes(f *wire.Frame) bool {
	if f.Lost {
		return false
	}
	switch kindOf(f) {
	case callTask, questionTask:
		return true
	case answer:
		return f.MakesTask
	case request:
		return isHandshake(f.Method) || f.Call == 0 && mcp.AsksForInput(f.Method) && len(c.waiting[f.Server]) > 0
	case response:
		return isHandshake(f.Method) || mcp.AsksForInput(f.Method) && (f.AsksInput || f.MakesTask || f.Kind == wire.Error)
	case progress:
		return f.Call == 0
	case listQuestions, question, stopped, cancelled, urlDone, note:
		return true
	}
	return false
}

func isHandshake(method string) bool {
	return method == mcp.MethodInitialize || method == mcp.MethodDiscover
}

// requestOf returns the pending request of the client that a notification refers to, 0 if
// none matches.
func (c *attribution) requestOf(f *frame, is func(*pending) bool) (int64, error) {
	s := c.sessions[connection{f.Server, f.Session}]
	if s == nil {
		return 0, nil
	}
	for i := range s.open {
		p := &s.open[i]
		if p.id == "" {
			f, err := c.log.Frame(p.seq)
			if err != nil {
				return 0, err
			}
			p.id = wire.IDKey(f.Message.ID)
			p.token = string(plain(rawjson.Member(f.Message.Params, "_meta", "progressToken")))
		}
		if is(p) {
			return p.seq, nil
		}
	}
	return 0, nil
}

func (c *attribution) sessionOf(f *frame) *session {
	key := connection{f.Server, f.Session}
	s := c.sessions[key]
	if s == nil {
		s = &session{connection: key, server: c.serverOf(f), calls: make(map[int]int), questions: make(map[int]questionOf), asked: make(map[int64]pending)}
		c.sessions[key] = s
	}
	return s
}
