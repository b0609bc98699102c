package otlp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// prefix begins the names of what the conventions lack.
const prefix = "elicitation_inspector."

// exchange tells a request with its response, or a notification, whose answer it is itself. answer
// is 0 where none came. in is the call that it belongs to; nil for none.
func (r *Reader) exchange(ctx context.Context, seq, answer int64, in *call) error {
	s, _, err := r.span(ctx, seq, answer, in)
	if err == nil && s != nil {
		if in != nil {
			s.inside(in.first, in)
		}
		r.emit(s)
	}
	return err
}

// span returns the span of a request or a notification; nil if neither it nor its answer is chosen.
func (r *Reader) span(ctx context.Context, seq, answer int64, in *call) (*Span, spanRef, error) {
	f, err := r.log.Frame(seq)
	if err != nil {
		return nil, spanRef{}, err
	}
	own, parent := r.refs(&f, in)
	if r.Only != nil && !r.Only(seq) && !(answer != 0 && r.Only(answer)) {
		return nil, own, nil
	}
	r.learn(&f)
	label := f.Server
	f = *r.Redact.Frame(&f)
	s := &Span{TraceID: own.trace, ID: own.span, State: own.state, Parent: parent.span, Kind: Called, Start: nanos(f.Time)}
	if f.Dir == wire.ServerToClient {
		s.Kind = Served
	}
	if parent != (spanRef{}) && in != nil && parent.trace != in.first.trace {
		s.Links = append(s.Links, Link{in.first.trace, in.first.span})
	}
	s.describe(r, &f, label)
	switch {
	case answer == seq: // a notification, which takes no time
	case answer != 0:
		a, err := r.log.Frame(answer)
		if err != nil {
			return nil, own, err
		}
		r.learn(&a)
		s.finish(r, r.Redact.Frame(&a))
	case f.Method == mcp.MethodListen: // which ends with its session
		s.End = nanos(r.now())
	default:
		s.end("no_response", "", r.now())
	}
	if err := r.linter.Update(ctx); err != nil {
		return nil, own, err
	}
	for _, of := range slices.Compact([]int64{seq, answer}) {
		for _, one := range r.linter.At(of) {
			if one.Place == 0 {
				s.Events = append(s.Events, r.finding(one))
			}
		}
	}
	return s, own, nil
}

// learn remembers the revision of a session, which the handshake has, or each request.
func (r *Reader) learn(f *wire.Frame) {
	in := f.Message.Params
	if f.Kind == wire.Result {
		in = f.Message.Result
	}
	revision := rawjson.Text(rawjson.Member(in, "_meta", mcp.MetaProtocol))
	if f.Method == mcp.MethodInitialize {
		revision = rawjson.Text(rawjson.Member(in, "protocolVersion"))
	}
	if revision != "" {
		r.protocols[f.Session] = strings.Clone(revision)
	}
}

