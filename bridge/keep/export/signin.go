package export

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// Lanes that only sign-ins have.
const (
	issuerLane conversation.Party = iota + 2
	browserLane
)

// DrawSignIn returns the ladder of a sign-in, for an element of this width in pixels, or
// for a file if width is 0. frames has the sign-in's exchanges in order, at least one.
func DrawSignIn(server string, frames []*wire.Frame, width int) *Ladder {
	first := frames[0].Note
	l := &Ladder{
		ID: fmt.Sprintf("ladder-f%d", frames[0].Seq), Title: fmt.Sprintf("Sign-in %d", first.SignIn.Number),
		Lanes: []Lane{
			{browserLane, "B", "browser"},
			{issuerLane, "A", "authorization server"},
			{conversation.ClientParty, "C", "client"},
			{conversation.ServerParty, "S", Line(server+" (server)", 34)},
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
		l.Text += " It ended at the step " + last.Note.SignIn.Step.String() + ": " + Line(wording.Sentence(last.Note.Why), 200)
	}
	l.place(rows)
	return l
}

type signIn struct {
	Server   string
	From, To int64 // its first and its last frame
	Failed   bool
	Ladder   *Ladder
}

func (x *export) readSignIns() error {
	type key struct {
		server, session string
		number          int
	}
	var order []key
	frames := map[key][]*wire.Frame{}
	for seq := range x.Chosen() {
		if x.Log.Head(seq).Kind != wire.NoteFrame {
			continue
		}
		f, err := x.frame(seq)
		if err != nil {
			return err
		}
		if f.Note == nil || f.Note.SignIn == nil {
			continue
		}
		k := key{f.Server, f.Session, f.Note.SignIn.Number}
		if frames[k] == nil {
			order = append(order, k)
		}
		frames[k] = append(frames[k], &f)
	}
	x.signedIn = map[int64]string{}
	for _, k := range order[:min(len(order), drawnMost)] {
		list := frames[k]
		last := list[len(list)-1]
		for _, f := range list {
			x.signedIn[f.Seq] = fmt.Sprintf("s%d", list[0].Seq)
		}
		server := x.nameOf(k.server)
		x.signIns = append(x.signIns, &signIn{server, list[0].Seq, last.Seq, last.Failed, DrawSignIn(server, list, 0)})
	}
	return nil
}

// SignInsBefore takes the sign-ins that began before a frame, and were not taken yet.
func (x *export) SignInsBefore(seq int64) []*signIn {
	all := x.signIns
	for len(x.signIns) > 0 && x.signIns[0].From <= seq {
		x.signIns = x.signIns[1:]
	}
	return all[:len(all)-len(x.signIns)]
}

// SignInsLeft takes all other sign-ins.
func (x *export) SignInsLeft() []*signIn { return x.SignInsBefore(math.MaxInt64) }

func began(f *wire.Frame) time.Time {
	if f.Note.At.IsZero() {
		return f.Time
	}
	return f.Note.At
}

// rowsOfExchange returns the arrows of an exchange: a request and its response, or for the
// browser the only request in the log.
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
			Seq: f.Seq, Count: 1, From: from, To: to, Kind: kind, At: at(t), Label: Line(words, labelWidth), Full: Line(words, 400),
		}}}
	}
	path := f.URL
	if u, err := url.Parse(path); err == nil && u.Path != "" {
		path = u.Path
	}
	request := arrow(from, to, ArrowRequest, step.String()+": "+f.HTTPMethod+" "+path, began(f))
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
