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

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// run is the progress of one attempt, as the tap reads it from the exchanges. Only the
// holder of the flow's turn uses it.
type run struct {
	flow          *Flow
	number        int // of the attempt
	grant         Grant
	stepUp        bool               // the server has answered 403 with insufficient_scope
	step          wire.Step          // the current step
	documents     map[string]*answer // responses to GET requests, by URL
	metadataURL   string             // resource_metadata of the challenge, "" if it names none
	scopes        []string           // of the challenge, or else of the metadata of the resource
	resource      string
	issuers       []string                // authorization servers in the metadata of the resource
	server        *oauthex.AuthServerMeta // nil until it is found
	grants        []string                // grant_types_supported of the authorization server, nil without that member
	latest        *answer                 // nil before the first
	unusable      string                  // why the metadata of the resource cannot be used, "" if none was rejected
	missingStatus int                     // status of the latest response 4xx in place of metadata
	halted        error                   // once set, the tap sends nothing more and returns this error
	strict        bool                    // the request was one of 2026-07-28, in which the issuer must be identical
}

func newRun(f *Flow, number int, refused *http.Response) *run {
	r := &run{flow: f, number: number, step: wire.StepResource, documents: map[string]*answer{}, resource: f.server.String()}
	if refused == nil {
		return r
	}
	r.stepUp = refused.StatusCode == http.StatusForbidden
	r.strict = mcp.HasRounds(refused.Request.Header.Get("Mcp-Protocol-Version"))
	challenges, _ := oauthex.ParseWWWAuthenticate(readable(refused.Header)) // readable has no error
	for _, c := range challenges {
		if r.metadataURL == "" {
			r.metadataURL = c.Params["resource_metadata"]
		}
		if c.Scheme == "bearer" && len(r.scopes) == 0 {
			r.scopes = strings.Fields(c.Params["scope"])
		}
	}
	return r
}

// spaces matches the white space that RFC 9110, section 5.6.3, allows around the = of a
// parameter, and that the SDK does not read. Quoted texts stay.
var spaces = lazy.Regexp(`"(?:\\.|[^"\\])*"|[ \t]*=[ \t]*`)

// readable returns the challenges of a response in a form that the SDK reads; nil if it
// cannot read them, so that it looks at the well-known address.
func readable(h http.Header) (list []string) {
	for _, value := range h.Values("WWW-Authenticate") {
		list = append(list, spaces().ReplaceAllStringFunc(value, func(found string) string {
			if found[0] == '"' {
				return found
			}
			return "="
		}))
	}
	if _, err := oauthex.ParseWWWAuthenticate(list); err != nil {
		return nil
	}
	return list
}

// completed returns the body of a token request with what golang.org/x/oauth2 leaves out of some: the
// resource (RFC 8707), and the client's assertion.
func (r *run) completed(req *http.Request, body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return body, nil
	}
	if form.Get("resource") == "" && r.resource != "" {
		form.Set("resource", r.resource)
	}
	err = r.authenticate(req, form)
	return []byte(form.Encode()), err
}

// offers reports whether the authorization server supports a grant type. Without
// grant_types_supported it supports authorization_code (RFC 8414, section 2).
func (r *run) offers(g Grant) bool {
	if r.grants == nil {
		return g == GrantCode
	}
	return slices.Contains(r.grants, string(g))
}

// judge keeps what the next steps need from a response. If the response is wrong and no other
// address is left to try, it ends the attempt.
func (r *run) judge(a *answer) {
	r.latest = a
	ok := a.status >= 200 && a.status < 300
	switch {
	case a.status >= 300 && a.status < 400:
	case r.step == wire.StepRegistration && a.why != "":
		r.halted = errors.New(a.why)
	case a.status >= 400 && a.status < 500:
		r.missingStatus = a.status
	case !ok || a.why == "":
	case r.step == wire.StepResource:
		r.unusable = a.why
	default:
		r.halted = errors.New(a.why)
	}
}

// wrong returns what is wrong with a response to the current step; "" if nothing is.
func (r *run) wrong(req *http.Request, a *answer) string {
	switch metadata := r.step == wire.StepResource || r.step == wire.StepServer; {
	case a.status >= 300 && a.status < 400:
		return ""
	case metadata && a.status >= 400 && a.status < 500:
		return "" // not found: the next place is tried
	case a.status >= 300:
		return errorText(a)
	case metadata && a.status != http.StatusOK:
		return fmt.Sprintf("HTTP %d in place of 200", a.status)
	case metadata && !isJSON(a.header):
		return fmt.Sprintf("the content type %q is not application/json", a.header.Get("Content-Type"))
	case !rawjson.Valid(a.body) && (metadata || r.step == wire.StepRegistration):
		return "the document is not JSON"
	case r.step == wire.StepResource:
		return r.wrongResource(req, a.body)
	case r.step == wire.StepServer:
		return r.wrongServer(a.body)
	case r.step == wire.StepRegistration && rawjson.Text(rawjson.Member(a.body, "client_id")) == "":
		return "the response has no client_id"
	case r.step != wire.StepToken && r.step != wire.StepRefresh:
	case isJSON(a.header) && !rawjson.Valid(a.body):
		return "the document is not JSON"
	default: // the SDK checks the other members of a token response
		if kind := rawjson.Text(rawjson.Member(a.body, "token_type")); kind != "" && !strings.EqualFold(kind, "Bearer") {
			return fmt.Sprintf("the token_type is %q, and not Bearer", kind)
		}
	}
	return ""
}

