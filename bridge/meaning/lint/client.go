package lint

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// clientState keeps the parts of a session that the rules about clients compare messages with.
type clientState struct {
	whole     bool                 // the log has the client's first message
	seen      bool                 // a message of the client's was seen
	answered  bool                 // the server has answered the latest initialize
	sent      map[string]bool      // exact ids of the client's requests
	takenBack map[string]time.Time // when the server cancelled a request of its own, by wire.IDKey
	awaited   []*awaited           // input-required results, oldest first
	kept      int                  // bytes of the params of questions that wait
	once      map[string]bool      // rules that are broken by every message, and were found
}

// Bounds on what is kept of questions until they are answered.
const (
	awaitedMost = 256
	paramsMost  = 256 << 10 // bytes of one question
	keptMost    = 16 << 20  // bytes of all questions of a session
	listedMost  = 20        // problems of one answer that are findings
)

// Times after which a client cannot say that messages have crossed, or that it was busy.
const (
	crossTime  = 2 * time.Second
	promptTime = 10 * time.Second
)

// sum identifies a value of any size; the zero sum stands for an absent one.
type sum [sha256.Size]byte

func sumOf(raw json.RawMessage) sum {
	if raw == nil {
		return sum{}
	}
	if rawjson.KindOf(raw) == rawjson.String {
		raw = rawjson.Quoted(rawjson.Text(raw))
	}
	return sha256.Sum256(rawjson.AppendCompact(nil, raw))
}

// awaited is an input-required result, whose request the client is to send again.
type awaited struct {
	request
	asked    []*asked
	redacted bool // the state is
	known    sum  // of the state
	done     bool // the request was sent again
}

// keepParams keeps the params of a question until it is answered, unless they are too large.
func (c *clientState) keepParams(a *asked, params json.RawMessage) {
	if len(params) <= paramsMost && c.kept+len(params) <= keptMost {
		a.params = params
		c.kept += len(params)
	}
}

func (c *clientState) dropParams(a *asked) {
	c.kept -= len(a.params)
	a.params = nil
}

// await keeps an input-required result until the client sends its request r again.
func (c *clientState) await(result json.RawMessage, r *request, list []elicit.Asked) {
	if rulesOf(r.revision) != july || rawjson.Text(rawjson.Member(result, "resultType")) != "input_required" {
		return
	}
	state := conversation.StateOf(result)
	w := &awaited{request: *r, known: sumOf(state), redacted: bytes.Contains(state, []byte(redact.Placeholder))}
	for _, one := range list {
		a := &asked{input: one.Key, method: one.Method, revision: r.revision, declared: r.declared}
		c.keepParams(a, one.Params)
		w.asked = append(w.asked, a)
	}
	if c.awaited = append(c.awaited, w); len(c.awaited) > awaitedMost {
		for _, a := range c.awaited[0].asked {
			c.dropParams(a)
		}
		c.awaited = c.awaited[1:]
	}
}

// judgeSent judges a message of the client, which the session knows already. taken reports that a
// waiting request has the same id. answers is the request of the server that it answers; nil for
// none.
func (s *session) judgeSent(f *wire.Frame, taken bool, answers *asked) {
	if f.Fault != "" || f.Unread() || s.blamed[string(f.Message.ID)] {
		return
	}
	if f.Transport == "http" && f.Kind.IsMessage() {
		s.judgeVersionHeader(f)
	}
	switch f.Kind {
	case wire.Noise:
		if f.Transport == "stdio" && !s.client.once["stdin-noise"] {
			s.once("stdin-noise", "", "This line on the server's standard input is not a message; servers may end the connection over it.")
		}
	case wire.Request:
		s.judgeRequest(f, taken)
	case wire.Result, wire.Error:
		s.judgeReply(f, answers)
	case wire.Notification:
		if f.Method == mcp.NotificationTaskStatus {
			s.judgeTask(f.Message.Params, "/params", true, false)
		}
		id := rawjson.Member(f.Message.Params, "requestId")
		if f.Method != mcp.NotificationCancelled || id == nil {
			return
		}
		r := s.requests[string(id)]
		switch {
		case r != nil && r.method == mcp.MethodInitialize:
			s.broken(0, "initialize-cancelled", "/params/requestId", "A client must not cancel initialize.")
		case s.greeted && s.client.whole && !s.client.sent[string(id)] && len(s.client.sent) < most:
			s.broken(0, "client-cancelled-unknown", "/params/requestId", "The client has sent no request with the id %s in this session.", wording.Shorten(string(id), 60))
		}
	}
}

