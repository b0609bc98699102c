package otlp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
)

// decoder reads messages of protobuf into structs by their tags, as appendMessage writes them. It skips
// what it does not know. What is of another type than expected stays zero.
type decoder struct {
	parts int // how many elements of lists it still reads
	depth int // how deep messages may still be within each other
}

// Bounds on what is decoded.
const (
	partsMost = 100_000
	depthMost = 32
)

var (
	errNotProtobuf = errors.New("it is not protobuf")
	errNotJSON     = errors.New("it is not JSON")
	errTooMuch     = errors.New("it has too many parts, or too deep ones")
)

// decode reads a request, in protobuf or in OTLP/JSON.
func decode(body []byte, isJSON bool) (r request, err error) {
	if !isJSON {
		d := &decoder{parts: partsMost, depth: depthMost}
		return r, d.protobuf(reflect.ValueOf(&r).Elem(), body)
	}
	if !json.Valid(body) {
		return r, errNotJSON
	}
	if bytes.Count(body, []byte("{")) > partsMost {
		return r, errTooMuch
	}
	// An error here only says that a member with an unexpected type was skipped.
	_ = json.Unmarshal(bareNumber().ReplaceAll(body, []byte(`$1"$2"`)), &r)
	return r, nil
}

// bareNumber matches the numbers of 64 bits that OTLP/JSON writes as strings, where they are numbers.
var bareNumber = lazy.Regexp(`("(?:startTimeUnixNano|endTimeUnixNano|timeUnixNano|intValue)"\s*:\s*)(-?\d+)`)

// UnmarshalText reads an id as MarshalText writes it; the zero value for one that is none.
func (id *TraceID) UnmarshalText(text []byte) error { return unhex(id[:], text) }

// UnmarshalText reads an id as MarshalText writes it; the zero value for one that is none.
func (id *SpanID) UnmarshalText(text []byte) error { return unhex(id[:], text) }

func unhex(id, text []byte) error {
	if raw, err := hex.DecodeString(string(text)); err == nil && len(raw) == len(id) {
		copy(id, raw)
	}
	return nil
}

func (d *decoder) protobuf(v reflect.Value, raw []byte) error {
	for len(raw) > 0 {
		tag, n := binary.Uvarint(raw)
		if n <= 0 {
			return errNotProtobuf
		}
		raw = raw[n:]
		var number uint64
		var content []byte
		switch n = 0; tag & 7 {
		case 0:
			number, n = binary.Uvarint(raw)
		case 1:
			if n = 8; len(raw) >= n {
				number = binary.LittleEndian.Uint64(raw)
			}
		case 2:
			length, size := binary.Uvarint(raw)
			if size > 0 && length <= uint64(len(raw)-size) {
				n = size + int(length)
				content = raw[size:n]
			}
		case 5:
			n = 4
		}
		if n <= 0 || n > len(raw) {
			return errNotProtobuf
		}
		raw = raw[n:]
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("pb") == strconv.FormatUint(tag>>3, 10) {
				if err := d.field(v.Field(i), tag&7, number, content); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// field sets a field to what protobuf has of it, by the wire type: a number, or bytes.
func (d *decoder) field(v reflect.Value, wireType, number uint64, content []byte) error {
	isBytes := wireType == 2
	switch kind := v.Kind(); {
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.field(v.Elem(), wireType, number, content)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(content)
	case kind == reflect.Slice:
		if d.parts--; d.parts < 0 {
			return errTooMuch
		}
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		return d.field(v.Index(v.Len()-1), wireType, number, content)
	case kind == reflect.Struct && isBytes:
		if d.depth == 0 {
			return errTooMuch
		}
		d.depth--
		defer func() { d.depth++ }()
		return d.protobuf(v, content)
	case kind == reflect.Array && len(content) == v.Len():
		reflect.Copy(v, reflect.ValueOf(content))
	case kind == reflect.String:
		v.SetString(strings.ToValidUTF8(string(content), "\uFFFD"))
	case kind == reflect.Uint64:
		v.SetUint(number)
	case kind == reflect.Float64:
		v.SetFloat(math.Float64frombits(number))
	case kind == reflect.Bool:
		v.SetBool(number != 0)
	case v.CanInt():
		v.SetInt(int64(number))
	}
	return nil
}
