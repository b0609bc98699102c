package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawParams are params that go out byte for byte, whatever the SDK would think of them.
type rawParams struct {
	mcp.ParamsBase
	json json.RawMessage
}

func (p *rawParams) MarshalJSON() ([]byte, error) { return p.json, nil }

// sendRaw sends a request or a notification with these params, or without any if they are nil.
// The result is nil for a notification.
func (s *Server) sendRaw(ctx context.Context, ss *mcp.ServerSession, method string, params json.RawMessage) (mcp.Result, error) {
	if params == nil {
		return s.send(ctx, method, &mcp.ServerRequest[mcp.Params]{Session: ss})
	}
	return s.send(ctx, method, &mcp.ServerRequest[*rawParams]{Session: ss, Params: &rawParams{json: params}})
}

// rawResult is a result that goes out as it is, but for the server's name that the SDK adds to it.
type rawResult struct {
	mcp.ResultBase
	json json.RawMessage // an object without _meta
}

func (r *rawResult) MarshalJSON() ([]byte, error) {
	if len(r.GetMeta()) == 0 {
		return r.json, nil
	}
	meta, err := json.Marshal(r.GetMeta())
	if err != nil {
		return nil, err
	}
	body := r.json[:len(r.json)-1]
	comma := ","
	if len(body) == len("{") {
		comma = ""
	}
	return fmt.Appendf(nil, `%s%s"_meta":%s}`, body, comma, meta), nil
}

// rawKey is where a handler leaves a result that takes the place of what it returns.
type rawKey struct{}

// replyRaw makes r the answer to the request that ctx belongs to.
func replyRaw(ctx context.Context, r mcp.Result) {
	if slot, ok := ctx.Value(rawKey{}).(*mcp.Result); ok {
		*slot = r
	}
}

// mustJSON encodes what cannot fail to be encoded: strings, numbers, and plain structs of them.
// Unlike json.Marshal, it leaves <, > and & as they are.
func mustJSON(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