// once adds a finding of a rule that a client is likely to break with every message: only
// the first one of a session is kept.
func (s *session) once(rule, pointer, format string, args ...any) {
	if !s.client.once[rule] {
		s.client.once[rule] = true
		s.broken(0, rule, pointer, format, args...)
	}
}

func (s *session) judgeVersionHeader(f *wire.Frame) {
	const name = "Mcp-Protocol-Version"
	complete := f.Header.Get("Content-Type") != "" // other tools record some headers only
	if !complete || s.legacy || f.Method == mcp.MethodInitialize || s.revision < june || !s.client.answered && rulesOf(s.revision) != july {
		return
	}
	switch sent := f.Header.Get(name); {
	case sent == "":
		s.once("version-header-missing", "", "The request has no header MCP-Protocol-Version, which tells the server the revision of every request after the handshake.")
	case sent != s.revision && !strings.Contains(sent, redact.Placeholder):
		s.once("version-header-wrong", "", "The header MCP-Protocol-Version says %s, and the revision here is %s.", wording.Quoted(wording.Shorten(sent, 40)), s.revision)
	}
	if rulesOf(s.revision) != july || f.Kind != wire.Request {
		return
	}
	s.judgeStandardHeader(f, "Mcp-Method", f.Method)
	switch f.Method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		s.judgeStandardHeader(f, "Mcp-Name", rawjson.Text(rawjson.Member(f.Message.Params, "name")))
	case mcp.MethodReadResource:
		s.judgeStandardHeader(f, "Mcp-Name", rawjson.Text(rawjson.Member(f.Message.Params, "uri")))
	}
}

// judgeStandardHeader judges a header that has to repeat a value of the message, in base64
// where the value is no plain header.
func (s *session) judgeStandardHeader(f *wire.Frame, name, want string) {
	sent := f.Header.Get(name)
	if encoded, ok := strings.CutPrefix(sent, "=?base64?"); ok {
		if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "?=")); err == nil {
			sent = string(decoded)
		}
	}
	switch {
	case len(f.Header.Values(name)) == 0:
		s.once("standard-header-missing", "", "The request has no header %s; it has to be %s here.", name, wording.Quoted(wording.Shorten(want, 60)))
	case sent != want && sent != strings.TrimSpace(want) && !strings.Contains(sent, redact.Placeholder):
		s.once("standard-header-wrong", "", "The header %s says %s, and the message has %s.", name, wording.Quoted(wording.Shorten(sent, 60)), wording.Quoted(wording.Shorten(want, 60)))
	}
}

func (s *session) judgeRequest(f *wire.Frame, taken bool) {
	params := f.Message.Params
	id := wording.Shorten(string(f.Message.ID), 60)
	switch {
	case !s.greeted:
	case taken:
		s.broken(0, "client-id-taken", "/id", "The id %s is that of an earlier request which still waits for its response; one response cannot answer two requests.", id)
	case f.Duplicate && (f.Transport != "http" || s.named):
		s.broken(0, "client-id-again", "/id", "The id %s is that of an earlier request in this session; each request has an id of its own.", id)
	}
	switch {
	case f.Method == mcp.MethodInitialize || f.Method == mcp.MethodPing || !s.early:
	case s.client.answered:
		s.once("initialized-missing", "/method", "The server has answered initialize, and the client has not sent notifications/initialized before its next request.")
	default:
		s.once("client-request-early", "/method", "The server has not answered initialize yet; until then a client should send nothing but ping.")
	}
	if rulesOf(s.revision) == july && f.Method != mcp.MethodInitialize {
		for _, key := range []string{mcp.MetaProtocol, mcp.MetaCapabilities} {
			if rawjson.Member(params, "_meta", key) == nil {
				s.once("meta-missing", "", "The request has no %s in its _meta, which every request since 2026-07-28 must have.", wording.Quoted(key))
			}
		}
	}
	s.judgeTaskRequest(f)
	if mcp.AsksForInput(f.Method) {
		s.judgeRetry(f)
	}
}

