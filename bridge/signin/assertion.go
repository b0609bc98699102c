package signin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// ReadKey reads the private key of a client from a PEM file: RSA, EC or Ed25519, in PKCS #8,
// PKCS #1 or SEC 1.
func ReadKey(path string) (crypto.Signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// ParseKey parses the text of a file for [ReadKey].
func ParseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it has no PEM block")
	}
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	signer, _ := key.(crypto.Signer)
	switch {
	case err != nil:
		return nil, err
	case signer == nil || signingMethod(signer) == nil:
		return nil, errors.New("its key cannot sign a JWT: it is not RSA, EC with a NIST curve, or Ed25519")
	}
	return signer, nil
}

// signingMethod returns the JWT algorithm for a private key; nil if there is none.
func signingMethod(key crypto.Signer) jwt.SigningMethod {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return jwt.SigningMethodRS256
	case ed25519.PrivateKey:
		return jwt.SigningMethodEdDSA
	case *ecdsa.PrivateKey:
		switch key.Curve.Params().BitSize {
		case 256:
			return jwt.SigningMethodES256
		case 384:
			return jwt.SigningMethodES384
		case 521:
			return jwt.SigningMethodES512
		}
	}
	return nil
}

// The parameters of a client assertion (RFC 7523, section 2.2).
const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	assertionLife = time.Minute
)

// authenticate replaces the client authentication of a token request by an assertion that
// is signed with the client's key (private_key_jwt). It does nothing without a key.
func (r *run) authenticate(req *http.Request, form url.Values) error {
	c := r.flow.config
	if c.ClientKey == nil {
		return nil
	}
	if r.issuer == "" {
		return errors.New("the issuer for which the client must sign an assertion is unknown")
	}
	now := time.Now()
	assertion, err := jwt.NewWithClaims(signingMethod(c.ClientKey), jwt.MapClaims{
		"iss": c.ClientID, "sub": c.ClientID, "aud": r.issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	}).SignedString(c.ClientKey)
	if err != nil {
		return fmt.Errorf("signing the client's assertion: %w", err)
	}
	req.Header.Del("Authorization")
	form.Del("client_secret")
	form.Set("client_id", c.ClientID)
	form.Set("client_assertion_type", assertionType)
	form.Set("client_assertion", assertion)
	return nil
}
