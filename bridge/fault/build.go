package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/rawjson"
)

// builder makes one plan.
type builder struct {
	*Facts
	Params
	name string
	plan Plan
}

// step adds a step.
func (b *builder) step(s Step) { b.plan.Steps = append(b.plan.Steps, s) }

// answers has a result go out, in the way in which the question's answer travels.
func (b *builder) answers(result json.RawMessage) {
	b.plan.Result = result
	if b.responds() {
		b.step(Step{Do: Send, Raw: response(b.ID, "result", result)})
		return
	}
	b.retry().Value = result
}

// retry is the next request of the call, which carries what the plan answers.
func (b *builder) retry() *Retry {
	if b.plan.Retry == nil {
		b.plan.Retry = &Retry{Value: b.plan.Result}
	}
	return b.plan.Retry
}

// honest has the answer go out that is there to be spoilt.
func (b *builder) honest() { b.answers(b.result()) }

// result is the answer that is there to be spoilt: the one that was given, or else
// an honest one.
func (b *builder) result() json.RawMessage {
	switch {
	case b.Answer != nil:
		return b.Answer
	case b.form():
		return accept(Valid(b.Request))
	case b.Request != nil:
		return json.RawMessage(`{"action":"accept"}`)
	case b.Facts.Honest != nil:
		return b.Facts.Honest
	}
	return json.RawMessage(`{}`)
}

// accept is the result that accepts with some content.
func accept(content json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `{"action":"accept","content":%s}`, content)
}

// response is a message that answers the request with this id.
func response(id json.RawMessage, member string, value json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%q:%s}`, id, member, value)
}

// last is the step that sends.
func (b *builder) last() *Step { return &b.plan.Steps[len(b.plan.Steps)-1] }

// seconds is how long to wait, where the fault waits.
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

// given is the JSON that a person or a script has put there.
func (b *builder) given() (json.RawMessage, error) {
	if len(rawjson.Trim(b.JSON)) == 0 {
		return nil, errors.New("it needs the JSON that is to be sent")
	}
	if err := rawjson.Check(b.JSON); err != nil {
		return nil, fmt.Errorf("what is to be sent is not JSON: %w", err)
	}
	return b.JSON, nil
}

// otherID is an id of the same type that the server has not used for this request.
func otherID(id json.RawMessage) json.RawMessage {
	if text, ok := rawjson.Unquote(id); ok {
		return rawjson.AppendQuoted(nil, text+"-wrong")
	}
	return append(json.RawMessage("99"), bytes.TrimPrefix(id, []byte("-"))...)
}

// retypedID is the same id as the other type that an id can have.
func retypedID(id json.RawMessage) json.RawMessage {
	text, ok := rawjson.Unquote(id)
	switch {
	case !ok:
		return rawjson.AppendQuoted(nil, string(id))
	case rawjson.KindOf([]byte(text)) == rawjson.Number && rawjson.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return json.RawMessage("0")
}

// changedState is a state that the server did not make: one character in the middle
// of it is another one.
func changedState(state json.RawMessage) json.RawMessage {
	text := []rune(rawjson.Text(state))
	if len(text) == 0 {
		return json.RawMessage(`"tampered"`)
	}
	at := len(text) / 2
	if text[at] == 'A' {
		text[at] = 'B'
	} else {
		text[at] = 'A'
	}
	return rawjson.AppendQuoted(nil, string(text))
}

// other is the tool that the answer is sent to.
func (b *builder) other() (string, error) {
	switch {
	case b.Params.Tool != "" && b.Params.Tool != b.Facts.Tool:
		return b.Params.Tool, nil
	case b.Params.Tool == "" && len(b.Others) > 0:
		return b.Others[0], nil
	}
	return "", fmt.Errorf("it needs the name of another tool (there are: %s)", strings.Join(slices.Sorted(slices.Values(b.Others)), ", "))
}
