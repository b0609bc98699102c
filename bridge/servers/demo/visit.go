//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/servers/server"
)

// visit is one request for which a story is told.
//
// A story is written as if it could wait for its answers. Before 2026-07-28 it does: a question is a request to the
// client. Since then nothing waits: every round tells the story again from the start, known answers are returned at
// once, and the first unknown one ends the round with an input-required result. Messages of an earlier round are not
// repeated.
type visit struct {
	served
	name      string          // name of the tool or prompt, or URI of the resource
	input     string          // schema of the arguments, for a tool
	arguments json.RawMessage // JSON object
	outcome   any             // structured content of the result; nil for none
	notes     notes
	stateless bool  // the request has no requestState
	retold    bool  // the story has not reached the place where the round before ended
	task      *task // nil for a call that is no task
}

// notes holds the state of a story for its next round. It is sent in requestState.
type notes struct {
	Answers map[string]answer `json:"answers,omitempty"`
	Memos   map[string]string `json:"memos,omitempty"`
}

// tell tells the story of the tool, prompt or resource that is called.
func (v *visit) tell(ctx context.Context) (result any, err error) {
	v.name = v.Target()
	if v.arguments = rawjson.Member(v.Params, "arguments"); v.arguments == nil || string(v.arguments) == "null" {
		v.arguments = json.RawMessage(`{}`)
	}
	state := rawjson.Text(rawjson.Member(v.Params, "requestState"))
	if v.Rounds() && state != "" {
		if err := v.server.seal.Open(state, v.identity(), &v.notes); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
	}
	v.stateless = state == ""
	v.retold = v.Rounds() && (state != "" || rawjson.Count(rawjson.Member(v.Params, "inputResponses")) > 0)
	if v.Method == protocol.MethodCallTool {
		return v.tellTool(ctx)
	}
	result, err = v.server.library.tell(ctx, v)
	if early := (*ending)(nil); errors.As(err, &early) { // such a result cannot be marked as an error
		err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: early.text}
	}
	return result, err
}

// identity names the call for which a requestState was made. In any other call the state is invalid.
func (v *visit) identity() string { return server.CallKey(v.Method, v.name, v.arguments) }

// args decodes the arguments. Missing ones get the defaults of the schema.
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

// memo returns the result of make at its first call with this key, also in later rounds.
func (v *visit) memo(key string, make func() string) string {
	if _, ok := v.notes.Memos[key]; !ok {
		v.notes.Memos[key] = make()
	}
	return v.notes.Memos[key]
}

// progress sends a progress notification if the client has asked for progress.
func (v *visit) progress(done, total int, message string) {
	if !v.retold {
		v.Progress(v.stream(), fmt.Sprintf(`"message":%s,"progress":%d,"total":%d`, mustJSON(message), done, total))
	}
}

func (v *visit) log(level mcp.LoggingLevel, message string) {
	if v.retold || !v.wants(level) {
		return
	}
	v.session.Notify(v.stream(), protocol.NotificationMessage, mustJSON(struct {
		Level  mcp.LoggingLevel `json:"level"`
		Logger string           `json:"logger"`
		Data   string           `json:"data"`
	}{level, v.name, message}))
}

// pause waits for story time to pass, unless an earlier round has waited already.
func (v *visit) pause(ctx context.Context, d time.Duration) error {
	if v.retold {
		return nil
	}
	return v.server.options.Pause(ctx, d)
}

// mustJSON encodes values that always encode: strings, numbers, and structs of them. Unlike json.Marshal, it does not
// escape <, > and &.
func mustJSON(v any) json.RawMessage {
	raw, err := rawjson.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err))
	}
	return raw
}
