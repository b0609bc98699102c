package lint

import (
	"regexp"
	"strings"
	"sync"

	"elicitation-inspector/bridge/wording"
)

// lintLinks adds a finding for a text that asks people to open an address.
func (q *question) lintLinks(ptr, where, text string) {
	if link := linkIn(text); link != "" {
		q.find("url-in-form", ptr, "The %s looks like it wants a URL followed (%s); clients should not make it clickable there, so URL mode is the way to have it opened.", where, wording.Shorten(link, 60))
	}
}

var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)\\b(?:https?://|www\\.)[^ \\t\\n\\r\"<>()\\[\\]{}'`]*")
})

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
