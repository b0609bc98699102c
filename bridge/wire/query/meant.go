package query

import (
	"strings"

	"elicitation-inspector/bridge/spelling"
)

// otherNames are what people call terms that have another name.
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

// meantTerm is the term that somebody may mean by a name that is none, "" if
// that cannot be told.
func meantTerm(name string) string {
	if other := otherNames[strings.ToLower(name)]; other != "" {
		return other
	}
	return spelling.Nearest(name, termNames())
}

// unknownTerm fails because there is no such term, and says which may be meant.
func (p *parser) unknownTerm(t token) {
	end := t.pos + len(t.name)
	if meant := meantTerm(t.name); meant != "" {
		fail(t.pos, end, "there is no term %q; did you mean %s? Put text with %q in it in quotes", t.name, meant+t.op, t.op)
	}
	fail(t.pos, end, "there is no term %q, but there are %s; put text with %q in it in quotes", t.name, strings.Join(termNames(), ", "), t.op)
}
