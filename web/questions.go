package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

type answerable struct {
	bridge.Question
	fields []elicit.Field
	schema json.RawMessage
}

func (s *Server) question(c echo.Context) (answerable, error) {
	n, err := number(c)
	if err != nil {
		return answerable{}, err
	}
	q, err := s.in.Question(n)
	return answerableOf(q), err
}

func answerableOf(q bridge.Question) answerable {
	a := answerable{Question: q}
	if q.Request != nil && q.Request.Mode == elicit.ModeForm {
		a.fields, a.schema = q.Request.Fields, q.Request.Schema
	}
	return a
}

func (a answerable) isForm() bool {
	return a.Request != nil && a.Request.Mode == elicit.ModeForm
}

func (a answerable) isURL() bool {
	return a.Request != nil && a.Request.Mode == elicit.ModeURL
}

func (a answerable) first() forms.Submission {
	if a.Request == nil {
		sub := forms.Untouched(nil, true)
		sub.Content = rawjson.Pretty(a.Suggestion)
		return sub
	}
	return forms.Untouched(a.fields, a.isForm() && a.Request.Trouble != "" && a.schema != nil)
}

// looked returns the final form of a question: with the accepted content, or else with
// the defaults.
func (a answerable) looked() *forms.Submission {
	sub := a.first()
	if content := a.Content(); a.Action == "accept" && content != nil {
		if inputs, err := elicit.InputsOf(a.fields, content); err == nil {
			sub = forms.Submission{Inputs: inputs}
		}
	}
	return &sub
}

// wrap returns the result that is sent if the person accepts with this content.
func (a answerable) wrap(content json.RawMessage) json.RawMessage {
	return a.accept(content).JSON()
}

func (a answerable) accept(content json.RawMessage) live.Answer {
	answer := live.Answer{Action: "accept", Actor: conversation.ByPerson}
	switch {
	case a.Request == nil:
		answer.Result = content
	case a.isForm():
		answer.Content = content
	}
	return answer
}

type typed struct {
	answerable
	sub forms.Submission
}

func (s *Server) typed(c echo.Context) (typed, error) {
	q, err := s.question(c)
	if err != nil {
		return typed{}, err
	}
	if q.State != conversation.Pending {
		return typed{}, errSettled
	}
	return typed{q, forms.Submitted(c.Request().Form, q.fields, s.draftOf(q))}, nil
}

func (s *Server) draftOf(a answerable) forms.Submission {
	if sub, ok := s.drafts.get(a.Number); ok {
		return sub
	}
	return a.first()
}

func (s *Server) draft(c echo.Context, q typed) error {
	sub := q.sub
	if old, ok := s.drafts.get(q.Number); ok {
		sub.Checked, sub.GaveUp = old.Checked, old.GaveUp
	}
	s.drafts.put(q.Number, sub)
	return s.preview(c, sub.View(formID(q.Number), q.fields, nil, q.wrap))
}

// preview answers with the JSON that a form would send, and the counts at its fields.
func (s *Server) preview(c echo.Context, form forms.Form) error {
	parts := []templ.Component{markup.Within(markup.PartMost, form.ID+"-send", forms.WillSend(form))}
	for _, f := range form.Fields {
		if f.Kind == elicit.Text || f.Kind == elicit.MultiChoice {
			parts = append(parts, forms.FieldCount(f))
		}
	}
	return drawn(c, http.StatusOK, parts...)
}

func (s *Server) past(c echo.Context, q answerable) error {
	return html(c, views.QuestionPast(s.questionView(q.Question, nil, nil)))
}

func formID(question int) string { return fmt.Sprintf("q%d", question) }

func (s *Server) card(c echo.Context, status int, q answerable, sub forms.Submission, problems []elicit.Problem) error {
	return drawn(c, status, views.QuestionCard(s.questionView(q.Question, &sub, problems)))
}

// errSettled answers a request about a question that is already settled.
var errSettled = echo.NewHTTPError(http.StatusConflict, "This question was settled elsewhere.")

func (s *Server) questionTab(c echo.Context, q typed) error {
	next, problems := q.sub.Switched(q.fields, c.FormValue("to") == "json")
	s.drafts.put(q.Number, next)
	return s.card(c, statusOf(problems), q.answerable, next, problems)
}

