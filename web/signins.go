package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
	"elicitation-inspector/views/wirelog"
)

// signInCard returns the card of the latest attempt to sign in to a server; false if there was none.
func signInCard(in *inspection.Inspection, server views.Server) (views.SignIn, bool) {
	flow, err := in.SignIn(server.ID)
	if err != nil || flow == nil {
		return views.SignIn{}, false
	}
	a, ok := flow.Attempt()
	if !ok {
		return views.SignIn{}, false
	}
	c := views.SignIn{
		Server: server, Number: a.Number, State: views.SignInState(a.State.String()), Over: a.State.Over(),
		Refreshes: a.Grant == signin.GrantRefresh, Facts: factsOf(a), Why: a.Why, Began: a.Began,
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
	return c, true
}

func factsOf(a signin.Attempt) (out []wirelog.Fact) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, wirelog.Fact{Name: name, Value: value})
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

func stepOf(t signin.StepTaken) views.SignInStep {
	s := views.SignInStep{Name: wording.Capital(t.Step.String()), Method: t.Step.Method(), URL: t.URL, Took: t.Took, Why: t.Why}
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

// rowOf returns the data of a server's row, with its token if the inspector signs in to it.
func rowOf(in *inspection.Inspection, server inspection.Server) views.Server {
	v := serverView(server)
	flow, err := in.SignIn(v.ID)
	if err != nil || flow == nil {
		return v
	}
	s := flow.Status()
	token := views.Token{
		Server: v.ID, SignedIn: s.SignedIn, Expires: s.Expires, Refreshes: s.Refreshable, Scopes: s.Scopes, Busy: flow.Busy(),
	}
	if s.Expired {
		token.Expires = time.Time{}
	}
	v.SignIn = views.TokenView(token)
	return v
}

func (s *servers) routeSignIns(e *echo.Echo) {
	find := func(c echo.Context) (*signin.Flow, error) {
		flow, err := s.in.SignIn(c.Param("id"))
		if err == nil && flow == nil {
			err = echo.ErrNotFound
		}
		return flow, err
	}
	post := func(what string, do func(c echo.Context, flow *signin.Flow) error) {
		e.POST("/servers/:id/signin/"+what, of(find, func(c echo.Context, flow *signin.Flow) error {
			return refused(http.StatusConflict, do(c, flow))
		}))
	}
	e.POST("/servers/:id/signin/open", of(find, openSignIn)) // leads to the authorization server
	post("decline", func(_ echo.Context, flow *signin.Flow) error { return flow.Decline() })
	post("cancel", func(_ echo.Context, flow *signin.Flow) error { return flow.Cancel() })
	post("expire", func(_ echo.Context, flow *signin.Flow) error { return flow.Expire() })
	post("refresh", func(_ echo.Context, flow *signin.Flow) error { return s.in.RefreshToken(flow) })
	post("out", func(_ echo.Context, flow *signin.Flow) error { return flow.SignOut(false) })
	post("another", func(c echo.Context, flow *signin.Flow) error {
		if err := flow.SignOut(true); err != nil {
			return err
		}
		return s.in.Reconnect(c.Param("id"))
	})
}

// openSignIn leads the browser to the authorization server. No page has that address, because it
// is secret. It is not a redirect: our policy for forms would forbid it.
func openSignIn(c echo.Context, flow *signin.Flow) error {
	address, ok := flow.Open()
	if !ok {
		return refused(http.StatusConflict, signin.ErrNotWaiting)
	}
	c.Response().Header().Set("Refresh", "0; url="+address)
	return c.String(http.StatusOK, "Going to the authorization server.")
}
