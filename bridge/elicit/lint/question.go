package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// question is one elicitation under the linter. Its members are nil where the
// params do not have them.
type question struct {
	*linter
	in                                Input
	mode                              elicit.Mode
	modeRaw, message, url, id, schema json.RawMessage
}

// lintTravel judges how the elicitation came.
func (q *question) lintTravel() {
	if q.in.Via == elicit.ByRequest && q.revision == rev2026July {
		q.find("request-removed", "", "Since 2026-07-28 a server asks inside an input-required result; elicitation/create is no longer a request of its own.")
	}
}

func (q *question) lintMode() {
	t := typeOf(q.modeRaw)
	switch {
	case t != typeNone && t != typeString:
		q.find("mode-unknown", "/mode", "The mode is %s, not a string.", withArticle(t))
		return
	case t == typeString && string(q.modeRaw) == `""`:
		q.find("mode-unknown", "/mode", "The mode is empty; it can be form or url, and be left out for form.")
		return
	case q.mode != elicit.ModeForm && q.mode != elicit.ModeURL:
		q.find("mode-unknown", "/mode", "There is no mode %s, only form and url.", wording.Quoted(string(q.mode)))
		return
	case q.mode == elicit.ModeURL && q.revision == rev2025June:
		q.find("mode-unknown", "/mode", "Revision 2025-06-18 has no modes, so a client of it takes this for a form; URL mode came with 2025-11-25.")
		return
	}
	if slices.Contains(q.in.Declared, q.mode) {
		return
	}
	place := "/mode"
	if t == typeNone {
		place = ""
	}
	if len(q.in.Declared) == 0 {
		q.find("mode-undeclared", place, "The client has not declared elicitation, so the server must not ask.")
		return
	}
	q.find("mode-undeclared", place, "The question is in %s mode, and the client has declared %s only.", q.mode, q.in.Declared[0])
}

