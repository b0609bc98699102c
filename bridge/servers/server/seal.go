package server

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"

	"elicitation-inspector/bridge/base/rawjson"
)

// Seal encrypts what a client keeps between two rounds, with a key that exists only in it.
type Seal struct{ box cipher.AEAD }

// ErrState is the error of a requestState that is not a server's own.
var ErrState = errors.New("requestState is not one that this server gave out for this request")

// NewSeal returns a seal with a new key.
func NewSeal() Seal {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for a key of the wrong length
	}
	box, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for a block of the wrong size
	}
	return Seal{box}
}

// Close encrypts JSON as a state. The client can neither read nor change it, nor use it for another call.
func (s Seal) Close(plain json.RawMessage, call string) string {
	return base64.RawURLEncoding.EncodeToString(s.box.Seal(nil, nil, plain, []byte(call)))
}

// Open decodes into v what a state holds that was closed for the same call.
func (s Seal) Open(state, call string, v any) error {
	box, err := base64.RawURLEncoding.DecodeString(state)
	if err == nil {
		box, err = s.box.Open(nil, nil, box, []byte(call))
	}
	if err != nil || json.Unmarshal(box, v) != nil {
		return ErrState
	}
	return nil
}

// CallKey tells calls apart: by method, by name, and by arguments, whose members a client may send in any order.
func CallKey(method, name string, arguments json.RawMessage) string {
	return method + "\n" + name + "\n" + string(Canonical(arguments))
}

// Canonical returns JSON in one notation for each value. Nothing and null are the empty object.
func Canonical(raw json.RawMessage) json.RawMessage {
	if raw == nil || string(raw) == "null" {
		return json.RawMessage(`{}`)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) == nil {
		if sorted, err := rawjson.Encode(value); err == nil {
			return sorted
		}
	}
	return raw
}
