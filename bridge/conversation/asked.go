package conversation

import (
	"errors"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wire"
)

// ParamsAt returns the params of everything that a frame asks of the client, by JSON
// pointer into its message.
func ParamsAt(log *wire.Log, seq int64) (map[string][]byte, error) {
	f, err := log.Frame(seq)
	switch {
	case err != nil:
		return nil, err
	case f.Lost:
		return nil, errors.New("its frame is lost, since storage failed")
	case f.Kind == wire.Request:
		return map[string][]byte{"/params": f.Message.Params}, nil
	}
	params := map[string][]byte{}
	for _, asked := range append(elicit.AskedInResult(f.Message.Result), elicit.AskedInError(f.Message.Error)...) {
		params[asked.Pointer] = asked.Params // of those that share a key the last counts
	}
	return params, nil
}
