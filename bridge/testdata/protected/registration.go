package protected

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"elicitation-inspector/bridge/meaning/elicit/link"
)

const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantClient  = "client_credentials"

	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
)

// client is a client that the authorization server knows.
type client struct {
	id, name    string
	secret      string // "" for a public client
	redirects   []string
	anyLoopback bool // besides redirects, every http URL on a loopback address
	grants      []string
}

// wellKnown are the clients that need no registration.
var wellKnown = []*client{
	{id: ClientID, name: "Demo client", anyLoopback: true, grants: []string{grantCode, grantRefresh}},
	{id: ServiceID, name: "Demo service", secret: ServiceSecret, grants: []string{grantClient}},
}

// mayRedirectTo reports whether a redirect URI is exactly one of the client's.
func (c *client) mayRedirectTo(uri string) bool {
	if slices.Contains(c.redirects, uri) {
		return true
	}
	u, err := url.Parse(uri)
	return c.anyLoopback && err == nil && u.Scheme == "http" && link.IsLoopback(u.Hostname()) && u.Fragment == "" && u.User == nil
}

// known returns a client that needs no registration, or has been registered.
func (r *realm) known(id string) *client {
	for _, c := range wellKnown {
		if c.id == id {
			return c
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients.get(id)
}

func (r *realm) remember(c *client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients.put(c.id, c)
}

// serveServerMetadata serves the metadata of the authorization server (RFC 8414).
func (r *realm) serveServerMetadata(w http.ResponseWriter, _ *http.Request) {
	m := &oauthex.AuthServerMeta{
		Issuer:                            r.issuer,
		AuthorizationEndpoint:             r.authorizationURL(),
		TokenEndpoint:                     r.tokenURL(),
		JWKSURI:                           r.keysURL(),
		RegistrationEndpoint:              r.registrationURL(),
		ScopesSupported:                   []string{ScopeUse, ScopeTransfer},
		ResponseTypesSupported:            []string{"code"},
		ResponseModesSupported:            []string{"query"},
		GrantTypesSupported:               []string{grantCode, grantRefresh, grantClient},
		TokenEndpointAuthMethodsSupported: []string{methodNone, methodBasic, methodPost},
		CodeChallengeMethodsSupported:     []string{"S256"},
		ClientIDMetadataDocumentSupported: true,

		AuthorizationResponseIssParameterSupported: true,
	}
	if r.variant.serverMetadata != nil {
		r.variant.serverMetadata(r, m)
	}
	writeJSON(w, http.StatusOK, m)
}

// serveRegistration registers a client (RFC 7591).
func (r *realm) serveRegistration(w http.ResponseWriter, req *http.Request) {
	var m oauthex.ClientRegistrationMetadata
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxBody)).Decode(&m); err != nil {
		(&failure{"invalid_client_metadata", err.Error()}).write(w)
		return
	}
	if f := checkClient(&m); f != nil {
		f.write(w)
		return
	}
	c := &client{id: "client-" + rand.Text(), name: m.ClientName, redirects: m.RedirectURIs, grants: m.GrantTypes}
	if m.TokenEndpointAuthMethod != methodNone {
		c.secret = rand.Text()
	}
	r.remember(c)
	writeJSON(w, http.StatusCreated, struct {
		oauthex.ClientRegistrationMetadata
		ID            string `json:"client_id"`
		Secret        string `json:"client_secret,omitempty"`
		Issued        int64  `json:"client_id_issued_at"`
		SecretExpires int64  `json:"client_secret_expires_at"`
	}{m, c.id, c.secret, r.Now().Unix(), 0})
}

// checkClient checks the metadata of a client, and fills in the defaults of RFC 7591.
func checkClient(m *oauthex.ClientRegistrationMetadata) *failure {
	if m.TokenEndpointAuthMethod == "" {
		m.TokenEndpointAuthMethod = methodBasic
	}
	if len(m.GrantTypes) == 0 {
		m.GrantTypes = []string{grantCode}
	}
	if !slices.Contains([]string{methodNone, methodBasic, methodPost}, m.TokenEndpointAuthMethod) {
		return &failure{"invalid_client_metadata", "token_endpoint_auth_method is not supported: " + m.TokenEndpointAuthMethod}
	}
	if !hasAll([]string{grantCode, grantRefresh}, m.GrantTypes) {
		return &failure{"invalid_client_metadata", "grant_types has one that registered clients cannot use"}
	}
	if len(m.RedirectURIs) == 0 {
		return &failure{"invalid_redirect_uri", "redirect_uris is missing"}
	}
	for _, uri := range m.RedirectURIs {
		why := ""
		switch u, err := url.Parse(uri); {
		case err != nil || !u.IsAbs():
			why = "it is not an absolute URI"
		case u.Fragment != "":
			why = "it has a fragment"
		case u.Scheme == "https" && u.Host != "", u.Scheme == "http" && link.IsLoopback(u.Hostname()):
		case strings.Contains(u.Scheme, "."): // a private-use scheme such as com.example.app (RFC 8252, section 7)
		default:
			why = "it is neither https, nor http on a loopback address, nor of a private-use scheme"
		}
		if why != "" {
			return &failure{"invalid_redirect_uri", fmt.Sprintf("%q: %s", uri, why)}
		}
	}
	return nil
}

// fetchClient reads the metadata document of a client whose id is its URL
// (draft-ietf-oauth-client-id-metadata-document).
func (r *realm) fetchClient(ctx context.Context, id string) (*client, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, err
	}
	if u := req.URL; u.Scheme != "https" || u.Path == "" || u.Path == "/" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("a client ID that is a URL must be https and have a path")
	}
	res, err := r.Fetcher.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var m struct {
		oauthex.ClientRegistrationMetadata
		ID string `json:"client_id"`
	}
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxBody)).Decode(&m); err != nil {
		return nil, err
	}
	if m.ID != id {
		return nil, fmt.Errorf("it is that of %q", m.ID)
	}
	m.TokenEndpointAuthMethod = methodNone // the document is public, so it cannot agree on a secret
	if f := checkClient(&m.ClientRegistrationMetadata); f != nil {
		return nil, errors.New(f.Description)
	}
	c := &client{id: id, name: m.ClientName, redirects: m.RedirectURIs, grants: m.GrantTypes}
	r.remember(c)
	return c, nil
}
