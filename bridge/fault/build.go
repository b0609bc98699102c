package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
)

// builder builds one plan.
type builder struct {
	*Facts
	Params
	name string
	plan Plan
}

// step adds a step.
func (b *builder) step(s Step) { b.plan.Steps = append(b.plan.Steps, s) }

// answers plans a result: as a response, or in the next request of the call.
func (b *builder) answers(result json.RawMessage) {
	b.plan.Result = result
	if b.responds() {
		b.step(Step{Do: Send, Raw: response(b.ID, "result", result)})
		return
	}
	b.retry().Value = result
}

// retry returns the changes to the next request of the call, which carries the planned
// result.
func (b *builder) retry() *Retry {
	if b.plan.Retry == nil {
		b.plan.Retry = &Retry{Value: b.plan.Result}
	}
	return b.plan.Retry
}

// honest plans the answer of result without changes.
func (b *builder) honest() { b.answers(b.result()) }

// result returns the answer to spoil: the given one, or else an honest one.
func (b *builder) result() json.RawMessage {
	switch {
	case b.Answer != nil:
		return b.Answer
	case b.form():
		return accept(elicit.Valid(b.Request.Fields))
	case b.Request != nil:
		return json.RawMessage(`{"action":"accept"}`)
	case b.Facts.Honest != nil:
		return b.Facts.Honest
	}
	return json.RawMessage(`{}`)
}

// accept returns a result that accepts with content.
func accept(content json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `{"action":"accept","content":%s}`, content)
}

// response returns a message that answers the request with this id.
func response(id json.RawMessage, member string, value json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%q:%s}`, id, member, value)
}

// last returns the last step, which sends the answer.
func (b *builder) last() *Step { return &b.plan.Steps[len(b.plan.Steps)-1] }

// seconds returns the waiting time of the fault: the given one, or usual.
func (b *builder) seconds(usual float64) (time.Duration, error) {
	s := usual
	if b.Params.Seconds != nil {
		s = *b.Params.Seconds
	}
	if s < 0 || s > 24*60*60 {
		return 0, errors.New("seconds must be between 0 and 86400")
	}
	return time.Duration(s * float64(time.Second)), nil
}

// given returns the JSON that a person or a script gave.
func (b *builder) given() (json.RawMessage, error) {
	if len(rawjson.Trim(b.JSON)) == 0 {
		return nil, errors.New("it needs the JSON that is to be sent")
	}
	if err := rawjson.Check(b.JSON); err != nil {
		return nil, fmt.Errorf("what is to be sent is not JSON: %w", err)
	}
	return b.JSON, nil
}

// otherID returns a different id of the same JSON type.
func otherID(id json.RawMessage) json.RawMessage {
	if text, ok := rawjson.Unquote(id); ok {
		return rawjson.Quoted(text + "-wrong")
	}
	return append(json.RawMessage("99"), bytes.TrimPrefix(id, []byte("-"))...)
}

// retypedID returns the id as a string if it is a number, and as a number if it is a
// string.
func retypedID(id json.RawMessage) json.RawMessage {
	text, ok := rawjson.Unquote(id)
	switch {
	case !ok:
		return rawjson.Quoted(string(id))
	case rawjson.KindOf([]byte(text)) == rawjson.Number && rawjson.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return json.RawMessage("0")
}

// other returns another tool to send the answer to.
func (b *builder) other() (string, error) {
	switch {
	case b.Params.Tool != "" && b.Params.Tool != b.Facts.Tool:
		return b.Params.Tool, nil
	case b.Params.Tool == "" && len(b.Others) > 0:
		return b.Others[0], nil
	}
	return "", fmt.Errorf("it needs the name of another tool (there are: %s)", strings.Join(slices.Sorted(slices.Values(b.Others)), ", "))
}
