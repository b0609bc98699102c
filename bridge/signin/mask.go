package signin

import (
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"encoding/base64"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// plainParams are the parameters of authorization requests, token requests and redirects
// whose values are shown. All other parameters are masked.
var plainParams = set(`response_type response_mode client_id redirect_uri scope resource audience code_challenge
	code_challenge_method prompt iss error error_description error_uri grant_type client_assertion_type
	subject_token_type requested_token_type token_type expires_in`)

// secretParams are the parameters of requests and redirects whose values are secrets by
// their names in OAuth, and secretMembers the members of responses. Their values are masked
// wherever they come up from then on. Other values are masked only where they stand, since
// an authorization server can send any word.
var (
	secretMembers = set(`access_token refresh_token id_token client_secret registration_access_token client_assertion assertion
		subject_token actor_token code_verifier device_code user_code password`)
	secretParams = set("code state nonce id_token_hint", secretMembers)
)

// secretHeaders are the headers whose values are masked, except for an authentication scheme.
var secretHeaders = set("authorization proxy-authorization cookie set-cookie dpop")

func set(names string, more ...map[string]bool) map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	for _, other := range more {
		maps.Copy(m, other)
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

func (m masks) values(in url.Values) url.Values {
	out := url.Values{}
	for name, values := range in {
		for _, value := range values {
			out.Add(name, m.param(name, value))
		}
	}
	return out
}

func (m masks) param(name, value string) string {
	switch {
	case value == "":
		return ""
	case !plainParams[name]:
		return m.hide(name, value, secretParams[name])
	}
	return m.text(redact.WithoutQuery(value))
}

// encode is [url.Values.Encode], but leaves the placeholder readable.
func encode(v url.Values) string {
	return strings.ReplaceAll(v.Encode(), url.QueryEscape(redact.Placeholder), redact.Placeholder)
}

func (m masks) address(u *url.URL) string {
	plain := *u
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		plain.RawQuery = encode(m.values(u.Query()))
	}
	return plain.String()
}

func (m masks) header(h http.Header) http.Header {
	out := h.Clone()
	for name, values := range out {
		for i, value := range values {
			switch lower := strings.ToLower(name); {
			case secretHeaders[lower]:
				values[i] = m.credentials(value, lower != "set-cookie")
			case lower == "location":
				if u, err := url.Parse(value); err == nil {
					values[i] = m.address(u)
				}
			default:
				values[i] = m.text(value)
			}
		}
	}
	return out
}

// credentials masks the value of a secret header, except for its authentication scheme.
func (m masks) credentials(value string, secret bool) string {
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok || strings.ContainsAny(scheme, "=;") {
		return m.hide("", value, secret)
	}
	if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
		_, password, _ := strings.Cut(string(pair), ":")
		m.hide("", password, secret)
	}
	return scheme + " " + m.hide("", rest, secret)
}

// body returns the body of a request or a response with its secrets masked and learned. With
// secret, as for responses of a token endpoint, it masks all that it cannot tell from a
// secret.
func (m masks) body(h http.Header, body []byte, secret bool) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case len(body) == 0:
		return ""
	case rawjson.Valid(body):
		return m.text(string(m.json(body, secret)))
	case media == "application/x-www-form-urlencoded", secret && media == "text/plain":
		if v, err := url.ParseQuery(string(body)); err == nil {
			return encode(m.values(v))
		}
	}
	if secret {
		return redact.Placeholder
	}
	return m.text(string(body))
}

// json masks the strings whose members have the name of a secret, at any depth, and learns
// those of the document itself. With strict, it masks all strings except those in members
// named in plainParams.
func (m masks) json(body []byte, strict bool) []byte {
	c := rawjson.NewCursor(body)
	var out []byte
	from := 0
	var walk func(name string, depth int)
	walk = func(name string, depth int) {
		switch kind := c.Kind(); {
		case kind == rawjson.Object && depth < rawjson.MaxDepth:
			for member := range c.Members() {
				walk(member.String(), depth+1)
			}
		case kind == rawjson.Array && depth < rawjson.MaxDepth:
			for range c.Elements() {
				walk(name, depth+1)
			}
		case kind == rawjson.String && (secretParams[name] || strict && !plainParams[name]):
			start := c.Offset()
			c.Skip()
			hidden := m.hide(name, rawjson.Text(body[start:c.Offset()]), depth == 1 && secretMembers[name])
			out = append(append(out, body[from:start]...), `"`+hidden+`"`...)
			from = c.Offset()
		default:
			c.Skip()
		}
	}
	walk("", 0)
	return append(slices.Clip(out), body[from:]...)
}
