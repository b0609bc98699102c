package redact

import (
	"encoding/json"
	"reflect"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Document redacts the texts of a finished document, which v points to, before it is written
// in any format: its strings and JSON, wherever they are. Words of a vocabulary, which have
// a type of their own, stay.
func (r *Redaction) Document(v any) {
	if r != nil && !r.values.empty() {
		r.document(reflect.ValueOf(v))
	}
}

var jsonType = reflect.TypeFor[json.RawMessage]()

func (r *Redaction) document(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.document(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				r.document(field)
			}
		}
	case reflect.Slice:
		if v.Type() == jsonType {
			v.SetBytes(r.JSONOf("", v.Bytes()))
			return
		}
		for i := range v.Len() {
			r.document(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			r.document(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(r.Text(v.String()))
		}
	}
}

// JSON returns JSON without what rules name in it and without known secrets, and remembers the
// former.
func (r *Redaction) JSON(raw json.RawMessage) json.RawMessage {
	if r == nil || !rawjson.Valid(raw) {
		return raw
	}
	return r.Frame(&wire.Frame{Dir: wire.ClientToServer, Kind: wire.Noise, Raw: raw}).Raw
}
