package query

import (
	"slices"
	"strings"

	"elicitation-inspector/bridge/wire"
)

// Completion is what can stand at a place in a filter line.
type Completion struct {
	From, To int // byte offsets of what a candidate replaces
	Items    []Candidate
}

// Candidate is one way to go on.
type Candidate struct {
	Text  string // in place of line[From:To]
	Means string // what it means, in words; "" where the text says it
}

// maxCandidates bounds a completion.
const maxCandidates = 50

// Complete says how the filter line can go on at the byte offset at: with the
// names of terms, or after one with values that occur in the log.
func Complete(l *wire.Log, line string, at int, h Hooks) Completion {
	at = min(max(at, 0), len(line))
	start, end, ok := tokenAround(line, at)
	out := Completion{From: start, To: end}
	if !ok {
		out.From, out.To = at, at
		return out
	}
	typed := line[start:at]
	name, from := termAround(line, start, end)
	if name != "" && at >= from {
		// The value in which the cursor stands, of several.
		if i := strings.LastIndexByte(line[from:at], ','); i >= 0 {
			from += i + 1
		}
		if i := strings.IndexByte(line[at:end], ','); i >= 0 {
			end = at + i
		}
		out.From, out.To = from, end
		out.add(strings.TrimPrefix(line[from:at], `"`), "", values(l, strings.ToLower(name), h))
		return out
	}
	var names []Candidate
	for _, term := range terms {
		op := ":"
		if term.Name == "ms" || term.Name == "size" {
			op = ">"
		}
		names = append(names, Candidate{term.Name + op, term.Means})
	}
	for _, c := range names {
		if strings.HasPrefix(c.Text, strings.ToLower(typed)) {
			out.Items = append(out.Items, c)
		}
	}
	if len(typed) >= 2 {
		out.add(typed, "method:", values(l, "method", h))
	}
	return out
}

// add adds those values in which the typed text occurs, those that begin with
// it first.
func (c *Completion) add(typed, prefix string, values []Candidate) {
	typed = strings.ToLower(typed)
	for _, begins := range []bool{true, false} {
		for _, v := range values {
			low := strings.ToLower(v.Text)
			if strings.HasPrefix(low, typed) != begins || !strings.Contains(low, typed) || len(c.Items) >= maxCandidates {
				continue
			}
			if strings.ContainsAny(v.Text, " \t,()\"") {
				v.Text = `"` + strings.ReplaceAll(strings.ReplaceAll(v.Text, `\`, `\\`), `"`, `\"`) + `"`
			}
			v.Text = prefix + v.Text
			c.Items = append(c.Items, v)
		}
	}
}

// tokenAround finds the term or word that at stands in or behind. ok is false
// inside quotes and regular expressions.
func tokenAround(line string, at int) (start, end int, ok bool) {
	for i := 0; i < len(line) && i <= at; {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '(' || c == ')' || c == '!' || c == '-' && negates(line[i+1:]):
			i++
			continue
		case joins(line[i:]) > 0:
			i += joins(line[i:])
			continue
		case c == '"' || c == '/':
			end = i + 1
			for end < len(line) && line[end] != c {
				if line[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(line))
			if at > i && (at < end || line[end-1] != c || end == i+1) {
				return 0, 0, false
			}
			i = end
			continue
		}
		end = i
		for quoted := false; end < len(line); end++ {
			if c := line[end]; c == '"' {
				quoted = !quoted
			} else if !quoted && ends(line[end:]) {
				break
			}
		}
		if at <= end && at > i || at == i {
			return i, end, true
		}
		i = end
	}
	return at, at, true
}

// termAround is the name of the term whose values begin at from, at the token
// from start to end or in front of it; "" if there is none.
func termAround(line string, start, end int) (name string, from int) {
	if name, op, values := termStart(line[start:end]); op != "" {
		return name, start + values
	}
	// White space may stand around the operator.
	head := strings.TrimRight(line[:start], " \t")
	op := head[len(strings.TrimRight(head, ":=<>!")):]
	names := strings.TrimRight(head[:len(head)-len(op)], " \t")
	name = names[strings.LastIndexAny(names, " \t(!-")+1:]
	if op == "" || !isTerm(name) {
		return "", 0
	}
	return name, start
}

// values are those that make sense after the name of a term.
func values(l *wire.Log, name string, h Hooks) (out []Candidate) {
	list := func(texts ...string) {
		for _, text := range texts {
			if text != "" && !slices.ContainsFunc(out, func(c Candidate) bool { return c.Text == text }) {
				out = append(out, Candidate{Text: text})
			}
		}
	}
	ofConns := func(of func(wire.Connection) string) {
		var texts []string
		for _, k := range l.Connections() {
			texts = append(texts, of(k))
		}
		slices.Sort(texts)
		list(slices.Compact(texts)...)
	}
	switch name {
	case "method":
		methods := slices.Sorted(slices.Values(l.Methods()))
		groups := make(map[string]int)
		for _, m := range methods {
			if group, _, ok := strings.Cut(m, "/"); ok {
				if groups[group]++; groups[group] == 2 {
					list(group + "/*")
				}
			}
		}
		list(methods...)
	case "server":
		ofConns(func(c wire.Connection) string { return c.Server })
	case "session":
		ofConns(func(c wire.Connection) string { return c.Session })
	case "transport":
		ofConns(func(c wire.Connection) string { return c.Transport })
	case "actor":
		list(l.Actors()...)
	case "kind":
		out = []Candidate{{"error", "what failed: errors, isError, HTTP 400 and above, exits with a code"}}
		list(kindNames...)
	case "tool":
		list(slices.Sorted(slices.Values(l.Tools()))...)
	case "dir":
		out = []Candidate{{"in", "from the server"}, {"out", "to the server"}, {"stderr", ""}, {"meta", "said by the inspector"}}
	case "stream":
		out = []Candidate{{"post", "the body of a POST, or its JSON answer"}, {"post-sse", "the event stream that answers a POST"}, {"get-sse", "the event stream opened by GET"}}
	case "action":
		list(actions...)
	case "is":
		out = []Candidate{{"question", "what a server asks of people"}, {"answer", "what went back"},
			{"duplicate", "an id used before, or a second response"}, {"orphan", "a response to nothing"}, {"truncated", "only the head was kept"}, {"redacted", "secrets were left out"}, {"pinned", ""}, {"noted", "somebody wrote a note"}}
	case "colour":
		list(wire.Colours()...)
	case "finding":
		list("any")
		list(h.Findings...)
	case "has":
		list(h.Names...)
		list("requestedSchema", "inputRequests", "inputResponses", "structuredContent", "progressToken")
	case "size":
		list("1k", "10k", "1M")
	case "ms":
		list("100", "500", "1000")
	}
	return out
}
