package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
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
		q.lintUndeclared()
	}
}

func (q *question) lintUndeclared() {
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

func (q *question) lintMessage() {
	switch t := rawjson.KindOf(q.params["message"]); {
	case t == rawjson.None:
		q.find("message-missing", "", "The question has no message that says why it is asked.")
	case t != rawjson.String:
		q.find("message-missing", "/message", "The message is %s, not a string.", wording.WithArticle(t))
	case strings.TrimSpace(q.params.Text("message")) == "":
		q.find("message-empty", "/message", "The message is empty, so nobody can tell why the question is asked.")
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
	q.lintSecretMessage(message)
}

// lintSecretMessage finds a message that asks for a secret if no field does.
func (q *question) lintSecretMessage(message string) {
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

func (q *question) lintSecretField(ptr string, f elicit.Field) {
	asked := secretIn(f)
	isValue := func(f elicit.Field) bool { return f.Name == "value" }
	if asked.sort == likely && isKey(wordsOf(f.Name)) && slices.ContainsFunc(q.fields, isValue) {
		return // the name of a setting beside its value
	}
	q.findSecret(ptr, wording.Quoted(f.Label), asked)
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
