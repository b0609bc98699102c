package export

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/wording"
)

// remarks holds the linter's findings in the chosen frames. The linter judges the whole
// log.
type remarks struct {
	Findings []lint.Found // findings in the chosen frames, in order
	found    map[int64][]lint.Found
	whole    bool // no findings were dropped; see findings.Most
}

// remarks lints the log.
func (x *export) remarks() (*remarks, error) {
	all, whole, err := lint.FindingsOf(x.ctx, x.Log)
	if err != nil {
		return nil, err
	}
	r := &remarks{found: make(map[int64][]lint.Found), whole: whole}
	for _, f := range all {
		if !x.has(f.Seq) {
			continue
		}
		if f.Finding, err = lint.Shared(f.Finding, f.Seq, x.Log, x.Redact); err != nil {
			return nil, err
		}
		r.Findings = append(r.Findings, f)
		r.found[f.Seq] = append(r.found[f.Seq], f)
	}
	return r, nil
}

func (r *remarks) of(q *conversation.Question) []lint.Found {
	var out []lint.Found
	for _, f := range r.found[q.AskedSeq] {
		if f.Place == q.Place {
			out = append(out, f)
		}
	}
	return out
}

// Found counts the findings of each severity in words, "" if there are none.
func (r *remarks) Found() string {
	var counts [3]int
	for _, f := range r.Findings {
		counts[f.Severity]++
	}
	var words []string
	for severity, one := range []string{"violation", "should", "advice"} {
		switch n := counts[severity]; {
		case n > 0 && one == "advice":
			words = append(words, fmt.Sprintf("%d advice", n))
		case n > 0:
			words = append(words, wording.Plural(n, one))
		}
	}
	if len(words) == 0 {
		return ""
	}
	out := wording.Plural(len(r.Findings), "finding") + ": " + strings.Join(words, ", ") + "."
	if !r.whole {
		out += fmt.Sprintf(" Only the first %d findings of the log are known.", lint.FindingsMost)
	}
	return out
}

// mark is a person's mark of a frame.
type mark struct {
	Seq    int64  `json:"-"`
	Pinned bool   `json:"pinned,omitempty"`
	Colour string `json:"colour,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Words returns the pin and the colour of the mark in one line.
func (m mark) Words() string {
	var words []string
	if m.Pinned {
		words = append(words, "pinned")
	}
	if m.Colour != "" {
		words = append(words, m.Colour)
	}
	return strings.Join(words, ", ")
}

// mark returns the mark of a frame, redacted.
func (x *export) mark(seq int64) mark {
	m := x.Log.MarkOf(seq)
	return mark{seq, m.Pinned, m.Colour, x.Redact.Text(m.Note)}
}

// Marks lists the marks of the chosen frames, in order.
func (x *export) Marks() []mark {
	seqs, _ := x.Log.Marked()
	var out []mark
	for _, seq := range seqs {
		if m := x.mark(seq); x.has(seq) && m != (mark{Seq: seq}) {
			out = append(out, m)
		}
	}
	return out
}
