package lint

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// noiseMost bounds how many lines of noise are linted in one session, because a server
// that logs to standard output writes many.
const noiseMost = 100

func (s *session) receivedNoise(f *wire.Frame) {
	if s.noise++; s.noise > noiseMost || f.Unread() {
		return
	}
	isResponse := rawjson.Member(f.Raw, "result") != nil || rawjson.Member(f.Raw, "error") != nil
	if id := string(rawjson.Member(f.Raw, "id")); isResponse && (id == "" || id == "null") {
		s.nameless(f.Raw)
		return
	}
	if string(f.Raw) == wire.ByteOrderMark {
		s.broken(0, "byte-order-mark", "", "A byte order mark (U+FEFF) stands before the message that follows. The inspector passes it over; other clients may refuse the message.")
		return
	}
	if f.Transport != "stdio" {
		return
	}
	_, err := wire.ParseMessage(f.Raw)
	switch {
	case strings.TrimSpace(string(f.Raw)) == "":
		s.broken(0, "stdout-noise", "", "An empty line on standard output is not a message; clients may end the connection over it.")
	case err == nil || !json.Valid(f.Raw):
		s.broken(0, "stdout-noise", "", "Standard output is for messages alone, and this line is not one; clients may end the connection over it. Logs belong on standard error.")
	default:
		s.broken(0, "stdout-noise", "", "This line on standard output is JSON, but not a message (%s); clients may end the connection over it.", wording.Shorten(err.Error(), 120))
	}
}

func (s *session) nameless(response json.RawMessage) {
	at := ""
	if rawjson.Member(response, "id") != nil {
		at = "/id"
	}
	if s.blamed[""] { // a fault sent a request without a readable id
		return
	}
	if rawjson.Member(response, "error") != nil {
		s.broken(0, "error-without-id", at, "The error has no id, so nobody can tell which request failed; only where the request's own id could not be read is there none to give.")
	} else {
		s.broken(0, "response-unasked", at, "The response has no id, so nobody can tell which request it answers.")
	}
}

func (s *session) receivedRequest(f *wire.Frame) {
	id := wire.IDKey(f.Message.ID)
	place := 0
	if mcp.IsInput(f.Method) {
		place = 1
	}
	switch {
	case f.Method == mcp.MethodElicit: // lint.Elicitation has rules for this
	case place == 1:
		s.broken(place, "request-removed", "/method", "Since 2026-07-28 a server asks inside an input-required result; %s is no longer a request of its own.", f.Method)
	default:
		s.broken(place, "server-request-removed", "/method", "Since 2026-07-28 servers send no requests; this one is %s.", wording.Quoted(f.Method))
	}
	if s.asked[id] != nil && s.greeted { // otherwise the log may lack its answer
		s.broken(place, "request-id-taken", "/id", "The id %s is that of an earlier request which still waits for its response; one response cannot answer two requests.", wording.Shorten(string(f.Message.ID), 60))
	}
	if s.used[id] && s.asked[id] == nil && s.greeted && (f.Transport != "http" || s.named) {
		s.broken(place, "id-used-again", "/id", "The id %s is that of an earlier request in this session; each request has an id of its own.", wording.Shorten(string(f.Message.ID), 60))
	}
	if s.early && f.Method != mcp.MethodPing {
		s.broken(place, "request-early", "/method", "The client has not sent notifications/initialized yet; until then a server should send nothing but ping and log messages.")
	}
	if len(s.used) < most {
		s.used[id] = true
	}
	one := &asked{}
	r := s.request()
	if place == 1 && !f.Unread() {
		r.call = s.callOf(f)
		one = askedBy(f.Message.Params, r.call)
		one.offer = s.judgeInput(elicit.AskedIn(f.Message)[0], place, r)
		if s.asked[id] == nil {
			s.client.keepParams(one, f.Message.Params)
		}
		s.judgeTaskQuestion(f.Message.Params)
	}
	one.asTask, one.task = conversation.IsAskedAsTask(f.Message.Params), rawjson.Text(rawjson.Member(f.Message.Params, "taskId"))
	one.method, one.at, one.revision, one.declared = f.Method, f.Time, r.revision, r.declared
	if s.asked[id] == nil && len(s.asked) < most {
		s.asked[id] = one
		if one.call != nil {
			one.call.open = append(one.call.open, one)
		}
	}
}

