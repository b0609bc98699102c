package protected

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Step is a step of the sign-in at which a variant differs.
type Step string

// The steps, in their order.
const (
	StepChallenge        Step = "challenge"              // the 401, and its WWW-Authenticate
	StepResourceMetadata Step = "resource-metadata"      // metadata of the protected server (RFC 9728)
	StepServerMetadata   Step = "authorization-metadata" // metadata of the authorization server (RFC 8414)
	StepRegistration     Step = "registration"           // of the client (RFC 7591)
	StepRedirect         Step = "redirect"               // the browser comes back
	StepToken            Step = "token"
	StepRequest          Step = "request" // with the token
	StepRefresh          Step = "refresh"
	StepUp               Step = "step-up" // the 403, and the sign-in for a further scope
)

// Variant is a protected server that differs from the one at /mcp in a single point. The zero value is the one at /mcp.
type Variant struct {
	Name  string
	What  string // what is different
	Step  Step   // where a client meets it
	Wrong bool   // it breaks a rule of the specification
	// GoesOn says that a client can sign in although the variant is wrong.
	GoesOn bool

	challenge          func(*challenge) // changes that of a 401
	stepUp             func(*challenge) // changes that of a 403
	resourceMetadata   func(*realm, *oauthex.ProtectedResourceMetadata)
	resourceMetadataAt string // its path below the protected server's; "" for where it belongs
	serverMetadata     func(*realm, *oauthex.AuthServerMeta)
	serverMetadataAt   string // its path below the issuer; "" for where it belongs
	scopesRefused      bool
	denied             bool
	redirect           func(*realm, url.Values)
	issue              func(*realm, *issue) *failure
	instead            func(*realm) http.HandlerFunc // replaces the endpoint of the step
}

// Path is the path of the protected server, which begins with /good/ or /bad/.
func (v Variant) Path() string {
	switch {
	case v.Name == "":
		return mcpPath
	case v.Wrong:
		return "/bad/" + v.Name + mcpPath
	}
	return "/good/" + v.Name + mcpPath
}

// Variants returns all variants: first the right ones, then the wrong ones in the order of the steps.
func Variants() []Variant {
	all := slices.Concat(wrongDiscovery(), wrongAuthorization(), wrongTokens())
	for i := range all {
		all[i].Wrong = true
	}
	return append(right(), all...)
}

func right() []Variant {
	return []Variant{
		{Name: "well-known", Step: StepChallenge, What: "The challenge does not name the metadata, which is at its well-known path.",
			challenge: func(c *challenge) { c.metadata = "" }},
		{Name: "openid", Step: StepServerMetadata, What: "The authorization server has only an OpenID configuration, at the path appended to the issuer.",
			serverMetadataAt: openIDPath},
		{Name: "preregistered", Step: StepRegistration, What: "The authorization server registers nobody and takes no metadata documents. It knows the client `" + ClientID + "`.",
			serverMetadata: func(_ *realm, m *oauthex.AuthServerMeta) {
				m.RegistrationEndpoint, m.ClientIDMetadataDocumentSupported = "", false
			},
			instead: answers(http.StatusNotFound, "text/plain", "not found")},
		{Name: "no-refresh", Step: StepRefresh, What: "There are no refresh tokens.",
			issue: func(_ *realm, i *issue) *failure { i.refresh = ""; return nil }},
		{Name: "brief", Step: StepRefresh, What: "Access tokens expire after 5 seconds.",
			issue: brief},
	}
}

// elsewhere is the URL of an authorization server that does not exist.
const elsewhere = "https://elsewhere.example"

