//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	rev20250618 = "2025-06-18"
	rev20251125 = "2025-11-25"
	rev20260728 = "2026-07-28"
)

const (
	methodCallTool     = "tools/call"
	methodGetPrompt    = "prompts/get"
	methodReadResource = "resources/read"
	methodElicit       = "elicitation/create"
	methodSample       = "sampling/createMessage"
	methodRoots        = "roots/list"
)

// visit is one request that a story is told for.
//
// A story is written as if it could wait for its answers. Before 2026-07-28 it does: a question is a request to the client.
// Since then nothing waits: the story is told from the start again in every round, answers that are known are given at once,
// and the first that is not known ends the round with an input-required result. What was said in an earlier round is not said twice.
type visit struct {
	server    *Server
	session   *mcp.ServerSession
	end       context.CancelFunc
	revision  string
	caps      *mcp.ClientCapabilities
	client    *mcp.Implementation
	method    string
	name      string          // of the tool or prompt, or the resource's URI
	arguments json.RawMessage // an object
	meta      map[string]any
	replies   mcp.InputResponseMap // of this round
	notes     notes
	retold    bool // the story has not yet come to where it stopped in the round before
}

// notes are what a story must know in its next round. They travel in requestState.
type notes struct {
	Answers map[string]answer `json:"answers,omitempty"`
	Memos   map[string]string `json:"memos,omitempty"`
}

func (n notes) empty() bool { return len(n.Answers) == 0 && len(n.Memos) == 0 }

// question is one thing to ask the client for.
type question struct {
	key     string // names it among the questions of the story
	method  string // methodElicit if empty
	message string
	schema  string          // of form mode
	url     string          // of URL mode
	id      string          // elicitationId of URL mode, for 2025-11-25
	params  json.RawMessage // go out instead of what the above would make
	bare    bool            // goes out without params
	unruly  bool            // may be asked of any client, and is answered by anything
}

