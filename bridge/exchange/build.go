package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wire"
)

// Reading says what of an exchange is read. The zero value reads all, and
// leaves nothing out but what a nil *wire.Redaction does.
type Reading struct {
	Redact *wire.Redaction
	// Only says which frames are chosen; nil means all. Of an exchange with none
	// nothing is told. Of the others, what the frames that are not chosen say is
	// left out, but for what gives those that are their names: the method and
	// the tool, the message of a question whose answer is chosen, and what became
	// of them when.
	Only func(seq int64) bool
}

// partMost bounds the size of arguments, questions, answers and results that
// are read into an exchange. What is larger stands in the log.
const partMost = 16 << 20

// Exchange reads the exchange with that number.
func (x *Index) Exchange(ctx context.Context, number int, how Reading) (*Exchange, error) {
	x.mu.Lock()
	if number < 1 || number > len(x.list) {
		x.mu.Unlock()
		return nil, fmt.Errorf("there is no exchange %d in the log", number)
	}
	r := x.at(number - 1)
	running := x.meanwhile(number - 1)
	x.mu.Unlock()
	seqs, err := x.core(&r.record)
	if err != nil {
		return nil, fmt.Errorf("reading exchange %d: %w", number, err)
	}
	notes, omitted, err := x.notes(ctx, &r, running)
	if err != nil {
		return nil, fmt.Errorf("reading exchange %d: %w", number, err)
	}
	seqs = append(seqs, notes...)
	slices.Sort(seqs)
	e := &Exchange{Number: number, Call: int(r.call), Omitted: omitted, Session: r.session.name}
	return e, x.fill(e, slices.Compact(seqs), how)
}

// Around reads the exchange that a frame belongs to. For a frame that belongs
// to none it makes one of the frame, and of the request and the response that
// go with it.
func (x *Index) Around(ctx context.Context, seq int64, how Reading) (*Exchange, error) {
	number, err := x.Of(seq)
	if err != nil {
		return nil, err
	}
	if number != 0 {
		return x.Exchange(ctx, number, how)
	}
	f, err := x.log.Frame(seq)
	if err != nil {
		return nil, err
	}
	seqs := []int64{seq}
	if f.Pair != 0 {
		seqs = append(seqs, f.Pair)
	}
	slices.Sort(seqs)
	e := &Exchange{Session: f.Session}
	return e, x.fill(e, seqs, how)
}

// core lists the frames that make the exchange what it is, in order.
func (x *Index) core(r *record) ([]int64, error) {
	seqs := []int64{int64(r.first)}
	for _, seq := range r.more {
		seqs = append(seqs, int64(seq))
	}
	rows, err := x.log.Rows(seqs[:1])
	if err != nil {
		return nil, err
	}
	if len(rows) == 1 && rows[0].Pair != 0 {
		seqs = append(seqs, rows[0].Pair)
	}
	slices.Sort(seqs)
	return slices.Compact(seqs), nil
}

// meanwhile lists the other exchanges of its sessions that overlap with the
// i-th. The caller holds x.mu.
func (x *Index) meanwhile(i int) []found {
	r := x.at(i)
	var out []found
	for _, name := range r.sessions {
		out = append(out, x.runningAt(int64(r.first), name)...)
	}
	end := r.end()
	for k := i + 1; k < len(x.list) && k < i+backward && int64(x.list[k].first) < end; k++ {
		if slices.Contains(r.sessions, x.list[k].session.name) {
			out = append(out, x.at(k))
		}
	}
	return out
}

// end is the last frame that is known of the exchange, or the end of the log
// where it goes on.
func (r *record) end() int64 {
	if r.state() == Running {
		return 1 << 62
	}
	end := int64(max(r.first, r.final))
	for _, seq := range r.more {
		end = max(end, int64(seq))
	}
	return end
}

// notesMost bounds how many progress notifications and log messages of an
// exchange are looked at, on either side of a gap.
const notesMost = 2000

