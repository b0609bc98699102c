package lint

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/wire"
)

// signIns judges the sign-ins of a connection.
type signIns struct {
	broken   func(rule, format string, args ...any) // adds a finding
	server   *url.URL                               // of the first request over Streamable HTTP, nil before
	metadata string                                 // URL of the server's metadata in the latest challenge
	signIn
}

// signIn holds the facts that the frames of the latest sign-in have shown so far.
type signIn struct {
	number   int
	named    string // resource_metadata of the challenge, "" if it names none
	found    bool   // metadata of the server was found
	missing  bool   // a finding already says that the metadata of the server is missing
	issuer   string // of the authorization server, "" until metadata names it
	promises bool   // the metadata of the authorization server promises iss in redirects
}

var (
	bearer       = lazy.Regexp(`(?i)(?:^|,\s*)bearer(?:\s|$)`)
	namesScope   = lazy.Regexp(`(?i)[\s,]scope\s*=\s*"?[^",\s]`)
	wantsScope   = lazy.Regexp(`(?i)[\s,]error\s*=\s*"?insufficient_scope\b`)
	metadataAt   = lazy.Regexp(`(?i)[\s,]resource_metadata\s*=\s*"?([^",\s]+)`)
	tokensInURLs = []string{"access_token", "refresh_token", "id_token"}
)

// noted judges a note of the inspector: an error response of the server, or one exchange of
// a sign-in.
func (s *signIns) noted(f *wire.Frame) {
	switch {
	case f.Note == nil:
	case f.Note.Kind == wire.NoteHTTPStatus:
		challenge := strings.Join(f.Header.Values("WWW-Authenticate"), ", ")
		switch wants := wantsScope().MatchString(challenge); {
		case f.Status == http.StatusUnauthorized && !bearer().MatchString(challenge):
			s.broken("challenge-missing", "The answer is HTTP 401, and has no WWW-Authenticate header with a challenge for a Bearer token.")
		case f.Status == http.StatusUnauthorized && !namesScope().MatchString(challenge):
			s.broken("challenge-scope-missing", "The challenge does not say which scope a token needs.")
		case f.Status == http.StatusForbidden && wants && !namesScope().MatchString(challenge):
			s.broken("scope-unnamed", "The challenge does not say which scope is missing.")
		}
		if f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden {
			s.metadata = ""
			if m := metadataAt().FindStringSubmatch(challenge); m != nil {
				s.metadata = m[1]
			}
		}
	case f.Note.Kind == wire.NoteSignIn && f.Note.SignIn != nil:
		if s.number != f.Note.SignIn.Number {
			s.signIn = signIn{number: f.Note.SignIn.Number, named: s.metadata}
		}
		s.step(f, f.Note.SignIn)
	}
}

// step judges one exchange of a sign-in.
func (s *signIns) step(f *wire.Frame, in *wire.SignIn) {
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
		last := at.Path == "/.well-known/oauth-protected-resource" // clients look there last
		if s.found || s.missing || at.String() != s.named && !last {
			return
		}
		s.missing = true
		if at.String() == s.named {
			s.broken("resource-metadata-missing", "The challenge says that the server's metadata is here, and it is not.")
			return
		}
		s.broken("resource-metadata-missing", "The server has no metadata at either of its well-known addresses, and its challenge names none.")
	case step == wire.StepResource && f.Status == http.StatusOK && !document:
		s.missing = true
		s.broken("resource-metadata-invalid", "The metadata of the server is not a JSON object.")
	case step == wire.StepResource && document:
		s.found = true
		if got := rawjson.Text(rawjson.Member(body, "resource")); s.server != nil && !s.isResource(got, at) {
			s.broken("resource-mismatch", "The metadata is that of %q, and not of the server, %s.", got, s.server)
		}
		servers := rawjson.Strings(rawjson.Member(body, "authorization_servers"))
		if len(servers) == 0 {
			s.broken("authorization-server-missing", "The metadata has no authorization_servers, or an empty list.")
			return
		}
		s.issuer = servers[0]
		s.secure("authorization server", s.issuer)
	case step == wire.StepServer && absent:
		// Clients look at this place last.
		if s.found && strings.HasSuffix(at.Path, "/.well-known/openid-configuration") {
			s.broken("server-metadata-missing", "The authorization server %s has no metadata at any of its well-known addresses.", s.issuer)
		}
	case step == wire.StepServer && f.Status == http.StatusOK && !document:
		s.broken("server-metadata-invalid", "The metadata of the authorization server is not a JSON object.")
	case step == wire.StepServer && document:
		issuer := rawjson.Text(rawjson.Member(body, "issuer"))
		if want := s.issuer; want != "" && issuer != want {
			s.broken("issuer-mismatch", "The issuer is %q, and not %q, as the server's metadata says.", issuer, want)
		}
		s.issuer = issuer
		s.promises = string(rawjson.Member(body, "authorization_response_iss_parameter_supported")) == "true"
		if !slices.Contains(rawjson.Strings(rawjson.Member(body, "code_challenge_methods_supported")), "S256") {
			s.broken("s256-missing", "The metadata does not have S256 in code_challenge_methods_supported.")
		}
		for _, name := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint"} {
			s.secure(name, rawjson.Text(rawjson.Member(body, name)))
		}
	case step == wire.StepRedirect:
		switch iss := at.Query().Get("iss"); {
		case s.issuer == "", iss == s.issuer:
		case iss != "":
			s.broken("iss-mismatch", "The redirect has the issuer %q, and not %q.", iss, s.issuer)
		case s.promises:
			s.broken("iss-mismatch", "The redirect has no iss, which the metadata of the authorization server promises.")
		}
	}
}

// addresses judges the URL of an exchange, and the URL to which its response redirects.
func (s *signIns) addresses(f *wire.Frame, at *url.URL) {
	to, err := at.Parse(f.Header.Get("Location"))
	if err != nil {
		return
	}
	if f.Status >= 300 && f.Status < 400 && (to.Scheme != at.Scheme || to.Host != at.Host) {
		s.broken("redirect-elsewhere", "The request is redirected to another origin, %s://%s. A client that follows sends what the request has there.", to.Scheme, to.Host)
	}
	for _, name := range tokensInURLs {
		if at.Query().Has(name) || to.Query().Has(name) {
			s.broken("token-in-url", "The URL has the parameter %s. URLs get into logs and histories.", name)
		}
	}
}

// isResource reports whether metadata at a place may name the resource: the server, or at
// the root path also the origin of the server.
func (s *signIns) isResource(resource string, at *url.URL) bool {
	root := url.URL{Scheme: s.server.Scheme, Host: s.server.Host}
	same := func(u *url.URL) bool { return strings.TrimSuffix(resource, "/") == strings.TrimSuffix(u.String(), "/") }
	return same(s.server) || at.Path == "/.well-known/oauth-protected-resource" && same(&root)
}

// secure judges the URL of an authorization server or of one of its endpoints; "" passes.
func (s *signIns) secure(what, address string) {
	if v := link.Judge(address); v.Scheme == "http" && !v.Loopback {
		s.broken("endpoint-insecure", "The %s %s does not use HTTPS.", what, address)
	}
}
