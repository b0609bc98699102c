package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
)

// decoder reads messages of OTLP into structs by their tags: protobuf, which appendMessage writes, or
// OTLP/JSON. It skips what it does not know. What is of another type than expected stays zero.
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

// decode reads a request.
func decode(body []byte, isJSON bool) (r request, err error) {
	d := &decoder{parts: partsMost, depth: depthMost}
	switch {
	case !isJSON:
		err = d.protobuf(reflect.ValueOf(&r).Elem(), body)
	case rawjson.KindOf(body) != rawjson.Object || !rawjson.Valid(body):
		err = errNotJSON
	default:
		err = d.json(reflect.ValueOf(&r).Elem(), body)
	}
	return r, err
}

// element makes room for one more element of a list.
func (d *decoder) element(list reflect.Value) (reflect.Value, error) {
	if d.parts--; d.parts < 0 {
		return list, errTooMuch
	}
	list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
	return list.Index(list.Len() - 1), nil
}

func (d *decoder) within(read func() error) error {
	if d.depth == 0 {
		return errTooMuch
	}
	d.depth--
	defer func() { d.depth++ }()
	return read()
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
func (d *decoder) field(v reflect.Value, wireType, number uint64, content []byte) (err error) {
	isBytes := wireType == 2
	switch kind := v.Kind(); {
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.field(v.Elem(), wireType, number, content)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(content)
	case kind == reflect.Slice:
		if v, err = d.element(v); err != nil {
			return err
		}
		return d.field(v, wireType, number, content)
	case kind == reflect.Struct && isBytes:
		return d.within(func() error { return d.protobuf(v, content) })
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

func (d *decoder) json(v reflect.Value, raw json.RawMessage) (err error) {
	text := strings.Trim(string(raw[:min(len(raw), 64)]), `"`) // of a number, which can be written as a string
	switch kind := v.Kind(); {
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.json(v.Elem(), raw)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		content, _ := base64.StdEncoding.DecodeString(rawjson.Text(raw))
		v.SetBytes(content)
	case kind == reflect.Slice:
		for _, one := range rawjson.Elements(raw) {
			element, err := d.element(v)
			if err == nil {
				err = d.json(element, one)
			}
			if err != nil {
				return err
			}
		}
	case kind == reflect.Struct:
		return d.within(func() error {
			for name, value := range rawjson.Members(raw) {
				for i := range v.NumField() {
					if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name && string(value) != "null" {
						if err := d.json(v.Field(i), value); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
	case kind == reflect.Array:
		if id, err := hex.DecodeString(rawjson.Text(raw)); err == nil && len(id) == v.Len() {
			reflect.Copy(v, reflect.ValueOf(id))
		}
	case kind == reflect.String:
		v.SetString(rawjson.Text(raw))
	case kind == reflect.Uint64:
		n, _ := strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
	case kind == reflect.Float64:
		n, _ := strconv.ParseFloat(text, 64)
		v.SetFloat(n)
	case kind == reflect.Bool:
		v.SetBool(text == "true")
	case v.CanInt():
		n, _ := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
	}
	return nil
}
