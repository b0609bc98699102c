package signin

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// plainParams are the parameters of authorization requests, token requests and redirects
// whose values are shown. All other parameters are masked.
var plainParams = set(`response_type response_mode client_id redirect_uri scope resource audience code_challenge
	code_challenge_method prompt iss error error_description error_uri grant_type client_assertion_type
	subject_token_type requested_token_type token_type expires_in`)

// secretMembers are the members of responses whose values are secrets by their names in
// OAuth, and secretParams the parameters of requests and redirects. Their values are masked
// wherever they come up from then on. Other values are masked only where they stand, since
// an authorization server can send any word.
var (
	secretMembers = set(membersOfSecrets)
	secretParams  = set("code state nonce id_token_hint " + membersOfSecrets)
)

const membersOfSecrets = `access_token refresh_token id_token client_secret registration_access_token client_assertion assertion
	subject_token actor_token code_verifier device_code user_code password`

func set(names string) map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	return m
}

// masks replaces the secrets of a server's sign-ins by a placeholder. It recognizes a secret
// by the name of its parameter, member or header first, and by its value from then on.
type masks struct {
	secrets *redact.Redaction
	server  string              // its name
	jwts    map[string]wire.JWT // collects the JWTs among the masked values, by name; may be nil
}

// hide returns the placeholder for a value. It learns the value if that is a secret, and
// the signature of a JWT on its own, too.
func (m masks) hide(name, value string, secret bool) string {
	jwt, ok := DecodeJWT(value)
	if ok && m.jwts != nil {
		m.jwts[name] = jwt
	}
	if secret && utf8.RuneCountInString(value) >= redact.LeastSecret {
		m.secrets.Secret(m.server, value)
		if ok {
			_, signature, _ := cutJWT(value)
			m.secrets.Secret(m.server, signature)
		}
	}
	return redact.Placeholder
}

func (m masks) text(text string) string { return m.secrets.TextOf(m.server, text) }

func (m masks) param(name, value string) string {
	switch {
	case value == "":
		return ""
	case !plainParams[name]:
		return m.hide(name, value, secretParams[name])
	}
	return m.text(redact.WithoutQuery(value))
}

// params masks the values in a query or a form.
func (m masks) params(query string) string {
	if _, err := url.ParseQuery(query); err != nil {
		return redact.Placeholder
	}
	return redact.Query(query, func(name, value string) string {
		name, _ = url.QueryUnescape(name)
		plain, _ := url.QueryUnescape(value)
		if masked := m.param(name, plain); masked != plain {
			return strings.ReplaceAll(url.QueryEscape(masked), url.QueryEscape(redact.Placeholder), redact.Placeholder)
		}
		return value
	})
}

func (m masks) address(u *url.URL) string {
	plain := *u
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	plain.RawQuery = m.params(u.RawQuery)
	return plain.String()
}

// header masks the values of secret headers, except for an authentication scheme, and the
// secrets in others.
func (m masks) header(h http.Header) http.Header {
	out := h.Clone()
	for name, values := range out {
		name = http.CanonicalHeaderKey(name)
		for i, value := range values {
			values[i] = m.text(value)
			if redact.SecretHeader(name) || name == "Dpop" {
				for _, part := range redact.SecretParts(name, value) {
					m.hide("", part, name != "Set-Cookie")
				}
				values[i] = redact.Placeholder
				if scheme, _, ok := strings.Cut(value, " "); ok && !strings.ContainsAny(scheme, "=;") {
					values[i] = scheme + " " + redact.Placeholder
				}
			} else if u, err := url.Parse(value); err == nil && name == "Location" {
				values[i] = m.address(u)
			}
		}
	}
	return out
}

// body returns the body of a request or a response with its secrets masked and learned. With
// secret, as for responses of a token endpoint, it masks all that it cannot tell from a
// secret.
func (m masks) body(h http.Header, body []byte, secret bool) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case len(body) == 0:
		return ""
	case rawjson.Valid(body) && rawjson.KindOf(body) != rawjson.String:
		return m.text(string(m.json(body, secret)))
	case media == "application/x-www-form-urlencoded", secret && media == "text/plain":
		return m.params(string(body))
	case secret:
		return redact.Placeholder
	}
	return m.text(string(body))
}

// json masks the strings whose members have the name of a secret, at any depth, and learns
// those of the document itself. With strict, it masks all strings except those in members
// named in plainParams.
func (m masks) json(body []byte, strict bool) []byte {
	type place struct {
		name  string
		depth int
	}
	return redact.Walk(body, rawjson.MaxDepth, place{}, func(at place, to redact.Step, kind rawjson.Kind) (place, func([]byte)) {
		if at.depth++; to.Index < 0 {
			at.name = to.Name
		}
		if kind != rawjson.String || !secretParams[at.name] && (!strict || plainParams[at.name]) {
			return at, nil
		}
		return at, func(value []byte) { m.hide(at.name, rawjson.Text(value), at.depth == 1 && secretMembers[at.name]) }
	})
}
