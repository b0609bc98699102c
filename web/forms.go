package web

import (
	"cmp"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

// callForm is the state of a call's form: the item that is called and the arguments for
// it.
type callForm struct {
	server  views.Server
	item    views.Item
	fields  []elicit.Field
	trouble string           // why no fields can be drawn from the schema; then the form has only the JSON tab
	sub     forms.Submission // the state of the form now
	before  forms.Submission // the state of the form as the server drew it first
	call    int              // the number of the call that the arguments come from; 0 if none
}

// callFormOf returns the form of an item, filled with the given arguments, or with the
// schema's defaults if arguments is nil.
func callFormOf(server views.Server, item conversation.Item, arguments json.RawMessage) callForm {
	f := callForm{server: server, item: itemView(server, item)}
	if item.Schema != nil {
		fields, err := elicit.FieldsOf(item.Schema)
		if err == nil {
			f.fields = fields
		} else {
			f.trouble = sentence(err)
		}
	}
	inputs, err := elicit.InputsOf(f.fields, arguments)
	switch {
	case arguments == nil:
		f.sub = forms.Untouched(f.fields, f.trouble != "")
	case err != nil || f.trouble != "":
		f.sub = forms.Submission{JSON: true, Content: rawjson.Pretty(arguments), Inputs: elicit.Defaults(f.fields)}
	default:
		f.sub = forms.Submission{Inputs: inputs}
	}
	f.before = f.sub
	return f
}

// itemForm finds the untouched form of the item that the values server, kind and key of
// the request name.
func itemForm(in *inspection.Inspection) func(echo.Context) (callForm, error) {
	return func(c echo.Context) (callForm, error) {
		server := c.FormValue("server")
		item, err := itemIn(in, server, c.FormValue("kind"), c.FormValue("key"))
		if err != nil {
			return callForm{}, err
		}
		return callFormOf(serverOf(in, server), item, nil), nil
	}
}

// postedForm finds a call's form as the page posts it.
func postedForm(in *inspection.Inspection) func(echo.Context) (callForm, error) {
	return func(c echo.Context) (callForm, error) {
		f, err := itemForm(in)(c)
		if err != nil {
			return f, err
		}
		if n, err := strconv.Atoi(c.FormValue("of")); err == nil {
			if call, err := in.Call(n); err == nil {
				f = callFormOf(f.server, f.item.Item, call.Request.Arguments)
				f.call = n
			}
		}
		f.sub = forms.Submitted(posted(c), f.fields, f.before)
		f.sub.Checked = c.FormValue("checked") != ""
		return f, nil
	}
}

// posted returns the form that a page sends: pairs of names and values, or parts, which can be
// files. [posting] has parsed it.
func posted(c echo.Context) *multipart.Form {
	r := c.Request()
	form := &multipart.Form{Value: r.Form}
	if r.MultipartForm != nil {
		form.File = r.MultipartForm.File
	}
	return form
}

func unwrapped(content json.RawMessage) json.RawMessage { return content }

// answerable is a question with the fields and the schema of its form.
type answerable struct {
	inspection.Question
	fields []elicit.Field
	schema json.RawMessage
}

// questionIn finds the question that a path names.
func questionIn(in *inspection.Inspection) func(echo.Context) (answerable, error) {
	return numbered(func(n int) (answerable, error) {
		q, err := in.Question(n)
		return answerableOf(q), err
	})
}

func answerableOf(q inspection.Question) answerable {
	a := answerable{Question: q}
	if q.Request != nil && q.Request.Mode == elicit.ModeForm {
		a.fields, a.schema = q.Request.Fields, q.Request.Schema
	}
	return a
}

func (a answerable) isURL() bool {
	return a.Request != nil && a.Request.Mode == elicit.ModeURL
}

// first returns the form as it is drawn before anything is typed.
func (a answerable) first() forms.Submission {
	if a.Request == nil {
		sub := forms.Untouched(nil, true)
		sub.Content = rawjson.Pretty(a.Suggestion)
		return sub
	}
	return forms.Untouched(a.fields, a.Request.Trouble != "" && a.schema != nil)
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
	case a.Request.Mode == elicit.ModeForm:
		answer.Content = content
	}
	return answer
}

// typed is a question that waits, with its form as the page posts it.
type typed struct {
	answerable
	sub forms.Submission
}

// preview answers with the JSON that a form would send, and the counts at its fields.
func preview(c echo.Context, form forms.Form) error {
	parts := []templ.Component{markup.Within(markup.PartMost, form.ID+"-send", forms.WillSend(form))}
	for _, f := range form.Fields {
		parts = append(parts, forms.FieldCount(f))
	}
	return html(c, parts...)
}

// drawable returns an error if a redrawn form would lose typed text because the text is
// too long for the page. Then the page must keep its form, which has the only copy of
// the text.
func drawable(c echo.Context, form forms.Form, sub, before forms.Submission) error {
	lost, err := sub.Lost(c.Request().Context(), form.Fields, before)
	if err != nil || !lost {
		return err
	}
	text := "These arguments are too long to be drawn again."
	for _, p := range form.Problems {
		text += " " + markup.Brief(p)
	}
	for _, f := range form.Fields {
		for _, p := range f.Problems {
			text += " " + markup.Brief(f.Label) + ": " + markup.Brief(p)
		}
	}
	return echo.NewHTTPError(http.StatusRequestEntityTooLarge, text[:min(len(text), 2000)])
}

const choicesMost = 100

// choices answers with a window of the choices that match a search: count choices from
// the 0-based position from on, or around the choice with the index near, whose
// position is X-Near. X-Total is the number of matches.
func choices(c echo.Context, form string, fields []elicit.Field) error {
	i, err := queryNumber(c, "field", 0)
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", choicesMost)
	if err := cmp.Or(err, err1, err2); err != nil {
		return err
	}
	if i >= int64(len(fields)) {
		return echo.ErrNotFound
	}
	field := forms.Field{Field: fields[i], Index: int(i), ID: form + "-" + elicit.InputName(int(i))}
	matches := field.Matches(c.QueryParam("search"))
	h := c.Response().Header()
	if near, err := strconv.Atoi(c.QueryParam("near")); err == nil {
		if place := slices.Index(matches, near); place >= 0 {
			h.Set("X-Near", strconv.Itoa(place))
			from = int64(max(0, place-int(count)/2))
		}
	}
	h.Set("X-Total", strconv.Itoa(len(matches)))
	start := int(min(from, int64(len(matches))))
	end := min(len(matches), start+int(min(count, choicesMost)))
	return html(c, forms.ChoiceRows(field, matches[start:end], start, len(matches)))
}
