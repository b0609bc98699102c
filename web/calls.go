package web

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/web/push"
)

const argumentsID = "args"

// calls is the panel of the calls, and of the form from which a call is made.
type calls struct {
	in     *inspection.Inspection
	hub    *push.Hub
	replay *inspection.Replay // nil for a live inspection
	newest int                // number of the call that a playback shows
}

func (s *calls) routes(e *echo.Echo) {
	untouched, posted, find := itemForm(s.in), postedForm(s.in), numbered(s.in.Call)
	// The form of one item; query server, kind, key. The form is posted to most endpoints.
	e.GET("/form/choices", of(untouched, s.choices)) // choices of a field; query as above, field, search, from, count, near
	e.POST("/form/preview", of(posted, s.preview))   // the JSON of the form's values
	e.POST("/form/tab", of(posted, s.tab))
	e.POST("/form/reset", of(posted, s.reset)) // reset a field to its default
	e.POST("/form/link", of(posted, s.link))   // the query of the address that leads to it
	e.POST("/calls", of(posted, s.begin))
	e.POST("/calls/begin", of(untouched, s.begin)) // with the arguments that its form starts with

	e.GET("/calls/:n", of(number, s.show))
	e.GET("/calls/:n/steps", of(find, s.steps))   // the whole timeline
	e.GET("/calls/:n/parts/:i", of(find, s.part)) // the bytes of an image or audio block in its result
	e.POST("/calls/:n/stop", act(number, s.in.Stop))
	e.POST("/calls/:n/retry", of(number, s.retry))                                                                 // make a waiting call again now, or at an interval; every
	e.POST("/calls/:n/repeat", of(number, func(c echo.Context, n int) error { return s.made(c)(s.in.Repeat(n)) })) // without the entries of its last round that were refused
	e.POST("/calls/:n/again", of(number, func(c echo.Context, n int) error {                                       // with the capability declare, or in the revision in which tools ask by requests
		return s.made(c)(s.in.CallAgain(c.Request().Context(), n, c.FormValue("declare")))
	}))
}

func (s *calls) fill(p *views.Page) { p.Calls, p.Earlier = s.strip() }

func (*calls) draws() (atOnce, calmly changeKinds) {
	return kindsOf(live.QuestionChanged), kindsOf(live.QuestionChanged, live.CallChanged)
}

func (s *calls) draw(p *painter, c changed) {
	for _, n := range slices.Sorted(maps.Keys(c.calls)) {
		// The panel of a call stands above its questions: if it grew after they are drawn, it
		// would move them from under the pointer.
		if c.when == calmly || c.calls[n] {
			s.drawCall(p, n)
		}
	}
	if c.when == atOnce || c.when == calmly && len(c.calls) == 0 {
		return
	}
	tabs, earlier := s.strip()
	slices.Reverse(tabs)
	if c.when == atFirst && len(tabs) > 0 {
		s.newest = tabs[0].Number
	}
	putList(p, tabs, views.CallTab.ID, views.CallTabView, "prepend", "call-tabs")
	if earlier.Count > 0 {
		p.put("call-tabs-earlier", views.EarlierCallsView(earlier), "append", "call-tabs")
	} else {
		p.remove("call-tabs-earlier")
	}
}

const callsDrawn = 30

// drawCall draws the parts of a call's panel that change. A playback shows the whole
// panel of the latest call. After reading a long transcript, only its latest calls are drawn.
func (s *calls) drawCall(p *painter, n int) {
	call, err := s.in.Call(n)
	if err != nil || s.replay != nil && s.replay.CallsAfter(n, callsDrawn) == callsDrawn {
		return
	}
	v := s.view(call)
	if s.replay != nil && n > s.newest {
		s.newest = n
		p.replace("call", views.CallPanel(nil, &v))
		return
	}
	p.replace(v.ID()+"-head", views.CallHead(v))
	p.replace(v.ID()+"-now", views.CallNow(v))
	p.replace(v.ResultID(), views.ResultView(v))
}

