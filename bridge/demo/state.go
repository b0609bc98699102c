package demo

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

var errState = errors.New("requestState is not one that this server gave out for this request")

// newSeal returns a cipher for requestState with a new key.
func newSeal() cipher.AEAD {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for a key of the wrong length
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for a block of the wrong size
	}
	return seal
}

// sealed encrypts v for the client to keep. The client can neither read nor change it, nor use it for another request.
func (s *Server) sealed(v any, identity []byte) string {
	return base64.RawURLEncoding.EncodeToString(s.seal.Seal(nil, nil, mustJSON(v), identity))
}

// open decrypts the result of sealed for the same identity.
func (s *Server) open(state string, identity []byte, v any) error {
	box, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		return errState
	}
	plain, err := s.seal.Open(nil, nil, box, identity)
	if err != nil {
		return errState
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return fmt.Errorf("%w: %w", errState, err)
	}
	return nil
}