func wrongDiscovery() []Variant {
	return slices.Concat([]Variant{
		{Name: "challenge-missing", Step: StepChallenge, GoesOn: true, What: "The 401 has no `WWW-Authenticate`.",
			challenge: func(c *challenge) { *c = challenge{} }},
		{Name: "challenge-scheme", Step: StepChallenge, GoesOn: true, What: "The challenge is for the scheme `Basic`.",
			challenge: func(c *challenge) { *c = challenge{scheme: `Basic realm="demo"`} }},
		{Name: "resource-metadata-missing", Step: StepResourceMetadata, What: "The metadata that the challenge names is not found.",
			instead: answers(http.StatusNotFound, "text/plain", "not found")},
		{Name: "resource-metadata-elsewhere", Step: StepResourceMetadata, What: "The metadata is below the path of the server, where nobody looks, and the challenge does not name it.",
			challenge:          func(c *challenge) { c.metadata = "" },
			resourceMetadataAt: resourceMetadataPath},
		{Name: "resource-mismatch", Step: StepResourceMetadata, What: "The metadata is that of another `resource`.",
			resourceMetadata: func(r *realm, m *oauthex.ProtectedResourceMetadata) { m.Resource = r.BaseURL + "/other" }},
		{Name: "no-authorization-server", Step: StepResourceMetadata, What: "The metadata names no authorization server.",
			resourceMetadata: func(_ *realm, m *oauthex.ProtectedResourceMetadata) { m.AuthorizationServers = nil }},
	},
		spoilt("resource-metadata", StepResourceMetadata, "metadata of the protected server"),
		[]Variant{
			{Name: "server-metadata-missing", Step: StepServerMetadata, What: "The authorization server has no metadata.",
				instead: answers(http.StatusNotFound, "text/plain", "not found")},
			{Name: "issuer-mismatch", Step: StepServerMetadata, What: "The metadata is that of another issuer.",
				serverMetadata: func(_ *realm, m *oauthex.AuthServerMeta) { m.Issuer = elsewhere }},
			{Name: "s256-missing", Step: StepServerMetadata, What: "The metadata offers PKCE with `plain` only.",
				serverMetadata: func(_ *realm, m *oauthex.AuthServerMeta) { m.CodeChallengeMethodsSupported = []string{"plain"} }},
			{Name: "pkce-missing", Step: StepServerMetadata, What: "The metadata does not say that there is PKCE.",
				serverMetadata: func(_ *realm, m *oauthex.AuthServerMeta) { m.CodeChallengeMethodsSupported = nil }},
			{Name: "http-endpoints", Step: StepServerMetadata, What: "The endpoints for authorization and tokens are on another host, and without https.",
				serverMetadata: func(_ *realm, m *oauthex.AuthServerMeta) {
					m.AuthorizationEndpoint, m.TokenEndpoint = "http://elsewhere.example/consent", "http://elsewhere.example/tokens"
				}},
		},
		spoilt("server-metadata", StepServerMetadata, "metadata of the authorization server"))
}

func wrongAuthorization() []Variant {
	return []Variant{
		{Name: "registration-refused", Step: StepRegistration, What: "Every registration is refused, and metadata documents are not taken.",
			serverMetadata: onlyRegistration,
			instead:        answers(http.StatusForbidden, "application/json", `{"error":"access_denied","error_description":"Registration is closed."}`)},
		{Name: "registration-empty", Step: StepRegistration, What: "A registration is answered without a client ID, and metadata documents are not taken.",
			serverMetadata: onlyRegistration,
			instead:        answers(http.StatusCreated, "application/json", `{}`)},
		{Name: "scope-refused", Step: StepRedirect, What: "The scope that the challenge names is refused as unknown.",
			scopesRefused: true},
		{Name: "denied", Step: StepRedirect, What: "Everybody is denied, before anybody is asked.",
			denied: true},
		{Name: "state-wrong", Step: StepRedirect, What: "The browser comes back with another `state`.",
			redirect: func(_ *realm, q url.Values) { q.Set("state", "another-"+q.Get("state")) }},
		{Name: "iss-missing", Step: StepRedirect, What: "The browser comes back without the `iss` that the metadata promises.",
			redirect: func(_ *realm, q url.Values) { q.Del("iss") }},
		{Name: "iss-wrong", Step: StepRedirect, What: "The browser comes back with the `iss` of another issuer.",
			redirect: func(_ *realm, q url.Values) { q.Set("iss", elsewhere) }},
	}
}

