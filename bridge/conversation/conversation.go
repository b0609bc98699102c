// Package conversation reconstructs calls from the frames of a log: the rounds of
// each call, the questions asked in it, its outcome and times, and the servers that
// took part. It works the same for a log that grows while a server is inspected, for
// an opened transcript, and for one that is played back.
//
// It also holds the words of both sides: what a client declares ([ClientSettings]), what a
// server lists ([Catalog]), and what a response says ([Result], [RPCError],
// [InputRequired]), exactly as received.
//
// There are two steps. A Conversation applies every frame in order, assigns it to its
// call, and keeps an outline of each call. A reduction applies the frames of one call
// and works out what happened in it, whenever a reader asks for that call.
package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Conversation assigns the frames of a log to calls. It keeps about 70 bytes for each
// call and 60 more for each question. It reads the bytes of a frame only if the head
// does not tell its call, or if a reader asks for the call.
//
// All methods are safe for concurrent use.
type Conversation struct {
	log  *wire.Log
	turn chan struct{} // held by the goroutine that updates or watches

	watched map[int]*reduction // by place; used only with the turn
	touched []int              // places of calls that got frames since the last Changes; used only with the turn

	mu       sync.Mutex
	upTo     int64 // last frame that was applied
	outlines []outline
	members  []membership // of the frames in outline.more, in order
	guessed  map[uint32]bool
	strays   map[uint32]uint32 // stray response by the frame of the note about it
	numbered map[uint32]uint32 // number of the first question in a frame
	asking   map[uint32]uint32 // frame that asks a question, by its number
	told     []telling         // in order
	fresh    []asking          // frames whose questions have no number yet
	calls    numbers
	asked    numbers
	sessions map[connection]*session
	servers  []*Server
	waiting  map[string][]retry // calls that wait for their next round
	visits   map[visit]int      // index in outlines
}

// connection identifies one session of a server.
type connection struct{ server, session string }

// visit identifies a URL-mode elicitation of a server by its elicitationId.
type visit struct{ server, id string }

// membership is a frame with the index of its call in outlines.
type membership struct{ seq, call uint32 }

// telling is a run of progress notifications and log messages with the index of their
// call in outlines, or nobody. Frames of other kinds may lie between first and last.
type telling struct{ first, last, call uint32 }

// nobody is the call of a notification that belongs to no call.
const nobody = math.MaxUint32

// asking is a frame that asks questions: their count, and the recorded number of the
// first one, 0 for none.
type asking struct{ seq, questions, recorded int }

// outline is the part of a call that the Conversation keeps in memory.
type outline struct {
	first    uint32 // first frame of the call
	final    uint32 // latest response to one of its requests, 0 if there is none
	number   uint32 // 0 for a server request outside of any call
	recorded uint32
	told     uint32 // latest of its progress notifications and log messages, 0 if it has none
	session  *session
	more     []uint32 // its other frames, without the response to the first and the notifications in told
}

// session is the state of one connection.
type session struct {
	connection
	server    *Server
	handshake Handshake
	stream    string // URL of its event stream that was opened by GET
	legacy    bool   // it speaks HTTP+SSE
	exit      *exit
	signIns   []Span      // immutable; the time of the last one's end is zero while the person is at it
	exchanged time.Time   // of the latest exchange of a sign-in
	calls     map[int]int // index in outlines by the recorded number
	alone     map[int]int // index in outlines of a question outside of any call, by its recorded number
	open      []pending   // calls without a response
	asked     []pending   // the server's requests without an answer, in order, with gaps: see settled
	gaps      int         // in asked
	stray     uint32      // latest noise, or response that is unmatched or duplicate
}

// pending is a request that waits for its response.
type pending struct {
	call int // index in outlines
	seq  int64
	// id is a wire.IDKey, token a progress token; both are "" until a notification has to be matched.
	id, token string
}

// retry is a call that waits for its next round.
type retry struct {
	call         int
	session      *session
	method, name string
	arguments    json.RawMessage
	input
	byError bool // error -32042 asked for the next round
}

// waitingMost bounds how many calls of a server can wait for their next round.
const waitingMost = 256

// New returns a conversation to which no frame was applied yet; see Update.
func New(l *wire.Log) *Conversation {
	return &Conversation{
		log: l, turn: make(chan struct{}, 1), watched: make(map[int]*reduction),
		guessed: make(map[uint32]bool), strays: make(map[uint32]uint32), numbered: make(map[uint32]uint32), asking: make(map[uint32]uint32),
		sessions: make(map[connection]*session),
		waiting:  make(map[string][]retry), visits: make(map[visit]int),
	}
}

// window is how many frames are applied before questions are numbered: frames of the
// same moment can be logged in either order.
const window = 256

// Update applies the frames that were added to the log. The calls that get them are
// still returned by the next Changes.
func (c *Conversation) Update(ctx context.Context) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	return c.update(ctx)
}

// Changes is Update, and returns the places of the calls that got frames, each once,
// in the order of their latest frames.
func (c *Conversation) Changes(ctx context.Context) ([]int, error) {
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	defer c.give()
	if err := c.update(ctx); err != nil {
		return nil, err
	}
	touched := lastOfEach(c.touched)
	c.touched = nil
	return touched, nil
}

