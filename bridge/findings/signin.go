package findings

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// signIn is the state of the latest sign-in of a connection.
type signIn struct {
	number   int
	named    string // where the challenge says that the server's metadata is, "" if nowhere
	found    bool   // the server has metadata
	missing  bool   // it was found that the server has none
	issuer   string // as the server's metadata names it, "" without metadata
	promises bool   // the authorization server's metadata promises iss in redirects
}

var (
	bearer       = regexp.MustCompile(`(?i)(?:^|,\s*)bearer(?:\s|$)`)
	namesScope   = regexp.MustCompile(`(?i)[\s,]scope\s*=\s*"?[^",\s]`)
	wantsScope   = regexp.MustCompile(`(?i)[\s,]error\s*=\s*"?insufficient_scope\b`)
	metadataAt   = regexp.MustCompile(`(?i)[\s,]resource_metadata\s*=\s*"?([^",\s]+)`)
	tokensInURLs = []string{"access_token", "refresh_token", "id_token"}
)

// noted judges a note of the inspector: of a refusal for want of a token or of a scope,
// and of a step of the sign-in that follows.
func (s *session) noted(f *wire.Frame) {
	switch {
	case f.Note == nil:
	case f.Note.Kind == wire.NoteHTTPStatus:
		s.challenged(strings.Join(f.Header.Values("WWW-Authenticate"), ", "), f.Status)
	case f.Note.Kind == wire.NoteSignIn && f.Note.SignIn != nil:
		if s.signIn.number != f.Note.SignIn.Number {
			s.signIn = signIn{number: f.Note.SignIn.Number, named: s.metadata}
		}
		s.step(f, f.Note.SignIn)
	}
}

func (s *session) challenged(challenge string, status int) {
	switch wants := wantsScope.MatchString(challenge); {
	case status == http.StatusUnauthorized && !bearer.MatchString(challenge):
		s.broken(0, "challenge-missing", "", "The answer is HTTP 401, and has no WWW-Authenticate header with a challenge for a Bearer token.")
	case status == http.StatusUnauthorized && !namesScope.MatchString(challenge):
		s.broken(0, "challenge-scope-missing", "", "The challenge does not say which scope a token needs.")
	case status == http.StatusForbidden && wants && !namesScope.MatchString(challenge):
		s.broken(0, "scope-unnamed", "", "The challenge does not say which scope is missing.")
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		s.metadata = ""
		if m := metadataAt.FindStringSubmatch(challenge); m != nil {
			s.metadata = m[1]
		}
	}
}

// step judges one exchange of a sign-in.
func (s *session) step(f *wire.Frame, in *wire.SignIn) {
	at, err := url.Parse(f.URL)
	if err != nil {
		return
	}
	s.addresses(f, at)
	body := json.RawMessage(in.Received)
	document := f.Status == http.StatusOK && rawjson.Valid(body) && rawjson.KindOf(body) == rawjson.Object
	absent := f.Status >= 400 && f.Status < 500
	switch step := in.Step; {
	case step == wire.StepResource && absent:
		s.noResource(at)
	case step == wire.StepResource && f.Status == http.StatusOK && !document:
		s.signIn.missing = true
		s.broken(0, "resource-metadata-invalid", "", "The metadata of the server is not a JSON object.")
	case step == wire.StepResource && document:
		s.resource(at, body)
	case step == wire.StepServer && absent:
		// This is the last of the places where clients look.
		if s.signIn.found && strings.HasSuffix(at.Path, "/.well-known/openid-configuration") {
			s.broken(0, "server-metadata-missing", "", "The authorization server %s has no metadata at any of its well-known addresses.", s.signIn.issuer)
		}
	case step == wire.StepServer && f.Status == http.StatusOK && !document:
		s.broken(0, "server-metadata-invalid", "", "The metadata of the authorization server is not a JSON object.")
	case step == wire.StepServer && document:
		s.authorizationServer(body)
	case step == wire.StepRedirect:
		s.cameBack(at.Query())
	}
}

