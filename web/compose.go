package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
)

// composer is the page on which a person writes a question. It keeps no draft: the page posts the
// whole text each time, and what is typed into its form.
type composer struct {
	in      *inspection.Inspection
	refusal string        // why nothing can be asked from this page; "" if it can
	turn    chan struct{} // held while a draft is read, so that those that a page gives up do not pile up; capacity 1
}

func (s composer) routes(e *echo.Echo) {
	e.POST("/compose", s.inTurn(s.draw))            // a draft: text, revision, sdk, and its form; changed lists the fields that a person has changed
	e.POST("/compose/edit", s.inTurn(s.edit))       // the text after a change of its form: text, do, field, value
	e.POST("/compose/code", s.inTurn(s.code))       // the code that asks it: text, sdk
	e.POST("/compose/seen", s.inTurn(s.seen))       // the draft as other clients show it: text, revision, client
	e.POST("/compose/choices", s.inTurn(s.choices)) // choices of a field: text; query as of the others
	e.POST("/compose/ask", s.ask)                   // put it to the demo server: text; answers with the number of the call
	e.GET("/compose/samples/:group/:n", s.sample)
	e.GET("/compose/questions/:n", of(questionIn(s.in), s.question)) // a question as a draft
}

// sampleGroups returns the names of the groups of samples, and the samples.
func sampleGroups() ([]string, [][]demo.Sample) {
	specification, own := demo.Samples()
	return []string{"Examples of the specification", "Questions of the demo server"}, [][]demo.Sample{specification, own}
}

func (s composer) page(c echo.Context) error {
	v := views.Composer{Theme: themeOf(c)}
	names, groups := sampleGroups()
	for i, group := range groups {
		g := views.SampleGroup{Name: names[i]}
		for _, one := range group {
			g.Samples = append(g.Samples, one.Name)
		}
		v.Groups = append(v.Groups, g)
	}
	return html(c, views.ComposeView(v))
}

// inTurn makes a handler that waits until no other draft is read, or the page has given it up.
func (s composer) inTurn(handle echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
			return handle(c)
		case <-c.Request().Context().Done():
			return c.Request().Context().Err()
		}
	}
}

// textOf returns the posted text, with the line breaks that a person typed: forms make them CRLF.
func textOf(c echo.Context) string { return linesOf(c, "text") }

func linesOf(c echo.Context, name string) string {
	return strings.ReplaceAll(c.FormValue(name), "\r\n", "\n")
}

// composed reads the posted text as a question.
func composed(c echo.Context) (answerable, error) {
	request, err := elicit.Parse(json.RawMessage(textOf(c)))
	if err != nil {
		return answerable{}, refused(http.StatusBadRequest, err)
	}
	return answerableOf(inspection.Question{InputRequest: conversation.InputRequest{Request: request}}), nil
}

// carrierIn returns what carries a draft to a client in a revision.
func carrierIn(revision string) elicit.Via {
	if revision >= mcp.Revision20260728 {
		return elicit.InRound
	}
	return elicit.ByRequest
}

func (s composer) draw(c echo.Context) error {
	text := textOf(c)
	d := views.Draft{Text: text, Revision: c.FormValue("revision"), SDK: cmp.Or(export.SDK(c.FormValue("sdk")), export.GoSDK)}
	if !slices.Contains(mcp.Revisions, d.Revision) {
		d.Revision = mcp.Revision20251125
	}
	_, d.NotAsked = s.asks()
	if err := rawjson.Check([]byte(text)); err != nil {
		d.Problem = sentence(err)
		if wrong := (*rawjson.SyntaxError)(nil); errors.As(err, &wrong) {
			d.Problem, d.Line = sentence(errors.New(wrong.What)), wrong.Line
			d.Place = fmt.Sprintf("Line %d, column %d", wrong.Line, wrong.Column)
			d.At = views.Span(text, offset(text, wrong.Line, wrong.Column), offset(text, wrong.Line, wrong.Column+1))
		}
		return html(c, views.DraftState(d), views.DraftAsk(d))
	}
	in := lint.Input{Params: json.RawMessage(text), Revision: d.Revision, Declared: []elicit.Mode{elicit.ModeForm, elicit.ModeURL}, Via: carrierIn(d.Revision)}
	d.Findings = lint.Elicitation(in)
	q, err := composed(c)
	if err != nil {
		d.Problem = fmt.Sprint(err.(*echo.HTTPError).Message)
		return html(c, views.DraftView(d))
	}
	d.Request = q.Request
	sub := triedOn(posted(c), q)
	var problems []elicit.Problem
	if c.FormValue("check") != "" {
		_, problems = sub.Check(q.fields, q.schema)
		sub.Checked = true
	}
	d.Form = sub.View(views.DraftID, q.fields, problems, q.wrap)
	d.Form.Trouble = q.Request.Trouble
	if q.isURL() {
		d.Address = new(link.Judge(q.Request.URL))
		d.Form.Preview = rawjson.Pretty(q.accept(nil).JSON())
	}
	if d.Code, err = export.CodeThatAsks(d.SDK, q.Request); err != nil {
		return refused(http.StatusBadRequest, err)
	}
	return html(c, views.DraftView(d))
}

