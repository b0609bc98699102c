package export

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// The lanes of a sign-in beside those of the server and the client.
const (
	issuerLane conversation.Party = iota + 2
	browserLane
)

// DrawSignIn returns the ladder of a sign-in for a place of a width in pixels; 0 is for a
// file. The frames are those of its exchanges, in order, and at least one.
func DrawSignIn(server string, frames []*wire.Frame, width int) *Ladder {
	first := frames[0].Note
	l := &Ladder{
		ID: fmt.Sprintf("ladder-f%d", frames[0].Seq), Title: fmt.Sprintf("Sign-in %d", first.SignIn.Number),
		Lanes: []Lane{
			{browserLane, "B", "browser"},
			{issuerLane, "A", "authorization server"},
			{conversation.ClientParty, "C", "client"},
			{conversation.ServerParty, "S", paper.Line(server+" (server)", 34)},
		},
	}
	l.fit(width)
	var rows []row
	for _, f := range frames {
		rows = append(rows, rowsOfExchange(f, began(frames[0]))...)
	}
	last := frames[len(frames)-1]
	l.Text = wording.Count(len(frames), "exchange", "exchanges") + " in " + wording.Duration(last.Time.Sub(began(frames[0]))) + "."
	if last.Note.Why != "" {
		l.Text += " It ended at the step " + last.Note.SignIn.Step.String() + ": " + paper.Line(wording.Sentence(last.Note.Why), 200)
	}
	l.place(rows)
	return l
}

// began returns when an exchange began.
func began(f *wire.Frame) time.Time {
	if f.Note.At.IsZero() {
		return f.Time
	}
	return f.Note.At
}

// rowsOfExchange returns the arrows of an exchange: a request and its response, or the one
// request of the browser that is known.
func rowsOfExchange(f *wire.Frame, start time.Time) []row {
	step := f.Note.SignIn.Step
	from, to := conversation.ClientParty, issuerLane
	switch step {
	case wire.StepResource:
		to = conversation.ServerParty
	case wire.StepAuthorization:
		from = browserLane
	case wire.StepRedirect:
		from, to = browserLane, conversation.ClientParty
	}
	at := func(t time.Time) time.Duration { return max(0, t.Sub(start)) }
	arrow := func(from, to conversation.Party, kind ArrowKind, words string, t time.Time) row {
		return row{at: at(t), arrows: []Arrow{{
			Seq: f.Seq, Count: 1, From: from, To: to, Kind: kind, At: at(t), Label: paper.Line(words, labelWidth), Full: paper.Line(words, 400),
		}}}
	}
	request := arrow(from, to, ArrowRequest, step.String()+": "+f.HTTPMethod+" "+pathOf(f.URL), began(f))
	if from == browserLane {
		if f.Failed {
			request.arrows[0].Kind = ArrowError
		}
		return []row{request}
	}
	kind, words := ArrowResult, "no response"
	if f.Status != 0 {
		words = fmt.Sprintf("HTTP %d %s", f.Status, http.StatusText(f.Status))
	}
	if f.Failed || f.Status == 0 || f.Status >= 400 {
		kind, words = ArrowError, wording.Join(": ", words, f.Note.Why)
	}
	return []row{request, arrow(to, from, kind, words, f.Time)}
}

// pathOf returns the path of a URL, for a label.
func pathOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Path != "" {
		return u.Path
	}
	return address
}
