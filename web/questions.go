package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

// answerable is a question with the fields and the schema of its form.
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

// isForm reports whether the question is an elicitation in form mode.
func (a answerable) isForm() bool {
	return a.Request != nil && a.Request.Mode == elicit.ModeForm
}

// isURL reports whether the question is an elicitation in URL mode.
func (a answerable) isURL() bool {
	return a.Request != nil && a.Request.Mode == elicit.ModeURL
}

// first returns the initial form of a question.
func (a answerable) first() submission {
	if a.Request == nil {
		sub := untouched(nil, true)
		sub.content = rawjson.Pretty(a.Suggestion)
		return sub
	}
	return untouched(a.fields, a.isForm() && a.Request.Trouble != "" && a.schema != nil)
}

// looked returns the final form of a question: with the accepted content, or else with
// the defaults.
func (a answerable) looked() *submission {
	sub := a.first()
	if content := a.Content(); a.Action == "accept" && content != nil {
		if inputs, err := elicit.InputsOf(a.fields, content); err == nil {
			sub = submission{inputs: inputs}
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

// typed is a pending question with the state of its form.
type typed struct {
	answerable
	sub submission
}

func (s *Server) typed(c echo.Context) (typed, error) {
	q, err := s.question(c)
	if err != nil {
		return typed{}, err
	}
	if q.State != conversation.Pending {
		return typed{}, errSettled
	}
	return typed{q, submitted(c, q.fields, s.draftOf(q))}, nil
}

// draftOf returns the draft of the question's form, or its initial state.
func (s *Server) draftOf(a answerable) submission {
	if sub, ok := s.drafts.get(a.Number); ok {
		return sub
	}
	return a.first()
}

func (s *Server) draft(c echo.Context, q typed) error {
	sub := q.sub
	if old, ok := s.drafts.get(q.Number); ok {
		sub.checked, sub.gaveUp = old.checked, old.gaveUp
	}
	s.drafts.put(q.Number, sub)
	return s.preview(c, sub.view(formID(q.Number), q.fields, nil, q.wrap))
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

// past answers with all details of a settled question.
func (s *Server) past(c echo.Context, q answerable) error {
	return html(c, views.QuestionPast(s.questionView(q.Question, nil, nil)))
}

func formID(question int) string { return fmt.Sprintf("q%d", question) }

// card answers with the newly drawn question.
func (s *Server) card(c echo.Context, status int, q answerable, sub submission, problems []elicit.Problem) error {
	return drawn(c, status, views.QuestionCard(s.questionView(q.Question, &sub, problems)))
}

// errSettled answers a request about a question that is already settled.
var errSettled = echo.NewHTTPError(http.StatusConflict, "This question was settled elsewhere.")

func (s *Server) questionTab(c echo.Context, q typed) error {
	next, problems := q.sub.switched(q.fields, c.FormValue("to") == "json")
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
	if err := q.sub.reset(q.fields, c.FormValue("field")); err != nil {
		return err
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
		sub := submitted(c, q.fields, s.draftOf(q))
		value, problems := sub.check(q.fields, q.schema)
		if len(problems) > 0 && (c.FormValue("force") == "" || value == nil) {
			sub.checked = value != nil
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

func (s *Server) complete(n int) error {
	_, err := s.in.MarkCompleted(n)
	return err
}