func onlyRegistration(_ *realm, m *oauthex.AuthServerMeta) {
	m.ClientIDMetadataDocumentSupported = false
}

func wrongTokens() []Variant {
	return slices.Concat([]Variant{
		{Name: "token-refused", Step: StepToken, What: "Every code is refused.",
			issue: func(_ *realm, i *issue) *failure {
				if i.by == grantRefresh {
					return nil
				}
				return &failure{"invalid_grant", "no code is good enough"}
			}},
		{Name: "token-unavailable", Step: StepToken, What: "The token endpoint answers 503 with a page.",
			instead: answers(http.StatusServiceUnavailable, "text/html", "<h1>Back soon</h1>")},
		{Name: "token-redirected", Step: StepToken, What: "The token endpoint redirects to another origin, where nobody should send a code.",
			instead: redirects},
	},
		spoilt("token", StepToken, "answer of the token endpoint"),
		[]Variant{
			{Name: "token-type", Step: StepToken, What: "The token is not of the type `Bearer`.",
				issue: func(_ *realm, i *issue) *failure { i.kind = "mac"; return nil }},
			{Name: "audience-wrong", Step: StepRequest, What: "The token is for another audience, so the server answers 401 to it, again and again.",
				issue: func(r *realm, i *issue) *failure { i.audience = r.BaseURL + "/other"; return nil }},
			{Name: "refresh-refused", Step: StepRefresh, What: "Access tokens expire after 5 seconds, and every refresh is refused.",
				issue: func(r *realm, i *issue) *failure {
					if i.by == grantRefresh {
						return &failure{"invalid_grant", "no refresh token is good enough"}
					}
					return brief(r, i)
				}},
			{Name: "step-up-unnamed", Step: StepUp, What: "The 403 of `" + StepUpTool + "` does not say which scope is missing.",
				stepUp: func(c *challenge) { c.scope = "" }},
			{Name: "step-up-endless", Step: StepUp, What: "The scope that `" + StepUpTool + "` needs is never granted.",
				issue: func(_ *realm, i *issue) *failure {
					i.scopes = slices.DeleteFunc(slices.Clone(i.scopes), func(s string) bool { return s == ScopeTransfer })
					return nil
				}},
		})
}

func brief(_ *realm, i *issue) *failure {
	i.life = 5 * time.Second
	return nil
}

// spoilt returns the variants whose response at a step is unreadable.
func spoilt(name string, s Step, what string) []Variant {
	return []Variant{
		{Name: name + "-invalid", Step: s, What: "The " + what + " is not JSON.", instead: answers(http.StatusOK, "application/json", `{"unfinished": `)},
		{Name: name + "-huge", Step: s, What: "The " + what + " has 64 MiB.", instead: huge},
		{Name: name + "-hanging", Step: s, What: "The " + what + " never comes.", instead: hanging},
	}
}

func answers(status int, contentType, body string) func(*realm) http.HandlerFunc {
	return func(*realm) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body)) // an error means that the client is gone
		}
	}
}

// redirects sends a request with its body to the same server under its other loopback name, which is another origin.
func redirects(r *realm) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		other := strings.Replace(r.tokenURL(), "//127.0.0.1", "//localhost", 1)
		if other == r.tokenURL() {
			other = elsewhere
		}
		http.Redirect(w, req, other, http.StatusTemporaryRedirect)
	}
}

// huge answers with 64 MiB of valid JSON.
func huge(*realm) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		padding := []byte(strings.Repeat("x", 1<<16))
		_, err := w.Write([]byte(`{"padding":"`))
		for i := 0; i < 1<<10 && err == nil; i++ {
			_, err = w.Write(padding)
		}
		if err == nil {
			_, _ = w.Write([]byte(`"}`))
		}
	}
}

func hanging(*realm) http.HandlerFunc {
	return func(_ http.ResponseWriter, req *http.Request) {
		_ = req.ParseForm() // a server notices that a client goes once the body is read
		<-req.Context().Done()
	}
}
