package inspection_test

import (
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// checkEnds checks that the log alone tells how each question ended. It runs at the end
// of every test of a live inspection.
func (b *bench) checkEnds() {
	b.Helper()
	frames, err := logtest.Frames(b.log)
	if err != nil {
		b.Fatal(err)
	}
	type end struct {
		state, by, why string
	}
	ends := map[int]end{} // by question number, from the log
	for _, f := range frames {
		switch {
		case f.Question == 0:
		case f.MakesTask, mcp.IsTask(f.Method) && f.Method != mcp.MethodTaskResult: // of a task, and not its answer
		case f.Method == mcp.MethodTaskResult && f.Kind == wire.Error && ends[f.Question].state != "": // the note before it says how it ended
		case f.Note != nil && f.Note.Kind == wire.NoteSettled:
			ends[f.Question] = end{f.Note.State, f.Actor, f.Note.Why}
		case f.Note != nil && (f.Note.Kind == wire.NoteAnswered || f.Note.Kind == wire.NoteMisbehaved),
			f.Dir == wire.ClientToServer && f.Kind.IsResponse():
			ends[f.Question] = end{"answered", f.Actor, ""}
		case f.Method == "notifications/cancelled" && ends[f.Question].by != string(conversation.ByPerson):
			delete(ends, f.Question) // the server cancelled; its words are in the reason
		}
	}
	for _, q := range b.in.Questions() {
		got, told := ends[q.Number]
		switch {
		case q.State == conversation.Pending, !told && q.State == conversation.Withdrawn && q.By == conversation.ByServer:
		case !told && q.State == conversation.Withdrawn && strings.HasSuffix(q.Reason, " was stopped"): // it came when its call had been stopped, and the connection ended before it was answered: the log has both ends
		case !told && q.State == conversation.Answered && q.Round != 0 && (q.AnswerSeq != 0 || q.Reason != ""): // the answer is in the next request of the call
		case got.state != q.State.String(), got.by != string(q.By), got.why != q.Reason && got.why != "":
			b.Errorf("question %d is %s by %s: %q; the log says %+v", q.Number, q.State, q.By, q.Reason, got)
		}
	}
}
