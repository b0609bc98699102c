package web

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/views"
)

// faults answers with the faults that apply to a question.
func (s *Server) faults(c echo.Context, q answerable) error {
	if q.State != conversation.Pending {
		return errSettled
	}
	facts, err := s.in.FactsOf(q.Number)
	if err != nil {
		return err
	}
	var groups []views.FaultGroup
	list := fault.For(facts)
	for _, g := range fault.Groups() {
		own := slices.DeleteFunc(slices.Clone(list), func(f fault.Fault) bool { return f.Group != g })
		if len(own) > 0 {
			groups = append(groups, views.FaultGroup{Group: g, List: own})
		}
	}
	return html(c, views.Faults(q.Number, facts.Revision, groups))
}

// misbehave answers a question with a fault. If the content of the form is valid, it is
// the answer that the fault spoils.
func (s *Server) misbehave(c echo.Context, q answerable) error {
	sub := submitted(c, q.fields, s.draftOf(q))
	params := fault.Params{Field: c.FormValue("field"), Tool: strings.TrimSpace(c.FormValue("tool"))}
	if q.isURL() {
		params.JSON = json.RawMessage(`{}`)
	} else if value, problems := sub.check(q.fields, q.schema); value != nil {
		if params.JSON = value; len(problems) == 0 {
			params.Answer = q.wrap(value)
		}
	} else {
		params.JSON = json.RawMessage(sub.content)
	}
	if err := given(c, &params); err != nil {
		return err
	}
	switch _, err := s.in.Misbehave(q.Number, c.FormValue("fault"), params); {
	case errors.Is(err, live.ErrSettled):
		return errSettled
	case err != nil:
		return bad("%s", sentence(err))
	}
	return c.NoContent(204)
}

// given reads the parameters of a fault from the form.
func given(c echo.Context, params *fault.Params) error {
	if text := strings.TrimSpace(c.FormValue("seconds")); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return bad("Seconds must be a number, not %q.", text)
		}
		params.Seconds = &n
	}
	if text := strings.TrimSpace(c.FormValue("code")); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return bad("The code must be a whole number, not %q.", text)
		}
		params.Code = &n
	}
	if text := c.FormValue("message"); text != "" {
		params.Message = &text
	}
	if text := strings.TrimSpace(c.FormValue("data")); text != "" {
		params.Data = json.RawMessage(text)
	}
	return nil
}
