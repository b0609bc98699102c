package query

import (
	"strings"

	"elicitation-inspector/bridge/wire"
)

// Completion lists the possible texts at a place in a filter line.
type Completion struct {
	From  int         `json:"from"` // byte offset of the text that a candidate replaces
	To    int         `json:"to"`   // byte offset of its end
	Items []Candidate `json:"items"`
}

// Candidate is one possible text.
type Candidate struct {
	Text  string `json:"text"`            // replaces line[From:To]
	Means string `json:"means,omitempty"` // meaning in words; "" if the text is clear
}

const maxCandidates = 50

// Complete returns the candidates at the byte offset at: names of terms, or, after the
// name of a term, values for it, such as those in the log. findings are the rules with
// findings.
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
			for _, v := range t.values {
				if v.pos <= at {
					out.From, out.To = v.pos, max(v.end, at)
				}
			}
			if term := termNamed(t.name); term != nil {
				out.add(strings.TrimPrefix(line[out.From:at], `"`), "", term.values(l, findings))
			}
			return out
		case t.kind == tokenTerm:
			out.From, out.To = t.pos, t.values[0].pos
		case t.kind == tokenQuoted || t.kind == tokenRegexp:
			if at > t.pos && (at < t.end || err != nil) { // an error means that the last token is not terminated
				return out
			}
		case t.text != "" && t.text[0] != '&' && t.text[0] != '|': // a word or the start of one: "not" may become "notification"
			out.From, out.To = t.pos, t.end
		}
	}
	// What is typed begins the name of a term, or is a part of a method.
	typed := line[out.From:at]
	for _, t := range terms {
		if head := termHead().FindString(t.Example); strings.HasPrefix(head, strings.ToLower(typed)) {
			out.Items = append(out.Items, Candidate{head, t.Means})
		}
	}
	if len(typed) >= 2 {
		out.add(typed, "method:", termNamed("method").values(l, findings))
	}
	return out
}

// add adds the values that contain the typed text; those that begin with it come first.
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

func listed(texts ...string) (out []Candidate) {
	for _, text := range texts {
		out = append(out, Candidate{Text: text})
	}
	return out
}

// Quote returns a text as the value of a term, quoted if necessary. A * in it still
// stands for any text.
func Quote(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-.:*") == "" && text != "" {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
