package signin

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// run is the progress of one sign-in or refresh, as far as the tap sees it. Only the
// holder of the flow's turn uses it.
type run struct {
	flow      *Flow
	number    int
	grant     Grant
	stepUp    bool
	step      wire.Step // the step that is taken, or due
	documents map[string]*answer
	named     string // where the challenge says that the resource's metadata is, "" if nowhere
	resource  string
	mismatch  string // why metadata of the resource that was found is not to be used
	found     bool   // metadata of the resource was found, and is used
	served    bool   // metadata of the authorization server was found, and is used
	missing   int    // status of the latest place that has no metadata
	issuers   []string
	grants    []string // those that the authorization server supports, nil if it does not say
	refusal   error    // why nothing more is sent
}

func newRun(f *Flow, number int, refused *http.Response) *run {
	r := &run{flow: f, number: number, step: wire.StepResource, documents: map[string]*answer{}, resource: f.server.String()}
	if refused == nil {
		return r
	}
	r.stepUp = refused.StatusCode == http.StatusForbidden
	challenges, _ := oauthex.ParseWWWAuthenticate(refused.Header.Values("WWW-Authenticate")) // the SDK reports the error
	for _, c := range challenges {
		if r.named == "" {
			r.named = c.Params["resource_metadata"]
		}
	}
	return r
}

// enter finds the step that a request belongs to. It returns the parameters of a form,
// with resource added where the SDK leaves it out (RFC 8707); nil for other bodies.
func (r *run) enter(req *http.Request, body []byte) url.Values {
	media, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	switch path := req.URL.Path; {
	case req.Response != nil: // a redirect belongs to the step of its request
	case req.Method == http.MethodGet && (strings.Contains(path, "/.well-known/oauth-authorization-server") || strings.Contains(path, "/.well-known/openid-configuration")):
		r.step = wire.StepServer
		if !r.found && r.mismatch != "" {
			r.step, r.refusal = wire.StepResource, errors.New(r.mismatch)
		}
	case req.Method == http.MethodGet:
		r.step = wire.StepResource
	case media == "application/x-www-form-urlencoded":
		return r.enterToken(req, body)
	default:
		if r.refusal = r.undiscovered(); r.refusal == nil {
			r.step = wire.StepRegistration
		}
	}
	return nil
}

// undiscovered returns an error if the authorization server has no metadata. The
// endpoints that the SDK would guess are those of revision 2025-03-26, which the
// inspector does not speak.
func (r *run) undiscovered() error {
	if r.served {
		return nil
	}
	if r.step = wire.StepServer; !r.found {
		r.step = wire.StepResource
	}
	return fmt.Errorf("there is no metadata: HTTP %d", r.missing)
}

func (r *run) enterToken(_ *http.Request, body []byte) url.Values {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil
	}
	if form.Get("grant_type") == string(GrantRefresh) {
		r.step = wire.StepRefresh
	} else if r.refusal = r.undiscovered(); r.refusal != nil {
		return nil
	} else {
		r.step = wire.StepToken
	}
	switch form.Get("grant_type") {
	case string(GrantCredentials):
		if !r.offers(GrantCredentials) {
			r.refusal = errNotOffered
		}
		if scopes := r.flow.scopes(strings.Fields(form.Get("scope"))); len(scopes) > 0 {
			form.Set("scope", strings.Join(scopes, " "))
		}
	}
	if form.Get("resource") == "" && r.resource != "" {
		form.Set("resource", r.resource)
	}
	return form
}

// offers reports whether the authorization server supports a grant. Without
// grant_types_supported it is the one with a code (RFC 8414, section 2).
func (r *run) offers(g Grant) bool {
	if r.grants == nil {
		return g == GrantCode
	}
	return slices.Contains(r.grants, string(g))
}

// judge notes what a response means for the steps that follow, and returns what is wrong
// with it.
func (r *run) judge(req *http.Request, a *answer) (why string) {
	why = r.wrong(req, a)
	ok := a.status >= 200 && a.status < 300
	switch {
	case a.status >= 300 && a.status < 400:
	case a.status >= 400 && a.status < 500:
		r.missing = a.status
	case r.step == wire.StepResource && ok && why != "":
		r.mismatch = why
	case r.step == wire.StepResource && ok:
		r.found, r.step = true, wire.StepServer
		r.resource = rawjson.Text(rawjson.Member(a.body, "resource"))
		r.issuers = rawjson.Strings(rawjson.Member(a.body, "authorization_servers"))
		if len(r.issuers) > 0 {
			r.flow.update(func(at *Attempt) { at.Issuer = r.issuers[0] })
		}
	case r.step == wire.StepServer && ok && why != "", (r.step == wire.StepToken || r.step == wire.StepRefresh) && ok && why != "":
		r.refusal = errors.New(why)
	case r.step == wire.StepServer && ok:
		r.served, r.step = true, wire.StepRegistration
		r.grants = rawjson.Strings(rawjson.Member(a.body, "grant_types_supported"))
		issuer := rawjson.Text(rawjson.Member(a.body, "issuer"))
		r.flow.update(func(at *Attempt) { at.Issuer = issuer })
	}
	return why
}