func (c *Conversation) update(ctx context.Context) error {
	last := c.log.Len()
	var cl clue // one for all frames, because there can be millions
	for seq := c.upTo + 1; seq <= last; seq++ {
		cl = clue{Frame: c.log.Head(seq)}
		if err := c.look(&cl); err != nil {
			return fmt.Errorf("reading the conversation: %w", err)
		}
		c.mu.Lock()
		c.apply(&cl)
		c.upTo = seq
		if seq%window == 0 || seq == last { // recorded numbers first, then free ones
			for _, a := range c.fresh {
				if a.recorded != 0 {
					c.numbered[uint32(a.seq)] = uint32(c.asked.take(a.recorded, a.questions))
				}
			}
			for _, a := range c.fresh {
				if a.recorded != 0 {
					c.asked.last = int(c.numbered[uint32(a.seq)]) + a.questions - 1
				} else {
					c.numbered[uint32(a.seq)] = uint32(c.asked.next(a.questions))
				}
			}
			for _, a := range c.fresh {
				first := c.numbered[uint32(a.seq)]
				for n := range uint32(a.questions) {
					c.asking[first+n] = uint32(a.seq)
				}
			}
			c.fresh = nil
		}
		c.mu.Unlock()
		if seq%window == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (c *Conversation) touch(i int) {
	place := i + 1
	if n := len(c.touched); n == 0 || c.touched[n-1] != place {
		c.touched = append(c.touched, place)
		if n > touchedMost && n > 2*len(c.outlines) {
			c.touched = lastOfEach(c.touched)
		}
	}
	if r := c.watched[place]; r != nil {
		r.stale = true
	}
}

// touchedMost is how many touches are kept before repeated ones are dropped.
const touchedMost = 1000

func lastOfEach(places []int) []int {
	known := make(map[int]bool)
	var out []int
	for _, place := range slices.Backward(places) {
		if !known[place] {
			known[place] = true
			out = append(out, place)
		}
	}
	slices.Reverse(out)
	return out
}

// take waits for the turn, which give passes on.
func (c *Conversation) take(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Conversation) give() { <-c.turn }

// clue is a frame with those parts of its bytes that tell its call.
type clue struct {
	wire.Frame // without its bytes, unless tellsMore
	input      input
	name       string
	arguments  json.RawMessage
	answers    []string // of a request: the keys of inputResponses
	about      int64    // of a cancellation, or of progress: the frame of the request
	visit      string   // elicitationId
	visits     []string
}

// look reads from a frame's bytes what is needed to find its call; most frames need
// no bytes.
func (c *Conversation) look(cl *clue) (err error) {
	if !c.tellsMore(&cl.Frame) {
		return nil
	}
	if cl.Frame, err = c.log.Frame(cl.Seq); err != nil {
		return err
	}
	params := cl.Message.Params
	switch {
	case cl.Kind.IsResponse() && mcp.AsksForInput(cl.Method), required(&cl.Frame):
		revision := ""
		if s := c.sessions[connection{cl.Server, cl.Session}]; s != nil {
			revision = s.handshake.Protocol
		}
		cl.input = inputOf(&cl.Frame, revision)
		for _, a := range cl.input.asked {
			if id := rawjson.Text(rawjson.Member(a.Params, "elicitationId")); id != "" && cl.Kind == wire.Error {
				cl.visits = append(cl.visits, id)
			}
		}
		if cl.input.wanted && cl.Call == 0 && cl.Pair != 0 && !mcp.IsList(cl.Method) {
			request, err := c.log.Frame(cl.Pair)
			if err != nil {
				return err
			}
			cl.name, cl.arguments = target(request.Method, request.Message.Params)
		}
	case cl.Method == mcp.NotificationCancelled:
		cl.about, err = c.requestOf(cl, func(p *pending) bool { return p.id == wire.IDKey(rawjson.Member(params, "requestId")) })
	case cl.Method == mcp.NotificationProgress:
		token := string(plain(rawjson.Member(params, "progressToken")))
		cl.about, err = c.requestOf(cl, func(p *pending) bool { return p.token == token })
	case cl.Method == mcp.NotificationElicitComplete, cl.Method == mcp.MethodElicit:
		cl.visit = rawjson.Text(rawjson.Member(params, "elicitationId"))
	case mcp.AsksForInput(cl.Method):
		cl.name, cl.arguments = target(cl.Method, params)
		cl.input.state = rawjson.Member(params, "requestState")
		for key := range members(rawjson.Member(params, "inputResponses")) {
			cl.answers = append(cl.answers, key)
		}
	}
	return err
}

func (c *Conversation) tellsMore(f *wire.Frame) bool {
	switch {
	case f.Lost:
		return false
	case f.Dir == wire.Meta:
		return f.Call+f.Question == 0 // the note concerns the whole connection
	case f.Method == mcp.MethodInitialize || f.Method == mcp.MethodDiscover:
		return true
	case f.Kind.IsResponse():
		return mcp.AsksForInput(f.Method) && (f.AsksInput || f.Kind == wire.Error) || required(f)
	case f.Kind == wire.Request && f.Dir == wire.ClientToServer:
		return f.Call == 0 && mcp.AsksForInput(f.Method) && len(c.waiting[f.Server]) > 0
	case f.Kind == wire.Request:
		return mcp.IsInput(f.Method) // a cancellation names its id
	}
	return f.Method == mcp.NotificationCancelled || f.Method == mcp.NotificationElicitComplete ||
		f.Method == mcp.NotificationProgress && f.Call == 0
}

// requestOf returns the pending request that a notification refers to, 0 if no
// pending request matches.
func (c *Conversation) requestOf(cl *clue, is func(*pending) bool) (int64, error) {
	s := c.sessions[connection{cl.Server, cl.Session}]
	if s == nil {
		return 0, nil
	}
	list := s.open
	if cl.Method == mcp.NotificationCancelled && cl.Dir == wire.ServerToClient {
		list = s.asked
	}
	for i := range list {
		p := &list[i]
		if p.call == answered {
			continue
		}
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