// describe adds what the conventions want of a request or a notification.
func (s *Span) describe(r *Reader, f *wire.Frame, label string) {
	params, method := f.Message.Params, f.Method
	s.add(text("mcp.method.name", method))
	if f.Message.ID != nil {
		s.add(text("jsonrpc.request.id", strings.Trim(wire.IDKey(f.Message.ID), `"`)))
	}
	s.add(text("mcp.protocol.version", r.protocols[f.Session]), text("mcp.session.id", f.Session))
	switch f.Transport {
	case "stdio":
		s.add(text("network.transport", "pipe"))
	case "http", "sse":
		s.add(text("network.transport", "tcp"), text("network.protocol.name", "http"))
	}
	if u, err := url.Parse(f.URL); err == nil && u.Hostname() != "" && s.Kind == Called {
		s.add(text("server.address", u.Hostname()))
		if port, err := strconv.ParseInt(u.Port(), 10, 32); err == nil {
			s.add(number("server.port", port))
		}
	}
	target := rawjson.Text(rawjson.Member(params, "name"))
	switch method {
	case mcp.MethodCallTool:
		s.add(text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", target))
		if r.Content {
			s.add(long("gen_ai.tool.call.arguments", string(rawjson.Member(params, "arguments"))))
		}
	case mcp.MethodGetPrompt:
		s.add(text("gen_ai.prompt.name", target))
	default:
		target = ""
		if strings.HasPrefix(method, "resources/") || method == mcp.NotificationResourceUpdated {
			s.add(text("mcp.resource.uri", rawjson.Text(rawjson.Member(params, "uri"))))
		}
	}
	s.Name = wording.Shorten(strings.TrimSpace(method+" "+target), nameMost)
	s.add(text(prefix+"server.label", r.Redact.TextOf(label, f.Server)), text(prefix+"fault", f.Fault))
}

// finish adds how a request was answered.
func (s *Span) finish(r *Reader, f *wire.Frame) {
	s.End = nanos(f.Time)
	switch {
	case f.Kind == wire.Error:
		code, message := errorOf(f.Message.Error)
		s.add(text("rpc.response.status_code", code))
		s.fail(cmp.Or(code, "_OTHER"), message)
	case f.Kind != wire.Result && f.Status >= 400:
		s.fail(strconv.Itoa(f.Status), "")
	case f.Kind != wire.Result:
		s.fail("no_response", "")
	case f.Failed && f.Message.Kind == wire.Result:
		s.fail("tool_error", "")
	}
	if f.Kind == wire.Result && f.Method == mcp.MethodCallTool && r.Content {
		s.add(long("gen_ai.tool.call.result", string(f.Message.Result)))
	}
	if s.Kind == Served {
		s.add(text(prefix+"fault", f.Fault))
	}
}

// errorOf returns the code and the message of a JSON-RPC error; "" for one that it lacks.
func errorOf(object json.RawMessage) (code, message string) {
	e, err := conversation.ErrorOf(object)
	if err == nil {
		code = strconv.FormatInt(e.Code, 10)
	}
	return code, wording.Shorten(e.Message, textMost)
}

func (s *Span) fail(kind, message string) {
	s.add(text("error.type", kind))
	s.Status = Status{message, failed}
}

func (s *Span) add(lists ...[]Attribute) {
	for _, list := range lists {
		s.Attributes = append(s.Attributes, list...)
	}
}

// finding returns the event of a finding, at the time of its frame.
func (r *Reader) finding(f lint.Found) Event {
	e := Event{Time: nanos(r.log.Head(f.Seq).Time), Name: prefix + "finding"}
	e.Attributes = append(text(prefix+"finding.rule", f.Rule), text(prefix+"finding.severity", f.Severity.String())...)
	if shared, err := lint.Shared(f.Finding, f.Seq, r.log, r.Redact); err == nil && r.Content {
		e.Attributes = append(e.Attributes, text(prefix+"finding.text", shared.Text)...)
	}
	return e
}

// tell tells what of a call began since it was told last.
func (r *Reader) tell(ctx context.Context, of *call, c *conversation.Call) error {
	if c.Number == 0 { // what asks outside of a call, such as a list, is none
		c.Rounds = nil
	}
	rounds := len(c.Rounds) > 1 || c.Task != nil
	for _, q := range c.Questions {
		rounds = rounds || len(c.Rounds) > 0 && q.Via != elicit.ByRequest
	}
	root := of.first
	if rounds {
		root = root.under("call")
		root.state = of.first.state
	}
	requests := map[int64]spanRef{} // the spans of requests that ask, and of the first one
	before := spanRef{}
	for i := range c.Frames {
		f := &c.Frames[i]
		answer, round := f.Pair, 0
		switch {
		case f.Seq <= of.ended || f.Repeat:
			continue
		case f.Kind == wire.Notification:
			answer = f.Seq
		case f.Kind != wire.Request:
			continue
		}
		for _, one := range c.Rounds {
			if one.Request == f.Seq {
				round, answer = one.Number, one.Response
			}
		}
		if answer > r.past.Len() {
			answer = 0
		}
		s, own, err := r.span(ctx, f.Seq, answer, of)
		if err != nil {
			return err
		}
		requests[f.Seq] = own
		if s == nil {
			continue
		}
		if f.Seq != c.Frames[0].Seq || rounds {
			s.inside(root, of)
		}
		for _, q := range c.Questions {
			if q.AskedSeq == f.Seq && answer == 0 && f.Kind == wire.Request {
				s.end(q.State.String(), "", q.Ended)
			}
		}
		if round > 0 {
			if before != (spanRef{}) {
				s.Links = append(s.Links, Link{before.trace, before.span})
			}
			before = own
			s.add(number(prefix+"round", int64(round)))
			if answer == 0 {
				s.broken(c)
			}
			if !rounds {
				s.ofCall(c)
			}
		}
		r.emit(s)
	}
	for _, q := range c.Questions {
		if q.AskedSeq > of.ended {
			if err := r.question(ctx, of, c, q, requests, root); err != nil {
				return err
			}
		}
	}
	if rounds && of.ended == 0 {
		s := &Span{
			TraceID: root.trace, ID: root.span, State: root.state, Parent: of.parent.span, Kind: Internal,
			Name: wording.Shorten("call "+wordsOf(c), nameMost), Start: nanos(c.Start), End: nanos(cmp.Or(c.Ended, c.End)),
		}
		s.add(text("mcp.method.name", c.Method), text("mcp.session.id", c.Session), text("mcp.protocol.version", c.Protocol))
		s.ofCall(c)
		if c.State > conversation.Done {
			s.broken(c)
		}
		r.emit(s)
	}
	return nil
}

// wordsOf returns the name of the tool or the prompt that was called. For a resource it returns the method, since
// there can be any number of URIs, and names of spans should be few.
func wordsOf(c *conversation.Call) string {
	if c.Method == mcp.MethodReadResource {
		return c.Method
	}
	return cmp.Or(c.Name, c.Method)
}

// inside makes a span a part of a call, unless another program says what it is a part of.
func (s *Span) inside(root spanRef, of *call) {
	if s.Parent == (SpanID{}) || s.Parent == of.parent.span {
		s.Parent = root.span
	}
}

// ofCall adds what is known of a whole call: where the time went, and what came of it.
func (s *Span) ofCall(c *conversation.Call) {
	if c.Number != 0 {
		s.add(number(prefix+"call.number", int64(c.Number)))
	}
	s.add(number(prefix+"call.rounds", int64(len(c.Rounds))), number(prefix+"call.questions", int64(len(c.Questions))))
	if !c.Foreign() {
		s.add(number(prefix+"call.person_ms", c.With(conversation.PersonParty).Milliseconds()))
	}
	s.add(number(prefix+"call.server_ms", c.With(conversation.ServerParty).Milliseconds()))
	if c.Task != nil {
		s.add(text(prefix+"call.task", string(c.Task.Status)))
	}
}

// broken adds why a request, or a call, has no result.
func (s *Span) broken(c *conversation.Call) {
	kind, message := "no_response", c.Failure
	switch {
	case c.State == conversation.Stopped:
		kind = "cancelled"
	case c.State == conversation.ToolFailed:
		kind, message = "tool_error", ""
	case c.Error != nil:
		kind, message = errorOf(c.Error)
	}
	s.end(cmp.Or(kind, "_OTHER"), message, cmp.Or(c.Ended, c.End))
}

// end marks a span as failed, with the reason and the time of the failure.
func (s *Span) end(kind, message string, at time.Time) {
	s.Attributes = slices.DeleteFunc(s.Attributes, func(a Attribute) bool { return a.Key == "error.type" })
	s.fail(kind, message)
	s.End = nanos(at)
}

// question tells a question of a call, from the moment when it was asked until it was settled.
func (r *Reader) question(ctx context.Context, of *call, c *conversation.Call, q *conversation.Question, requests map[int64]spanRef, root spanRef) error {
	f := r.log.Head(q.AskedSeq)
	parent, asked := root, q.AskedSeq
	if q.Via != elicit.ByRequest && f.Pair != 0 {
		asked = f.Pair // the request whose response asks
	}
	by, known := requests[asked]
	if !known {
		message, err := r.log.Frame(asked)
		if err != nil {
			return err
		}
		by, _ = r.refs(&message, of)
	}
	if q.Via == elicit.ByRequest || len(c.Rounds) == 0 {
		parent = by
	}
	own := by.under("question", q.Pointer)
	own.trace = parent.trace
	mode, name := "", q.Method
	fields := int64(-1)
	if q.Method == mcp.MethodElicit {
		mode = string(elicit.ModeForm)
		if request, err := elicit.Parse(q.Params); err == nil {
			mode = string(request.Mode)
			if request.Schema != nil {
				fields = int64(len(request.Fields))
			}
		}
		name = mode
	}
	ended := cmp.Or(q.Ended, c.Ended, c.End)
	s := &Span{
		TraceID: own.trace, ID: own.span, State: parent.state, Parent: parent.span, Kind: Internal, Name: wording.Shorten(strings.TrimSpace("question "+name), nameMost),
		Start: nanos(q.Asked), End: nanos(ended),
	}
	s.add(text("mcp.method.name", q.Method), text("mcp.session.id", c.Session), text("mcp.protocol.version", c.Protocol))
	s.add(number(prefix+"question.number", int64(q.Number)), text(prefix+"question.mode", mode))
	if fields >= 0 {
		s.add(number(prefix+"question.fields", fields))
	}
	if q.Round > 0 {
		s.add(number(prefix+"round", int64(q.Round)))
	}
	s.add(text(prefix+"question.via", q.Via.String()))
	state := q.State.String()
	if q.State == conversation.AnswerUnknown {
		state = "unknown"
	}
	s.add(text(prefix+"question.state", state))
	s.add(text(prefix+"question.action", q.Action), text(prefix+"question.answered_by", answeredBy(c, q)), text(prefix+"fault", q.Fault))
	if r.Content {
		s.add(long(prefix+"question.message", q.Message()), long(prefix+"question.params", string(q.Params)), long(prefix+"question.answer", string(q.Answer)))
	}
	if q.State > conversation.Answered && q.State != conversation.AnswerUnknown {
		why := text(prefix+"reason", q.Reason)
		if q.By == conversation.ByServer && !r.Content {
			why = nil
		}
		s.Events = append(s.Events, Event{nanos(ended), prefix + state, why})
	}
	if how := q.Completion.String(); how != "" {
		s.Events = append(s.Events, Event{nanos(cmp.Or(q.Completed, ended)), prefix + "completed", text(prefix+"completion", how)})
	}
	if err := r.linter.Update(ctx); err != nil {
		return err
	}
	for _, one := range lint.OfQuestion(q, c.ResultSeq, r.linter.At) {
		s.Events = append(s.Events, r.finding(one))
	}
	r.emit(s)
	return nil
}

// answeredBy names who settled a question. Of another client's nobody knows whether that was a person.
func answeredBy(c *conversation.Call, q *conversation.Question) string {
	if q.By == "" && q.State == conversation.Answered && c.Foreign() {
		return "client"
	}
	return q.By
}
