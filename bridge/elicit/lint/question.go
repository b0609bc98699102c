package lint

import (
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// lintTravel judges how the elicitation came.
func (q *question) lintTravel() {
	if q.in.Via == elicit.ByRequest && q.revision == july {
		q.find("request-removed", "", "Since 2026-07-28 a server asks inside an input-required result; elicitation/create is no longer a request of its own.")
	}
}

func (q *question) lintMode() {
	t := rawjson.KindOf(q.modeRaw)
	switch {
	case t != rawjson.None && t != rawjson.String:
		q.find("mode-unknown", "/mode", "The mode is %s, not a string.", wording.WithArticle(t))
		return
	case q.mode == "":
		q.find("mode-unknown", "/mode", "The mode is empty; it can be form or url, and be left out for form.")
		return
	case q.mode != elicit.ModeForm && q.mode != elicit.ModeURL:
		q.find("mode-unknown", "/mode", "There is no mode %s, only form and url.", wording.Quoted(string(q.mode)))
		return
	case q.mode == elicit.ModeURL && q.revision == june:
		q.find("mode-unknown", "/mode", "Revision 2025-06-18 has no modes, so a client of it takes this for a form; URL mode came with 2025-11-25.")
		return
	case slices.Contains(q.in.Declared, q.mode):
		return
	}
	place := "/mode"
	if t == rawjson.None {
		place = ""
	}
	if len(q.in.Declared) == 0 {
		q.find("mode-undeclared", place, "The client has not declared elicitation, so the server must not ask.")
		return
	}
	q.find("mode-undeclared", place, "The question is in %s mode, and the client has declared %s only.", q.mode, q.in.Declared[0])
}

func (q *question) lintMessage() {
	switch t := rawjson.KindOf(q.message); t {
	case rawjson.None:
		q.find("message-missing", "", "The question has no message that says why it is asked.")
	case rawjson.String:
		if text := rawjson.Text(q.message); strings.TrimSpace(text) == "" {
			q.find("message-empty", "/message", "The message is empty, so nobody can tell why the question is asked.")
		}
	default:
		q.find("message-missing", "/message", "The message is %s, not a string.", wording.WithArticle(t))
	}
}

func (q *question) lintURL() {
	if q.schema != nil {
		q.find("url-with-schema", "/requestedSchema", "A question in URL mode has no form, so its requestedSchema is ignored.")
	}
	q.lintAddress()
	q.lintID()
}

func (q *question) lintID() {
	id := rawjson.Text(q.id)
	text := rawjson.Text(q.url)
	t := rawjson.KindOf(q.id)
	switch {
	case q.revision == july && t != rawjson.None:
		q.find("id-removed", "/elicitationId", "elicitationId is gone since 2026-07-28; the client learns the outcome by retrying.")
	case q.revision == july:
	case t == rawjson.None:
		q.find("id-missing", "", "A question in URL mode needs an elicitationId.")
	case t != rawjson.String || id == "":
		q.find("id-missing", "/elicitationId", "The elicitationId has to be a string that identifies the elicitation.")
	case q.in.Offered != "" && page(q.in.Offered) != page(text):
		q.find("id-reused", "/elicitationId", "The elicitationId %s belonged to another URL earlier in this session; it has to identify one elicitation.", wording.Quoted(id))
	}
}

func (q *question) lintForm() {
	if q.url != nil && !q.has("mode-unknown") {
		q.find("form-with-url", "/url", `The question has a url and is not in URL mode; if it is meant to be opened, say "mode": "url".`)
	}
	message := rawjson.Text(q.message)
	q.lintLinks("/message", "message", message)
	if q.schema == nil {
		if q.mode == elicit.ModeForm || q.revision == june {
			q.find("schema-missing", "", "A question with a form needs a requestedSchema.")
		}
		return
	}
	if slices.Contains(q.in.Answered, QuestionKey(q.in.Params)) {
		q.find("asked-again", "", "The same question was already answered in this call; if the answer would not do, the message should say why.")
	}
	q.lintSchema()
	q.lintSecretMessage(message)
}

// lintSecretMessage finds a message that asks for a secret where no field says so.
func (q *question) lintSecretMessage(message string) {
	asked := secretInMessage(message)
	if asked.sort == noSecret || q.has("secret-in-form", "identity-in-form") {
		return
	}
	fields, _ := elicit.FieldsOf(q.schema)
	texts := slices.DeleteFunc(fields, func(f elicit.Field) bool { return f.Kind != elicit.Text && f.Kind != elicit.Integer })
	switch {
	case len(texts) == 0:
	case asked.sort == identifying:
		q.find("identity-in-form", "/message", "The message looks like a request for %s. %s", asked.what, identityHint)
	case asked.sort == certain && len(texts) == 1 && saysNothing(wordsOf(texts[0].Name)) && saysNothing(wordsOf(texts[0].Label)):
		q.find("secret-in-form", "/message", "The message looks like a request for a secret: %s. %s", asked.what, q.secretHint())
	default:
		q.guess("secret-in-form", "/message", "The message may be a request for a secret: %s. If it is, %s", asked.what, q.guessHint())
	}
}

// lintSecretField finds a field that asks for a secret.
func (q *question) lintSecretField(ptr, name string, f elicit.Field) {
	asked := secretIn(f)
	if asked.sort == likely && isKey(wordsOf(name)) && rawjson.Member(rawjson.Member(q.schema, "properties"), "value") != nil {
		return // a key and its value
	}
	switch asked.sort {
	case certain:
		q.find("secret-in-form", ptr, "%s looks like a request for a secret: %s. %s", wording.Quoted(f.Label), asked.what, q.secretHint())
	case likely:
		q.guess("secret-in-form", ptr, "%s may be a request for a secret: %s. If it is, %s", wording.Quoted(f.Label), asked.what, q.guessHint())
	case identifying:
		q.find("identity-in-form", ptr, "%s looks like a request for %s. %s", wording.Quoted(f.Label), asked.what, identityHint)
	}
}

const identityHint = "That is personal rather than secret; consider URL mode, where it does not pass through the client."

// secretHint is where a secret belongs.
func (q *question) secretHint() string {
	if q.revision == june {
		return "Servers must not ask for secrets by elicitation."
	}
	return "Secrets belong in URL mode, where they do not pass through the client."
}

// guessHint is the same for what may be a secret.
func (q *question) guessHint() string {
	if q.revision == june {
		return "it must not be asked for by elicitation."
	}
	return "ask for it in URL mode, where it does not pass through the client."
}
