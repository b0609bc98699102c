package export

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/wire"
)

// remarks is what is said of the frames of an export beside their bytes: what
// the linter finds, judging the whole log, and what a person noted.
type remarks struct {
	export *export
	found  map[int64][]findings.Found // by frame
	all    []findings.Found           // in order
	whole  bool                       // there are not more than could be kept
}

// remarks judges the log. Of the findings those of chosen frames are kept.
func (x *export) remarks() (*remarks, error) {
	all, whole, err := findings.Of(x.ctx, x.Log)
	if err != nil {
		return nil, err
	}
	r := &remarks{export: x, found: make(map[int64][]findings.Found), whole: whole}
	for _, f := range all {
		if !x.has(f.Seq) {
			continue
		}
		if f.Finding, err = findings.Shared(f.Finding, f.Seq, x.Log, x.Redact); err != nil {
			return nil, err
		}
		r.all = append(r.all, f)
		r.found[f.Seq] = append(r.found[f.Seq], f)
	}
	return r, nil
}

// of lists the findings of a question.
func (r *remarks) of(q *conversation.Question) []findings.Found {
	var out []findings.Found
	for _, f := range r.found[q.AskedSeq] {
		if f.Place == q.Place {
			out = append(out, f)
		}
	}
	return out
}

// markedFrame is a frame that a person has marked.
type markedFrame struct {
	Seq int64
	wire.Mark
}

// Words says how it is marked, in one line.
func (n markedFrame) Words() string {
	var words []string
	if n.Pinned {
		words = append(words, "pinned")
	}
	if n.Colour != "" {
		words = append(words, n.Colour)
	}
	return strings.Join(words, ", ")
}

// notes lists the chosen frames that are marked, in order.
func (r *remarks) notes() []markedFrame {
	seqs, _ := r.export.Log.Marked()
	var out []markedFrame
	for _, seq := range seqs {
		if mark := r.markOf(seq); r.export.has(seq) && mark != (wire.Mark{}) {
			out = append(out, markedFrame{seq, mark})
		}
	}
	return out
}

// markOf is how a frame is marked.
func (r *remarks) markOf(seq int64) wire.Mark {
	mark := r.export.Log.MarkOf(seq)
	mark.Note = r.export.Redact.Text(mark.Note)
	return mark
}

// counts says how many findings there are of each severity, "" if there are none.
func (r *remarks) counts() string {
	var counts [3]int
	for _, f := range r.all {
		counts[f.Severity]++
	}
	var words []string
	for severity, one := range []string{"violation", "should", "advice"} {
		switch n := counts[severity]; {
		case n > 0 && one == "advice":
			words = append(words, fmt.Sprintf("%d advice", n))
		case n > 0:
			words = append(words, counted(n, one))
		}
	}
	if len(words) == 0 {
		return ""
	}
	out := counted(len(r.all), "finding") + ": " + strings.Join(words, ", ") + "."
	if !r.whole {
		out += fmt.Sprintf(" Only the first %d findings of the log are known.", findings.Most)
	}
	return out
}

// members are what is said of a frame beside the fields of a transcript, as
// members of an object; nil if nothing is.
func (r *remarks) members(seq int64, anyway []sentAnyway) ([]byte, error) {
	type mark struct {
		Pinned bool   `json:"pinned,omitempty"`
		Colour string `json:"colour,omitempty"`
		Note   string `json:"note,omitempty"`
	}
	var said struct {
		Findings []lint.Finding `json:"findings,omitempty"`
		Anyway   []sentAnyway   `json:"sent_anyway,omitempty"`
		Mark     *mark          `json:"mark,omitempty"`
	}
	said.Anyway = anyway
	for _, f := range r.found[seq] {
		said.Findings = append(said.Findings, f.Finding)
	}
	if m := r.markOf(seq); m != (wire.Mark{}) {
		said.Mark = &mark{m.Pinned, m.Colour, m.Note}
	}
	object, err := encode(said)
	if err != nil {
		return nil, fmt.Errorf("writing what is said of frame %d: %w", seq, err)
	}
	return object[1 : len(object)-1], nil
}