// retried returns the input-required result that a request answers; nil if there is none.
// The inspector numbers the later rounds of a call. Elsewhere the requestState tells, or else
// the latest result to a request for the same tool, prompt or resource.
func (c *clientState) retried(f *wire.Frame, r *request, state, inputs json.RawMessage) *awaited {
	find := func(is func(w *awaited) bool) *awaited {
		for _, done := range []bool{false, true} {
			for _, w := range slices.Backward(c.awaited) {
				if w.done == done && is(w) {
					return w
				}
			}
		}
		return nil
	}
	if f.Call != 0 && f.Round > 1 {
		return find(func(w *awaited) bool { return w.number == f.Call })
	}
	var w *awaited // without a state and inputs there is none: a call may go on with the round of an earlier one
	if state != nil {
		w = find(func(w *awaited) bool { return w.known == sumOf(state) })
	}
	if w == nil && (state != nil || inputs != nil) {
		w = find(func(w *awaited) bool { return w.method == r.method && w.target == r.target })
	}
	return w
}

// judgeRetry judges what a request says in answer to an input-required result.
func (s *session) judgeRetry(f *wire.Frame) {
	const states, responses = "/params/requestState", "/params/inputResponses"
	params := f.Message.Params
	state, inputs := rawjson.Member(params, "requestState"), rawjson.Member(params, "inputResponses")
	r := s.request()
	r.is(f)
	w := s.client.retried(f, r, state, inputs)
	if w == nil {
		if at := map[bool]string{true: responses, false: states}[inputs != nil]; (state != nil || inputs != nil) && s.client.whole && len(s.client.awaited) < awaitedMost {
			s.broken(0, "input-unasked", at, "Nothing in this session has asked for input before this request.")
		}
		return
	}
	w.done = true
	if w.method != r.method || w.target != r.target {
		s.broken(0, "state-elsewhere", states, "This requestState came in answer to another request (frame %d); a client sends it only when it repeats that request.", w.seq)
		return
	}
	if w.id == r.id {
		s.broken(0, "retry-id-same", "/id", "The request that is repeated had the id %s, too; the repetition is an independent request with an id of its own.", wording.Shorten(r.id, 60))
	}
	if w.arguments != r.arguments {
		s.broken(0, "retry-changed", "/params", "The arguments are not those of the request in frame %d, which this one repeats.", w.seq)
	}
	switch given := w.known != (sum{}); {
	case given && state == nil:
		s.broken(0, "state-missing", "/params", "The server gave a requestState, and the request that answers does not have it.")
	case !given && state != nil:
		s.broken(0, "state-unasked", states, "The server gave no requestState, so the request that answers must not have one.")
	case given && w.known != sumOf(state) && !w.redacted:
		s.broken(0, "state-changed", states, "The requestState is not the one that the server gave; a client has to return it exactly.")
	}
	came := map[string]bool{}
	for key, answer := range rawjson.Members(inputs) {
		at := rawjson.PointerTo(responses, key)
		i := slices.IndexFunc(w.asked, func(a *asked) bool { return a.input == key })
		switch {
		case came[key]:
			s.broken(i+1, "input-duplicate", at, "The key %s stands twice; a server keeps one of the two.", wording.Quoted(wording.Shorten(key, 60)))
		case i < 0:
			s.broken(0, "input-unknown", at, "The server has not asked for an input with the key %s.", wording.Quoted(wording.Shorten(key, 60)))
		default:
			s.judgeAnswer(w.asked[i], answer, at, i+1)
		}
		came[key] = true
	}
	for i, a := range w.asked {
		if !came[a.input] {
			at := responses
			if inputs == nil {
				at = "/params"
			}
			s.broken(i+1, "input-missing", at, "The server has asked for an input with the key %s, and the request that answers does not have it.", wording.Quoted(wording.Shorten(a.input, 60)))
		}
		s.client.dropParams(a)
	}
}

