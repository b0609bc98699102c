package fault

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

type builder struct {
	*Facts
	Params
	plan Plan
}

func (b *builder) step(s Step) { b.plan.Steps = append(b.plan.Steps, s) }

// answers plans a result: as a response, or in the next request of the call.
func (b *builder) answers(result json.RawMessage) {
	b.plan.Result = result
	switch {
	case b.OwnTask:
		b.step(Step{Do: TellStatus, Status: "completed"})
		b.step(Step{Do: GiveResult, Raw: response(b.ID, "result", result)})
	case b.Via == elicit.InTask:
		b.step(Step{Do: UpdateTask, Raw: withMember(nil, b.Key, result)})
	case b.responds():
		b.step(Step{Do: Send, Raw: response(b.ID, "result", result)})
	default:
		b.retry().Value = result
	}
}

// retry returns the changes to the next request of the call, which carries the planned
// result.
func (b *builder) retry() *Retry {
	if b.plan.Retry == nil {
		b.plan.Retry = &Retry{Value: b.plan.Result}
	}
	return b.plan.Retry
}

// honest plans the answer that was given, or else a valid one. Other functions then spoil it.
func (b *builder) honest() {
	switch {
	case b.Answer != nil:
		b.answers(b.Answer)
	case b.form():
		b.answers(accept(elicit.Valid(b.Request.Fields)))
	case b.Request != nil:
		b.answers(json.RawMessage(`{"action":"accept"}`))
	case b.Facts.Honest != nil:
		b.answers(b.Facts.Honest)
	default:
		b.answers(json.RawMessage(`{}`))
	}
}

func accept(content json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `{"action":"accept","content":%s}`, content)
}

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

var errData = errors.New("the data of the error is not JSON")

func cut(b *builder) error {
	b.honest()
	if b.responds() {
		last := b.last()
		last.Raw = last.Raw[:len(last.Raw)-1]
	} else {
		b.retry().Cut = true
	}
	return nil
}

func underID(change func(json.RawMessage) json.RawMessage) func(*builder) error {
	return func(b *builder) error {
		b.honest()
		b.last().Raw = response(change(b.ID), "result", b.plan.Result)
		return nil
	}
}

func twice(b *builder) error {
	b.honest()
	if b.Via == elicit.InTask || b.responds() {
		b.step(*b.last())
	} else {
		b.retry().Twice = true
	}
	return nil
}

func changeOfMind(b *builder) error {
	b.step(Step{Do: Send, Raw: response(b.ID, "result", json.RawMessage(`{"action":"cancel"}`))})
	b.honest()
	return nil
}

// untilCancelled is how long a server has to stop a cancelled call: an answer that comes
// at the same time may rightly be taken first.
const untilCancelled = 250 * time.Millisecond

// after plans steps, and then an honest answer.
func after(steps ...Step) func(*builder) error {
	return func(b *builder) error {
		b.plan.Steps = append(b.plan.Steps, steps...)
		b.honest()
		return nil
	}
}

// before plans an honest answer, followed by these steps.
func before(steps ...Step) func(*builder) error {
	return func(b *builder) error {
		b.honest()
		b.plan.Steps = append(b.plan.Steps, steps...)
		return nil
	}
}

// wavering plans these steps, a wait, and then an honest end of the task. If the first step
// gives the result, it is the same as at the end.
func wavering(steps ...Step) func(*builder) error {
	return func(b *builder) error {
		wait, err := b.seconds(3)
		b.honest()
		steps := append(slices.Clone(steps), Step{Do: Wait, Time: wait})
		if steps[0].Do == GiveResult {
			steps[0].Raw = b.last().Raw
		}
		b.plan.Steps = append(steps, b.plan.Steps...)
		return err
	}
}

func slowly(pieces int) func(*builder) error {
	return func(b *builder) error {
		total, err := b.seconds(2)
		b.honest()
		if pace := (Pace{Pieces: pieces, Total: total}); b.responds() {
			b.last().Pace = pace
		} else {
			b.retry().Pace = pace
		}
		return err
	}
}

func delayed(b *builder) error {
	wait, err := b.seconds(30)
	b.step(Step{Do: Wait, Time: wait})
	b.honest()
	return err
}

func never(*builder) error { return nil }

func does(do Do) func(*builder) error {
	return func(b *builder) error {
		b.step(Step{Do: do})
		return nil
	}
}

func newSession(b *builder) error {
	b.step(Step{Do: StartSession})
	if !b.responds() {
		b.honest()
	}
	return nil
}

// retrying changes the request that carries an honest answer.
func retrying(change func(*Retry)) func(*builder) error {
	return func(b *builder) error {
		b.honest()
		change(b.retry())
		return nil
	}
}

// otherTool sends the answer to the given tool, or to one of the others.
func otherTool(b *builder) error {
	b.honest()
	r := b.retry()
	switch {
	case b.Params.Tool != "" && b.Params.Tool != b.Facts.Tool:
		r.Tool = b.Params.Tool
	case b.Params.Tool == "" && len(b.Others) > 0:
		r.Tool = b.Others[0]
	default:
		return fmt.Errorf("it needs the name of another tool (there are: %s)", strings.Join(slices.Sorted(slices.Values(b.Others)), ", "))
	}
	return nil
}