// addresses judges the URLs of an exchange.
func (s *session) addresses(f *wire.Frame, at *url.URL) {
	to, err := at.Parse(f.Header.Get("Location"))
	if err != nil {
		return
	}
	if f.Status >= 300 && f.Status < 400 && (to.Scheme != at.Scheme || to.Host != at.Host) {
		s.broken(0, "redirect-elsewhere", "", "The request is redirected to another origin, %s://%s. A client that follows sends what the request has there.", to.Scheme, to.Host)
	}
	for _, name := range tokensInURLs {
		if at.Query().Has(name) || to.Query().Has(name) {
			s.broken(0, "token-in-url", "", "The URL has the parameter %s. URLs get into logs and histories.", name)
		}
	}
}

// noResource judges a place that has no metadata of the server.
func (s *session) noResource(at *url.URL) {
	now := &s.signIn
	last := at.Path == "/.well-known/oauth-protected-resource" // clients look there last
	if now.found || now.missing || at.String() != now.named && !last {
		return
	}
	now.missing = true
	if at.String() == now.named {
		s.broken(0, "resource-metadata-missing", "", "The challenge says that the server's metadata is here, and it is not.")
		return
	}
	s.broken(0, "resource-metadata-missing", "", "The server has no metadata at either of its well-known addresses, and its challenge names none.")
}

// resource judges the metadata of the server.
func (s *session) resource(at *url.URL, body json.RawMessage) {
	s.signIn.found = true
	if got := rawjson.Text(rawjson.Member(body, "resource")); s.server != nil && !s.isResource(got, at) {
		s.broken(0, "resource-mismatch", "", "The metadata is that of %q, and not of the server, %s.", got, s.server)
	}
	servers := rawjson.Strings(rawjson.Member(body, "authorization_servers"))
	if len(servers) == 0 {
		s.broken(0, "authorization-server-missing", "", "The metadata has no authorization_servers, or an empty list.")
		return
	}
	s.signIn.issuer = servers[0]
	s.secure("authorization server", s.signIn.issuer)
}

// isResource reports whether metadata that was found at a place may name a resource: the
// server, or at the root its origin.
func (s *session) isResource(resource string, at *url.URL) bool {
	root := url.URL{Scheme: s.server.Scheme, Host: s.server.Host}
	same := func(u *url.URL) bool { return strings.TrimSuffix(resource, "/") == strings.TrimSuffix(u.String(), "/") }
	return same(s.server) || at.Path == "/.well-known/oauth-protected-resource" && same(&root)
}

// authorizationServer judges the metadata of the authorization server.
func (s *session) authorizationServer(body json.RawMessage) {
	issuer := rawjson.Text(rawjson.Member(body, "issuer"))
	if want := s.signIn.issuer; want != "" && strings.TrimSuffix(issuer, "/") != strings.TrimSuffix(want, "/") {
		s.broken(0, "issuer-mismatch", "", "The issuer is %q, and not %q, as the server's metadata says.", issuer, want)
	}
	s.signIn.issuer = issuer
	s.signIn.promises = string(rawjson.Member(body, "authorization_response_iss_parameter_supported")) == "true"
	if !slices.Contains(rawjson.Strings(rawjson.Member(body, "code_challenge_methods_supported")), "S256") {
		s.broken(0, "s256-missing", "", "The metadata does not have S256 in code_challenge_methods_supported.")
	}
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint"} {
		s.secure(name, rawjson.Text(rawjson.Member(body, name)))
	}
}

// secure judges the address of an authorization server or of an endpoint of it; "" is
// none.
func (s *session) secure(what, address string) {
	if v := link.Judge(address); v.Scheme == "http" && !v.Loopback {
		s.broken(0, "endpoint-insecure", "", "The %s %s does not use HTTPS.", what, address)
	}
}

// cameBack judges the redirect with which the browser came back.
func (s *session) cameBack(q url.Values) {
	switch iss := q.Get("iss"); {
	case s.signIn.issuer == "", iss == s.signIn.issuer:
	case iss != "":
		s.broken(0, "iss-mismatch", "", "The redirect has the issuer %q, and not %q.", iss, s.signIn.issuer)
	case s.signIn.promises:
		s.broken(0, "iss-mismatch", "", "The redirect has no iss, which the metadata of the authorization server promises.")
	}
}
