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

// aead returns the cipher that requestState is sealed with. Its key lives and dies with the server.
func (s *Server) aead() cipher.AEAD {
	s.sealOnce.Do(func() {
		var key [32]byte
		rand.Read(key[:])
		block, err := aes.NewCipher(key[:])
		if err != nil {
			panic(err) // only for a key of the wrong length
		}
		if s.seal, err = cipher.NewGCMWithRandomNonce(block); err != nil {
			panic(err) // only for a block of the wrong size
		}
	})
	return s.seal
}

// sealed encodes v for the client to keep, who can neither read nor change it, nor use it for any other request.
func (s *Server) sealed(v any, identity []byte) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encoding requestState: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead().Seal(nil, nil, plain, identity)), nil
}

// open decodes what sealed returned for the same identity.
func (s *Server) open(state string, identity []byte, v any) error {
	box, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		return errState
	}
	plain, err := s.aead().Open(nil, nil, box, identity)
	if err != nil {
		return errState
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return fmt.Errorf("%w: %w", errState, err)
	}
	return nil
}
