package signin

import (
	"crypto"
	"fmt"
	"net/url"
	"os"
	"strings"

	"elicitation-inspector/bridge/elicit/link"
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
		return fmt.Errorf("%q is no https URL with a path, as the address of a client-ID metadata document must be", c.MetadataURL)
	case c.Issuer != "" && c.ClientID == "":
		return fmt.Errorf("an issuer needs a client id, which it has given")
	case c.ClientSecret != "" && c.ClientID == "":
		return fmt.Errorf("a client secret needs a client id")
	case c.ClientKey != nil && c.ClientID == "":
		return fmt.Errorf("a client key needs a client id")
	case c.ClientKey != nil && c.ClientSecret != "":
		return fmt.Errorf("a client has a secret or a key, and not both")
	case c.RedirectPort < 0 || c.RedirectPort > 65535:
		return fmt.Errorf("%d is no port", c.RedirectPort)
	}
	return nil
}

// confidential reports whether the client can authenticate without a person.
func (c Config) confidential() bool { return c.ClientSecret != "" || c.ClientKey != nil }

// ReadSecret reads a client secret from a file, and trims white space around it.
func ReadSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
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
