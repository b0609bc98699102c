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

// kept is a grant as the keyring has it.
type kept struct {
	Token        *oauth2.Token    `json:"token"`
	Resource     string           `json:"resource"`
	ClientID     string           `json:"client_id,omitempty"`
	ClientSecret string           `json:"client_secret,omitempty"`
	Endpoint     *oauth2.Endpoint `json:"endpoint,omitempty"` // nil for a token that cannot be refreshed
	// Registered are the responses to registrations, by what was asked for.
	Registered map[string]json.RawMessage `json:"registered,omitempty"`
}

// load takes the token that the keyring has. What is wrong with the keyring is told, and
// tokens stay in memory then.
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
	m := f.desk.masks()
	m.learn("access_token", k.Token.AccessToken)
	m.learn("refresh_token", k.Token.RefreshToken)
	m.learn("client_secret", k.ClientSecret)
	for asked, body := range k.Registered {
		header := http.Header{"Content-Type": {"application/json"}}
		_ = m.body(header, body, false) // makes its secrets known
		f.registered[asked] = &answer{http.StatusCreated, header, body}
	}
	g := &grant{token: k.Token, resource: k.Resource}
	if k.Endpoint != nil {
		g.config = &oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret, Endpoint: *k.Endpoint}
	}
	f.mu.Lock()
	f.granted = g
	f.mu.Unlock()
}

// save makes the keyring have the grant; nil removes it from there.
func (f *Flow) save(g *grant) {
	if g == nil {
		if err := keyring.Delete(service, f.server.String()); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			f.warn("removing", err)
		}
		return
	}
	k := kept{Token: g.token, Resource: g.resource, Registered: map[string]json.RawMessage{}}
	for asked, answer := range f.registered {
		k.Registered[asked] = answer.body
	}
	if c := g.config; c != nil {
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

func (f *Flow) warn(doing string, err error) {
	if f.desk.config.Warn != nil {
		f.desk.config.Warn(fmt.Sprintf("%s the token of %s in the system's keyring: %v; it stays in memory", doing, f.name, f.desk.masks().text(err.Error())))
	}
}