// answer is what came back for a question.
type answer struct {
	Action  string          `json:"action,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
	Text    string          `json:"text,omitempty"`  // what a model said
	Roots   []string        `json:"roots,omitempty"` // names or URIs
}

func (a answer) accepted() bool { return a.Action == "accept" }

// into decodes an accepted form, which has been found to fit its schema.
func (a answer) into(v any) error {
	if err := json.Unmarshal(a.Content, v); err != nil {
		return problem("The answer could not be read: " + err.Error())
	}
	return nil
}

// problem is why a story ends badly, for the person to read. It becomes a result marked as an error.
type problem string

func (p problem) Error() string { return string(p) }

// inputRequired ends a round of a multi round-trip request.
type inputRequired struct {
	questions []question
}

func (*inputRequired) Error() string { return "input required" }

// revisionOf returns the revision that a request is to be answered in.
func revisionOf[P mcp.Params](r *mcp.ServerRequest[P]) string {
	if v, _ := r.Params.GetMeta()[mcp.MetaKeyProtocolVersion].(string); v >= rev20260728 {
		return v
	}
	v := ""
	if p := r.Session.InitializeParams(); p != nil {
		v = p.ProtocolVersion
	}
	if v >= rev20260728 || !slices.Contains(mcp.SupportedProtocolVersions(), v) {
		return rev20251125 // what initialize is answered with for a revision that it does not know
	}
	return v
}

// modes are the ways in which a client has said that it can be asked.
type modes struct{ form, url bool }

func modesOf(revision string, c *mcp.ClientCapabilities) modes {
	if c == nil || c.Elicitation == nil {
		return modes{}
	}
	return modes{
		form: c.Elicitation.Form != nil || c.Elicitation.URL == nil,
		url:  c.Elicitation.URL != nil && revision >= rev20251125,
	}
}

// rounds tells whether questions travel in results rather than as requests.
func (v *visit) rounds() bool { return v.revision >= rev20260728 }

// welcome makes the visit of a request, and a context that also ends with the server.
// The caller calls leave when the request has been answered.
func welcome[P mcp.Params](ctx context.Context, s *Server, r *mcp.ServerRequest[P], method, name string) (context.Context, *visit, error) {
	v := &visit{
		server: s, session: r.Session, method: method, name: name,
		revision: revisionOf(r), caps: r.ClientCapabilities(), client: r.ClientInfo(), meta: r.Params.GetMeta(),
	}
	state := ""
	switch p := any(r.Params).(type) {
	case *mcp.CallToolParamsRaw:
		v.arguments, v.replies, state = p.Arguments, p.InputResponses, p.RequestState
	case *mcp.GetPromptParams:
		v.arguments, v.replies, state = mustJSON(p.Arguments), p.InputResponses, p.RequestState
	case *mcp.ReadResourceParams:
		v.replies, state = p.InputResponses, p.RequestState
	}
	if v.arguments == nil || string(v.arguments) == "null" {
		v.arguments = json.RawMessage(`{}`)
	}
	if v.rounds() && state != "" {
		if err := s.open(state, v.identity(), &v.notes); err != nil {
			return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
	}
	v.retold = v.rounds() && (state != "" || len(v.replies) > 0)

	ctx, v.end = context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, v.end)
	cancel := v.end
	v.end = func() { stop(); cancel() }
	s.mu.Lock()
	s.visits[v] = struct{}{}
	s.mu.Unlock()
	return ctx, v, nil
}

func (v *visit) leave() {
	v.end()
	v.server.mu.Lock()
	delete(v.server.visits, v)
	v.server.mu.Unlock()
}

// identity is what a requestState is bound to, so that it is of no use in any other call.
func (v *visit) identity() []byte {
	var b bytes.Buffer
	b.WriteString(v.method + "\n" + v.name + "\n")
	d := json.NewDecoder(bytes.NewReader(v.arguments))
	d.UseNumber()
	var args any
	if d.Decode(&args) == nil {
		b.Write(mustJSON(args)) // the order of members is the client's to change
	}
	return b.Bytes()
}

// ask asks for one thing and returns what came back.
func (v *visit) ask(ctx context.Context, q question) (answer, error) {
	answers, err := v.askAll(ctx, q)
	if err != nil {
		return answer{}, err
	}
	return answers[0], nil
}

// askAll asks for several things at once, and returns the answers in the same order when all are there.
// A form that was accepted fits its schema.
func (v *visit) askAll(ctx context.Context, questions ...question) ([]answer, error) {
	for _, q := range questions {
		if err := v.may(q); err != nil {
			return nil, err
		}
	}
	var answers []answer
	var err error
	if v.rounds() {
		answers, err = v.collect(questions)
	} else {
		answers, err = v.request(ctx, questions)
	}
	if err != nil {
		return nil, err
	}
	for i, q := range questions {
		if err := q.check(answers[i]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// collect finds the answers among those of earlier rounds and of this one. If one is missing, the round ends.
func (v *visit) collect(questions []question) ([]answer, error) {
	answers := make([]answer, len(questions))
	var missing []question
	for i, q := range questions {
		a, ok := v.notes.Answers[q.key]
		if !ok {
			r, given := v.replies[q.key]
			if !given || r == nil {
				missing = append(missing, q)
				continue
			}
			a = answerOf(r)
			v.note(q.key, a)
			v.retold = false
		}
		answers[i] = a
	}
	if len(missing) > 0 {
		return nil, &inputRequired{missing}
	}
	return answers, nil
}

func (v *visit) note(key string, a answer) {
	if v.notes.Answers == nil {
		v.notes.Answers = map[string]answer{}
	}
	v.notes.Answers[key] = a
}

// forget drops an answer, so that the question is asked again.
func (v *visit) forget(key string) {
	delete(v.notes.Answers, key)
	delete(v.replies, key)
}

// memo returns what make returned when the story first came here.
func (v *visit) memo(key string, make func() string) string {
	if m, ok := v.notes.Memos[key]; ok {
		return m
	}
	m := make()
	if v.notes.Memos == nil {
		v.notes.Memos = map[string]string{}
	}
	v.notes.Memos[key] = m
	return m
}

// request asks the client by requests of its own, all at the same time. The first failure withdraws the others.
func (v *visit) request(ctx context.Context, questions []question) ([]answer, error) {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make([]answer, len(questions))
	var (
		wait  sync.WaitGroup
		once  sync.Once
		first error
	)
	for i, q := range questions {
		wait.Go(func() {
			res, err := v.server.sendRaw(asking, v.session, q.requestMethod(), q.encode(v.revision))
			if err != nil {
				once.Do(func() { first = err; cancel() })
				return
			}
			answers[i] = answerOf(res)
		})
	}
	wait.Wait()
	if first == nil {
		return answers, nil
	}
	if ctx.Err() != nil || len(questions) > 1 {
		// The SDK sends notifications/cancelled in the background, and over HTTP it is lost once the call has its result.
		v.server.options.Pause(v.server.life, 100*time.Millisecond)
	}
	if e := (*jsonrpc.Error)(nil); errors.As(first, &e) {
		return nil, problem(fmt.Sprintf("The client would not ask: %s (%d)", e.Message, e.Code))
	}
	return nil, first
}

// answerOf reads a result, whether it came as a response or among inputResponses.
func answerOf(r any) answer {
	switch r := r.(type) {
	case *mcp.ElicitResult:
		a := answer{Action: r.Action}
		if r.Content != nil {
			a.Content = mustJSON(r.Content)
		}
		return a
	case *mcp.CreateMessageWithToolsResult:
		var text []string
		for _, c := range r.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text = append(text, t.Text)
			}
		}
		return answer{Text: strings.Join(text, "\n")}
	case *mcp.ListRootsResult:
		roots := make([]string, len(r.Roots))
		for i, root := range r.Roots {
			roots[i] = cmp.Or(root.Name, root.URI)
		}
		return answer{Roots: roots}
	}
	return answer{}
}

func (q question) requestMethod() string { return cmp.Or(q.method, methodElicit) }

func (q question) mode() string {
	if q.url != "" {
		return "url"
	}
	return "form"
}

// encode returns the params, or nil for none, as the revision wants them: 2025-06-18 has no modes, and only 2025-11-25 has an elicitationId.
func (q question) encode(revision string) json.RawMessage {
	switch {
	case q.bare:
		return nil
	case q.params != nil:
		return q.params
	}
	if q.method == methodRoots {
		return json.RawMessage(`{}`)
	}
	p := struct {
		Mode          string          `json:"mode,omitempty"`
		Message       string          `json:"message"`
		URL           string          `json:"url,omitempty"`
		ElicitationID string          `json:"elicitationId,omitempty"`
		Schema        json.RawMessage `json:"requestedSchema,omitempty"`
	}{Message: q.message, URL: q.url, Schema: json.RawMessage(q.schema)}
	if revision >= rev20251125 {
		p.Mode = q.mode()
	}
	if revision == rev20251125 {
		p.ElicitationID = q.id
	}
	return mustJSON(p)
}

// may refuses to ask for what the client has not said that it can give.
func (v *visit) may(q question) error {
	if q.unruly {
		return nil
	}
	var missing string
	m := modesOf(v.revision, v.caps)
	switch q.requestMethod() {
	case methodSample:
		if !v.samples() {
			missing = `{"sampling":{}}`
		}
	case methodRoots:
		if !v.roots() {
			missing = `{"roots":{}}`
		}
	default:
		switch q.mode() {
		case "url":
			if !m.url {
				missing = `{"elicitation":{"url":{}}}`
			}
		default:
			if !m.form {
				missing = `{"elicitation":{"form":{}}}`
			}
		}
	}
	switch {
	case missing == "":
		return nil
	case v.rounds():
		return &jsonrpc.Error{
			Code:    mcp.CodeMissingRequiredClientCapabilities,
			Message: v.name + " has to ask something that this client has not declared it can ask",
			Data:    json.RawMessage(`{"requiredCapabilities":` + missing + `}`),
		}
	case q.url != "" && v.revision < rev20251125:
		return problem(fmt.Sprintf("%s has to send you to a web page, which revision %s has no way to ask for. Connect with 2025-11-25 or later.", v.name, v.revision))
	}
	return problem(fmt.Sprintf("%s has to ask you something, and this client has not declared that it can: %s", v.name, missing))
}

func (v *visit) samples() bool { return v.caps != nil && v.caps.Sampling != nil }
func (v *visit) roots() bool   { return v.caps != nil && v.caps.RootsV2 != nil }

// check holds an accepted form against its schema, as every server should.
func (q question) check(a answer) error {
	if q.unruly || q.requestMethod() != methodElicit {
		return nil
	}
	switch a.Action {
	case "decline", "cancel":
		return nil
	case "accept":
	default:
		return problem(fmt.Sprintf("The client answered with the action %q, which does not exist.", a.Action))
	}
	if q.url != "" {
		return nil
	}
	if a.Content == nil {
		a.Content = json.RawMessage(`{}`) // what a form without fields may leave out
	}
	if err := validate(q.schema, a.Content); err != nil {
		return problem("The answer does not fit the question: " + err.Error())
	}
	return nil
}

// validate holds a value against a schema of this package.
func validate(schema string, value json.RawMessage) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("resolving the schema: %w", err)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	return r.Validate(v)
}

// progress tells how far the story has come, if the client wants to know.
func (v *visit) progress(ctx context.Context, done, total float64, message string) {
	token := v.meta["progressToken"]
	if token == nil || v.retold {
		return
	}
	v.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
}

// levels of log messages, from the least.
var levels = []mcp.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// wants tells whether the client is to be told of what is of this level.
// Since 2026-07-28 a request says so itself, and one that does not is told nothing.
func (v *visit) wants(level mcp.LoggingLevel) bool {
	least := mcp.LoggingLevel("")
	if v.rounds() {
		l, _ := v.meta[mcp.MetaKeyLogLevel].(string)
		least = mcp.LoggingLevel(l)
	} else {
		least = v.server.level(v.session)
	}
	i := slices.Index(levels, least)
	return i >= 0 && slices.Index(levels, level) >= i
}

// log sends a log message, if the client wants it. data is a string or a plain struct.
func (v *visit) log(ctx context.Context, level mcp.LoggingLevel, data any) {
	if v.retold || !v.wants(level) {
		return
	}
	v.server.sendRaw(ctx, v.session, "notifications/message", mustJSON(struct {
		Level  mcp.LoggingLevel `json:"level"`
		Logger string           `json:"logger"`
		Data   any              `json:"data"`
	}{level, v.name, data}))
}

// pause lets story time pass, but not a second time.
func (v *visit) pause(ctx context.Context, d time.Duration) error {
	if v.retold {
		return nil
	}
	return v.server.options.Pause(ctx, d)
}

// result returns the input-required result that ends a round.
func (r *inputRequired) result(v *visit) (mcp.Result, error) {
	var b bytes.Buffer
	b.WriteString(`{"resultType":"input_required"`)
	for i, q := range r.questions {
		open := `,`
		if i == 0 {
			open = `,"inputRequests":{`
		}
		fmt.Fprintf(&b, `%s%s:{"method":%s`, open, mustJSON(q.key), mustJSON(q.requestMethod()))
		if params := q.encode(v.revision); params != nil {
			fmt.Fprintf(&b, `,"params":%s`, params)
		}
		b.WriteString(`}`)
	}
	if len(r.questions) > 0 {
		b.WriteString(`}`)
	}
	state, err := v.state()
	if err != nil {
		return nil, err
	}
	b.Write(state)
	b.WriteString(`}`)
	return &rawResult{json: b.Bytes()}, nil
}

// state returns requestState as a further member of a result, or nothing if there is nothing to know in the next round.
func (v *visit) state() ([]byte, error) {
	if v.notes.empty() {
		return nil, nil
	}
	sealed, err := v.server.sealed(v.notes, v.identity())
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `,"requestState":%s`, mustJSON(sealed)), nil
}
