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
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/meaning/elicit/link"
)

// Config says how to sign in to one server. With the zero value, the inspector registers a
// client when it needs one.
type Config struct {
	// Off turns sign-ins off: a 401 is an error.
	Off bool
	// ClientID and ClientSecret belong to a client that the authorization server already knows.
	ClientID, ClientSecret string
	// Issuer is the authorization server that knows that client; "" for the first one that the
	// client gets a token from. The client is made known to no other.
	Issuer string
	// ClientKey signs assertions by which the client authenticates, in place of a secret.
	ClientKey crypto.Signer
	// MetadataURL is the address of a client-ID metadata document.
	MetadataURL string
	// Scopes are requested in place of the scopes that the server names; if there are none,
	// the scopes of the server are requested.
	Scopes []string
	// RedirectPort is the port of this machine to which the authorization server redirects
	// the browser; 0 means the port of the page, or any free port without a page.
	RedirectPort int
	// Keep stores tokens in the system's keyring.
	Keep bool
}

// Check returns an error if the configuration contradicts itself or has an invalid value.
func (c Config) Check() error {
	u, err := url.Parse(c.MetadataURL)
	switch {
	case c.MetadataURL != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.Path == "" || u.Path == "/"):
		return fmt.Errorf("%q is not an https URL with a path, as the address of a client-ID metadata document must be", c.MetadataURL)
	case c.Issuer != "" && c.ClientID == "":
		return fmt.Errorf("an issuer needs a client id, which it has given")
	case c.ClientSecret != "" && c.ClientID == "":
		return fmt.Errorf("a client secret needs a client id")
	case c.ClientKey != nil && c.ClientID == "":
		return fmt.Errorf("a client key needs a client id")
	case c.ClientKey != nil && c.ClientSecret != "":
		return fmt.Errorf("a client has a secret or a key, and not both")
	case c.RedirectPort < 0 || c.RedirectPort > 65535:
		return fmt.Errorf("%d is not a port", c.RedirectPort)
	}
	return nil
}

// ReadSecret reads a client secret from a file, and trims white space around it.
func ReadSecret(path string) (string, error) {
	text, err := written.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}

// Grant is an OAuth grant type.
type Grant string

// The grant types.
const (
	GrantCode        Grant = "authorization_code" // a person signs in
	GrantCredentials Grant = "client_credentials" // the client signs in for itself
	GrantRefresh     Grant = "refresh_token"      // no sign-in: a refresh token replaces an access token
)

// Registration is the way in which the authorization server got to know the client.
type Registration string

// The ways of registration, in the order in which they are tried.
const (
	ByMetadataDocument Registration = "client-ID metadata document"
	Preregistered      Registration = "pre-registered client"
	Dynamic            Registration = "dynamic registration"
)

// safe returns an error unless the inspector may send requests to a URL: it must be https,
// or http on this machine, and a server elsewhere must not name a URL on this machine.
func (f *Flow) safe(u *url.URL) error {
	local := link.IsLoopback(u.Hostname())
	switch origin := u.Scheme + "://" + u.Host; {
	case u.Host == "":
		return fmt.Errorf("%q names no host", u.Redacted())
	case local && !link.IsLoopback(f.server.Hostname()):
		return fmt.Errorf("%s is on this machine, and the server that names it is not", origin)
	case u.Scheme == "https", u.Scheme == "http" && local:
		return nil
	default:
		return fmt.Errorf("%s is neither https nor on this machine", origin)
	}
}

// ReadKey reads the private key of a client from a PEM file: RSA, EC or Ed25519, in PKCS #8,
// PKCS #1 or SEC 1.
func ReadKey(path string) (crypto.Signer, error) {
	text, err := written.ReadFile(path)
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
	issuer := r.server.Issuer
	if issuer == "" {
		return errors.New("the issuer for which the client must sign an assertion is unknown")
	}
	now := time.Now()
	assertion, err := jwt.NewWithClaims(signingMethod(c.ClientKey), jwt.MapClaims{
		"iss": c.ClientID, "sub": c.ClientID, "aud": issuer, "jti": rand.Text(),
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
