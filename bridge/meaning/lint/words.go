package lint

import (
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// textMost is the number of characters of a text that are searched for words.
const textMost = 2000

// breaks holds the patterns of the ends of words inside a name.
var breaks = sync.OnceValue(func() (b struct{ apostrophes, humps, lastCapital *regexp.Regexp }) {
	b.apostrophes = regexp.MustCompile(`['’][st](\P{L}|$)`)          // key's and don't are key and don
	b.humps = regexp.MustCompile(`(\p{Ll}|\p{Lo}|\p{L}\d+)(\p{Lu})`) // fooBar and foo2Bar are two words, 2FA is one
	b.lastCapital = regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`)     // APIKey is API and key
	return b
})

// wordsOf splits a name or a text into lower-case words: "APIKey", "api_key" and "API
// key's" all become api and key.
func wordsOf(text string) []string {
	b := breaks()
	text = b.apostrophes.ReplaceAllString(wording.Shorten(text, textMost), " $1")
	text = b.lastCapital.ReplaceAllString(b.humps.ReplaceAllString(text, "$1 $2"), "$1 $2")
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func sentencesOf(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for sentence := range strings.FieldsFuncSeq(wording.Shorten(text, textMost), func(r rune) bool { return strings.ContainsRune(".!?;:\n()", r) }) {
			if !yield(wordsOf(sentence)) {
				return
			}
		}
	}
}

func hasAny(words, set []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(set, w) })
}

// phraseAt returns the index of a phrase in a list of words; -1 if the list does not have
// it.
func phraseAt(list, phrase []string) int {
	for i := range list {
		if hasPrefix(list[i:], phrase) {
			return i
		}
	}
	return -1
}

func hasPrefix(list, prefix []string) bool {
	return len(list) >= len(prefix) && slices.Equal(list[:len(prefix)], prefix)
}

// lintLinks adds a finding for a text that asks people to open an address.
func (q *question) lintLinks(ptr, where, text string) {
	if link := linkIn(text); link != "" {
		q.find("url-in-form", ptr, "The %s looks like it wants a URL followed (%s); clients should not make it clickable there, so URL mode is the way to have it opened.", where, wording.Shorten(link, 60))
	}
}

var address = lazy.Regexp("(?i)\\b(?:https?://|www\\.)[^ \\t\\n\\r\"<>()\\[\\]{}'`]*")

// linkIn returns the first address in a text that people are asked to open: a link in
// Markdown or HTML, or an address after a verb such as "visit". It returns "" if there is
// none, or if the text only mentions addresses.
func linkIn(text string) string {
	for _, at := range address().FindAllStringIndex(text, -1) {
		link := strings.TrimRight(text[at[0]:at[1]], ".,;:!?")
		_, rest, _ := strings.Cut(link, "://")
		hasHost := strings.Trim(rest, "/.…") != "" || strings.Count(link, ".") > 1
		if hasHost && isFollowed(text[:at[0]]) {
			return link
		}
	}
	return ""
}

// mentions lists the words of clauses that only mention an address.
var mentions = strings.Fields("not never don eg example like such format deploys will")

// before holds the patterns of the text before an address that people are asked to open.
var before = sync.OnceValue(func() (b struct{ mark, verbs *regexp.Regexp }) {
	b.mark = regexp.MustCompile(`(?i)(?:\]\(|href=["']?)$`)
	b.verbs = regexp.MustCompile(`^(?:\S+ ){0,3}(?:(?:visit|click|open|follow|browse|navigate)(?: \S+){0,4}|(?:go|head) (?:to|over)(?: \S+){0,3})$` +
		`|\b(?:sign|log) in\b.*\bat\b|\blogin at\b|\baccount at$`)
	return b
})

func isFollowed(text string) bool {
	if before().mark.MatchString(text) {
		return true
	}
	// Only the address's own clause counts: "Sign in to continue. The repository is
	// https://…" does not ask people to open it.
	clause := wordsOf(text[strings.LastIndexAny(text, ".!?;\n")+1:])
	return !hasAny(clause, mentions) && before().verbs.MatchString(strings.Join(clause, " "))
}

var paramNames = []string{"mode", "message", "url", "elicitationId", "requestedSchema", "_meta", "task"}

// keywordNames lists the keywords of a schema that a misspelt keyword can mean.
var keywordNames = []string{
	"type", "title", "description", "default", "properties", "required", "additionalProperties",
	"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"enum", "enumNames", "oneOf", "anyOf", "allOf", "items", "minItems", "maxItems", "uniqueItems",
}

// otherNames lists words that people use in schemas on purpose, and that are not misspelt
// keywords.
var otherNames = map[string]bool{
	"const": true, "not": true, "if": true, "then": true, "else": true, "examples": true, "example": true, "readOnly": true, "writeOnly": true, "deprecated": true,
	"contains": true, "minContains": true, "maxContains": true, "prefixItems": true, "minProperties": true, "maxProperties": true, "patternProperties": true,
	"propertyNames": true, "dependentRequired": true, "dependentSchemas": true, "dependencies": true, "definitions": true,
	"unevaluatedItems": true, "unevaluatedProperties": true, "additionalItems": true, "contentEncoding": true, "contentMediaType": true, "contentSchema": true,
	"formatMinimum": true, "formatMaximum": true, "options": true, "order": true, "hint": true, "label": true, "name": true, "id": true, "value": true, "urls": true, "uri": true, "meta": true,
}

const spelledMost = 1000

func (l *linter) lintSpelling(ptr string, object json.RawMessage, known []string) {
	n := 0
	for name := range rawjson.Members(object) {
		if n++; n > spelledMost {
			return
		}
		if otherNames[name] || slices.Contains(known, name) || strings.ContainsAny(name, "$:-") {
			continue
		}
		if meant := wording.Nearest(name, known); meant != "" && rawjson.Member(object, meant) == nil {
			l.guess("keyword-misspelt", rawjson.PointerTo(ptr, name), "%s looks misspelt: did you mean %s? As it stands, clients ignore it.", wording.Quoted(name), wording.Quoted(meant))
		}
	}
}
