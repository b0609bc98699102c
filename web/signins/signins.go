// Package signins serves the sign-ins of the page: the cards, and the handlers of their
// buttons.
package signins

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
	"elicitation-inspector/views/signincard"
)

// Card returns the card of the latest attempt to sign in to a server; false if there was none.
func Card(in *bridge.Inspection, server views.Server) (signincard.Card, bool) {
	flow, err := in.SignIn(server.ID)
	if err != nil || flow == nil {
		return signincard.Card{}, false
	}
	a, ok := flow.Attempt()
	if !ok {
		return signincard.Card{}, false
	}
	c := signincard.Card{
		Server: server, Number: a.Number, State: signincard.State(a.State.String()), Over: a.State.Over(),
		Refreshes: a.Grant == signin.GrantRefresh, Facts: factsOf(a), Stepwise: flow.Stepwise(), Why: a.Why, Began: a.Began,
	}
	if a.State == signin.Failed {
		c.FailedAt = a.FailedAt.String()
	}
	if c.Over {
		c.Took = a.Ended.Sub(a.Began)
	}
	if a.Endpoint != "" {
		address := link.Judge(a.Endpoint)
		c.Address = &address
	}
	for _, t := range a.Steps {
		c.Steps = append(c.Steps, stepOf(t))
	}
	if a.Held != nil {
		c.Held = requestOf(*a.Held)
		c.Held.Key = heldKey(a)
	}
	return c, true
}

// factsOf lists the properties of an attempt that are known so far.
func factsOf(a signin.Attempt) (out []signincard.Fact) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, signincard.Fact{Name: name, Value: value})
		}
	}
	refused := ""
	if a.Refused != 0 {
		refused = fmt.Sprintf("HTTP %d %s", a.Refused, http.StatusText(a.Refused))
	}
	add("Authorization server", a.Issuer)
	add("Scopes", strings.Join(a.Scopes, " "))
	add("Resource", a.Resource)
	add("Redirect", a.RedirectURI)
	add("Client", wording.Join(", by ", a.ClientID, string(a.Registration)))
	add("Asked by", wording.Join(" · ", refused, a.Challenge))
	return out
}

func stepOf(t signin.StepTaken) signincard.Step {
	s := signincard.Step{Name: wording.Capital(t.Step.String()), Method: methodOf(t.Step), URL: t.URL, Took: t.Took, Why: t.Why}
	switch {
	case t.Reused:
		s.Outcome = "known from before"
	case t.Step == wire.StepAuthorization:
		s.Outcome = "opened"
	case t.Step == wire.StepRedirect:
		s.Outcome = "came back"
	case t.Status != 0:
		s.Outcome = fmt.Sprintf("HTTP %d", t.Status)
	default:
		s.Outcome = "no response"
	}
	return s
}

// heldKey returns a key of the held request that no other request of the run has.
func heldKey(a signin.Attempt) string { return fmt.Sprintf("%d-%d", a.Number, len(a.Steps)) }

// methodOf returns the HTTP method of the requests of a step.
func methodOf(s wire.Step) string {
	switch s {
	case wire.StepRegistration, wire.StepToken, wire.StepRefresh:
		return http.MethodPost
	}
	return http.MethodGet
}

func requestOf(r signin.Request) *signincard.Request {
	out := &signincard.Request{Step: r.Step.String(), Method: r.Method, URL: r.URL, Fixed: r.Step == wire.StepRedirect, Body: r.Body}
	for _, f := range r.Fields {
		out.Fields = append(out.Fields, signincard.Fact(f))
	}
	for _, c := range changesOf(r) {
		out.Changes = append(out.Changes, signincard.Change{ID: c.id, Name: c.name})
	}
	return out
}

// Token returns the view of a server's token; false if the inspector does not sign in to the
// server.
func Token(in *bridge.Inspection, server string) (signincard.Token, bool) {
	flow, err := in.SignIn(server)
	if err != nil || flow == nil {
		return signincard.Token{}, false
	}
	s := flow.Status()
	t := signincard.Token{
		Server: server, SignedIn: s.SignedIn, Expires: s.Expires, Refreshes: s.Refreshable, Scopes: s.Scopes,
		Stepwise: flow.Stepwise(), Busy: flow.Busy(),
	}
	if s.Expired {
		t.Expires = time.Time{}
	}
	return t, true
}

// Frames returns the frames of an attempt's exchanges, in order.
func Frames(ctx context.Context, log *wire.Log, server string, number int) (out []*wire.Frame, err error) {
	filter, err := query.Parse("kind:note server:" + query.Quote(server))
	if err != nil {
		return nil, err
	}
	view := query.NewView(log, filter, nil)
	if err := view.Update(ctx); err != nil {
		return nil, err
	}
	for _, seq := range view.Seqs(0, int(view.Len())) {
		f, err := log.Frame(seq)
		if err != nil {
			return nil, err
		}
		if f.Note != nil && f.Note.SignIn != nil && f.Note.SignIn.Number == number {
			out = append(out, &f)
		}
	}
	return out, nil
}
