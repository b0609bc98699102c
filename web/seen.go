package web

import (
	"context"
	"fmt"
	"slices"
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
	name := c.QueryParam("client")
	if name == "" {
		v := views.SeenIn{ID: formID(q.Number), Source: c.Request().URL.Path + "?client="}
		if err := fill(c.Request().Context(), &v, q.Request, ""); err != nil {
			return err
		}
		return html(c, views.SeenPanel(v))
	}
	drawing := drawnBy(q.Request, name)
	if drawing == nil {
		return echo.ErrNotFound
	}
	return html(c, views.DrawnBy(*drawing))
}

// seen answers with a draft as the clients of others show it. Nothing is drawn of a text that is no question.
func (s composer) seen(c echo.Context) error {
	q, err := composed(c)
	if err != nil {
		return nil // the page says why, and keeps what it has
	}
	v := views.SeenIn{ID: views.DraftID}
	if err := fill(c.Request().Context(), &v, q.Request, c.FormValue("client")); err != nil {
		return err
	}
	return html(c, views.DraftSeen(v))
}

// seenMost bounds the questions that are held against clients, in bytes: each client and each remedy reads all of
// a question again.
const seenMost = 256 << 10

// fill adds how well a question fits each client, and the drawing of the chosen one.
func fill(ctx context.Context, v *views.SeenIn, q *elicit.Request, chosen string) error {
	if v.Trouble = q.Trouble; len(q.Params) > seenMost {
		v.Trouble = fmt.Sprintf("The question has %s. Only questions of at most %s are held against clients.", wording.Size(int64(len(q.Params))), wording.Size(seenMost))
	}
	if v.Trouble != "" {
		return nil
	}
	for _, p := range fit.All() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		v.Seen = append(v.Seen, fit.Glance(q, p))
	}
	v.Drawn = drawnBy(q, chosen)
	return nil
}

// drawnBy returns a question as a client shows it; nil if there is no profile of this name, or fill says why there is none.
func drawnBy(q *elicit.Request, name string) *views.Drawing {
	list := fit.All()
	if q.Trouble != "" || len(q.Params) > seenMost {
		return nil
	}
	i := slices.IndexFunc(list, func(p *fit.Profile) bool { return p.Client == name })
	if i < 0 {
		return nil
	}
	return &views.Drawing{Seen: fit.See(q, list[i]), Name: views.ClientName(list[i]), Request: q, Now: time.Now()}
}