// wrong returns what is wrong with a response to the present step; "" if nothing is.
func (r *run) wrong(req *http.Request, a *answer) string {
	switch metadata := r.step == wire.StepResource || r.step == wire.StepServer; {
	case a.status >= 300 && a.status < 400:
		return ""
	case metadata && a.status >= 400 && a.status < 500:
		return "" // not found: the next place is tried
	case a.status >= 300:
		return r.refused(a)
	case metadata && a.status != http.StatusOK:
		return fmt.Sprintf("HTTP %d in place of 200", a.status)
	case metadata && !isJSON(a.header):
		return fmt.Sprintf("the content type %q is not application/json", a.header.Get("Content-Type"))
	case !rawjson.Valid(a.body) && (metadata || r.step == wire.StepRegistration):
		return "the document is no JSON"
	case r.step == wire.StepResource:
		return r.wrongResource(req, a.body)
	case r.step == wire.StepServer:
		return r.wrongServer(a.body)
	case r.step == wire.StepRegistration && rawjson.Text(rawjson.Member(a.body, "client_id")) == "":
		return "the response has no client_id"
	case r.step == wire.StepToken || r.step == wire.StepRefresh:
		return wrongToken(a.body)
	}
	return ""
}

// wrongToken judges the answer of a token endpoint. The SDK says what is wrong with other
// points of it.
func wrongToken(body []byte) string {
	if kind := rawjson.Text(rawjson.Member(body, "token_type")); kind != "" && !strings.EqualFold(kind, "Bearer") {
		return fmt.Sprintf("the token_type is %q, and not Bearer", kind)
	}
	return ""
}

// refused says what an error response of an authorization server says.
func (r *run) refused(a *answer) string {
	text := fmt.Sprintf("HTTP %d", a.status)
	if code := rawjson.Text(rawjson.Member(a.body, "error")); code != "" {
		text += ": " + code
	}
	if said := rawjson.Text(rawjson.Member(a.body, "error_description")); said != "" {
		text += ": " + said
	}
	return text
}

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && media == "application/json"
}

// wrongResource judges the metadata of a protected resource (RFC 9728, section 3.3).
func (r *run) wrongResource(req *http.Request, body []byte) string {
	want := r.flow.server.String()
	if req.URL.String() != r.named && strings.TrimSuffix(req.URL.Path, "/") == "/.well-known/oauth-protected-resource" {
		root := *r.flow.server
		root.Path, root.RawPath = "", ""
		want = root.String()
	}
	got := rawjson.Text(rawjson.Member(body, "resource"))
	servers := rawjson.Strings(rawjson.Member(body, "authorization_servers"))
	switch {
	case got == "":
		return "the metadata has no resource"
	case got != want && got != r.flow.server.String():
		return fmt.Sprintf("the metadata is that of the resource %s, and not of %s", got, want)
	case got != want:
		return fmt.Sprintf("the metadata at the root is that of the resource %s, and not of %s", got, want)
	case len(servers) == 0:
		return "the metadata has no authorization servers"
	}
	for _, server := range servers {
		if u, err := url.Parse(server); err != nil {
			return fmt.Sprintf("the authorization server %q is no URL", server)
		} else if err := r.flow.safe(u); err != nil {
			return fmt.Sprintf("the authorization server %v", err)
		}
	}
	return ""
}

// wrongServer judges the metadata of an authorization server (RFC 8414, section 3.3).
func (r *run) wrongServer(body []byte) string {
	issuer := rawjson.Text(rawjson.Member(body, "issuer"))
	methods := rawjson.Strings(rawjson.Member(body, "code_challenge_methods_supported"))
	switch {
	case len(r.issuers) > 0 && strings.TrimSuffix(issuer, "/") != strings.TrimSuffix(r.issuers[0], "/"):
		return fmt.Sprintf("the issuer is %q, and not %q", issuer, r.issuers[0])
	case len(methods) == 0:
		return "code_challenge_methods_supported is missing, so that PKCE may not be supported"
	case !slices.Contains(methods, "S256") && r.grant != GrantCredentials:
		return "code_challenge_methods_supported does not have S256"
	}
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint"} {
		address := rawjson.Text(rawjson.Member(body, name))
		if u, err := url.Parse(address); address != "" && err != nil {
			return fmt.Sprintf("the %s %q is no URL", name, address)
		} else if address != "" && r.flow.safe(u) != nil {
			return fmt.Sprintf("the %s %v", name, r.flow.safe(u))
		}
	}
	return ""
}

// redirect returns the address of the inspector with which the browser came back.
func (r *run) redirect(q url.Values) string {
	a, _ := r.flow.Attempt()
	return a.RedirectURI + "?" + q.Encode()
}

// failure returns the error of a sign-in that ended with err; nil if it succeeded.
func (r *run) failure(ctx context.Context, err error) *Error {
	cause := context.Cause(ctx)
	var refused *oauth2.RetrieveError
	switch {
	case err == nil:
		return nil
	case errors.Is(cause, errDeclined):
		return &Error{State: Declined}
	case errors.Is(cause, errCancelled):
		return &Error{State: Cancelled}
	case cause != nil:
		return &Error{State: Withdrawn}
	case errors.Is(err, errNotOffered), errors.Is(r.refusal, errNotOffered):
		return &Error{Failed, wire.StepServer, "the authorization server offers no grant that this client can use: it has " + strings.Join(r.grants, ", ")}
	case r.refusal != nil:
		return &Error{Failed, r.step, r.flow.desk.masks().text(plainly(r.refusal))}
	case errors.As(err, &refused):
		a := answer{status: refused.Response.StatusCode, body: refused.Body}
		return &Error{Failed, r.step, r.flow.desk.masks().text(r.refused(&a))}
	}
	return &Error{Failed, r.step, r.flow.desk.masks().text(plainly(err))}
}