// errorText describes an error response of an authorization server (RFC 6749, section 5.2).
func errorText(a *answer) string {
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

// wrongResource returns what is wrong with the metadata of a resource (RFC 9728, section 3.3).
func (r *run) wrongResource(req *http.Request, body []byte) string {
	want := r.flow.server.String()
	if req.URL.String() != r.metadataURL && strings.TrimSuffix(req.URL.Path, "/") == "/.well-known/oauth-protected-resource" {
		root := *r.flow.server
		root.Path, root.RawPath = "", ""
		want = root.String()
	}
	got := rawjson.Text(rawjson.Member(body, "resource"))
	servers := rawjson.Strings(rawjson.Member(body, "authorization_servers"))
	switch {
	case got == "":
		return "the metadata has no resource"
	case got == want+"/" && got == r.flow.server.String(): // the server is at the root
	case got != want && got != r.flow.server.String():
		return fmt.Sprintf("the metadata is that of the resource %s, and not of %s", got, want)
	case got != want:
		return fmt.Sprintf("the metadata at the root is that of the resource %s, and not of %s", got, want)
	}
	if len(servers) == 0 {
		return "the metadata has no authorization servers"
	}
	for _, server := range servers {
		if u, err := url.Parse(server); err != nil {
			return fmt.Sprintf("the authorization server %q is not a URL", server)
		} else if err := r.flow.safe(u); err != nil {
			return fmt.Sprintf("the authorization server %v", err)
		}
	}
	return ""
}

// wrongServer returns what is wrong with the metadata of an authorization server (RFC 8414,
// section 3.3).
func (r *run) wrongServer(body []byte) string {
	issuer := rawjson.Text(rawjson.Member(body, "issuer"))
	methods := rawjson.Strings(rawjson.Member(body, "code_challenge_methods_supported"))
	switch {
	case len(r.issuers) > 0 && strings.TrimSuffix(issuer, "/") != strings.TrimSuffix(r.issuers[0], "/"):
		return fmt.Sprintf("the issuer is %q, and not %q", issuer, r.issuers[0])
	case len(r.issuers) > 0 && r.strict && issuer != r.issuers[0] && issuer != r.flow.config.Issuer:
		return fmt.Sprintf("the issuer is %q, and not %q: the two must be identical, to the slash (RFC 8414, 3.3); --oauth-issuer %s takes it all the same", issuer, r.issuers[0], issuer)
	case len(methods) == 0:
		return "code_challenge_methods_supported is missing, so that PKCE may not be supported"
	case !slices.Contains(methods, "S256") && r.grant != GrantCredentials:
		return "code_challenge_methods_supported does not have S256"
	}
	// The configured client must stay unknown to an authorization server to which it does
	// not belong. It is not needed where the server takes the client-ID metadata document.
	c, own := r.flow.config, r.flow.issuer
	byDocument := c.MetadataURL != "" && r.grant != GrantCredentials && string(rawjson.Member(body, "client_id_metadata_document_supported")) == "true"
	if c.ClientID != "" && own != "" && !byDocument && strings.TrimSuffix(own, "/") != strings.TrimSuffix(issuer, "/") {
		return fmt.Sprintf("the client %q belongs to the authorization server %s, and this is %s; if it knows the client, too, name it as the issuer (--oauth-issuer)", c.ClientID, own, issuer)
	}
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint"} {
		address := rawjson.Text(rawjson.Member(body, name))
		if u, err := url.Parse(address); address != "" && err != nil {
			return fmt.Sprintf("the %s %q is not a URL", name, address)
		} else if address != "" && r.flow.safe(u) != nil {
			return fmt.Sprintf("the %s %v", name, r.flow.safe(u))
		}
	}
	return ""
}

// failure returns the error of an attempt whose outcome is err; nil if err is nil.
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
	case errors.Is(err, errNotOffered):
		return &Error{State: Failed, Step: wire.StepServer, Why: "the authorization server offers no grant that this client can use: it has " + strings.Join(r.grants, ", ")}
	case r.halted != nil:
		return &Error{State: Failed, Step: r.step, Why: r.flow.masks().text(plainly(r.halted))}
	case errors.As(err, &refused):
		a := answer{status: refused.Response.StatusCode, body: refused.Body}
		return &Error{State: Failed, Step: r.step, Why: r.flow.masks().text(errorText(&a))}
	}
	why := r.flow.masks().text(plainly(err))
	if r.step == wire.StepRegistration {
		why += `. Register a client there by hand, and give its id with --oauth-client-id, or as "clientId" in "oauth" of mcp.json`
	}
	return &Error{State: Failed, Step: r.step, Why: why}
}