// notes lists the progress notifications and log messages that belong to an
// exchange. running are the others that overlap with it.
func (x *Index) notes(ctx context.Context, r *found, running []found) (seqs []int64, omitted int, err error) {
	if r.rounds == 0 {
		return nil, 0, nil // no call
	}
	from, _ := x.tells.Index(int64(r.first))
	to, _ := x.tells.Index(r.end())
	candidates := x.tells.Seqs(from, int(min(to-from, notesMost)))
	if from += notesMost; from < to {
		tail := max(to-notesMost, from)
		omitted = int(tail - from)
		candidates = append(candidates, x.tells.Seqs(tail, int(to-tail))...)
	}
	var tokens map[string]bool
	for len(candidates) > 0 {
		n := min(len(candidates), window)
		rows, err := x.log.Rows(candidates[:n])
		if err != nil {
			return nil, 0, err
		}
		candidates = candidates[n:]
		for i := range rows {
			row := &rows[i]
			if row.Method == noteProgress && row.Call == 0 && tokens == nil {
				if tokens, err = x.tokens(&r.record); err != nil {
					return nil, 0, err
				}
			}
			alone := !slices.ContainsFunc(running, func(other found) bool {
				return slices.Contains(other.sessions, row.Session) && other.ranAt(row.Seq)
			})
			belongs, err := x.belongs(row, r, alone, tokens)
			if err != nil {
				return nil, 0, err
			}
			if belongs {
				seqs = append(seqs, row.Seq)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
	}
	return seqs, omitted, nil
}

// fill reads the frames and says what happened in them.
func (x *Index) fill(e *Exchange, seqs []int64, how Reading) error {
	chosen := func(seq int64) bool { return how.Only == nil || how.Only(seq) }
	if !slices.ContainsFunc(seqs, chosen) {
		return nil
	}
	b := builder{e: e}
	for i, seq := range seqs {
		shown := chosen(seq)
		if i > 0 && !shown && !x.told(seq, chosen) {
			continue
		}
		f, err := x.log.Frame(seq)
		if err != nil {
			return err
		}
		f = redacted(f, how.Redact)
		if i == 0 {
			b.begin(&f, shown)
		}
		if !shown {
			if x.told(seq, chosen) {
				b.add(&f, x.isGuessed(seq), false)
			}
			continue
		}
		row := wire.Row{Frame: f, Summary: f.Summary(), Action: f.Action()}
		row.Raw, row.Header = nil, nil
		row.Message = wire.Message{Kind: f.Message.Kind, ID: slices.Clone(f.Message.ID), Method: f.Message.Method}
		e.Frames = append(e.Frames, row)
		b.add(&f, x.isGuessed(seq), true)
	}
	b.end()
	return nil
}

// told reports whether a frame of an exchange that is not chosen is told of
// with those that are: requests of the client's and their responses say what
// became of the exchange when, and of a question and its answer each goes with
// the other.
func (x *Index) told(seq int64, chosen func(int64) bool) bool {
	f := x.log.Head(seq)
	request := f.Dir
	switch {
	case f.Kind == wire.Request:
	case f.Kind.IsResponse() && f.Dir == wire.ClientToServer:
		request = wire.ServerToClient
	case f.Kind.IsResponse():
		request = wire.ClientToServer
	default:
		return f.Method == noteCancelled || f.Pair != 0
	}
	return request == wire.ClientToServer || f.Pair != 0 && chosen(f.Pair)
}

func (x *Index) isGuessed(seq int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.guessed[seq]
}

// redacted is f as it may be shown.
func redacted(f wire.Frame, r *wire.Redaction) wire.Frame {
	raw := f.Raw
	f = r.Frame(f)
	if bytes.Equal(raw, f.Raw) {
		return f
	}
	if f.Kind.IsMessage() && !f.Truncated {
		// Where even the envelope is left out, nothing of it is told.
		m, err := wire.ParseMessage(f.Raw)
		if err != nil {
			m = wire.Message{Kind: f.Kind, Method: f.Message.Method}
		}
		f.Message = m
	}
	return f
}

// builder reads the frames of one exchange in order.
type builder struct {
	e      *Exchange
	begun  bool           // a frame was added
	shown  bool           // the frame that is added is chosen
	opened int            // index of the first question of the round that waits to be made again
	rounds map[int64]int  // index in e.Rounds by request
	asks   map[int64]int  // index in e.Questions by the frame of a server's request
	exact  map[int]string // id of that request, by index in e.Questions
	ids    map[string]int // index in e.Questions by elicitationId
	clock  time.Time      // never goes back
}

// begin takes from the first frame what the exchange is called.
func (b *builder) begin(f *wire.Frame, shown bool) {
	e := b.e
	b.rounds, b.asks, b.exact, b.ids = make(map[int64]int), make(map[int64]int), make(map[int]string), make(map[string]int)
	e.Server, e.Method = f.Server, f.Method
	if f.Kind == wire.Request && calls(f.Method) {
		b.shown = shown
		e.Name, e.Arguments = target(f.Method, f.Message.Params)
		e.Name, e.Arguments = own(e.Name), b.part(e.Arguments)
	}
	if e.Call == 0 {
		e.Call = f.Call
	}
}

// add goes on with a frame. shown says that it is chosen: of one that is not,
// only what became of it is kept.
func (b *builder) add(f *wire.Frame, guessed, shown bool) {
	e := b.e
	b.shown = shown
	if !b.begun {
		b.begun, e.Start = true, f.Time
	}
	if f.Time.After(b.clock) {
		b.clock = f.Time
	}
	e.End = b.clock
	out := f.Dir == wire.ClientToServer
	switch {
	case f.Kind == wire.Request && !out && asks(f.Method):
		b.question(f, guessed)
	case f.Kind == wire.Request:
		b.request(f)
	case f.Kind.IsResponse() || f.Pair != 0:
		if i, ok := b.asks[f.Pair]; ok {
			b.answer(i, f)
		} else {
			b.response(f)
		}
	case f.Method == noteCancelled:
		b.cancelled(f, out)
	case f.Method == noteComplete:
		if i, ok := b.ids[text(member(f.Message.Params, "elicitationId"))]; ok && e.Questions[i].CompletedSeq == 0 {
			e.Questions[i].Completed, e.Questions[i].CompletedSeq = b.clock, f.Seq
		}
	}
}

func own(s string) string { return string([]byte(s)) }

// part is a copy of a part of a message, nil if it is too large, absent, or of
// a frame that is not chosen.
func (b *builder) part(raw json.RawMessage) json.RawMessage {
	if raw == nil || len(raw) > partMost || !b.shown {
		return nil
	}
	return slices.Clone(raw)
}

func (b *builder) request(f *wire.Frame) {
	e := b.e
	responses := member(f.Message.Params, "inputResponses")
	for i := b.opened; i < len(e.Questions) && len(e.Rounds) > 0; i++ {
		q := &e.Questions[i]
		if q.Via == elicit.ByRequest || q.State != Open {
			continue
		}
		q.Answered, q.AnswerSeq, q.AnswerUnseen = b.clock, f.Seq, !b.shown
		switch answer := member(responses, q.Key); {
		case q.Via == elicit.InError:
			q.State = Retried
		case answer == nil:
			q.State = Passed
		default:
			q.State, q.Answer, q.Action, q.Actor = Answered, b.part(answer), text(member(answer, "action")), own(f.Actor)
		}
	}
	b.opened = len(e.Questions)
	b.rounds[f.Seq] = len(e.Rounds)
	e.Rounds = append(e.Rounds, Round{Number: len(e.Rounds) + 1, Request: f.Seq, Began: b.clock})
	e.State, e.Result, e.Error, e.ResultSeq, e.NoResponse = Running, nil, nil, 0, ""
}

func (b *builder) response(f *wire.Frame) {
	e := b.e
	i, ok := b.rounds[f.Pair]
	if !ok || e.Rounds[i].Response != 0 {
		return
	}
	round := &e.Rounds[i]
	round.Response, round.Ended = f.Seq, b.clock
	var in asked
	if calls(f.Method) {
		if in = readResult(f.Message.Result); f.Kind == wire.Error {
			in = readError(f.Message.Error)
		}
	}
	round.Questions = len(in.questions)
	b.opened = len(e.Questions)
	for _, q := range in.questions {
		if !b.shown {
			break
		}
		q.Via, q.Round, q.Asked, q.AskedSeq, q.Params = via(f.Kind), round.Number, b.clock, f.Seq, b.part(q.Params)
		b.put(q)
	}
	if e.State == Cancelled {
		return
	}
	if b.shown {
		e.ResultSeq = f.Seq
	}
	switch {
	case in.more && f.Kind == wire.Result:
		e.State, e.ResultSeq = Waiting, 0
	case in.more:
		e.State, e.Error = Waiting, b.part(f.Message.Error)
	case !f.Kind.IsResponse():
		e.State, e.ResultSeq = Failed, 0
		if e.NoResponse = "it has no response"; b.shown {
			e.NoResponse = line(f.Summary(), 200)
		}
	case f.Kind == wire.Error:
		e.State, e.Error = Failed, b.part(f.Message.Error)
	default:
		e.State, e.Result = Done, b.part(f.Message.Result)
		if string(member(f.Message.Result, "isError")) == "true" {
			e.State = Unhappy
		}
	}
}

// put adds a question.
func (b *builder) put(q Question) int {
	e := b.e
	e.Questions = append(e.Questions, q)
	i := len(e.Questions) - 1
	if q.Method == methodElicit {
		if id := text(member(q.Params, "elicitationId")); id != "" {
			b.ids[id] = i
		}
	}
	return i
}

func (b *builder) question(f *wire.Frame, guessed bool) {
	round := 0
	for _, r := range b.e.Rounds {
		if r.Response == 0 {
			round = r.Number
		}
	}
	i := b.put(Question{
		Number: f.Question, Method: f.Method, Via: elicit.ByRequest, Round: round, Guessed: guessed,
		Params: b.part(f.Message.Params), Asked: b.clock, AskedSeq: f.Seq, AskedUnseen: !b.shown,
	})
	if words := member(f.Message.Params, "message"); !b.shown && f.Method == methodElicit && words != nil && len(words) <= partMost {
		b.e.Questions[i].Params = slices.Concat([]byte(`{"message":`), words, []byte("}"))
	}
	b.asks[f.Seq], b.exact[i] = i, string(f.Message.ID)
}

func (b *builder) answer(i int, f *wire.Frame) {
	q := &b.e.Questions[i]
	if q.AnswerSeq != 0 {
		return
	}
	q.Answered, q.AnswerSeq, q.AnswerUnseen, q.Actor = b.clock, f.Seq, !b.shown, own(f.Actor)
	if f.Kind == wire.Error {
		q.Error = b.part(f.Message.Error)
		if q.State == Open {
			q.State = Refused
		}
		return
	}
	q.Answer, q.Action = b.part(f.Message.Result), text(member(f.Message.Result, "action"))
	if q.State == Open {
		q.State = Answered
	}
}

func (b *builder) cancelled(f *wire.Frame, out bool) {
	e := b.e
	if out {
		if e.State == Running {
			e.State = Cancelled
		}
		return
	}
	about := string(member(f.Message.Params, "requestId"))
	for i := range e.Questions {
		q := &e.Questions[i]
		if q.Via == elicit.ByRequest && q.State == Open && b.exact[i] == about {
			q.State, q.Answered = Withdrawn, b.clock
			if b.shown {
				q.Reason = own(text(member(f.Message.Params, "reason")))
			}
			return
		}
	}
}

// end finishes what can only be told in the end.
func (b *builder) end() {
	e := b.e
	if len(e.Rounds) == 0 && len(e.Questions) > 0 {
		// What a server asks outside of any call.
		switch e.Questions[0].State {
		case Answered:
			e.State = Done
		case Refused:
			e.State = Failed
		case Withdrawn:
			e.State = Cancelled
		}
	}
	if len(e.Rounds) == 0 && len(e.Questions) == 0 {
		e.State = Done // nothing is waited for
	}
	e.Spans = spans(e)
}