func (q *question) lintMessage() {
	switch t := typeOf(q.message); t {
	case typeNone:
		q.find("message-missing", "", "The question has no message that says why it is asked.")
	case typeString:
		if text, _ := unquote(q.message); strings.TrimSpace(text) == "" {
			q.find("message-empty", "/message", "The message is empty, so nobody can tell why the question is asked.")
		}
	default:
		q.find("message-missing", "/message", "The message is %s, not a string.", withArticle(t))
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
	id, _ := unquote(q.id)
	text, _ := unquote(q.url)
	t := typeOf(q.id)
	switch {
	case q.revision == rev2026July && t != typeNone:
		q.find("id-removed", "/elicitationId", "elicitationId is gone since 2026-07-28; the client learns the outcome by retrying.")
	case q.revision == rev2026July:
	case t == typeNone:
		q.find("id-missing", "", "A question in URL mode needs an elicitationId.")
	case t != typeString || id == "":
		q.find("id-missing", "/elicitationId", "The elicitationId has to be a string that identifies the elicitation.")
	case slices.ContainsFunc(q.in.Offered, func(o Offered) bool { return o.ID == id && page(o.URL) != page(text) }):
		q.find("id-reused", "/elicitationId", "The elicitationId %s belonged to another URL earlier in this session; it has to identify one elicitation.", wording.Quoted(id))
	}
}

func (q *question) lintForm() {
	if q.url != nil && !q.has("mode-unknown", "/mode") {
		q.find("form-with-url", "/url", `The question has a url and is not in URL mode; if it is meant to be opened, say "mode": "url".`)
	}
	if message, _ := unquote(q.message); message != "" {
		q.lintLinks("/message", "message", message)
	}
	if q.schema == nil {
		if q.mode == elicit.ModeForm || q.revision == rev2025June {
			q.find("schema-missing", "", "A question with a form needs a requestedSchema.")
		}
		return
	}
	if slices.Contains(q.in.Answered, QuestionKey(q.in.Params)) {
		q.find("asked-again", "", "The same question was already answered in this call; if the answer would not do, the message should say why.")
	}
	q.lintSchema()
	q.lintSecretMessage()
}

// lintSecretMessage finds a message that asks for a secret where no field says so.
func (q *question) lintSecretMessage() {
	message, _ := unquote(q.message)
	kind := secretInMessage(message)
	if kind.sort == noSecret || slices.ContainsFunc(q.findings, func(f Finding) bool { return f.Rule == "secret-in-form" || f.Rule == "identity-in-form" }) {
		return
	}
	fields, _ := elicit.FieldsOf(q.schema)
	texts := slices.DeleteFunc(fields, func(f elicit.Field) bool { return f.Kind != elicit.Text && f.Kind != elicit.Integer })
	switch {
	case len(texts) == 0:
	case kind.sort == identifying:
		q.find("identity-in-form", "/message", "The message looks like a request for %s. %s", kind.names, identityHint)
	case kind.sort == certain && len(texts) == 1 && saysNothing(texts[0].Name) && saysNothing(texts[0].Label):
		q.find("secret-in-form", "/message", "The message looks like a request for a secret: %s. %s", kind.names, q.secretHint())
	default:
		q.guess("secret-in-form", "/message", "The message may be a request for a secret: %s. If it is, %s", kind.names, q.guessHint())
	}
}

// lintSecretField finds a field that asks for a secret.
func (q *question) lintSecretField(name string, f elicit.Field) {
	kind := secretIn(f)
	if kind.sort == likely && isWhole(name, "key") && member(member(q.schema, "properties"), "value") != nil {
		return // a key and its value
	}
	switch kind.sort {
	case certain:
		q.find("secret-in-form", q.place(name), "%s looks like a request for a secret: %s. %s", wording.Quoted(f.Label), kind.names, q.secretHint())
	case likely:
		q.guess("secret-in-form", q.place(name), "%s may be a request for a secret: %s. If it is, %s", wording.Quoted(f.Label), kind.names, q.guessHint())
	case identifying:
		q.find("identity-in-form", q.place(name), "%s looks like a request for %s. %s", wording.Quoted(f.Label), kind.names, identityHint)
	}
}

const identityHint = "That is personal rather than secret; consider URL mode, where it does not pass through the client."

// secretHint is where a secret belongs.
func (q *question) secretHint() string {
	if q.revision == rev2025June {
		return "Servers must not ask for secrets by elicitation."
	}
	return "Secrets belong in URL mode, where they do not pass through the client."
}

// guessHint is the same for what may be a secret.
func (q *question) guessHint() string {
	if q.revision == rev2025June {
		return "it must not be asked for by elicitation."
	}
	return "ask for it in URL mode, where it does not pass through the client."
}

// lintLinks finds addresses that ask to be opened.
func (q *question) lintLinks(ptr, where, text string) {
	if link := linkIn(text); link != "" {
		q.find("url-in-form", ptr, "The %s looks like it wants a URL followed (%s); clients should not make it clickable there, so URL mode is the way to have it opened.", where, wording.Shorten(link, 60))
	}
}

// linkIn is the first address in a text that people are meant to follow: a link in
// Markdown or HTML, or one that the text tells them to open. It is "" if there is none;
// an address that is only mentioned is none.
func linkIn(text string) string {
	lower := strings.ToLower(text)
	for from := 0; from < len(lower); {
		i := -1
		for _, start := range []string{"http://", "https://", "www."} {
			if j := strings.Index(lower[from:], start); j >= 0 && (i < 0 || from+j < i) {
				i = from + j
			}
		}
		if i < 0 {
			return ""
		}
		end := i
		for end < len(lower) && !strings.ContainsRune(" \t\n\r\"<>()[]{}'`", rune(lower[end])) {
			end++
		}
		link := strings.TrimRight(text[i:end], ".,;:!?")
		_, rest, _ := strings.Cut(strings.TrimPrefix(link, "www."), "://")
		hasHost := strings.Trim(rest, "/.…") != "" || strings.HasPrefix(strings.ToLower(link), "www.") && strings.Count(link, ".") > 1
		word := i == 0 || !isLetterOrDigit(rune(lower[i-1]))
		if word && hasHost && isFollowed(lower[:i]) {
			return link
		}
		from = max(end, i+1)
	}
	return ""
}

// isFollowed tells whether the text before an address makes it one to be opened.
func isFollowed(before string) bool {
	if strings.HasSuffix(before, "](") || strings.HasSuffix(before, `href="`) || strings.HasSuffix(before, "href='") || strings.HasSuffix(before, "href=") {
		return true
	}
	// Only the clause counts that the address stands in: "Sign in to continue.
	// The repository is https://…" asks for nothing.
	if i := strings.LastIndexAny(before, ".!?;\n"); i >= 0 {
		before = before[i+1:]
	}
	list := wordsOf(before)
	if slices.ContainsFunc(list, func(w string) bool {
		return slices.Contains(words("not never don eg example like such format deploys will"), w)
	}) {
		return false
	}
	for i, w := range list {
		next := append(list[i+1:], "", "")
		switch {
		case slices.Contains(words("visit click open follow browse navigate"), w) && i <= 3:
			return len(list)-i <= 5
		case (w == "go" || w == "head") && (next[0] == "to" || next[0] == "over") && i <= 3:
			return len(list)-i <= 5
		case (w == "sign" || w == "log") && next[0] == "in" && slices.Contains(list[i:], "at"), w == "account" && next[0] == "at" && len(list) == i+2,
			w == "login" && next[0] == "at":
			return true
		}
	}
	return false
}

// place is where a property's schema stands in the params.
func (q *question) place(name string, more ...any) string {
	ptr := pointer("/requestedSchema/properties", name)
	for _, m := range more {
		ptr = pointer(ptr, fmt.Sprint(m))
	}
	return ptr
}