// Forged is the text that takes the place of texts inside a forged requestState.
const Forged = "forged-by-the-client"

var errSealed = errors.New("the requestState has no value that can be read")

// changedState returns a requestState with one character changed. place returns its position from
// the length of the state without padding.
func changedState(place func(length int) int) func(*builder) (json.RawMessage, error) {
	return func(b *builder) (json.RawMessage, error) {
		text := []rune(rawjson.Text(b.State))
		length := len([]rune(strings.TrimRight(string(text), "=")))
		if length == 0 {
			return json.RawMessage(`"tampered"`), nil
		}
		at := place(length)
		// The last character of base64 has bits that decoders may ignore. Those of A and g
		// differ in the first one.
		if c := text[at]; c >= 'A' && c <= 'P' {
			text[at] = 'g'
		} else {
			text[at] = 'A'
		}
		return rawjson.Quoted(string(text)), nil
	}
}

// forgedState returns a requestState with another value at the JSON pointer of
// Params.Field, or in place of the last text: that of Params.JSON, if there is one.
func forgedState(b *builder) (json.RawMessage, error) { return Forge(b.State, b.Field, b.JSON) }

// Forge returns a requestState with another value at a JSON pointer, or in place of the last
// text; nil lets it make the value up.
func Forge(state json.RawMessage, at string, value json.RawMessage) (json.RawMessage, error) {
	for _, e := range envelopes(rawjson.Text(state)) {
		if at == "" {
			for pointer := range Leaves(e.object) {
				at = pointer
			}
		}
		if rawjson.At(e.object, at) != nil && at != "" {
			return rawjson.Quoted(e.before + e.encode(forged(e.object, at, value)) + e.after), nil
		}
	}
	return nil, errSealed
}

// StateValues lists the values inside a requestState that is JSON, or has JSON in base64
// in it, by JSON pointer.
func StateValues(state json.RawMessage) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, e := range envelopes(rawjson.Text(state)) {
		maps.Insert(values, Leaves(e.object))
	}
	return values
}

// forged returns an object or array with other in place of the value at a pointer, or with a
// made-up value if other is nil.
func forged(raw json.RawMessage, pointer string, other json.RawMessage) []byte {
	value := rawjson.At(raw, pointer)
	switch kind := rawjson.KindOf(value); {
	case other != nil:
	case kind == rawjson.Boolean:
		other = strconv.AppendBool(nil, string(value) == "false")
	case kind == rawjson.Number:
		other = json.RawMessage("7351973")
	default:
		text := Forged
		if strings.Contains(rawjson.Text(value), "@") {
			text += "@example.com"
		}
		for other = rawjson.Quoted(text); (len(other)-len(value))%3 != 0; { // base64 keeps its padding
			text = "x" + text
			other = rawjson.Quoted(text)
		}
	}
	from := 0
	for &raw[from] != &value[0] { // value is a part of raw
		from++
	}
	return slices.Concat(raw[:from], other, raw[from+len(value):])
}

// Leaves lists the texts, numbers and booleans in a JSON value by JSON pointer, in order.
func Leaves(raw json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		var walk func(pointer string, raw json.RawMessage) bool
		walk = func(pointer string, raw json.RawMessage) bool {
			switch rawjson.KindOf(raw) {
			case rawjson.Object:
				for name, value := range rawjson.Members(raw) {
					if !walk(rawjson.PointerTo(pointer, name), value) {
						return false
					}
				}
			case rawjson.Array:
				for i, value := range rawjson.Elements(raw) {
					if !walk(rawjson.PointerTo(pointer, strconv.Itoa(i)), value) {
						return false
					}
				}
			case rawjson.String, rawjson.Number, rawjson.Boolean:
				return yield(pointer, raw)
			}
			return true
		}
		walk("", raw)
	}
}

// envelope is JSON inside a requestState, with what stands around it.
type envelope struct {
	before, after string
	object        json.RawMessage
	encode        func([]byte) string
}

// envelopes finds the JSON inside a requestState: in plain text, or in base64 between
// separators.
func envelopes(text string) (list []envelope) {
	if from, to := strings.IndexAny(text, "{["), strings.LastIndexAny(text, "}]"); from >= 0 && to > from && rawjson.Valid([]byte(text[from:to+1])) {
		return []envelope{{text[:from], text[to+1:], json.RawMessage(text[from : to+1]), func(b []byte) string { return string(b) }}}
	}
	for from := 0; from < len(text); {
		length := strings.IndexAny(text[from:]+".", ".:|~ ")
		for _, coding := range []*base64.Encoding{base64.RawURLEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.StdEncoding} {
			plain, err := coding.DecodeString(text[from : from+length])
			if kind := rawjson.KindOf(plain); err == nil && (kind == rawjson.Object || kind == rawjson.Array) && rawjson.Valid(plain) {
				list = append(list, envelope{text[:from], text[from+length:], plain, coding.EncodeToString})
				break
			}
		}
		from += length + 1
	}
	return list
}
