package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
)

// Index finds the exchanges of a log, live or opened. It keeps about
// 70 bytes for each call and 30 more for each question; bytes of frames are
// read for one exchange at a time.
//
// Frames that an inspector recorded say which call they belong to. For others
// it is worked out: responses by their request, retries by their requestState,
// by the keys that they answer, or, after error -32042, by their tool and
// arguments; a server's questions by the only call that runs, or else the
// latest that has no question open, which is a guess.
//
// All methods are safe for concurrent use.
type Index struct {
	log   *wire.Log
	view  *query.View   // of relevant frames
	tells *query.View   // of notifications that tell of progress
	busy  chan struct{} // held by the one that updates

	read int64 // frames of the view that are in the index; by the one that updates

	mu       sync.Mutex
	list     []record
	member   map[int64]int // list index by frame, of requests and notifications other than the first
	guessed  map[int64]bool
	sessions map[string]*session
	also     map[int][]string   // by list index: sessions in which a call was made again, other than the first
	waiting  map[string][]retry // by server: calls that are to be made again
	visits   map[string]int     // list index by server and elicitationId
}

// record is what the index keeps of an exchange.
type record struct {
	first     uint32 // frame that began it
	final     uint32 // latest response to one of its requests, 0 if there is none
	call      uint32
	rounds    uint32
	questions uint32
	flags     uint8
	session   *session
	more      []uint32 // its other frames, but for the response to the first and for what only happens meanwhile
}

const (
	flagWaiting = 1 << iota
	flagFailed
	flagUnhappy
	flagCancelled
)

// session is what is going on in one session.
type session struct {
	name  string
	calls map[int]int // list index by the inspector's number
	open  []pending   // calls without a response
	asked []pending   // the server's requests without an answer
}

// pending is a request that waits for its response.
type pending struct {
	record int
	seq    int64
	id     string // exact
}

// retry is a call that its server wants made again.
type retry struct {
	record       int
	session      string
	method, name string
	arguments    json.RawMessage
	state        json.RawMessage     // requestState, nil if absent
	keys         map[string]struct{} // of inputRequests; nil after error -32042
}

// waitingMost bounds how many calls of a server can wait to be made again.
const waitingMost = 256

var (
	// relevant are the frames that exchanges are found by. Notes and noise have a
	// method where they stand in for a response.
	relevant = filter("kind:message,note,noise method:", methodCall, methodPrompt, methodRead, methodElicit, methodSample, methodRoots,
		methodInit, noteCancelled, noteComplete)
	// telling are those that only tell of a call in progress; see meanwhile.
	telling = filter("kind:notification dir:s2c method:", noteProgress, noteMessage)
)

func filter(line string, methods ...string) *query.Filter {
	return query.MustParse(line + strings.Join(methods, ","))
}

// NewIndex makes an index in which nothing is found yet; see Update.
func NewIndex(l *wire.Log) *Index {
	return &Index{
		log: l, view: query.NewView(l, relevant, nil), tells: query.NewView(l, telling, nil), busy: make(chan struct{}, 1),
		member: make(map[int64]int), guessed: make(map[int64]bool),
		sessions: make(map[string]*session), also: make(map[int][]string), waiting: make(map[string][]retry), visits: make(map[string]int),
	}
}

// window is how many frames are read at a time.
const window = 256

