package lint

import (
	"regexp"
	"strings"
	"sync"

	"elicitation-inspector/bridge/wording"
)

// lintLinks finds addresses that ask to be opened.
func (q *question) lintLinks(ptr, where, text string) {
	if link := linkIn(text); link != "" {
		q.find("url-in-form", ptr, "The %s looks like it wants a URL followed (%s); clients should not make it clickable there, so URL mode is the way to have it opened.", where, wording.Shorten(link, 60))
	}
}

var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)\\b(?:https?://|www\\.)[^ \\t\\n\\r\"<>()\\[\\]{}'`]*")
})

// linkIn is the first address in a text that people are meant to follow: a link in
// Markdown or HTML, or one that the text tells them to open. It is "" if there is none;
// an address that is only mentioned is none.
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

// mentions are words of a clause that only mentions an address.
var mentions = strings.Fields("not never don eg example like such format deploys will")

// before are the patterns of what stands before an address that people are to follow.
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
	// Only the clause counts that the address stands in: "Sign in to continue.
	// The repository is https://…" asks for nothing.
	clause := wordsOf(text[strings.LastIndexAny(text, ".!?;\n")+1:])
	return !hasAny(clause, mentions) && before().verbs.MatchString(strings.Join(clause, " "))
}