// judgeReply judges a response of the client's. answers is the request that it answers, nil
// if no such request waits.
func (s *session) judgeReply(f *wire.Frame, answers *asked) {
	id := wire.IDKey(f.Message.ID)
	shown := wording.Shorten(string(f.Message.ID), 60)
	back, takenBack := s.client.takenBack[id]
	switch {
	case answers != nil && answers.method == mcp.MethodPing:
		if f.Time.Sub(answers.at) > promptTime {
			s.broken(0, "client-ping-late", "/id", "The response to the server's ping took %v; it has to come promptly.", f.Time.Sub(answers.at).Round(time.Second))
		}
	case answers != nil && f.Kind == wire.Result && s.judgeTaskReply(f, answers):
	case answers != nil && f.Kind == wire.Result && answers.method == mcp.MethodElicit:
		s.judgeAnswer(answers, f.Message.Result, "/result", 1)
	case answers != nil && f.Kind == wire.Error:
		s.judgeRefusal(f, answers)
	case answers != nil || !s.greeted:
	case f.Duplicate:
		s.broken(0, "client-answered-twice", "/id", "The request %s has its response already; the server can use one of them.", shown)
	case takenBack:
		if f.Time.Sub(back) > crossTime {
			s.broken(0, "answer-after-cancellation", "/id", "The server had cancelled the request %s %v before; a client should send no response then.", shown, f.Time.Sub(back).Round(time.Second))
		}
	case f.Pair == 0 && len(s.used) < most:
		s.broken(0, "client-response-unasked", "/id", "No request of the server's has the id %s, so this response answers nothing.", shown)
	}
	if answers != nil {
		s.client.dropParams(answers)
	}
}

// declares reports whether the client has declared the mode of an elicitation, or whether
// that is unknown.
func (s *session) declares(a *asked) (mode elicit.Mode, declared bool) {
	mode = elicit.ModeForm
	if m := rawjson.Text(rawjson.Member(a.params, "mode")); m != "" && rulesOf(a.revision) != june {
		mode = elicit.Mode(m)
	}
	return mode, !s.greeted || a.params == nil || slices.Contains(DeclaredModes(rawjson.Member(a.declared, "elicitation"), a.revision), mode)
}

// askable reports whether params have all that a question of this mode needs.
func askable(params json.RawMessage, mode elicit.Mode) bool {
	if mode == elicit.ModeURL {
		return rawjson.Text(rawjson.Member(params, "url")) != "" && rawjson.Text(rawjson.Member(params, "elicitationId")) != ""
	}
	schema := rawjson.Member(params, "requestedSchema")
	fields, err := elicit.FieldsOf(schema)
	odd := func(f elicit.Field) bool { return f.Kind.Entry() == elicit.Written }
	return mode == elicit.ModeForm && schema != nil && err == nil && !slices.ContainsFunc(fields, odd) && rawjson.KindOf(rawjson.Member(params, "message")) == rawjson.String
}

func (s *session) judgeRefusal(f *wire.Frame, a *asked) {
	code := string(rawjson.Member(f.Message.Error, "code"))
	if a.method == mcp.MethodElicit {
		mode, declared := s.declares(a)
		switch {
		case !declared && code == "-32601" && rawjson.Member(a.declared, "elicitation") == nil: // without the capability the method does not exist
		case !declared && code != "-32602":
			s.broken(1, "refused-undeclared", "/error/code", "The client has not declared the mode %s; the error for that is -32602, and not %s.", mode, wording.Shorten(code, 20))
		case declared && s.greeted && code == "-32601":
			s.broken(1, "refused-declared", "/error/code", "The client has declared elicitation, and says that it does not know the method.")
		case declared && s.greeted && code == "-32602" && s.frame.Actor == "" && askable(a.params, mode):
			s.broken(1, "refused-declared", "/error/code", "The client has declared the mode %s, and refuses a valid question with -32602, the error for a mode that is not declared.", mode)
		}
		return
	}
	capability := map[string]string{mcp.MethodSample: "sampling", mcp.MethodListRoots: "roots"}[a.method]
	if s.greeted && code == "-32601" && capability != "" && rawjson.Member(a.declared, capability) != nil {
		s.broken(1, "refused-declared", "/error/code", "The client has declared %s, and says that it does not know the method.", capability)
	}
}

