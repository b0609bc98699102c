package web

import (
	"context"
	"fmt"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views"
)

// seen answers with a question as the clients of others show it, or with the drawing of one of them.
func (s *questions) seen(c echo.Context, q answerable) error {
	if q.Request == nil {
		return bad("This is no elicitation.")
	}
	client := c.QueryParam("client")
	v, err := seenIn(c.Request().Context(), q.Request, fit.Carrier(&q.InputRequest.Question), client)
	switch {
	case err != nil:
		return err
	case v.Drawn != nil:
		return html(c, views.DrawnBy(*v.Drawn))
	case client != "":
		return echo.ErrNotFound
	}
	v.ID, v.Source = formID(q.Number), c.Request().URL.Path+"?client="
	return html(c, views.SeenPanel(v))
}

// seen answers with a draft as the clients of others show it. Nothing is drawn of a text that is no question: the
// page says why, and keeps what it has.
func (s composer) seen(c echo.Context) error {
	q, err := composed(c)
	if err != nil {
		return nil
	}
	v, err := seenIn(c.Request().Context(), q.Request, carrierIn(c.FormValue("revision")), c.FormValue("client"))
	if err != nil {
		return err
	}
	return html(c, views.DraftSeen(v))
}

// seenMost bounds the questions that are held against clients, in bytes: each client and each remedy reads all of
// a question again.
const seenMost = 256 << 10

// seenIn returns how well a question fits each client, carried to it in this way, and the drawing of the chosen one,
// if there is such a client.
func seenIn(ctx context.Context, q *elicit.Request, via elicit.Via, client string) (v views.SeenIn, err error) {
	if v.Trouble = q.Trouble; len(q.Params) > seenMost {
		v.Trouble = fmt.Sprintf("The question has %s. Only questions of at most %s are held against clients.", wording.Size(int64(len(q.Params))), wording.Size(seenMost))
	}
	if v.Trouble != "" {
		return v, nil
	}
	for _, p := range fit.All() {
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		v.Seen = append(v.Seen, fit.Glance(q, p).Carried(via))
		if p.Client == client {
			v.Drawn = &views.Drawing{Seen: fit.See(q, p).Carried(via), Request: q, Now: time.Now()}
		}
	}
	return v, nil
}
