package signins

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/wording"
)

// Route registers the handlers of the card's and the token's buttons.
func Route(e *echo.Echo, in *bridge.Inspection) {
	on := func(do func(c echo.Context, flow *signin.Flow) error) echo.HandlerFunc {
		return func(c echo.Context) error {
			flow, err := in.SignIn(c.Param("id"))
			switch {
			case err != nil:
				return err
			case flow == nil:
				return echo.ErrNotFound
			}
			return do(c, flow)
		}
	}
	post := func(what string, do func(c echo.Context, flow *signin.Flow) error) {
		e.POST("/servers/:id/signin/"+what, on(func(c echo.Context, flow *signin.Flow) error {
			if err := do(c, flow); err != nil {
				return echo.NewHTTPError(http.StatusConflict, wording.Sentence(err.Error()))
			}
			return c.NoContent(http.StatusNoContent)
		}))
	}
	e.GET("/servers/:id/signin/open", on(open)) // redirects to the authorization server
	post("decline", func(_ echo.Context, flow *signin.Flow) error { return flow.Decline() })
	post("cancel", func(_ echo.Context, flow *signin.Flow) error { return flow.Cancel() })
	post("stepwise", func(c echo.Context, flow *signin.Flow) error { // hold before each step; stepwise
		flow.SetStepwise(c.FormValue("stepwise") != "")
		return nil
	})
	e.POST("/servers/:id/signin/decide", on(decide)) // about the request that is held: action, url, name, value, omit, body
	post("expire", func(_ echo.Context, flow *signin.Flow) error { return flow.Expire() })
	post("refresh", func(_ echo.Context, flow *signin.Flow) error { return in.RefreshToken(flow) })
	post("out", func(c echo.Context, flow *signin.Flow) error { return flow.SignOut(c.Request().Context(), false) })
	post("another", func(c echo.Context, flow *signin.Flow) error {
		if err := flow.SignOut(c.Request().Context(), true); err != nil {
			return err
		}
		return in.Reconnect(c.Param("id"))
	})
}

// open redirects the browser to the authorization server. No page has that address, because
// it is secret.
func open(c echo.Context, flow *signin.Flow) error {
	address, ok := flow.Open()
	if !ok {
		return echo.NewHTTPError(http.StatusConflict, wording.Sentence(signin.ErrNotWaiting.Error()))
	}
	return c.Redirect(http.StatusFound, address)
}

// decide passes the person's decision about the held request to the flow.
func decide(c echo.Context, flow *signin.Flow) error {
	a, _ := flow.Attempt()
	if a.Held == nil || c.FormValue("at") != heldKey(a) {
		return echo.NewHTTPError(http.StatusConflict, wording.Sentence(signin.ErrNotHeld.Error()))
	}
	d, ok := decision(c.Request(), *a.Held)
	if !ok {
		return echo.NewHTTPError(http.StatusBadRequest, "That is no decision about a request.")
	}
	if err := flow.Decide(d); err != nil {
		return echo.NewHTTPError(http.StatusConflict, wording.Sentence(err.Error()))
	}
	return c.NoContent(http.StatusNoContent)
}

// lines returns the text of a form with LF in place of CRLF.
func lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
