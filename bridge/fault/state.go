package fault

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/rawjson"
)

// Forged is the text that takes the place of texts inside a forged requestState.
const Forged = "forged-by-the-client"

var errSealed = errors.New("the requestState has no value that can be read")

// changedState returns a requestState with one other character at a position, which place
// returns from the length of the state without padding.
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
// Params.Field, or in place of the last text.
func forgedState(b *builder) (json.RawMessage, error) {
	for _, e := range envelopes(rawjson.Text(b.State)) {
		at := b.Field
		if at == "" {
			for pointer := range Leaves(e.object) {
				at = pointer
			}
		}
		if rawjson.At(e.object, at) != nil && at != "" {
			return rawjson.Quoted(e.before + e.encode(forged(e.object, at)) + e.after), nil
		}
	}
	return nil, errSealed
}

// readable reports whether a value inside the requestState can be read.
func (f *Facts) readable() bool {
	return f.stateful() && len(StateValues(f.State)) > 0
}

// StateValues lists the values inside a requestState that is JSON, or has JSON in base64
// in it, by JSON pointer.
func StateValues(state json.RawMessage) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, e := range envelopes(rawjson.Text(state)) {
		for pointer, value := range Leaves(e.object) {
			values[pointer] = value
		}
	}
	return values
}

// forged returns an object or array with another value at a pointer, where a value is.
func forged(raw json.RawMessage, pointer string) []byte {
	value := rawjson.At(raw, pointer)
	var other json.RawMessage
	switch kind := rawjson.KindOf(value); {
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
