package elicit

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// question is one elicitation under the linter. Its members are nil where the
// params do not have them.
type question struct {
	*linter
	in                                LintInput
	mode                              Mode
	modeRaw, message, url, id, schema json.RawMessage
}

// lintTravel judges how the elicitation came.
func (q *question) lintTravel() {
	if q.in.Via == ByRequest && q.revision == rev2026July {
		q.find("request-removed", "", "Since 2026-07-28 a server asks inside an input-required result; elicitation/create is no longer a request of its own.")
	}
}

func (q *question) lintMode() {
	t := typeOf(q.modeRaw)
	switch {
	case t != typeNone && t != typeString:
		q.find("mode-unknown", "/mode", "The mode is %s, not a string.", withArticle(t))
		return
	case q.mode != ModeForm && q.mode != ModeURL:
		q.find("mode-unknown", "/mode", "There is no mode %s, only form and url.", quoted(string(q.mode)))
		return
	case q.mode == ModeURL && q.revision == rev2025June:
		q.find("mode-unknown", "/mode", "Revision 2025-06-18 has no URL mode; it came with 2025-11-25.")
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
	if q.revision == rev2025June {
		return
	}
	q.lintAddress()
	q.lintID()
}

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
	if err := checkURI(text); err != nil {
		q.find("url-invalid", "/url", "The url is not valid: %s.", err)
		return
	}
	u, err := url.Parse(text)
	scheme, _, _ := strings.Cut(text, ":")
	if err != nil || strings.HasPrefix(strings.ToLower(scheme), "http") && u.Hostname() == "" {
		q.find("url-invalid", "/url", "The url is not valid: it names no host.")
		return
	}
	switch {
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
	case u.Scheme == "http":
		q.find("url-insecure", "/url", "The url does not use HTTPS.")
	default:
		q.find("url-insecure", "/url", "The url's scheme is %s, where HTTPS is expected.", u.Scheme)
	}
	if u.User != nil {
		q.find("url-credentials", "/url", "The url has a user name or password in it.")
	}
}

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func (q *question) lintID() {
	id, _ := unquote(q.id)
	t := typeOf(q.id)
	switch {
	case q.revision == rev2026July && t != typeNone:
		q.find("id-removed", "/elicitationId", "elicitationId is gone since 2026-07-28; the client learns the outcome by retrying.")
	case q.revision == rev2026July:
	case t == typeNone:
		q.find("id-missing", "", "A question in URL mode needs an elicitationId.")
	case t != typeString || id == "":
		q.find("id-missing", "/elicitationId", "The elicitationId has to be a string that identifies the elicitation.")
	case slices.Contains(q.in.SeenIDs, id):
		q.find("id-reused", "/elicitationId", "The elicitationId %s came before in this session; it has to be unique.", quoted(id))
	}
}

func (q *question) lintForm() {
	if q.url != nil {
		q.find("form-with-url", "/url", `The question has a url and is not in URL mode; if it is meant to be opened, say "mode": "url".`)
	}
	if message, _ := unquote(q.message); message != "" {
		q.lintLinks("/message", "message", message)
	}
	if q.schema == nil {
		if q.mode == ModeForm {
			q.find("schema-missing", "", "A question in form mode needs a requestedSchema.")
		}
		return
	}
	q.lintSchema()
}

// lintLinks finds addresses that ask to be opened.
func (q *question) lintLinks(ptr, where, text string) {
	if link := linkIn(text); link != "" {
		q.find("url-in-form", ptr, "The %s has a URL in it (%s); clients should not make it clickable, so URL mode is the way to have it opened.", where, shorten(link, 60))
	}
}

// linkIn is the first address in a text that asks to be opened; "" if there is
// none. One that a text gives as an example does not ask for that.
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
		word := i == 0 || !isAlnum(rune(lower[i-1]))
		if word && hasHost && !isExample(lower[:i]) {
			return link
		}
		from = max(end, i+1)
	}
	return ""
}

// isExample tells whether a text ends by announcing an example.
func isExample(before string) bool {
	before = strings.TrimRight(before, " \t\n\"'`(:,")
	for _, end := range []string{"e.g", "e.g.", "eg", "such as", "example", "for instance", "like", "i.e", "i.e.", "format"} {
		if before == end || strings.HasSuffix(before, " "+end) || strings.HasSuffix(before, "("+end) {
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