// Update finds what was added to the log since the last Update. What is found
// can be read meanwhile, and stays.
func (x *Index) Update(ctx context.Context) error {
	select {
	case x.busy <- struct{}{}:
		defer func() { <-x.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, v := range []*query.View{x.view, x.tells} {
		if err := v.Update(ctx); err != nil {
			return err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		seqs := x.view.Seqs(x.read, window)
		if len(seqs) == 0 {
			return nil
		}
		rows, err := x.log.Rows(seqs)
		if err != nil {
			return fmt.Errorf("finding exchanges: %w", err)
		}
		// Whose retries are to be looked for.
		awaits := make(map[string]bool)
		x.mu.Lock()
		for server, list := range x.waiting {
			awaits[server] = len(list) > 0
		}
		x.mu.Unlock()
		clues := make([]clue, 0, len(rows))
		for _, row := range rows {
			c, err := x.look(row, awaits[row.Server])
			if err != nil {
				return fmt.Errorf("finding exchanges: %w", err)
			}
			if c.asked.more {
				awaits[row.Server] = true
			}
			clues = append(clues, c)
		}
		x.mu.Lock()
		for i := range clues {
			x.enter(&clues[i])
		}
		x.mu.Unlock()
		x.read += int64(len(seqs))
	}
}

// clue is a frame with what its bytes tell about where it belongs.
type clue struct {
	wire.Row
	asked     asked // of a response
	unhappy   bool  // of a result: isError
	name      string
	arguments json.RawMessage
	state     json.RawMessage // of a request: requestState
	answers   []string        // of a request: the keys of inputResponses
	about     string          // of a cancellation: the exact id of the request
	visit     string          // elicitationId
}

// look reads of a frame's bytes what is needed to tell where it belongs; for
// most frames that is nothing. awaits says that its server wants a call made
// again.
func (x *Index) look(row wire.Row, awaits bool) (clue, error) {
	c := clue{Row: row}
	var need bool
	switch {
	case row.Lost:
	case row.Kind.IsResponse() && calls(row.Method):
		need = row.AsksInput || row.Kind == wire.Error
		c.unhappy = row.Kind == wire.Result && row.Failed && row.Status < 400
	case row.Kind == wire.Request:
		need = row.Call == 0 && (row.Method == methodElicit || awaits && calls(row.Method))
	case row.Kind == wire.Notification:
		need = true
	}
	if !need {
		return c, nil
	}
	f, err := x.log.Frame(row.Seq)
	if err != nil {
		return c, err
	}
	switch params := f.Message.Params; {
	case f.Kind == wire.Result:
		c.asked = readResult(f.Message.Result)
	case f.Kind == wire.Error:
		c.asked = readError(f.Message.Error)
	case f.Method == noteCancelled:
		c.about = string(member(params, "requestId"))
	case f.Method == noteComplete, f.Method == methodElicit:
		c.visit = text(member(params, "elicitationId"))
	case calls(f.Method):
		c.name, c.arguments = target(f.Method, params)
		c.state = member(params, "requestState")
		for key := range rawjson.Members(member(params, "inputResponses")) {
			c.answers = append(c.answers, key)
		}
	}
	if c.asked.more && row.Call == 0 && row.Pair != 0 {
		request, err := x.log.Frame(row.Pair)
		if err != nil {
			return c, err
		}
		c.name, c.arguments = target(request.Method, request.Message.Params)
	}
	return c, nil
}

// enter puts a frame where it belongs. The caller holds x.mu.
func (x *Index) enter(c *clue) {
	s := x.sessions[c.Session]
	if s == nil {
		s = &session{name: c.Session, calls: make(map[int]int)}
		x.sessions[c.Session] = s
	}
	out := c.Dir == wire.ClientToServer
	switch {
	case c.Method == methodInit:
		if c.Kind == wire.Request && out {
			s.open, s.asked = nil, nil // whatever was open before has ended with its connection
		}
	case c.Kind == wire.Request && out && calls(c.Method):
		x.called(s, c)
	case c.Kind == wire.Request && !out && asks(c.Method):
		x.question(s, c)
	case c.Kind != wire.Request && !out && calls(c.Method):
		x.response(s, c)
	case c.Kind.IsResponse() && out && asks(c.Method):
		x.answer(s, c)
	case c.Method == noteCancelled:
		x.cancelled(s, c, out)
	case c.Method == noteComplete && !out:
		if i, ok := x.visits[c.Server+"\x00"+c.visit]; ok {
			x.join(i, c.Seq)
		} else if i, ok := s.calls[c.Call]; ok {
			x.join(i, c.Seq)
		}
	}
}

// begin makes an exchange of a frame, and join adds one to an exchange.
func (x *Index) begin(s *session, c *clue) int {
	x.list = append(x.list, record{first: uint32(c.Seq), call: uint32(c.Call), session: s})
	i := len(x.list) - 1
	if c.Call != 0 {
		s.calls[c.Call] = i
	}
	return i
}

func (x *Index) join(i int, seq int64) {
	x.member[seq] = i
	x.list[i].more = append(x.list[i].more, uint32(seq))
}

// of finds the exchange that a request is part of.
func (x *Index) of(seq int64) (int, bool) {
	if i, ok := x.member[seq]; ok {
		return i, true
	}
	i, ok := slices.BinarySearchFunc(x.list, seq, func(r record, seq int64) int { return cmp.Compare(int64(r.first), seq) })
	return i, ok
}

func (x *Index) called(s *session, c *clue) {
	i, found := x.retryOf(s, c)
	if found {
		x.join(i, c.Seq)
		if x.list[i].session != s && !slices.Contains(x.also[i], s.name) {
			x.also[i] = append(x.also[i], s.name)
		}
	} else {
		i = x.begin(s, c)
	}
	r := &x.list[i]
	r.rounds++
	r.flags &^= flagWaiting | flagFailed | flagUnhappy
	s.open = append(s.open, pending{i, c.Seq, string(c.Message.ID)})
}

// retryOf finds the exchange that a call continues.
func (x *Index) retryOf(s *session, c *clue) (int, bool) {
	if c.Call != 0 {
		i, ok := s.calls[c.Call]
		return i, ok && c.Round > 1
	}
	list := x.waiting[c.Server]
	for k := len(list) - 1; k >= 0; k-- {
		if list[k].by(c) {
			i := list[k].record
			x.waiting[c.Server] = slices.Delete(list, k, k+1)
			return i, true
		}
	}
	return 0, false
}

// by reports whether the call c is the retry.
func (r *retry) by(c *clue) bool {
	if r.method != c.Method || r.name != c.name {
		return false
	}
	switch {
	case r.keys == nil:
		return r.session == c.Session && c.state == nil && c.answers == nil && same(r.arguments, c.arguments)
	case r.state != nil:
		return c.state != nil && (same(r.state, c.state) || text(r.state) != "" && text(r.state) == text(c.state))
	}
	for _, key := range c.answers {
		if _, ok := r.keys[key]; !ok {
			return false
		}
	}
	return r.session == c.Session && c.state == nil && len(c.answers) > 0
}

func (x *Index) response(s *session, c *clue) {
	i, ok := x.of(c.Pair)
	if c.Pair == 0 || !ok {
		return
	}
	r := &x.list[i]
	s.open = slices.DeleteFunc(s.open, func(p pending) bool { return p.seq == c.Pair })
	if c.Pair != int64(r.first) || c.Duplicate {
		r.more = append(r.more, uint32(c.Seq))
	}
	if c.Duplicate {
		return
	}
	r.final = uint32(c.Seq)
	if c.Kind != wire.Result {
		r.flags |= flagFailed
	}
	if c.unhappy {
		r.flags |= flagUnhappy
	}
	if !c.asked.more {
		return
	}
	r.flags = r.flags&^flagFailed | flagWaiting
	r.questions += uint32(len(c.asked.questions))
	for _, id := range c.asked.ids {
		x.visits[c.Server+"\x00"+id] = i
	}
	if c.Call == 0 {
		list := append(x.waiting[c.Server], retry{
			record: i, session: c.Session, method: c.Method, name: c.name,
			arguments: c.arguments, state: c.asked.state, keys: c.asked.keys,
		})
		x.waiting[c.Server] = list[max(0, len(list)-waitingMost):]
	}
}

func (x *Index) question(s *session, c *clue) {
	i, ok := s.calls[c.Call]
	if c.Call == 0 || !ok {
		i, ok = x.guess(s, c.Seq)
	}
	if ok {
		x.join(i, c.Seq)
	} else {
		i = x.begin(s, c)
	}
	x.list[i].questions++
	s.asked = append(s.asked, pending{i, c.Seq, string(c.Message.ID)})
	if c.visit != "" {
		x.visits[c.Server+"\x00"+c.visit] = i
	}
}

// guess finds the call that a question comes from which does not say so.
func (x *Index) guess(s *session, seq int64) (int, bool) {
	if len(s.open) == 0 {
		return 0, false
	}
	if len(s.open) > 1 {
		x.guessed[seq] = true
	}
	for _, p := range slices.Backward(s.open) {
		if !slices.ContainsFunc(s.asked, func(q pending) bool { return q.record == p.record }) {
			return p.record, true
		}
	}
	return s.open[len(s.open)-1].record, true
}

func (x *Index) answer(s *session, c *clue) {
	i, ok := x.of(c.Pair)
	if c.Pair == 0 || !ok {
		return
	}
	s.asked = slices.DeleteFunc(s.asked, func(p pending) bool { return p.seq == c.Pair })
	r := &x.list[i]
	if c.Pair == int64(r.first) && !c.Duplicate {
		r.final = uint32(c.Seq)
		return
	}
	r.more = append(r.more, uint32(c.Seq))
}

func (x *Index) cancelled(s *session, c *clue, out bool) {
	list := &s.asked
	if out {
		list = &s.open
	}
	k := slices.IndexFunc(*list, func(p pending) bool { return p.id == c.about })
	if k < 0 {
		return
	}
	p := (*list)[k]
	*list = slices.Delete(*list, k, k+1)
	x.join(p.record, c.Seq)
	if out {
		x.list[p.record].flags |= flagCancelled
	}
}

// Len is the number of exchanges found so far.
func (x *Index) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.list)
}

// Outline is what a list shows of an exchange.
type Outline struct {
	Number          int
	First, Final    int64 // frames: the first request, and the last response, 0 if there is none
	Server, Session string
	Call            int
	Method, Summary string // of the first frame
	Start           time.Time
	Took            time.Duration // up to the last response; 0 if there is none
	Rounds          int
	Questions       int
	State           State
}

// Outlines are those of the exchanges from number from on, counted from 1, n at
// most, in the order in which they began.
func (x *Index) Outlines(from, n int) ([]Outline, error) {
	x.mu.Lock()
	from = min(max(from, 1), len(x.list)+1)
	list := slices.Clone(x.list[from-1 : min(from-1+max(n, 0), len(x.list))])
	x.mu.Unlock()
	seqs := make([]int64, 0, 2*len(list))
	for _, r := range list {
		seqs = append(seqs, int64(r.first))
		if r.final != 0 {
			seqs = append(seqs, int64(r.final))
		}
	}
	// Rows come in any order, but neighbours are read together.
	slices.Sort(seqs)
	rows, err := x.log.Rows(seqs)
	if err != nil {
		return nil, fmt.Errorf("listing exchanges: %w", err)
	}
	row := func(seq uint32) *wire.Row {
		i := sort.Search(len(rows), func(i int) bool { return rows[i].Seq >= int64(seq) })
		if i == len(rows) || rows[i].Seq != int64(seq) {
			return nil
		}
		return &rows[i]
	}
	out := make([]Outline, 0, len(list))
	for i, r := range list {
		o := Outline{
			Number: from + i, First: int64(r.first), Final: int64(r.final), Session: r.session.name,
			Call: int(r.call), Rounds: int(r.rounds), Questions: int(r.questions), State: r.state(),
		}
		first := row(r.first)
		if first == nil {
			continue
		}
		o.Server, o.Method, o.Summary, o.Start = first.Server, first.Method, first.Summary, first.Time
		if final := row(r.final); final != nil && !first.Time.IsZero() && !final.Time.IsZero() {
			o.Took = max(final.Time.Sub(first.Time), 0)
		}
		out = append(out, o)
	}
	return out, nil
}

func (r *record) state() State {
	switch {
	case r.flags&flagCancelled != 0:
		return Cancelled
	case r.final == 0:
		return Running
	case r.flags&flagWaiting != 0:
		return Waiting
	case r.flags&flagFailed != 0:
		return Failed
	case r.flags&flagUnhappy != 0:
		return Unhappy
	}
	return Done
}

// Of is the number of the exchange that a frame belongs to, 0 if there is none.
func (x *Index) Of(seq int64) (int, error) {
	rows, err := x.log.Rows([]int64{seq})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	row := rows[0]
	x.mu.Lock()
	i, ok := x.of(seq)
	if !ok && row.Pair != 0 && row.Kind != wire.Request {
		i, ok = x.of(row.Pair)
	}
	var running []found
	if !ok && meanwhile(row.Method) {
		running = x.runningAt(seq, row.Session)
	}
	x.mu.Unlock()
	if ok {
		return i + 1, nil
	}
	for k := range running {
		belongs, err := x.belongs(&row, &running[k], len(running) == 1, nil)
		if err != nil {
			return 0, err
		}
		if belongs {
			return running[k].number, nil
		}
	}
	return 0, nil
}

// ByCall is the number of the exchange that an inspector numbered so in one of
// its sessions, 0 if there is none.
func (x *Index) ByCall(session string, call int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.sessions[session]; s != nil && call != 0 {
		if i, ok := s.calls[call]; ok {
			return i + 1
		}
	}
	return 0
}

// meanwhile reports whether a notification is one that only tells of a call in
// progress.
func meanwhile(method string) bool { return method == noteProgress || method == noteMessage }

// backward is how many exchanges before a frame are looked at to find those
// that were running.
const backward = 4096

// found is an exchange as it is at the moment, for readers without x.mu.
type found struct {
	record
	number   int
	sessions []string
}

// at is the i-th exchange. The caller holds x.mu.
func (x *Index) at(i int) found {
	f := found{record: x.list[i], number: i + 1}
	f.more = slices.Clone(f.more)
	f.sessions = append([]string{f.session.name}, x.also[i]...)
	return f
}

// runningAt lists the exchanges of a session that had begun and not ended at a
// frame. The caller holds x.mu.
func (x *Index) runningAt(seq int64, session string) []found {
	at, _ := slices.BinarySearchFunc(x.list, seq, func(r record, seq int64) int { return cmp.Compare(int64(r.first), seq) })
	var out []found
	for i := at - 1; i >= max(0, at-backward); i-- {
		r := &x.list[i]
		if (r.session.name == session || slices.Contains(x.also[i], session)) && r.ranAt(seq) {
			out = append(out, x.at(i))
		}
	}
	return out
}

// ranAt reports whether the exchange was under way at a frame. Of one without
// a response only its cancellation is an end.
func (r *record) ranAt(seq int64) bool {
	end := int64(r.final)
	if end == 0 {
		end = 1 << 62
		if r.flags&flagCancelled != 0 && len(r.more) > 0 {
			end = int64(slices.Max(r.more))
		}
	}
	return int64(r.first) < seq && seq < end
}

// belongs reports whether a notification that only tells of progress belongs to
// an exchange: by the inspector's word, by its progress token, or, of a log
// message, because nothing else was running. tokens are those of the exchange,
// nil if they are to be read.
func (x *Index) belongs(row *wire.Row, r *found, alone bool, tokens map[string]bool) (bool, error) {
	switch {
	case !slices.Contains(r.sessions, row.Session):
		return false, nil
	case row.Call != 0:
		return uint32(row.Call) == r.call, nil
	case row.Method == noteMessage:
		return alone, nil
	}
	if tokens == nil {
		var err error
		if tokens, err = x.tokens(&r.record); err != nil {
			return false, err
		}
	}
	f, err := x.log.Frame(row.Seq)
	if err != nil {
		return false, err
	}
	token := member(f.Message.Params, "progressToken")
	return token != nil && tokens[string(plain(token))], nil
}

// tokens are the progress tokens of an exchange's requests.
func (x *Index) tokens(r *record) (map[string]bool, error) {
	out := make(map[string]bool)
	for _, seq := range append([]uint32{r.first}, r.more...) {
		f, err := x.log.Frame(int64(seq))
		if err != nil {
			return nil, err
		}
		if f.Kind == wire.Request && calls(f.Method) {
			if token := member(member(f.Message.Params, "_meta"), "progressToken"); token != nil {
				out[string(plain(token))] = true
			}
		}
	}
	return out, nil
}

// via says how a question travels that a response asks.
func via(k wire.Kind) elicit.Via {
	if k == wire.Error {
		return elicit.InError
	}
	return elicit.InRound
}
