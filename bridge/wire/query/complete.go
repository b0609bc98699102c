package query

import (
	"strings"

	"elicitation-inspector/bridge/wire"
)

// Completion is what can stand at a place in a filter line.
type Completion struct {
	From  int         `json:"from"` // byte offset of what a candidate replaces
	To    int         `json:"to"`   // and of its end
	Items []Candidate `json:"items"`
}

// Candidate is one way to go on.
type Candidate struct {
	Text  string `json:"text"`            // in place of line[From:To]
	Means string `json:"means,omitempty"` // what it means, in words; "" where the text says it
}

// maxCandidates bounds a completion.
const maxCandidates = 50

// Complete says how the filter line can go on at the byte offset at: with the
// names of terms, or after one with values, such as those that occur in the log.
// findings are the rules of which there are findings.
func Complete(l *wire.Log, line string, at int, findings []string) Completion {
	at = min(max(at, 0), len(line))
	out := Completion{From: at, To: at}
	lexed, err := lex(line)
	for _, t := range lexed.tokens {
		if t.pos > at || t.end < at {
			continue
		}
		switch {
		case t.kind == tokenTerm && at >= t.values[0].pos:
			out.values(l, line, at, t, findings)
			return out
		case t.kind == tokenTerm:
			out.From, out.To = t.pos, t.values[0].pos
		case t.kind == tokenQuoted || t.kind == tokenRegexp:
			if at > t.pos && (at < t.end || err != nil) { // an error is that the last of them does not end
				return out
			}
		case t.text != "" && t.text[0] != '&' && t.text[0] != '|': // a word; "not" may become "notification"
			out.From, out.To = t.pos, t.end
		}
	}
	out.names(l, line[out.From:at], findings)
	return out
}

// names offers the terms whose names begin as typed, and the methods that hold it.
func (c *Completion) names(l *wire.Log, typed string, findings []string) {
	for _, t := range terms {
		head := termHead.FindString(t.Example)
		if strings.HasPrefix(head, strings.ToLower(typed)) {
			c.Items = append(c.Items, Candidate{head, t.Means})
		}
	}
	if len(typed) >= 2 {
		c.add(typed, "method:", termNamed("method").values(l, findings))
	}
}

// values offers values in place of that of a term's in which the cursor stands.
func (c *Completion) values(l *wire.Log, line string, at int, t token, findings []string) {
	for _, v := range t.values {
		if v.pos <= at {
			c.From, c.To = v.pos, max(v.end, at)
		}
	}
	if term := termNamed(t.name); term != nil {
		c.add(strings.TrimPrefix(line[c.From:at], `"`), "", term.values(l, findings))
	}
}

// add adds those values in which the typed text occurs, those that begin with
// it first.
func (c *Completion) add(typed, prefix string, values []Candidate) {
	typed = strings.ToLower(typed)
	for _, begins := range []bool{true, false} {
		for _, v := range values {
			low := strings.ToLower(v.Text)
			if v.Text != "" && strings.HasPrefix(low, typed) == begins && strings.Contains(low, typed) && len(c.Items) < maxCandidates {
				c.Items = append(c.Items, Candidate{prefix + Quote(v.Text), v.Means})
			}
		}
	}
}

// listed are candidates that need no words.
func listed(texts ...string) (out []Candidate) {
	for _, text := range texts {
		out = append(out, Candidate{Text: text})
	}
	return out
}

// Quote writes a text as the value of a term. A * in it still stands for any
// text.
func Quote(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-.:*") == "" && text != "" {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