func (s *session) receivedResponse(ctx context.Context, f *wire.Frame) {
	id := string(f.Message.ID)
	if f.Pair == 0 {
		if s.greeted { // otherwise the log may lack the request
			s.receivedUnasked(f)
		}
		return
	}
	r := s.requests[id]
	delete(s.requests, id)
	if ping := s.pings[id]; ping != nil && ping.waited {
		s.broken(0, "ping-unanswered", "/id", "The response to the ping in frame %d came only after the answer to a question; it has to come promptly.", ping.seq)
	}
	delete(s.pings, id)
	switch {
	case r != nil:
		s.responded(f, r)
	case f.Duplicate && s.greeted && !s.blamed[id]:
		s.broken(0, "answered-twice", "/id", "The request %s has its response already; clients ignore this one.", wording.Shorten(id, 60))
	case slices.ContainsFunc(s.stopped[id], func(one *asked) bool { return one.answered }) && f.Kind == wire.Result && string(rawjson.Member(f.Message.Result, "isError")) != "true":
		s.broken(0, "cancelled-goes-on", "/result", "The client had cancelled this call while its question waited, and the server went on with it once the question was answered.")
	}
	if r == nil { // cancelled, or answered before
		r = s.request()
	}
	if f.Unread() {
		return
	}
	list := s.judgeResponse(f, r)
	s.judgeTaskResult(f, r)
	for i, one := range list {
		if ctx.Err() != nil {
			break // patterns can take half a second for each question
		}
		s.judgeInput(one, i+1, r)
	}
	if r.call != nil {
		if len(list) == 0 && r.method != "" && f.Fault == "" && rawjson.Member(f.Message.Result, "task") == nil && rawjson.Text(rawjson.Member(f.Message.Result, "resultType")) != "input_required" {
			s.followed(f, r)
		}
		r.call.asked = make(map[string]*asked)
		for _, one := range list {
			r.call.asked[one.Key] = askedBy(one.Params, r.call)
		}
	}
	if f.Kind == wire.Result && f.Fault == "" && r.method != "" {
		s.client.await(f.Message.Result, r, list)
	}
}

// responded judges what the response to a request shows of earlier messages, whose own
// responses should have come before.
func (s *session) responded(f *wire.Frame, r *request) {
	if r.token != nil {
		r.token.over = true
	}
	for id, ping := range s.pings {
		if ping.seq < r.seq && f.Time.Sub(ping.sent) > pingTime {
			delete(s.pings, id)
			s.broken(0, "ping-unanswered", "/id", "The ping in frame %d got no response, and a later request did.", ping.seq)
		}
	}
	if r.call == nil {
		return
	}
	s.left = slices.DeleteFunc(s.left, func(one *asked) bool {
		if !one.settled && r.seq > one.left {
			s.broken(0, "question-left-open", "/id", "The call of an earlier question got its response in frame %d, and the question was neither answered nor cancelled before a later call was over. A server that stops waiting should send notifications/cancelled.", one.left)
		}
		return one.settled || r.seq > one.left
	})
	if len(s.blamed) > 0 {
		return
	}
	for _, one := range r.call.open {
		if !one.settled && len(s.left) < most {
			one.left = f.Seq
			s.left = append(s.left, one)
		}
	}
	r.call.open = nil
}

