//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
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
	input     string          // schema of the arguments, for a tool
	arguments json.RawMessage // an object
	outcome   any             // structured content of the result; nil for none
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

// revisionOf returns the revision that a request is to be answered in.
func revisionOf[P mcp.Params](r *mcp.ServerRequest[P]) string {
	if v, _ := r.Params.GetMeta()[mcp.MetaKeyProtocolVersion].(string); v >= protocol.Revision20260728 {
		return v
	}
	v := ""
	if p := r.Session.InitializeParams(); p != nil {
		v = p.ProtocolVersion
	}
	if v >= protocol.Revision20260728 || !slices.Contains(mcp.SupportedProtocolVersions(), v) {
		return protocol.Revision20251125 // what initialize is answered with for a revision that it does not know
	}
	return v
}

// welcome makes the visit of a request, and a context that also ends with the server.
// The caller calls leave when the request has been answered.
func welcome[P mcp.Params](ctx context.Context, s *Server, r *mcp.ServerRequest[P]) (context.Context, *visit, error) {
	v := &visit{
		server: s, session: r.Session, revision: revisionOf(r), caps: r.ClientCapabilities(), client: r.ClientInfo(), meta: r.Params.GetMeta(),
		input: `{}`, notes: notes{Answers: map[string]answer{}, Memos: map[string]string{}},
	}
	state := ""
	switch p := any(r.Params).(type) {
	case *mcp.CallToolParamsRaw:
		v.method, v.name = protocol.MethodCallTool, p.Name
		v.arguments, v.replies, state = p.Arguments, p.InputResponses, p.RequestState
	case *mcp.GetPromptParams:
		v.method, v.name = protocol.MethodGetPrompt, p.Name
		v.arguments, v.replies, state = mustJSON(p.Arguments), p.InputResponses, p.RequestState
	case *mcp.ReadResourceParams:
		v.method, v.name = protocol.MethodReadResource, p.URI
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

	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
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
	id := []byte(v.method + "\n" + v.name + "\n")
	d := json.NewDecoder(bytes.NewReader(v.arguments))
	d.UseNumber()
	var args any
	if d.Decode(&args) == nil {
		id = append(id, mustJSON(args)...) // the order of members is the client's to change
	}
	return id
}

// args decodes the arguments, and for those that are left out the defaults of their schema.
func (v *visit) args(into any) error {
	var schema struct {
		Properties map[string]struct{ Default json.RawMessage }
	}
	args := map[string]json.RawMessage{}
	err := json.Unmarshal([]byte(v.input), &schema)
	for name, p := range schema.Properties {
		if p.Default != nil {
			args[name] = p.Default
		}
	}
	if err == nil {
		err = json.Unmarshal(v.arguments, &args)
	}
	if err == nil {
		err = json.Unmarshal(mustJSON(args), into)
	}
	if err != nil {
		return problem("The arguments could not be read: %v", err)
	}
	return nil
}

// memo returns what make returned when the story first came here.
func (v *visit) memo(key string, make func() string) string {
	if _, ok := v.notes.Memos[key]; !ok {
		v.notes.Memos[key] = make()
	}
	return v.notes.Memos[key]
}

// progress tells how far the story has come, if the client wants to know.
func (v *visit) progress(ctx context.Context, done, total int, message string) {
	token := v.meta["progressToken"]
	if token == nil || v.retold {
		return
	}
	v.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(done), Total: float64(total), Message: message,
	})
}

func (v *visit) log(ctx context.Context, level mcp.LoggingLevel, message string) {
	if v.retold || !v.wants(level) {
		return
	}
	v.server.sendRaw(ctx, v.session, protocol.NotificationMessage, mustJSON(struct {
		Level  mcp.LoggingLevel `json:"level"`
		Logger string           `json:"logger"`
		Data   string           `json:"data"`
	}{level, v.name, message}))
}

// pause lets story time pass, but not a second time.
func (v *visit) pause(ctx context.Context, d time.Duration) error {
	if v.retold {
		return nil
	}
	return v.server.options.Pause(ctx, d)
}
