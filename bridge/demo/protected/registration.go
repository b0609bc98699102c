package protected

import (
	"cmp"
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

	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/elicit/link"
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
	c, _ := r.clients.get(id)
	return c
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

// request is an authorization request for which the person has not chosen yet.
type request struct {
	id        string
	client    *client
	redirect  string
	state     string
	scopes    []string
	challenge string // of PKCE
	resource  string
}

// people are the accounts that the consent page offers. They have no passwords.
var people = []string{"Robin", "Sam"}

// showConsent answers an authorization request with a page on which a person allows or denies it.
func (r *realm) showConsent(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	id, redirect := q.Get("client_id"), q.Get("redirect_uri")
	c, doubt := r.known(id), "" // doubt is why the browser must not be redirected
	if strings.HasPrefix(id, "https://") {
		var err error
		if c, err = r.fetchClient(req.Context(), id); err != nil {
			doubt = "The client's metadata document is of no use: " + err.Error() + "."
		}
	} else if c == nil {
		doubt = "The client is not registered here: " + id + "."
	}
	if doubt == "" && !c.mayRedirectTo(redirect) {
		doubt = "The redirect URI is not one of the client's: " + redirect
	}
	if doubt != "" {
		consentPage{Title: "This request cannot be granted", Text: doubt}.write(w, http.StatusBadRequest)
		return
	}
	a := &request{
		id: rand.Text(), client: c, redirect: redirect, state: q.Get("state"),
		scopes: strings.Fields(cmp.Or(q.Get("scope"), ScopeUse)), challenge: q.Get("code_challenge"), resource: q.Get("resource"),
	}
	if f := r.check(a, q); f != nil {
		r.sendBack(w, req, a, url.Values{"error": {f.Code}, "error_description": {f.Description}})
		return
	}
	r.mu.Lock()
	r.requests.put(a.id, a)
	r.mu.Unlock()
	name := cmp.Or(c.name, c.id)
	consentPage{
		Title:   "Let " + name + " use the demo server?",
		Text:    "Nothing here is real: there is no account, and no password is asked for.",
		Request: &shownRequest{a.id, r.resource, strings.Join(a.scopes, " "), c.id, a.redirect},
	}.write(w, http.StatusOK)
}

// check returns the error that is sent to the redirect URI; nil if the person may be asked.
func (r *realm) check(a *request, q url.Values) *failure {
	switch {
	case q.Get("response_type") != "code":
		return &failure{"unsupported_response_type", "response_type must be code"}
	case !slices.Contains(a.client.grants, grantCode):
		return &failure{"unauthorized_client", "the client must not use the authorization code grant"}
	case a.challenge == "" || q.Get("code_challenge_method") != "S256":
		return &failure{"invalid_request", "PKCE with S256 is required"}
	case a.resource != r.resource:
		return &failure{"invalid_target", "resource must be " + r.resource}
	case r.variant.scopesRefused || !hasAll([]string{ScopeUse, ScopeTransfer}, a.scopes):
		return &failure{"invalid_scope", "a scope is unknown: " + strings.Join(a.scopes, " ")}
	case r.variant.denied:
		return &failure{"access_denied", "Nobody may use this server."}
	}
	return nil
}

// takeConsent takes the choice of the person. A request can be decided once.
func (r *realm) takeConsent(w http.ResponseWriter, req *http.Request) {
	req.Body = http.MaxBytesReader(w, req.Body, maxBody)
	choice, user := req.PostFormValue("choice"), req.PostFormValue("user")
	if choice != "allow" && choice != "deny" || !slices.Contains(people, user) {
		http.Error(w, "choice must be allow or deny, by one of the people offered", http.StatusBadRequest)
		return
	}
	id := req.PostFormValue("request")
	r.mu.Lock()
	a, _ := r.requests.take(id)
	r.mu.Unlock()
	switch {
	case a == nil:
		consentPage{Title: "This sign-in is over", Text: "Start it again at the client."}.write(w, http.StatusNotFound)
	case choice == "deny":
		r.sendBack(w, req, a, url.Values{"error": {"access_denied"}, "error_description": {user + " said no."}})
	default:
		code := rand.Text()
		r.mu.Lock()
		r.codes.put(code, &grant{
			client: a.client, user: user, scopes: a.scopes,
			redirect: a.redirect, challenge: a.challenge, expires: r.Now().Add(codeLife),
		})
		r.mu.Unlock()
		r.sendBack(w, req, a, url.Values{"code": {code}})
	}
}

// sendBack redirects the browser to the client with the outcome, the state and the issuer (RFC 9207).
func (r *realm) sendBack(w http.ResponseWriter, req *http.Request, a *request, q url.Values) {
	q.Set("iss", r.issuer)
	if a.state != "" {
		q.Set("state", a.state)
	}
	if r.variant.redirect != nil {
		r.variant.redirect(r, q)
	}
	u, err := url.Parse(a.redirect)
	if err != nil { // impossible, because mayRedirectTo has parsed it
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for name, values := range u.Query() {
		if !q.Has(name) {
			q[name] = values
		}
	}
	u.RawQuery = q.Encode()
	http.Redirect(w, req, u.String(), http.StatusSeeOther)
}

// page adds the headers of pages to a handler. There is no form-action, because browsers apply it to the redirect after
// the form, too, and that leads to the client.
func page(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		demo.SetPageHeaders(w.Header())
		h(w, r)
	})
}

type consentPage struct {
	Title, Text string
	Request     *shownRequest // nil when there is nothing to decide
}

// shownRequest describes an authorization request for the person.
type shownRequest struct{ ID, Resource, Scope, Client, Redirect string }

//go:embed consent.html
var consentHTML string

var consentPages = demo.NewPages(consentHTML)

func (p consentPage) write(w http.ResponseWriter, status int) { consentPages.Write(w, status, p) }
