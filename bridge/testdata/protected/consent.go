package protected

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/servers/demo"
)

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
		demo.WritePage(w, http.StatusBadRequest, "This request cannot be granted", doubt, templ.NopComponent)
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
	title := "Let " + name + " use the demo server?"
	demo.WritePage(w, http.StatusOK, title, "Nothing here is real: there is no account, and no password is asked for.", consent(a))
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
	a := r.requests.take(id)
	r.mu.Unlock()
	switch {
	case a == nil:
		demo.WritePage(w, http.StatusNotFound, "This sign-in is over", "Start it again at the client.", templ.NopComponent)
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
