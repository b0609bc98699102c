package lint

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/elicit/format"

	"elicitation-inspector/bridge/elicit/link"
)

// lintAddress judges the URL of a question in URL mode.
func (q *question) lintAddress() {
	text, _ := unquote(q.url)
	switch t := typeOf(q.url); {
	case t == typeNone:
		q.find("url-missing", "", "The question is in URL mode and has no url.")
		return
	case t != typeString:
		q.find("url-missing", "/url", "The url is %s, not a string.", withArticle(t))
		return
	}
	if err := format.URI(text); err != nil {
		if link.IsASCII(text) || format.URI(strings.Map(lettered, text)) != nil {
			q.find("url-invalid", "/url", "The url is not valid: %s.", err)
			return
		}
		q.find("url-not-ascii", "/url", "The url has letters that a URI (RFC 3986) has to encode. Browsers understand it; other programs may not.")
	}
	u, err := url.Parse(text)
	scheme, _, _ := strings.Cut(text, ":")
	if err != nil || strings.HasPrefix(strings.ToLower(scheme), "http") && u.Hostname() == "" {
		q.find("url-invalid", "/url", "The url is not valid: it names no host.")
		return
	}
	switch {
	case u.Scheme == "https", u.Scheme == "http" && link.IsLoopback(u.Hostname()):
	case u.Scheme == "http":
		q.find("url-insecure", "/url", "The url does not use HTTPS, as it should outside development.")
	default:
		q.find("url-insecure", "/url", "The url's scheme is %s, where HTTPS is expected.", u.Scheme)
	}
	q.lintCarried(u)
}

// lettered puts a letter in the place of one that is not of ASCII.
func lettered(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsMark(r) {
		return 'x'
	}
	return r
}

// page is a URL without its query and fragment, which may differ each time that the
// same page is offered.
func page(raw string) string {
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw = raw[:i]
	}
	return strings.TrimSuffix(raw, "/")
}

// carried is what a parameter of a URL is, beyond ordinary.
type carried int

const (
	ordinary          carried = iota
	aCredential               // a password or a key, by its name or its shape
	aSession                  // a token that signs in
	maybeSession              // link.Named like one
	somethingPersonal         // by name and shape
	maybePersonal             // by one of the two
	carriedKindsCount         // how many there are
)

// lintCarried finds what must not travel in a URL.
func (q *question) lintCarried(u *url.URL) {
	names := make([][]string, carriedKindsCount)
	given := make(map[string]string)
	for _, text := range []string{u.RawQuery, u.EscapedFragment()} {
		for pair := range strings.FieldsFuncSeq(text[:min(len(text), link.MaxQuery)], func(r rune) bool { return r == '&' || r == ';' }) {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				continue
			}
			name, value = link.Unescape(name), link.Unescape(value)
			given[link.PlainName(name)] = value
			if kind := judgeCarried(name, value); kind != ordinary {
				names[kind] = link.AppendName(names[kind], name)
			}
		}
	}
	q.lintUser(u.User)
	if list := names[aCredential]; list != nil {
		q.find("url-credentials", "/url", "The url carries what looks like a password or a key, in %s. Whoever sees the address has it.", link.Named(list))
	}
	switch {
	case isPresigned(given):
		q.find("url-preauthenticated", "/url", "The url looks signed in already: whoever has it can open what it leads to. It should ask who is there.")
	case names[aSession] != nil:
		q.find("url-preauthenticated", "/url", "The url looks signed in already, by %s: whoever has it can use it.", link.Named(names[aSession]))
	case names[maybeSession] != nil:
		q.guess("url-preauthenticated", "/url", "The url may be signed in already, by %s. It must not open anything protected without asking who is there.", link.Named(names[maybeSession]))
	}
	if list := names[somethingPersonal]; list != nil {
		q.find("url-personal-data", "/url", "The url carries what looks like personal data, in %s.", link.Named(list))
	} else if list := names[maybePersonal]; list != nil {
		q.guess("url-personal-data", "/url", "The url may carry personal data, in %s.", link.Named(list))
	} else if slices.ContainsFunc(strings.Split(u.Path, "/"), link.Shapes().Email.MatchString) {
		q.guess("url-personal-data", "/url", "The url may carry personal data: an e-mail address stands in its path.")
	}
}

