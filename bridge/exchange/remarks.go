package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// remarks is what is said of the frames of an export beside their bytes: what
// the linter finds, judging the whole log, and what a person noted.
type remarks struct {
	log    *wire.Log
	redact *wire.Redaction
	chosen *choice
	found  map[int64][]findings.Found
	all    []findings.Found // in order
	whole  bool             // there are not more than could be kept
}

// remarks judges the log. Of the findings those of chosen frames are kept.
func (x Export) remarks(ctx context.Context, c *choice) (*remarks, error) {
	all, whole, err := findings.Of(ctx, x.Log)
	if err != nil {
		return nil, err
	}
	r := &remarks{log: x.Log, redact: x.Redact, chosen: c, found: make(map[int64][]findings.Found), whole: whole}
	for _, f := range all {
		if !c.has(f.Seq) {
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

// of lists the findings of the i-th question of an exchange.
func (r *remarks) of(e *Exchange, i int) []findings.Found {
	q, place := &e.Questions[i], 0
	for _, other := range e.Questions[:i+1] {
		if other.AskedSeq == q.AskedSeq {
			place++
		}
	}
	var out []findings.Found
	for _, f := range r.found[q.AskedSeq] {
		if f.Place == place {
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

// Words says what was noted, in one line.
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
	seqs, _ := r.log.Marked()
	var out []markedFrame
	for _, seq := range seqs {
		if mark := r.markOf(seq); r.chosen.has(seq) && mark != (wire.Mark{}) {
			out = append(out, markedFrame{seq, mark})
		}
	}
	return out
}

// markOf is how a frame is marked.
func (r *remarks) markOf(seq int64) wire.Mark {
	mark := r.log.MarkOf(seq)
	mark.Note = r.redact.Text(mark.Note)
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

// leftOut reports whether values were left out of a part of a message, so that
// it cannot be judged.
func leftOut(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(wire.RedactedValue)) }

// Anyway lists why an accepted answer does not satisfy the schema that it was
// asked for with: whoever gave it sent it anyway. It is nil for an answer that
// does, and for one that cannot be judged.
func (q *Question) Anyway() []elicit.Problem {
	if q.Method != methodElicit || q.Action != "accept" || q.Answer == nil || q.Params == nil || leftOut(q.Params) || leftOut(q.Answer) {
		return nil
	}
	request, err := elicit.Parse(q.Params)
	if err != nil || request.Mode != elicit.ModeForm || request.Schema == nil {
		return nil
	}
	content := member(q.Answer, "content")
	if content == nil {
		return []elicit.Problem{{Field: -1, Text: "It has no content."}}
	}
	problems, err := elicit.Check(request.Schema, content)
	if err != nil {
		return nil // no answer satisfies a schema that is none
	}
	for i, p := range problems {
		if p.Field >= 0 && p.Field < len(request.Fields) {
			problems[i].Text = request.Fields[p.Field].Label + ": " + p.Text
		}
	}
	return problems
}

// said is what JSON has of a frame beside the fields of a transcript.
type said struct {
	Findings []lint.Finding `json:"findings,omitempty"`
	Anyway   []sentAnyway   `json:"sent_anyway,omitempty"`
	Mark     *saidMark      `json:"mark,omitempty"`
}

// sentAnyway is one thing that is wrong with an answer. Its pointer leads into
// the message.
type sentAnyway struct {
	Pointer string `json:"pointer"`
	Text    string `json:"text"`
}

type saidMark struct {
	Pinned bool   `json:"pinned,omitempty"`
	Colour string `json:"colour,omitempty"`
	Note   string `json:"note,omitempty"`
}

// anyway lists, by frame, what is wrong with the answers that were sent anyway.
func (x Export) anyway(ctx context.Context, c choice) (map[int64][]sentAnyway, error) {
	index, exchanges, err := x.exchanges(ctx, c)
	if err != nil {
		return nil, err
	}
	if !index.asks() {
		return nil, nil
	}
	out := make(map[int64][]sentAnyway)
	for e, err := range exchanges {
		if err != nil {
			return nil, err
		}
		for i := range e.Questions {
			q := &e.Questions[i]
			base := "/result/content"
			if q.Via == elicit.InRound {
				base = rawjson.PointerTo("/params/inputResponses", q.Key) + "/content"
			}
			for _, p := range q.Anyway() {
				out[q.AnswerSeq] = append(out[q.AnswerSeq], sentAnyway{base + p.Pointer, p.Text})
			}
		}
	}
	return out, nil
}

// asks reports whether any exchange has a question.
func (x *Index) asks() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.list, func(r record) bool { return r.questions > 0 })
}

// members are what is said of a frame as members of an object, nil if nothing is.
func (r *remarks) members(seq int64, anyway []sentAnyway) ([]byte, error) {
	s := said{Anyway: anyway}
	for _, f := range r.found[seq] {
		s.Findings = append(s.Findings, f.Finding)
	}
	if mark := r.markOf(seq); mark != (wire.Mark{}) {
		s.Mark = &saidMark{mark.Pinned, mark.Colour, mark.Note}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("writing what is said of frame %d: %w", seq, err)
	}
	object := bytes.TrimSpace(b.Bytes())
	return object[1 : len(object)-1], nil
}