// offset returns where a line and a column of a text are, which count from 1, the column in characters.
func offset(text string, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for i := range text[at:] {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(text)
}

var inputOf = lazy.Regexp(`^f(\d+)(\..*)?$`)

// triedOn returns the form with what a person has typed into it, although the text may have changed
// since, and fields have moved. The values "was" name the fields in the order of the posted form; each
// field that is not among those in "changed" has its default.
func triedOn(form *multipart.Form, q answerable) forms.Submission {
	was, changed := form.Value["was"], form.Value["changed"]
	moved := &multipart.Form{Value: url.Values{}, File: map[string][]*multipart.FileHeader{}}
	to := map[string]int{} // the place of a changed field, by its place in the posted form
	for i, f := range q.fields {
		if at := strconv.Itoa(slices.Index(was, f.Name)); slices.Contains(changed, at) {
			to[at], moved.File[elicit.InputName(i)] = i, form.File["f"+at]
		}
	}
	for name, values := range form.Value {
		if m := inputOf().FindStringSubmatch(name); m != nil {
			if i, kept := to[m[1]]; kept {
				moved.Value[elicit.InputName(i)+m[2]] = values
			}
		}
	}
	first := q.first()
	sub := forms.Submitted(moved, q.fields, first)
	kept := slices.Collect(maps.Values(to))
	for i := range sub.Inputs.Fields {
		if !slices.Contains(kept, i) {
			sub.Inputs.Fields[i] = first.Inputs.Fields[i]
		}
	}
	return sub
}

// edit answers with the text after a change of its form. X-At is the place of what is new.
func (s composer) edit(c echo.Context) error {
	edited, at, err := elicit.Edited(json.RawMessage(textOf(c)), elicit.Edit{
		Do: elicit.EditKind(c.FormValue("do")), Field: c.FormValue("field"), Value: linesOf(c, "value"),
	})
	if err != nil {
		return refused(http.StatusBadRequest, err)
	}
	c.Response().Header().Set("X-At", views.SpanOf(edited, at))
	return compressed(c, http.StatusOK, echo.MIMETextPlainCharsetUTF8, []byte(edited))
}

func (s composer) code(c echo.Context) error {
	q, err := composed(c)
	if err != nil {
		return err
	}
	code, err := export.CodeThatAsks(export.SDK(c.FormValue("sdk")), q.Request)
	if err != nil {
		return refused(http.StatusBadRequest, err)
	}
	return compressed(c, http.StatusOK, echo.MIMETextPlainCharsetUTF8, []byte(code))
}

func (s composer) choices(c echo.Context) error {
	q, err := composed(c)
	if err != nil {
		return err
	}
	return choices(c, views.DraftID, q.fields)
}

func (s composer) sample(c echo.Context) error {
	_, groups := sampleGroups()
	g, err := strconv.Atoi(c.Param("group"))
	n, err2 := strconv.Atoi(c.Param("n"))
	if err != nil || err2 != nil || g < 0 || g >= len(groups) || n < 0 || n >= len(groups[g]) {
		return echo.ErrNotFound
	}
	return draftOf(c, groups[g][n].Params)
}

func (s composer) question(c echo.Context, q answerable) error {
	if q.Method != "" && q.Method != mcp.MethodElicit {
		return bad("This is no elicitation.")
	}
	return draftOf(c, q.Params)
}

func draftOf(c echo.Context, params json.RawMessage) error {
	return compressed(c, http.StatusOK, echo.MIMETextPlainCharsetUTF8, []byte(rawjson.Pretty(params)))
}

const asksThis = "ask_this"

// asks lists the demo servers that can ask a question, or says why there is none.
func (s composer) asks() (servers []string, why string) {
	if s.refusal != "" {
		return nil, s.refusal
	}
	for _, server := range s.in.Servers() {
		if server.State != conversation.ServerReady || server.Info.Name != demo.Name {
			continue
		}
		if _, err := s.in.Item(server.ID, conversation.Tool, asksThis); err == nil {
			servers = append(servers, server.ID)
		}
	}
	if len(servers) == 0 {
		return nil, "No demo server is connected. Run inspector without a target, or inspector demo --http, to have one ask."
	}
	return servers, ""
}

// ask has each demo server on the page ask the question, by a call of its tool. It answers with the
// number of the last call.
func (s composer) ask(c echo.Context) error {
	q, err := composed(c)
	if err != nil {
		return err
	}
	servers, why := s.asks()
	if why != "" {
		return echo.NewHTTPError(http.StatusConflict, why)
	}
	arguments, err := rawjson.Compact(rawjson.WithMember(json.RawMessage(`{}`), "question", string(q.Request.Params)))
	if err != nil {
		return refused(http.StatusBadRequest, err)
	}
	number := 0
	for _, server := range servers {
		call, err := s.in.Begin(live.Request{Server: server, Kind: conversation.Tool, Name: asksThis, Key: asksThis, Arguments: arguments})
		if err != nil {
			return err
		}
		number = call.Number
	}
	return c.String(http.StatusOK, strconv.Itoa(number))
}
