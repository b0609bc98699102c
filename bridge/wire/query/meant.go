package query

import (
	"cmp"
	"strings"

	"elicitation-inspector/bridge/wording"
)

// otherNames maps likely wrong names of terms to the right ones.
var otherNames = map[string]string{
	"color": "colour", "type": "kind", "direction": "dir", "latency": "ms", "duration": "ms", "took": "ms", "time": "ms",
	"code": "status", "bytes": "size", "length": "size", "since": "after", "until": "before", "rule": "finding",
	"elicitation": "question", "by": "actor", "who": "actor", "from": "dir", "pin": "is", "pinned": "is", "number": "seq",
	"frame": "seq", "name": "tool", "label": "server",
}

func termNames() []string {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = t.Name
	}
	return names
}

// unknownTerm fails with an error for an unknown term, and suggests another one.
func (p *parser) unknownTerm(t token) {
	end := t.pos + len(t.name)
	if meant := cmp.Or(otherNames[strings.ToLower(t.name)], wording.Nearest(t.name, termNames())); meant != "" {
		fail(t.pos, end, "there is no term %q; did you mean %s? Put text with %q in it in quotes", t.name, meant+t.op, t.op)
	}
	fail(t.pos, end, "there is no term %q, but there are %s; put text with %q in it in quotes", t.name, strings.Join(termNames(), ", "), t.op)
}