func statusOf(problems []elicit.Problem) int {
	if len(problems) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

func (s *Server) resetField(c echo.Context, q typed) error {
	if err := q.sub.Reset(q.fields, c.FormValue("field")); err != nil {
		return bad("%s", sentence(err))
	}
	s.drafts.put(q.Number, q.sub)
	return s.card(c, http.StatusOK, q.answerable, q.sub, nil)
}

// answer settles a question. If an accepted form has problems, it answers with the form
// and its problems, unless the person insists.
func (s *Server) answer(c echo.Context, q answerable) error {
	answer := live.Answer{Action: c.FormValue("action"), Actor: conversation.ByPerson}
	switch answer.Action {
	case "accept":
		if q.isURL() || q.State != conversation.Pending {
			break
		}
		sub := forms.Submitted(c.Request().Form, q.fields, s.draftOf(q))
		value, problems := sub.Check(q.fields, q.schema)
		if len(problems) > 0 && (c.FormValue("force") == "" || value == nil) {
			sub.Checked = value != nil
			s.drafts.put(q.Number, sub)
			return s.card(c, http.StatusUnprocessableEntity, q, sub, problems)
		}
		answer = q.accept(value)
	case "decline", "cancel":
	default:
		return bad("There is no action %q.", answer.Action)
	}
	_, err := s.in.Answer(q.Number, answer)
	if errors.Is(err, live.ErrSettled) {
		return errSettled
	}
	return done(c, err)
}

// readApp reads the resource of the app with which the server would draw a question, which
// need not be in its list. The call shows it as text.
func (s *Server) readApp(c echo.Context, q answerable) error {
	if q.Request == nil || q.Request.App() == "" {
		return bad("The question names no app.")
	}
	uri := q.Request.App()
	call, err := s.in.Begin(live.Request{Server: q.Server, Kind: conversation.Resource, Name: uri, Key: uri})
	return s.made(c, call, err)
}

func (s *Server) faults(c echo.Context, q answerable) error {
	if q.State != conversation.Pending {
		return errSettled
	}
	facts, err := s.in.FactsOf(q.Number)
	if err != nil {
		return err
	}
	groups := map[fault.Group][]fault.Fault{}
	for _, f := range fault.For(facts) {
		groups[f.Group] = append(groups[f.Group], f)
	}
	return html(c, views.Faults(q.Number, facts.Revision, groups))
}

// misbehave answers a question with a fault. If the content of the form is valid, it is
// the answer that the fault spoils.
func (s *Server) misbehave(c echo.Context, q answerable) error {
	sub := forms.Submitted(c.Request().Form, q.fields, s.draftOf(q))
	params := fault.Params{Field: c.FormValue("field"), Tool: strings.TrimSpace(c.FormValue("tool"))}
	if q.isURL() {
		params.JSON = json.RawMessage(`{}`)
	} else if value, problems := sub.Check(q.fields, q.schema); value != nil {
		if params.JSON = value; len(problems) == 0 {
			params.Answer = q.wrap(value)
		}
	} else {
		params.JSON = json.RawMessage(sub.Content)
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

const ledgerMost = 500

// ledger answers with the table of all questions of the run. A sort that begins with
// "-" is in descending order.
func (s *Server) ledger(c echo.Context) error {
	l := views.Ledger{Sort: cmp.Or(c.QueryParam("sort"), "-number"), Filter: c.QueryParam("filter")}
	key, descending := strings.CutPrefix(l.Sort, "-")
	less, known := ledgerOrders[key]
	if !known {
		return bad("The ledger cannot be sorted by %q.", key)
	}
	for _, q := range s.in.Questions() {
		if row := s.ledgerRow(q); row.Matches(l.Filter) {
			l.Rows = append(l.Rows, row)
		}
	}
	slices.SortStableFunc(l.Rows, func(a, b views.LedgerRow) int {
		if descending {
			a, b = b, a
		}
		return cmp.Or(less(a, b), cmp.Compare(a.Number, b.Number))
	})
	l.Found = len(l.Rows)
	l.Rows = l.Rows[:min(len(l.Rows), ledgerMost)]
	return html(c, views.LedgerView(l))
}

// ledgerOrders holds the comparison for each column that the ledger can be sorted by.
var ledgerOrders = map[string]func(a, b views.LedgerRow) int{
	"number": func(a, b views.LedgerRow) int { return cmp.Compare(a.Number, b.Number) },
	"server": func(a, b views.LedgerRow) int { return strings.Compare(a.Server.Label, b.Server.Label) },
	"call":   func(a, b views.LedgerRow) int { return cmp.Compare(a.Call, b.Call) },
	"asked":  func(a, b views.LedgerRow) int { return strings.Compare(a.Message, b.Message) },
	"answer": func(a, b views.LedgerRow) int { return strings.Compare(a.Answer(), b.Answer()) },
	"by":     func(a, b views.LedgerRow) int { return strings.Compare(a.By, b.By) },
	"waited": func(a, b views.LedgerRow) int { return cmp.Compare(a.Waited, b.Waited) },
	"next":   func(a, b views.LedgerRow) int { return strings.Compare(a.Next.Text, b.Next.Text) },
}

func (s *Server) ledgerRow(q bridge.Question) views.LedgerRow {
	row := views.LedgerRow{Again: s.replay == nil && q.Repeatable()}
	request := q.Request
	if q.State == conversation.Pending {
		q.Waited = s.in.Now().Sub(q.Asked)
		q.Request = nil // so that no form is made, which a row does not have
	}
	row.Question = s.questionView(q, nil, nil)
	row.Request = request
	row.Message = q.Title()
	row.Next = s.in.Next(q)
	row.ReadOnly = s.replay != nil
	return row
}

// again repeats an earlier answer. It answers with the number of the new call, if the
// answer needs one.
func (s *Server) again(c echo.Context, n int) error {
	call, err := s.in.Again(n)
	switch {
	case err != nil:
		return bad("%s", sentence(err))
	case call == 0:
		return c.NoContent(204)
	}
	anew, err := s.in.Call(call)
	return s.made(c, anew, err)
}