// lintUser judges what stands before the @ of a URL.
func (q *question) lintUser(user *url.Userinfo) {
	if user == nil {
		return
	}
	if password, _ := user.Password(); password != "" || isKey(user.Username()) {
		q.find("url-credentials", "/url", "The url has a password or a key in it, before the @.")
		return
	}
	q.guess("url-credentials", "/url", "What stands before the @ of the url may be a user name or a key. Browsers hide or drop it.")
}

// judgeCarried tells what a parameter is, by its name and its value.
func judgeCarried(name, value string) carried {
	n := link.PlainName(name)
	if value == "" || slices.Contains(words("true false yes no on off 0 1 null none required optional reset change forgot email phone"), strings.ToLower(value)) || strings.ContainsAny(value, "{}<>") {
		return ordinary
	}
	endsWith := func(list string) bool {
		return slices.ContainsFunc(words(list), func(end string) bool { return strings.HasSuffix(n, end) })
	}
	jwt := strings.HasPrefix(value, "eyJ") && link.Shapes().Secret.MatchString(value)
	switch {
	case endsWith("password passwd passphrase") || n == "pwd", isKey(value):
		return aCredential
	case slices.Contains(words("accesstoken refreshtoken idtoken bearertoken bearer"), n) && len(value) >= 8:
		return aSession
	case n == "state" || n == "request" || n == "nonce" || n == "clientassertion" || n == "idtokenhint" || n == "logintoken" && !jwt:
		return ordinary // what an authorization request has to carry, however it looks
	case slices.Contains(words("csrftoken xsrftoken oauthtoken requesttoken"), n):
		return ordinary
	case jwt, link.IsSecretName(name) && n != "pin" && n != "tan" && n != "pass" && n != "pw":
		return maybeSession
	}
	return judgePersonal(n, value)
}

// judgePersonal tells whether a parameter is about a person. The name is plain.
func judgePersonal(name, value string) carried {
	digits := 0
	for _, r := range value {
		if '0' <= r && r <= '9' {
			digits++
		}
	}
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(part string) bool { return strings.Contains(name, part) })
	}
	isEmail := link.Shapes().Email.MatchString(value)
	switch {
	case len(value) > 320:
		return ordinary
	case isEmail && (has("mail", "user", "account", "person", "customer") || name == "loginhint" || name == "hint"),
		link.IsCardNumber(value) && has("card", "ccn", "pan"),
		link.Shapes().SSN.MatchString(value) && has("ssn", "social"),
		link.IsIBAN(value) && has("iban", "account"),
		digits >= 7 && has("phone", "mobile", "msisdn", "tel"),
		digits == 8 && has("dob", "birth"):
		return somethingPersonal
	case isEmail, link.IsPersonal(value), link.IsPersonalName(name):
		return maybePersonal
	}
	return ordinary
}

// isKey tells whether a value has the shape that a service gives its secret keys. Ids
// of keys, keys that may be public, and JSON web tokens are none.
func isKey(value string) bool {
	for _, public := range []string{"AKIA", "ASIA", "AIza", "eyJ"} {
		if strings.HasPrefix(value, public) {
			return false
		}
	}
	return link.Shapes().Secret.MatchString(value)
}

// isPresigned tells whether the parameters of a URL, by plain name, are those with
// which object stores and CDNs hand out access.
func isPresigned(given map[string]string) bool {
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return given[n] == "" })
	}
	return all("xamzsignature", "xamzcredential") || all("xgoogsignature", "xgoogcredential") ||
		all("sig", "se", "sv") || all("signature", "keypairid") || all("signature", "awsaccesskeyid") || all("signature", "googleaccessid")
}
