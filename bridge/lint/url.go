package lint

import (
	"strings"
	"unicode"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

func (q *question) lintAddress() {
	text := q.params.Text("url")
	switch t := rawjson.KindOf(q.params["url"]); {
	case t == rawjson.None:
		q.find("url-missing", "", "The question is in URL mode and has no url.")
		return
	case t != rawjson.String:
		q.find("url-missing", "/url", "The url is %s, not a string.", wording.WithArticle(t))
		return
	}
	if len(text) > elicit.FormatCheckedMost {
		q.find("url-too-long", "/url", "The url has %d bytes. Programs cut off or refuse what is longer than %d; only its beginning is judged here.", len(text), elicit.FormatCheckedMost)
		text = elicit.FormatHead(text)
	}
	if err := elicit.CheckURI(text); err != nil {
		if link.IsASCII(text) || elicit.CheckURI(strings.Map(lettered, text)) != nil {
			q.find("url-invalid", "/url", "The url is not valid: %s.", err)
			return
		}
		q.find("url-not-ascii", "/url", "The url has letters that a URI (RFC 3986) has to encode. Browsers understand it; other programs may not.")
	}
	v := link.Judge(text)
	switch {
	case v.Scheme == "https" && v.Openable, v.Scheme == "http" && v.Loopback:
	case v.Scheme == "http" && v.Openable:
		q.find("url-insecure", "/url", "The url does not use HTTPS, as it should outside development.")
	case v.Scheme == "http", v.Scheme == "https":
		q.find("url-invalid", "/url", "The url is not valid: it names no host that can be looked up.")
	default:
		q.find("url-insecure", "/url", "The url's scheme is %s, where HTTPS is expected.", v.Scheme)
	}
	q.lintUser(v.User)
	q.lintCarried(v.Carried)
}

// lettered replaces a letter by an ASCII letter.
func lettered(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsMark(r) {
		return 'x'
	}
	return r
}

// page returns a URL without query and fragment, which can differ whenever a server sends
// the same page.
func page(raw string) string {
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw = raw[:i]
	}
	return strings.TrimSuffix(raw, "/")
}

func (q *question) lintUser(user string) {
	name, password, _ := strings.Cut(strings.TrimSuffix(user, "@"), ":")
	switch {
	case user == "":
	case password != "" || link.IsKey(name):
		q.find("url-credentials", "/url", "The url has a password or a key in it, before the @.")
	default:
		q.guess("url-credentials", "/url", "What stands before the @ of the url may be a user name or a key. Browsers hide or drop it.")
	}
}

func (q *question) lintCarried(c link.Carried) {
	if c.Credentials != nil {
		q.find("url-credentials", "/url", "The url carries what looks like a password or a key, in %s. Whoever sees the address has it.", wording.QuotedSeries(c.Credentials))
	}
	switch {
	case c.Presigned:
		q.find("url-preauthenticated", "/url", "The url looks signed in already: whoever has it can open what it leads to. It should ask who is there.")
	case c.Sessions != nil:
		q.find("url-preauthenticated", "/url", "The url looks signed in already, by %s: whoever has it can use it.", wording.QuotedSeries(c.Sessions))
	case c.PossibleSessions != nil:
		q.guess("url-preauthenticated", "/url", "The url may be signed in already, by %s. It must not open anything protected without asking who is there.", wording.QuotedSeries(c.PossibleSessions))
	}
	switch {
	case c.Personal != nil:
		q.find("url-personal-data", "/url", "The url carries what looks like personal data, in %s.", wording.QuotedSeries(c.Personal))
	case c.PossiblyPersonal != nil:
		q.guess("url-personal-data", "/url", "The url may carry personal data, in %s.", wording.QuotedSeries(c.PossiblyPersonal))
	case c.EmailInPath:
		q.guess("url-personal-data", "/url", "The url may carry personal data: an e-mail address stands in its path.")
	}
}