func (s *session) judgeResponse(f *wire.Frame, r *request) []elicit.Asked {
	if f.Kind == wire.Error {
		s.find(0, "/error", Error(f.Message.Error, r.revision))
		if r.revision == mcp.Revision20250618 { // whose errors ask nothing
			return nil
		}
		return elicit.AskedIn(f.Message)
	}
	s.client.answered = s.client.answered || f.Method == mcp.MethodInitialize
	if f.Method == mcp.MethodInitialize || f.Method == mcp.MethodDiscover {
		s.offered = rawjson.Member(f.Message.Result, "capabilities")
		if revision := rawjson.Text(rawjson.Member(f.Message.Result, "protocolVersion")); revision != "" {
			s.revision, r.revision = revision, revision
		}
	}
	if f.Method == mcp.MethodInitialize {
		return nil
	}
	if r.revision == "" && rawjson.Text(rawjson.Member(f.Message.Result, "resultType")) != "" {
		r.revision = mcp.Revision20260728 // earlier revisions have no resultType
	}
	if r.revision != "" {
		s.find(0, "/result", Result(f.Message.Result, f.Method, r.revision))
	}
	if r.revision < mcp.Revision20260728 || f.Method == mcp.MethodGetTask && f.Question == 0 { // a task repeats what it asks
		return nil
	}
	return elicit.AskedIn(f.Message)
}

func (s *session) receivedUnasked(f *wire.Frame) {
	id := string(f.Message.ID)
	alike := `"` + id + `"` // the same id as a string or a number
	if strings.HasPrefix(id, `"`) {
		alike = strings.Trim(id, `"`)
	}
	switch {
	case id == "" && !f.Unread():
		s.nameless(f.Raw)
	case id == "", s.blamed[id]:
	case s.requests[alike] != nil:
		s.broken(0, "response-unasked", "/id", "No request has the id %s; that of the request is %s, of another type.", wording.Shorten(id, 60), wording.Shorten(alike, 60))
	default:
		s.broken(0, "response-unasked", "/id", "No request of the client's has the id %s, so this response answers nothing.", wording.Shorten(id, 60))
	}
}

