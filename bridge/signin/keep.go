package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/zalando/go-keyring"
	"golang.org/x/oauth2"
)

// service names the entries of the inspector in the system's keyring. Their account is the
// URL of the server.
const service = "elicitation-inspector"

// kept is an entry of the keyring: a token set, and the registrations of the client.
type kept struct {
	Token        *oauth2.Token    `json:"token"`
	Resource     string           `json:"resource"`
	Issuer       string           `json:"issuer,omitempty"`
	ClientID     string           `json:"client_id,omitempty"`
	ClientSecret string           `json:"client_secret,omitempty"`
	Endpoint     *oauth2.Endpoint `json:"endpoint,omitempty"` // nil for a token that cannot be refreshed
	// Registered are the responses to registrations, by issuer, and URL and body of the request.
	Registered map[string]json.RawMessage `json:"registered,omitempty"`
}

// load loads the token set and the registrations from the keyring. If that fails, it warns,
// and the flow goes on without them.
func (f *Flow) load() {
	text, err := keyring.Get(service, f.server.String())
	if errors.Is(err, keyring.ErrNotFound) {
		return
	}
	var k kept
	if err == nil {
		err = json.Unmarshal([]byte(text), &k)
	}
	if err == nil && k.Token == nil {
		err = errors.New("the entry has no token")
	}
	if err != nil {
		f.warn("reading", err)
		return
	}
	m := f.masks()
	for _, secret := range []string{k.Token.AccessToken, k.Token.RefreshToken, k.ClientSecret} {
		m.hide("", secret, true)
	}
	for asked, body := range k.Registered {
		header := http.Header{"Content-Type": {"application/json"}}
		_ = m.body(header, body, false) // makes its secrets known
		f.registered[asked] = &answer{status: http.StatusCreated, header: header, body: body}
	}
	if f.issuer == "" && k.ClientID == f.config.ClientID {
		f.issuer = k.Issuer
	}
	tokens := &tokenSet{token: k.Token, resource: k.Resource, issuer: k.Issuer}
	if k.Endpoint != nil {
		tokens.config = &oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret, Endpoint: *k.Endpoint}
	}
	f.mu.Lock()
	f.tokens = tokens
	f.mu.Unlock()
}

// save stores a token set in the keyring; nil removes the entry.
func (f *Flow) save(t *tokenSet) {
	if t == nil {
		if err := keyring.Delete(service, f.server.String()); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			f.warn("removing", err)
		}
		return
	}
	k := kept{Token: t.token, Resource: t.resource, Issuer: t.issuer, Registered: map[string]json.RawMessage{}}
	for asked, answer := range f.registered {
		k.Registered[asked] = answer.body
	}
	if c := t.config; c != nil {
		k.ClientID, k.ClientSecret, k.Endpoint = c.ClientID, c.ClientSecret, &c.Endpoint
	}
	text, err := json.Marshal(k)
	if err == nil {
		err = keyring.Set(service, f.server.String(), string(text))
	}
	if err != nil {
		f.warn("writing", err)
	}
}

// warn reports an error of the keyring.
func (f *Flow) warn(doing string, err error) {
	if f.desk.config.Warn != nil {
		f.desk.config.Warn(fmt.Sprintf("%s the token of %s in the system's keyring: %v; it stays in memory", doing, f.name, f.masks().text(err.Error())))
	}
}
