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

// meaning is what an operator stands for: ":", "!=" or a comparison.
func meaning(op string) string {
	for _, o := range operators {
		if o.text == op {
			return o.means
		}
	}
	return op
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
	name = strings.ToLower(name)
	if other := otherNames[name]; other != "" {
		return other
	}
	return spelling.Nearest(name, termNames())
}

// unknownTerm says that there is no such term, and which one may be meant.
func (p *filterParser) unknownTerm(t token) {
	end := t.pos + len(t.name)
	if meant := meantTerm(t.name); meant != "" {
		p.fail(t.pos, end, "there is no term %q; did you mean %s? Put text with %q in it in quotes", t.name, meant+t.op, t.op)
		return
	}
	p.fail(t.pos, end, "there is no term %q, but there are %s; put text with %q in it in quotes", t.name, strings.Join(termNames(), ", "), t.op)
}

// strayOperator says that an operator stands alone, after what is no term.
func (p *filterParser) strayOperator(at int, op string) {
	before := strings.TrimSpace(p.in[:at])
	before = before[strings.LastIndexAny(before, " \t(!")+1:]
	if meant := meantTerm(before); meant != "" && before != "" {
		from := strings.LastIndex(p.in[:at], before)
		p.fail(from, at+len(op), "there is no term %q; did you mean %s? Put text with %q in it in quotes", before, meant+op, op)
		return
	}
	p.fail(at, at+len(op), "the name of a term must stand before %q, as in ms>500; put text with %q in it in quotes", op, op)
}