// judgeAnswer judges the answer to an elicitation at a pointer in the frame. place is the
// position of the elicitation among those that were asked together.
func (s *session) judgeAnswer(a *asked, answer json.RawMessage, at string, place int) {
	if a.method != mcp.MethodElicit {
		return
	}
	if rawjson.KindOf(answer) != rawjson.Object {
		s.broken(place, "answer-malformed", at, "The answer is %s, not an object.", wording.WithArticle(rawjson.KindOf(answer)))
		return
	}
	mode, declared := s.declares(a)
	action, content := rawjson.Member(answer, "action"), rawjson.Member(answer, "content")
	if !declared {
		s.broken(place, "answer-undeclared", at, "The client has not declared the mode %s, and answers it all the same.", wording.Quoted(wording.Shorten(string(mode), 40)))
	}
	switch word := rawjson.Text(action); {
	case action == nil:
		s.broken(place, "answer-action-unknown", at, "The answer has no action.")
	case word == "decline" || word == "cancel":
		if kind := rawjson.KindOf(content); kind != rawjson.None && kind != rawjson.Object {
			s.broken(place, "answer-malformed", at+"/content", "The content is %s, not an object; a refusal has none.", wording.WithArticle(kind))
		} else if content != nil {
			s.broken(place, "answer-content-unwanted", at+"/content", "The answer has content, though its action is %s; content belongs to accepted forms.", word)
		}
	case word != "accept":
		s.broken(place, "answer-action-unknown", at+"/action", "The action is %s, not accept, decline or cancel.", wording.Shorten(string(action), 60))
	case mode == elicit.ModeURL:
		if content != nil {
			s.broken(place, "answer-url-content", at+"/content", "The accepted question is a URL; content belongs to forms.")
		}
	case mode == elicit.ModeForm && s.frame.Actor == "":
		s.judgeContent(a, content, at, place)
	}
}

// judgeContent judges the content of an accepted form. What the inspector itself has sent is
// left out: it sends invalid content only if it was told to, and exports say so.
func (s *session) judgeContent(a *asked, content json.RawMessage, at string, place int) {
	schema := rawjson.Member(a.params, "requestedSchema")
	properties := rawjson.Member(schema, "properties")
	known, inside := map[string]bool{}, at+"/content"
	for name := range rawjson.Members(properties) {
		known[name] = true
	}
	switch kind := rawjson.KindOf(content); {
	case content == nil:
		if len(rawjson.Strings(rawjson.Member(schema, "required"))) > 0 {
			s.broken(place, "answer-content-missing", at, "The form is accepted without content, so no required field has a value.")
		}
		return
	case kind != rawjson.Object:
		s.broken(place, "answer-malformed", inside, "The content is %s, not an object.", wording.WithArticle(kind))
		return
	}
	left, odd := listedMost, map[string]bool{}
	for name, value := range rawjson.Members(content) {
		kind := rawjson.KindOf(value)
		if left == 0 {
			return
		}
		pointer := rawjson.PointerTo(inside, name)
		switch {
		case !elicit.Sendable(value):
			left--
			odd[pointer] = true
			what := wording.WithArticle(kind)
			if kind == rawjson.Array {
				what = "a list with something else than strings"
			}
			s.broken(place, "answer-value-type", pointer, "The value is %s; content has strings, numbers, booleans and lists of strings.", what)
		case schema != nil && !known[name] && a.params != nil:
			left--
			s.broken(place, "answer-field-unknown", pointer, "The question has no field %s.", wording.Quoted(wording.Shorten(name, 60)))
		}
	}
	if rawjson.KindOf(properties) != rawjson.Object {
		return
	}
	problems, err := elicit.Check(schema, content)
	if err != nil {
		return // the server's schema is invalid, which other rules say, or takes too long
	}
	for _, p := range problems[:min(len(problems), left)] {
		field, _, _ := strings.Cut(strings.TrimPrefix(p.Pointer, "/"), "/")
		pointer, of := inside+p.Pointer, "content"
		if p.Pointer != "" {
			of = "field " + wording.Quoted(wording.Shorten(field, 60))
		}
		if rawjson.At(s.frame.Raw, pointer) == nil { // the field is missing
			pointer = inside
		}
		if !odd[inside+"/"+field] && p.Keyword != elicit.FileKeyword { // a draft, which binds no client
			rule := "answer-invalid"
			if p.Limit() {
				rule = "answer-unchecked"
			}
			s.broken(place, rule, pointer, "The %s does not satisfy the question's schema: %s", of, wording.Shorten(p.Text, 300))
		}
	}
}
