package bridge

import "elicitation-inspector/bridge/wire"

// noting holds the notes that wait to be appended to the log, in order. It is
// guarded by Inspection.mu, which is not held while the log is written to.
type noting struct {
	list   []wire.Frame
	active bool // append runs
}

// note appends a frame to the log soon. The caller holds in.mu.
func (in *Inspection) note(f wire.Frame) {
	in.noting.list = append(in.noting.list, f)
	if !in.noting.active {
		in.noting.active = true
		in.running.Go(in.appendNotes)
	}
}

func (in *Inspection) appendNotes() {
	for {
		in.mu.Lock()
		list := in.noting.list
		in.noting.list, in.noting.active = nil, len(list) > 0
		in.mu.Unlock()
		if len(list) == 0 {
			return
		}
		for _, f := range list {
			in.log.Append(f)
		}
	}
}

// noteEnd has the log say how a question ended, unless a message does: the
// response to it, or its cancellation by the server. The caller holds in.mu.
func (in *Inspection) noteEnd(q *question) {
	if q.told || q.state == Pending {
		return
	}
	q.told = true
	f := q.session.frame(wire.Meta)
	f.Question, f.Actor, f.Note = q.number, string(q.by), q.endNote()
	if q.state == Answered {
		f.Note = q.answerNote()
	}
	if q.call != nil {
		f.Call, f.Round = q.call.number, q.round
	}
	in.note(f)
}

// endNote says where a question stands in the end. The caller holds in.mu.
func (q *question) endNote() *wire.Note {
	return &wire.Note{Kind: wire.NoteSettled, State: q.state.String(), Why: q.reason, Pointer: q.pointer, At: q.ended}
}

// answerNote says how a question was answered whose answer does not travel, or
// not yet. The caller holds in.mu.
func (q *question) answerNote() *wire.Note {
	return &wire.Note{Kind: wire.NoteAnswered, Answer: q.answer.JSON(), Pointer: q.pointer, Completion: q.completion.word(), At: q.ended}
}
