//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// visit is one request for which a story is told.
//
// A story is written as if it could wait for its answers. Before 2026-07-28 it does: a question is a request to the
// client. Since then nothing waits: every round tells the story again from the start, known answers are returned at
// once, and the first unknown one ends the round with an input-required result. Messages of an earlier round are not
// repeated.
type visit struct {
	server    *Server
	session   *mcp.ServerSession
	end       context.CancelFunc
	revision  string
	caps      *mcp.ClientCapabilities
	client    *mcp.Implementation
	method    string
	name      string          // name of the tool or prompt, or URI of the resource
	input     string          // schema of the arguments, for a tool
	arguments json.RawMessage // JSON object
	outcome   any             // structured content of the result; nil for none
	meta      map[string]any
	replies   mcp.InputResponseMap // inputResponses of this round
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

func revisionOf[P mcp.Params](r *mcp.ServerRequest[P]) string {
	if v, _ := r.Params.GetMeta()[mcp.MetaKeyProtocolVersion].(string); v >= protocol.Revision20260728 {
		return v
	}
	v := ""
	if p := r.Session.InitializeParams(); p != nil {
		v = p.ProtocolVersion
	}
	if v >= protocol.Revision20260728 || !slices.Contains(mcp.SupportedProtocolVersions(), v) {
		return protocol.Revision20251125 // the answer to initialize with an unknown revision
	}
	return v
}

// welcome returns the visit of a request, and a context that also ends with the server. The caller must call leave
// after the request has been answered.
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
	v.stateless = state == ""
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

// identity returns the data that a requestState is bound to, so that it is invalid in any other call.
func (v *visit) identity() []byte {
	id := []byte(v.method + "\n" + v.name + "\n")
	d := json.NewDecoder(bytes.NewReader(v.arguments))
	d.UseNumber()
	var args any
	if d.Decode(&args) == nil {
		id = append(id, mustJSON(args)...) // the client may change the order of members
	}
	return id
}

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

// pause waits for story time to pass, unless an earlier round has waited already.
func (v *visit) pause(ctx context.Context, d time.Duration) error {
	if v.retold {
		return nil
	}
	return v.server.options.Pause(ctx, d)
}

var errState = errors.New("requestState is not one that this server gave out for this request")

func newSeal() cipher.AEAD {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for a key of the wrong length
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for a block of the wrong size
	}
	return seal
}

// sealed encrypts v for the client to keep. The client can neither read nor change it, nor use it for another request.
func (s *Server) sealed(v any, identity []byte) string {
	return base64.RawURLEncoding.EncodeToString(s.seal.Seal(nil, nil, mustJSON(v), identity))
}

// open decrypts the result of sealed for the same identity.
func (s *Server) open(state string, identity []byte, v any) error {
	box, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		return errState
	}
	plain, err := s.seal.Open(nil, nil, box, identity)
	if err != nil {
		return errState
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return fmt.Errorf("%w: %w", errState, err)
	}
	return nil
}

// rawParams holds params as exact JSON bytes, without any check by the SDK.
type rawParams struct {
	mcp.ParamsBase
	json json.RawMessage
}

func (p *rawParams) MarshalJSON() ([]byte, error) { return p.json, nil }

// sendRaw sends a request or a notification with these params, or without params if they are null. The result is nil
// for a notification.
func (s *Server) sendRaw(ctx context.Context, ss *mcp.ServerSession, method string, params json.RawMessage) (mcp.Result, error) {
	if string(params) == "null" {
		return s.send(ctx, method, &mcp.ServerRequest[mcp.Params]{Session: ss})
	}
	return s.send(ctx, method, &mcp.ServerRequest[*rawParams]{Session: ss, Params: &rawParams{json: params}})
}

// rawResult is a result as exact JSON bytes, to which the SDK adds the server's name in _meta. A story returns it as
// its error, and receive makes it the result.
type rawResult struct {
	mcp.ResultBase
	json json.RawMessage // an object without _meta; nil for a request that is never answered
}

func rawf(format string, a ...any) error {
	return &rawResult{json: fmt.Appendf(nil, format, a...)}
}

func (r *rawResult) Error() string { return "the answer is a raw result" }

func (r *rawResult) MarshalJSON() ([]byte, error) {
	switch {
	case r.json == nil:
		return nil, errors.New("the server has crashed")
	case len(r.GetMeta()) == 0:
		return r.json, nil
	}
	meta, err := json.Marshal(r.GetMeta())
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `%s,"_meta":%s}`, bytes.TrimSuffix(r.json, []byte("}")), meta), nil
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