func (s *session) receivedNotification(f *wire.Frame) {
	switch {
	case f.Unread():
	case mcp.TellsTask(f.Method):
		s.judgeWholeTask(f.Message.Params, "/params")
	case f.Method == mcp.NotificationElicitComplete:
		s.broken(0, "completion-removed", "/method", "notifications/elicitation/complete is gone since 2026-07-28; the client learns the outcome by retrying.")
		s.broken(0, "completion-early", "/method", "Revision 2025-06-18 has no URL mode, and so nothing that notifications/elicitation/complete could be about.")
		const at = "/params/elicitationId"
		raw := rawjson.Member(f.Message.Params, "elicitationId")
		switch t := rawjson.KindOf(f.Message.Params); {
		case t != rawjson.Object:
			place := "/params"
			if t == rawjson.None {
				place = ""
			}
			s.broken(0, "completion-malformed", place, "The notification has no params that name an elicitation, so nobody can tell which one is complete.")
		case raw == nil:
			s.broken(0, "completion-malformed", "/params", "The notification has no elicitationId, so nobody can tell which elicitation is complete.")
		case rawjson.KindOf(raw) != rawjson.String:
			s.broken(0, "completion-malformed", at, "The elicitationId is %s, not a string.", wording.WithArticle(rawjson.KindOf(raw)))
		default:
			id := rawjson.Text(raw)
			one := s.offers[id]
			if one == nil {
				if s.greeted && len(s.offers) < most { // otherwise the offer can be older than the log, or no longer kept
					s.broken(0, "completion-unknown", at, "No elicitation so far in this session has the id %s; clients ignore the notification.", wording.Quoted(id))
				}
				return
			}
			switch one.state {
			case open:
			case ofForm:
				s.broken(0, "completion-of-form", at, "The elicitation %s is not in URL mode; it is complete with its answer, and has no completion to notify.", wording.Quoted(id))
				return
			case completed:
				s.broken(0, "completion-repeated", at, "The elicitation %s was complete already; clients ignore the second notification.", wording.Quoted(id))
			case turnedDown:
				s.broken(0, "completion-declined", at, "The user did not accept the elicitation %s, and yet it is said to be complete.", wording.Quoted(id))
			}
			one.state = completed
		}
	case f.Method == mcp.NotificationCancelled:
		id := rawjson.Member(f.Message.Params, "requestId")
		if one := s.settle(wire.IDKey(id)); one != nil && len(s.client.takenBack) < most {
			s.client.takenBack[wire.IDKey(id)] = f.Time
			s.client.dropParams(one)
		}
		// After bytes that are broken on purpose, a server may take back what it could not send.
		if s.greeted && len(s.blamed) == 0 && !s.used[wire.IDKey(id)] && len(s.used) < most {
			s.broken(0, "cancelled-unknown", "/params", "The server has sent no request with the id %s in this session.", wording.Shorten(string(id), 60))
		}
		if s.greeted && !s.listens[string(id)] {
			s.broken(0, "cancelled-by-server", "/method", "Since 2026-07-28 a server sends notifications/cancelled only to end a subscriptions/listen of the client's.")
		}
	case f.Method == mcp.NotificationProgress:
		s.receivedProgress(f.Message.Params)
	case f.Method == mcp.NotificationMessage:
		s.receivedLog(f.Message.Params)
	case strings.HasSuffix(f.Method, "/list_changed"):
		list := strings.TrimSuffix(strings.TrimPrefix(f.Method, "notifications/"), "/list_changed")
		if s.offered != nil && string(rawjson.Member(s.offered, list, "listChanged")) != "true" {
			s.broken(0, "change-undeclared", "/method", "The server has not declared that it tells when its %s change (listChanged).", list)
		}
	case f.Method == mcp.MethodPing || mcp.IsInput(f.Method):
		s.broken(0, "request-without-id", "", "%s is a request and has no id, so nothing can answer it.", f.Method)
	}
}

func (s *session) receivedProgress(params json.RawMessage) {
	name, value := rawjson.Member(params, "progressToken"), rawjson.Member(params, "progress")
	t := s.tokens[wire.IDKey(name)]
	now, err := strconv.ParseFloat(string(value), 64)
	switch {
	case t == nil:
		if s.greeted && len(s.tokens) < most {
			s.broken(0, "progress-unknown", "/params", "No request of the client's has given the progress token %s.", wording.Shorten(string(name), 60))
		}
	case t.over:
		s.broken(0, "progress-after-result", "/params/progressToken", "The request of this progress has its response already; progress ends with it.")
	case err == nil && now <= t.last:
		s.broken(0, "progress-not-rising", "/params/progress", "The progress is %s, and was %v before; it has to increase.", wording.Shorten(string(value), 60), t.last)
	case err == nil:
		t.last = now
	}
}

func (s *session) receivedLog(params json.RawMessage) {
	if s.offered != nil && rawjson.Member(s.offered, "logging") == nil {
		s.broken(0, "log-undeclared", "/method", "The server sends log messages, and has not declared the capability for them.")
	}
	if s.greeted && !s.runs(func(r *request) bool { return r.logs }) {
		s.broken(0, "log-unasked", "/method", "No request that is running asks for log messages, by its log level; without one a server sends none.")
	}
	text := string(params)
	has := func(value string) bool {
		quoted := rawjson.Quoted(value)
		return strings.Contains(text, string(quoted[1:len(quoted)-1]))
	}
	switch {
	case slices.ContainsFunc(s.secrets, has):
		s.broken(0, "secret-in-log", "/params", "The log message has the answer to a question that looks like a request for a secret.")
	case slices.ContainsFunc(s.personal, has):
		s.broken(0, "personal-in-log", "/params", "The log message has personal data that the user was asked for.")
	}
}
