package signin

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"elicitation-inspector/bridge/elicit/link"
)

// Config says how one server is signed in to. The zero value registers a client when one
// is needed.
type Config struct {
	// Off turns sign-ins off: a refusal for want of a token stays what it is.
	Off bool
	// ClientID and ClientSecret are those of a client that is registered already.
	ClientID, ClientSecret string
	// MetadataURL is the address of a client-ID metadata document.
	MetadataURL string
	// Scopes are asked for in place of those that the server names; none means those of
	// the server.
	Scopes []string
	// RedirectPort is the port of this machine to which the browser comes back; 0 means
	// that of the page, or any free one without a page.
	RedirectPort int
	// Keep keeps tokens in the system's keyring.
	Keep bool
}

// Check returns what is wrong with the configuration; nil if nothing is.
func (c Config) Check() error {
	u, err := url.Parse(c.MetadataURL)
	switch {
	case c.MetadataURL != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.Path == "" || u.Path == "/"):
		return fmt.Errorf("%q is no https URL with a path, as the address of a client-ID metadata document must be", c.MetadataURL)
	case c.ClientSecret != "" && c.ClientID == "":
		return fmt.Errorf("a client secret needs a client id")
	case c.RedirectPort < 0 || c.RedirectPort > 65535:
		return fmt.Errorf("%d is no port", c.RedirectPort)
	}
	return nil
}

// ReadSecret reads a client secret from a file, without the space around it.
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

// Grant is how a token is asked for.
type Grant string

// The grants.
const (
	GrantCode        Grant = "authorization_code" // a person signs in
	GrantCredentials Grant = "client_credentials" // the client's secret is enough
	GrantRefresh     Grant = "refresh_token"      // no sign-in, but a new token for an old one
)

// Registration is how the authorization server knows the client.
type Registration string

// The ways of registration, in the order in which they are tried.
const (
	ByMetadataDocument Registration = "client-ID metadata document"
	Preregistered      Registration = "pre-registered client"
	Dynamic            Registration = "dynamic registration"
)

// safe returns an error unless a URL is https, or http on this machine. A server that is
// not on this machine may not name what is.
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