func (s *calls) formView(f callForm, problems []elicit.Problem) views.CallForm {
	form := views.CallForm{
		Item: f.item, Server: f.server, Call: f.call, Address: addressOf(s.in, f.server, f.item.Item),
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

func (s *calls) choices(c echo.Context, f callForm) error { return choices(c, argumentsID, f.fields) }

func (s *calls) preview(c echo.Context, f callForm) error {
	return preview(c, f.sub.View(argumentsID, f.fields, nil, unwrapped))
}

func (s *calls) tab(c echo.Context, f callForm) error {
	next, problems := f.sub.Switched(f.fields, c.FormValue("to") == "json")
	f.sub = next
	return s.arguments(c, f, problems)
}

func (s *calls) reset(c echo.Context, f callForm) error {
	if err := f.sub.Reset(f.fields, c.FormValue("field")); err != nil {
		return refused(http.StatusBadRequest, err)
	}
	return s.arguments(c, f, nil)
}

// arguments answers with a call's form, drawn again. It leaves out the result, so the
// page keeps the one that it shows beside the form.
func (s *calls) arguments(c echo.Context, f callForm, problems []elicit.Problem) error {
	form := s.formView(f, problems)
	form.Timeout = c.FormValue("timeout")
	if err := drawable(c, form.Form, f.sub, f.before); err != nil {
		return err
	}
	return judged(c, len(problems) > 0, markup.Within(markup.PartMost, argumentsID, views.Arguments(form)), views.CallOptions(form))
}

// begin makes a call. If the schema rejects the arguments, it answers with the form
// and its errors, unless the person insists.
func (s *calls) begin(c echo.Context, f callForm) error {
	arguments, problems := f.sub.Check(f.fields, f.item.Schema)
	if len(problems) > 0 && (c.FormValue("force") == "" || arguments == nil) {
		f.sub.Checked = arguments != nil
		return s.arguments(c, f, problems)
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
			return s.arguments(c, f, []elicit.Problem{{Field: -1, Text: sentence(err)}})
		}
	case conversation.Prompt:
		if string(arguments) == "{}" {
			request.Arguments = nil
		}
	case conversation.Tool:
	}
	return s.made(c)(s.in.Begin(request))
}

// made returns a function that answers with a new call, or with the error that there is none: by
// the number of the call, or with its panel if the page accepts HTML.
func (s *calls) made(c echo.Context) func(call inspection.Call, err error) error {
	return func(call inspection.Call, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(c.Request().Header.Get("Accept"), "text/html"):
			return s.show(c, call.Number)
		}
		return c.String(http.StatusOK, strconv.Itoa(call.Number))
	}
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

func (s *calls) show(c echo.Context, n int) error {
	return current(c, s.hub, func() (templ.Component, error) {
		call, err := s.in.Call(n)
		if errors.Is(err, live.ErrForgotten) {
			return views.ForgottenCall(strconv.Itoa(n)), nil
		}
		view := s.view(call)
		return views.CallPanel(nil, &view), err
	})
}

func (s *calls) steps(c echo.Context, call inspection.Call) error {
	return html(c, views.CallSteps(s.view(call)))
}

func (s *calls) retry(c echo.Context, n int) error {
	every := c.FormValue("every")
	if every == "" {
		return s.in.Retry(n)
	}
	pause, err := seconds(every)
	if err != nil {
		return err
	}
	return s.in.RetryEvery(n, pause)
}

// part answers with the bytes of one image or audio block of a result. Its headers keep
// the browser from running anything in them.
func (s *calls) part(c echo.Context, call inspection.Call) error {
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

// strip returns the tabs of the latest calls, and describes the earlier calls that
// have no tab.
func (s *calls) strip() (tabs []views.CallTab, earlier views.EarlierCalls) {
	calls := s.in.Calls()
	shown := calls[max(0, len(calls)-views.TabsMost):]
	for _, c := range shown {
		server := serverOf(s.in, c.Request.Server)
		tabs = append(tabs, views.CallTab{
			Number: c.Number, Server: server.DisplayName(), ServerIndex: server.Index,
			Name: c.Request.Name, State: c.State, Waiting: c.Waiting,
			Yours:   !c.State.Over() && c.Yours,
			Doubted: len(s.aftermath(c)) > 0,
		})
	}
	earlier.Count = len(calls) - len(shown)
	if len(shown) > 0 {
		latest := shown[len(shown)-1].Number // the latest call is always kept
		if s.replay == nil {
			earlier.Count = latest - len(shown)
		}
		// The calls from earlier.Before on have consecutive numbers. A running call can
		// be much older than these.
		for i := len(shown) - 1; i >= 0 && shown[i].Number == latest-(len(shown)-1-i); i-- {
			earlier.Before = shown[i].Number
		}
	}
	return tabs, earlier
}

func (s *calls) view(c inspection.Call) views.Call {
	server := serverOf(s.in, c.Request.Server)
	item := conversation.Item{Kind: c.Request.Kind, Name: c.Request.Name, Key: itemKey(c.Request)}
	if known, err := s.in.Item(c.Request.Server, item.Kind, item.Key); err == nil {
		item = known
	}
	v := views.Call{Call: c.Call, Wait: c.Wait, Item: itemView(server, item), Server: server}
	if c.Unsent != "" {
		v.Unsent = &views.Unsent{Method: c.Unsent}
		if s.replay == nil && server.Settings.Protocol != live.RevisionOfRequests {
			v.Unsent.Revision = live.RevisionOfRequests
		}
		for _, f := range s.in.Found(c.ResultSeq) {
			if f.Rule == lint.RuleUnsent {
				v.Unsent.Finding = &f.Finding
			}
		}
	}
	v.After = s.aftermath(c)
	if c.State.Over() {
		v.Result = s.result(c)
		if s.replay == nil && (c.State == conversation.ToolFailed || c.State == conversation.Failed) {
			v.Result.Undeclared = conversation.UndeclaredIn(v.Result.Raw, server.Settings)
		}
	}
	form := callFormOf(server, item, c.Request.Arguments)
	form.call = c.Number
	v.Form = s.formView(form, nil)
	if c.Request.Timeout > 0 {
		v.Form.Timeout = strconv.FormatFloat(c.Request.Timeout.Seconds(), 'f', -1, 64)
	}
	v.Form.Each = c.Request.Each
	if v.Form.AsTask = c.Request.AsTask; c.Request.TTL > 0 {
		v.Form.TTL = strconv.FormatFloat(c.Request.TTL.Seconds(), 'f', -1, 64)
	}
	return v
}

// aftermath lists the findings about what a call came to after the refusal of its question.
func (s *calls) aftermath(c inspection.Call) (list []lint.Finding) {
	if !c.State.Over() {
		return nil
	}
	for _, f := range s.in.Found(c.ResultSeq) {
		if lint.Aftermath(f.Rule) != "" {
			list = append(list, f.Finding)
		}
	}
	return list
}

// resultMost is the size in bytes of the largest response that the page reads to draw it, which
// it does whenever it draws its call.
const resultMost = 64 << 20

func (s *calls) result(c inspection.Call) *views.Result {
	out := &views.Result{Seq: c.ResultSeq}
	if c.ResultSeq == 0 {
		out.Failed, out.Failure = true, c.Failure
		if c.State == conversation.Stopped {
			out.Failure = "Stopped. There is no result."
		}
		return out
	}
	if size := s.in.Log().Head(c.ResultSeq).Size; size > resultMost {
		out.Failed, out.Failure = c.Failure != "", wording.Join(" ", wording.Sentence(c.Failure), fmt.Sprintf("The response has %s bytes, and the page draws at most %s: the wire log has it.", wording.Grouped(size), wording.Grouped(resultMost)))
		return out
	}
	frame, err := s.in.Log().Frame(c.ResultSeq)
	if err != nil {
		out.Failed, out.Failure = true, "The response cannot be read back: "+err.Error()
		return out
	}
	frame.Message = conversation.Final(&frame)
	if frame.Message.Kind == wire.Error {
		e := conversation.ReadError(frame.Message.Error)
		out.Failed, out.Error, out.Raw = true, &e, e.Raw
		if item, err := s.in.Item(c.Request.Server, c.Request.Kind, c.Request.Key); err == nil && e.Code == mcp.CodeMethodNotFound && item.Tasks == conversation.TaskRequired && !c.Request.AsTask {
			out.Hint = `This tool has to be called as a task: its execution.taskSupport is "required". The inspector does so where the server declares "tasks.requests.tools.call".`
		}
		return out
	}
	result, err := conversation.ReadResult(frame.Message.Result)
	if c.Failure != "" {
		err = errors.New(c.Failure)
	}
	if err != nil {
		out.Failed, out.Failure, out.Repeats, out.Raw = true, sentence(err), c.Repeats, frame.Message.Result
		return out
	}
	out.Result = result
	return out
}
