package export

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// said holds the members that the JSON export adds to a transcript's line.
type said struct {
	Findings []lint.Finding `json:"findings,omitempty"`
	Anyway   []sentAnyway   `json:"sent_anyway,omitempty"`
	Mark     *mark          `json:"mark,omitempty"`
}

// sentAnyway is one problem of an answer that was sent despite it. Pointer is a JSON
// pointer into the message.
type sentAnyway struct {
	Pointer string `json:"pointer"`
	Text    string `json:"text"`
}

// json writes the frames as a JSON array, one per line. Each is the object of a
// transcript's line with the members of said added.
func (x *export) json(w io.Writer) error {
	remarks, err := x.remarks()
	if err != nil {
		return err
	}
	anyway, err := x.anyway()
	if err != nil {
		return err
	}
	before := "[\n"
	err = wire.EachLine(x.Log, x.seqs(), x.Redact, func(seq int64, line []byte) error {
		more := said{Anyway: anyway[seq]}
		for _, f := range remarks.found[seq] {
			more.Findings = append(more.Findings, f.Finding)
		}
		if m := x.mark(seq); m != (mark{Seq: seq}) {
			more.Mark = &m
		}
		members, err := rawjson.Encode(more)
		if err != nil {
			return fmt.Errorf("writing what is said of frame %d: %w", seq, err)
		}
		object := bytes.TrimRight(line, " \t\r")
		if string(members) != "{}" {
			object = slices.Concat(object[:len(object)-1], []byte(","), members[1:])
		}
		_, err = fmt.Fprintf(wording.EscapingWriter{To: w}, "%s%s", before, wording.EscapeJSON(object))
		before = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if x.chosen == 0 {
		end = "[]\n"
	}
	_, err = io.WriteString(w, end)
	return err
}

// anyway returns the problems of answers that were sent despite them, by the frame of
// the answer.
func (x *export) anyway() (map[int64][]sentAnyway, error) {
	if err := x.follow(); err != nil {
		return nil, err
	}
	out := make(map[int64][]sentAnyway)
	if _, questions := x.conversation.Counts(); questions == 0 {
		return out, nil
	}
	for _, place := range x.Places {
		call, err := x.call(place)
		if err != nil {
			return nil, err
		}
		for _, q := range call.Questions {
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
