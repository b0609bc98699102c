package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

const argumentsID = "args"

// callForm is the state of a call's form: the item that is called and the arguments for
// it.
type callForm struct {
	server  views.Server
	item    conversation.Item
	fields  []elicit.Field
	trouble string           // why no fields can be drawn from the schema; then the form has only the JSON tab
	sub     forms.Submission // the state of the form now
	before  forms.Submission // the state of the form as the server drew it first
	call    int              // the number of the call that the arguments come from; 0 if none
}

// callFormOf returns the form of an item, filled with the given arguments, or with the
// schema's defaults if arguments is nil.
func callFormOf(server views.Server, item conversation.Item, arguments json.RawMessage) callForm {
	f := callForm{server: server, item: item}
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

// named returns the untouched form of the item that the values server, kind and key of
// the request name.
func (s *Server) named(c echo.Context) (callForm, error) {
	server := c.FormValue("server")
	item, err := s.item(server, c.FormValue("kind"), c.FormValue("key"))
	if err != nil {
		return callForm{}, err
	}
	return callFormOf(s.serverOf(server), item, nil), nil
}

func unwrapped(content json.RawMessage) json.RawMessage { return content }

func (s *Server) callFormView(f callForm, problems []elicit.Problem) views.CallForm {
	form := views.CallForm{
		Item: itemView(f.server, f.item), Server: f.server, Call: f.call, Address: s.addressOf(f.server, f.item),
		Form: f.sub.View(argumentsID, f.fields, problems, unwrapped), ReadOnly: s.replay != nil,
	}
	form.Form.Trouble = f.trouble
	form.Tasks = s.in.TaskSupport(f.server.ID, f.item.Kind, f.item.Key)
	info := f.server.Info
	form.MayTask = f.item.Kind == conversation.Tool && info.Protocol >= mcp.Revision20260728 && info.Tasks.Offered
	if form.MayTask || form.Tasks == conversation.TaskOptional { // as it was called last
		for _, c := range s.in.Calls() {
			if c.Request.Server == f.server.ID && c.Request.Kind == f.item.Kind && c.Request.Key == f.item.Key {
				form.AsTask, form.Each = c.Request.AsTask, c.Request.Each
			}
		}
	}
	return form
}

// choose sets what the middle of the page shows: the item, question or call that the
// query names, or else the latest call.
func (s *Server) choose(c echo.Context, p *views.Page) {
	latest := 0
	if len(p.Calls) > 0 {
		latest = p.Calls[len(p.Calls)-1].Number
	}
	if t, ok := views.ReadLink(c.QueryParams()); ok {
		server, item, missing := s.find(t)
		if p.Missing = missing; missing == nil {
			form := s.callFormView(linkedForm(server, item, t))
			p.Form = &form
		}
		return
	}
	if key := c.QueryParam("key"); key != "" {
		if f, err := s.named(c); err == nil {
			form := s.callFormView(f, nil)
			p.Form = &form
			return
		}
		// An item that is gone leaves the middle without a choice, unless its server reads its lists just now.
		server := s.serverOf(c.QueryParam("server"))
		if offers, err := s.in.Catalog(server.ID); err == nil && reads(server, offers) {
			_, _, p.Missing = s.find(views.Link{Kind: conversation.Kind(c.QueryParam("kind")), Key: key, Server: server.Label})
		}
		return
	}
	n, _ := strconv.Atoi(c.QueryParam("call"))
	if question, err := strconv.Atoi(c.QueryParam("question")); err == nil {
		if n = s.chooseQuestion(question, p); p.Missing != nil {
			return
		}
	}
	if n == 0 || s.coming() && n > latest { // a playback has not reached this call yet
		n = latest
	}
	call, err := s.in.Call(n)
	switch {
	case errors.Is(err, live.ErrForgotten):
		p.Forgotten = n
	case err == nil:
		v := s.callView(call)
		p.Call = &v
	case c.QueryParam("call") != "":
		number := strconv.Itoa(n)
		p.Missing = &views.Missing{Title: "Call " + number, Text: "This session has no call " + number + "."}
	}
}

func (s *Server) showMiddle(c echo.Context) error {
	return s.current(c, func() (templ.Component, error) {
		p := views.Page{ReadOnly: s.replay != nil, Start: s.startView()}
		p.Calls, _ = s.callStrip()
		s.choose(c, &p)
		return views.Middle(p), nil
	})
}

// posted reads a call's form as the page posts it.
func (s *Server) posted(c echo.Context) (callForm, error) {
	f, err := s.named(c)
	if err != nil {
		return f, err
	}
	if n, err := strconv.Atoi(c.FormValue("of")); err == nil {
		if call, err := s.in.Call(n); err == nil {
			f = callFormOf(f.server, f.item, call.Request.Arguments)
			f.call = n
		}
	}
	f.sub = forms.Submitted(c.Request().Form, f.fields, f.before)
	f.sub.Checked = c.FormValue("checked") != ""
	return f, nil
}

func (s *Server) formPreview(c echo.Context, f callForm) error {
	return s.preview(c, f.sub.View(argumentsID, f.fields, nil, unwrapped))
}

func (s *Server) formTab(c echo.Context, f callForm) error {
	next, problems := f.sub.Switched(f.fields, c.FormValue("to") == "json")
	f.sub = next
	return s.arguments(c, statusOf(problems), f, problems)
}

func (s *Server) formReset(c echo.Context, f callForm) error {
	if err := f.sub.Reset(f.fields, c.FormValue("field")); err != nil {
		return bad("%s", sentence(err))
	}
	return s.arguments(c, http.StatusOK, f, nil)
}

// arguments answers with a call's form, drawn again. It leaves out the result, so the
// page keeps the one that it shows beside the form.
func (s *Server) arguments(c echo.Context, status int, f callForm, problems []elicit.Problem) error {
	form := s.callFormView(f, problems)
	form.Timeout = c.FormValue("timeout")
	if err := drawable(c, form.Form, f.sub, f.before); err != nil {
		return err
	}
	return drawn(c, status, markup.Within(markup.PartMost, argumentsID, views.Arguments(form)), views.CallOptions(form))
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

// beginCall makes a call. If the schema rejects the arguments, it answers with the form
// and its errors, unless the person insists.
func (s *Server) beginCall(c echo.Context, f callForm) error {
	arguments, problems := f.sub.Check(f.fields, f.item.Schema)
	if len(problems) > 0 && (c.FormValue("force") == "" || arguments == nil) {
		f.sub.Checked = arguments != nil
		return s.arguments(c, http.StatusUnprocessableEntity, f, problems)
	}
	timeout, err := timeoutOf(c.FormValue("timeout"))
	if err != nil {
		return err
	}
	ttl, err := timeoutOf(c.FormValue("ttl"))
	if err != nil {
		return err
	}
	request := live.Request{
		Timeout: timeout, AsTask: c.FormValue("task") != "", TTL: max(ttl, 0), Each: c.FormValue("each") != "",
		Server: f.server.ID, Kind: f.item.Kind, Name: f.item.Name, Key: f.item.Key, Arguments: arguments,
	}
	switch f.item.Kind {
	case conversation.Resource:
		request.Arguments = nil
	case conversation.Template:
		request.Name = f.item.Key
		if request.Key, err = conversation.ExpandTemplate(f.item.Key, arguments); err != nil {
			return s.arguments(c, http.StatusUnprocessableEntity, f, []elicit.Problem{{Field: -1, Text: sentence(err)}})
		}
	case conversation.Prompt:
		if string(arguments) == "{}" {
			request.Arguments = nil
		}
	case conversation.Tool:
	}
	call, err := s.in.Begin(request)
	return s.made(c, call, err)
}

// repeatCall continues a call with a new request that leaves out the entries of the
// last round that were refused.
func (s *Server) repeatCall(c echo.Context, n int) error {
	call, err := s.in.Repeat(n)
	return s.made(c, call, err)
}

// made answers with the number of a new call, or with its panel if the page accepts
// HTML.
func (s *Server) made(c echo.Context, call bridge.Call, err error) error {
	if err != nil {
		return err
	}
	if strings.HasPrefix(c.Request().Header.Get("Accept"), "text/html") {
		return s.current(c, func() (templ.Component, error) { return s.callPanel(call.Number) })
	}
	return c.String(http.StatusOK, strconv.Itoa(call.Number))
}

// done answers 204 without content. Pushes draw the outcome.
func done(c echo.Context, err error) error {
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// maxSeconds is the longest time that a person can set: a year.
const maxSeconds = 366 * 24 * 60 * 60

func timeoutOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := seconds(text)
	if err != nil || limit == 0 {
		return 0, bad("The timeout must be a number of seconds, not %q.", text)
	}
	return limit, nil
}

func seconds(text string) (time.Duration, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= maxSeconds) { // written so that NaN fails
		return 0, bad("The interval must be a number of seconds, not %q.", text)
	}
	return time.Duration(n * float64(time.Second)), nil
}

func (s *Server) call(c echo.Context) (bridge.Call, error) {
	n, err := number(c)
	if err != nil {
		return bridge.Call{}, err
	}
	return s.in.Call(n)
}

func (s *Server) showCall(c echo.Context) error {
	return s.current(c, func() (templ.Component, error) {
		n, err := number(c)
		if err != nil {
			return nil, err
		}
		return s.callPanel(n)
	})
}

func (s *Server) callPanel(n int) (templ.Component, error) {
	call, err := s.in.Call(n)
	if errors.Is(err, live.ErrForgotten) {
		return views.ForgottenCall(strconv.Itoa(n)), nil
	}
	view := s.callView(call)
	return views.CallPanel(nil, &view), err
}

func (s *Server) callSteps(c echo.Context, call bridge.Call) error {
	return html(c, views.CallSteps(s.callView(call)))
}

func (s *Server) retryCall(c echo.Context, n int) error {
	every := c.FormValue("every")
	if every == "" {
		return done(c, s.in.Retry(n))
	}
	pause, err := seconds(every)
	if err != nil {
		return err
	}
	return done(c, s.in.RetryEvery(n, pause))
}

// callAgain reconnects the server with the revision in which its tools ask by requests, or with
// the capability that the form value declare names, and makes the same call again.
func (s *Server) callAgain(c echo.Context, n int) error {
	call, err := s.in.CallAgain(c.Request().Context(), n, c.FormValue("declare"))
	return s.made(c, call, err)
}

// part answers with the bytes of one image or audio block of a result. Its headers keep
// the browser from running anything in them.
func (s *Server) part(c echo.Context, call bridge.Call) error {
	i, err := strconv.Atoi(c.Param("i"))
	if err != nil || call.ResultSeq == 0 {
		return echo.ErrNotFound
	}
	frame, err := s.in.Log().Frame(call.ResultSeq)
	if err != nil {
		return err
	}
	result, err := conversation.ReadResult(conversation.Final(&frame).Result)
	if err != nil || i < 0 || i >= len(result.Content) {
		return echo.ErrNotFound
	}
	block := result.Content[i]
	if !strings.HasPrefix(block.MIME, "image/") && !strings.HasPrefix(block.MIME, "audio/") {
		return echo.ErrNotFound
	}
	c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	return c.Blob(http.StatusOK, block.MIME, block.Bytes)
}
