package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/rawjson"
)

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
