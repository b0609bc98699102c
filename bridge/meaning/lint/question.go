package lint

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
)

func (q *question) lintMode() {
	t := rawjson.KindOf(q.params["mode"])
	switch {
	case t != rawjson.None && t != rawjson.String:
		q.find("mode-unknown", "/mode", "The mode is %s, not a string.", wording.WithArticle(t))
	case q.mode == "":
		q.find("mode-unknown", "/mode", "The mode is empty; it can be form or url, and be left out for form.")
	case q.mode != elicit.ModeForm && q.mode != elicit.ModeURL:
		q.find("mode-unknown", "/mode", "There is no mode %s, only form and url.", wording.Quoted(string(q.mode)))
	case q.mode == elicit.ModeURL && q.revision == june:
		q.find("mode-unknown", "/mode", "Revision 2025-06-18 has no modes, so a client of it takes this for a form; URL mode came with 2025-11-25.")
	case !slices.Contains(q.in.Declared, q.mode):
		place := "/mode"
		if q.params["mode"] == nil {
			place = ""
		}
		if len(q.in.Declared) == 0 {
			q.find("mode-undeclared", place, "The client has not declared elicitation, so the server must not ask.")
			return
		}
		q.find("mode-undeclared", place, "The question is in %s mode, and the client has declared %s only.", q.mode, q.in.Declared[0])
	}
}

func (q *question) lintURL() {
	if q.params["requestedSchema"] != nil {
		q.find("url-with-schema", "/requestedSchema", "A question in URL mode has no form, so its requestedSchema is ignored.")
	}
	q.lintAddress()
	id, t := q.params.Text("elicitationId"), rawjson.KindOf(q.params["elicitationId"])
	switch {
	case q.revision == july && t != rawjson.None:
		q.find("id-removed", "/elicitationId", "elicitationId is gone since 2026-07-28; the client learns the outcome by retrying.")
	case q.revision == july:
	case t == rawjson.None:
		q.find("id-missing", "", "A question in URL mode needs an elicitationId.")
	case t != rawjson.String || id == "":
		q.find("id-missing", "/elicitationId", "The elicitationId has to be a string that identifies the elicitation.")
	case q.in.Offered != "" && page(q.in.Offered) != page(q.params.Text("url")):
		q.find("id-reused", "/elicitationId", "The elicitationId %s belonged to another URL earlier in this session; it has to identify one elicitation.", wording.Quoted(id))
	}
}

func (q *question) lintForm() {
	if q.params["url"] != nil && !q.has("mode-unknown") {
		q.find("form-with-url", "/url", `The question has a url and is not in URL mode; if it is meant to be opened, say "mode": "url".`)
	}
	message, schema := wording.Head(q.params.Text("message"), wording.TextMost), q.params["requestedSchema"]
	q.lintLinks("/message", "message", message)
	if schema == nil {
		switch {
		case q.mode == elicit.ModeForm:
			q.find("schema-missing", "", "A question with a form needs a requestedSchema.")
		case q.revision == june:
			q.find("schema-missing", "", "2025-06-18 has no modes: each of its questions is a form, and needs a requestedSchema.")
		}
		return
	}
	if len(q.in.Answered) > 0 && slices.Contains(q.in.Answered, QuestionKey(q.in.Params)) {
		q.find("asked-again", "", "The same question was already answered in this call; if the answer would not do, the message should say why.")
	}
	q.lintSchema(schema)
	asked := secretInMessage(message)
	if q.has("secret-in-form", "identity-in-form") {
		return
	}
	texts := slices.DeleteFunc(slices.Clone(q.fields), func(f elicit.Field) bool { return f.Kind != elicit.Text && f.Kind != elicit.Integer })
	if len(texts) == 0 {
		return
	}
	if asked.sort == certain && (len(texts) > 1 || !saysNothing(wordsOf(texts[0].Name)) || !saysNothing(wordsOf(texts[0].Label))) {
		asked.sort = likely // the fields may ask for something else
	}
	q.findSecret("/message", "The message", asked)
}

// findSecret adds the finding that a message or field asks for a secret, if it does, with
// advice on what to do.
func (q *question) findSecret(ptr, who string, asked secret) {
	hint, guess := "Secrets belong in URL mode, where they do not pass through the client.", "ask for it in URL mode, where it does not pass through the client."
	if q.revision == june {
		hint, guess = "Servers must not ask for secrets by elicitation.", "it must not be asked for by elicitation."
	}
	switch asked.sort {
	case certain:
		q.find("secret-in-form", ptr, "%s looks like a request for a secret: %s. %s", who, asked.what, hint)
	case likely:
		q.guess("secret-in-form", ptr, "%s may be a request for a secret: %s. If it is, %s", who, asked.what, guess)
	case identifying:
		q.find("identity-in-form", ptr, "%s looks like a request for %s. That is personal rather than secret; consider URL mode, where it does not pass through the client.", who, asked.what)
	}
}

// Secrets lists the fields of an elicitation that look like a request for a secret.
func Secrets(params json.RawMessage) (names []string) {
	request, err := elicit.Parse(params)
	if err != nil {
		return nil
	}
	for _, f := range request.Fields {
		if asked := secretIn(f); asked.sort == certain || asked.sort == likely {
			names = append(names, f.Name)
		}
	}
	return names
}

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
	name, password, _ := strings.Cut(strings.TrimSuffix(v.User, "@"), ":")
	switch {
	case v.User == "":
	case password != "" || link.IsKey(name):
		q.find("url-credentials", "/url", "The url has a password or a key in it, before the @.")
	default:
		q.guess("url-credentials", "/url", "What stands before the @ of the url may be a user name or a key. Browsers hide or drop it.")
	}
	if v.Carried.Credentials != nil {
		q.find("url-credentials", "/url", "The url carries what looks like a password or a key, in %s. Whoever sees the address has it.", wording.QuotedSeries(v.Carried.Credentials))
	}
	switch {
	case v.Carried.Presigned:
		q.find("url-preauthenticated", "/url", "The url looks signed in already: whoever has it can open what it leads to. It should ask who is there.")
	case v.Carried.Sessions != nil:
		q.find("url-preauthenticated", "/url", "The url looks signed in already, by %s: whoever has it can use it.", wording.QuotedSeries(v.Carried.Sessions))
	case v.Carried.PossibleSessions != nil:
		q.guess("url-preauthenticated", "/url", "The url may be signed in already, by %s. It must not open anything protected without asking who is there.", wording.QuotedSeries(v.Carried.PossibleSessions))
	}
	switch {
	case v.Carried.Personal != nil:
		q.find("url-personal-data", "/url", "The url carries what looks like personal data, in %s.", wording.QuotedSeries(v.Carried.Personal))
	case v.Carried.PossiblyPersonal != nil:
		q.guess("url-personal-data", "/url", "The url may carry personal data, in %s.", wording.QuotedSeries(v.Carried.PossiblyPersonal))
	case v.Carried.EmailInPath:
		q.guess("url-personal-data", "/url", "The url may carry personal data: an e-mail address stands in its path.")
	}
}

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
