package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

// questions is the panel of the questions, with their ledger.
type questions struct {
	in       *inspection.Inspection
	calls    *calls
	drafts   sync.Map // *forms.Submission by number: what is typed into pending questions, which survives reloads and lost connections
	settled  int      // how many settled questions are on the page
	readOnly bool
	cards    []int // the questions on the page, as drawn last
}

// Numbers of settled questions on the page. A live page shows fewer, because its
// pending questions matter more.
const (
	settledLive     = 40
	settledReplayed = 150
	unfoldedMost    = 3 // cards shown open when the page of a transcript is first drawn
)

func (s *questions) routes(e *echo.Echo) {
	find := questionIn(s.in)
	e.GET("/questions", s.more)                          // questions that a page lacks; query have, the numbers of those that it has
	e.GET("/questions/:n/past", of(find, s.past))        // all details of a settled question
	e.GET("/questions/:n/seen", of(find, s.seen))        // as other clients show it; query client, for its drawing
	e.GET("/questions/:n/choices", of(find, s.choices))  // choices of a field; query field, search, from, count, near
	e.POST("/questions/:n/draft", of(s.posted, s.draft)) // keep the draft; answers with its JSON
	e.POST("/questions/:n/tab", of(s.posted, s.tab))
	e.POST("/questions/:n/reset", of(s.posted, s.reset))
	e.POST("/questions/:n/answer", of(s.posted, s.answer))            // accept, decline or cancel
	e.GET("/questions/:n/faults", of(find, s.faults))                 // the faults that apply to it
	e.POST("/questions/:n/misbehave", of(s.posted, s.misbehave))      // answer with a fault: fault, field and its parameters
	e.POST("/questions/:n/again", of(number, s.again))                // repeat an answer
	e.POST("/questions/:n/app", of(find, s.readApp))                  // read the resource of the app that would draw it
	e.POST("/questions/:n/complete", act(number, s.in.MarkCompleted)) // mark a URL as done
	e.GET("/ledger", s.ledger)                                        // all questions of the run; query sort, filter
}

func (s *questions) fill(p *views.Page) { p.Questions, p.More = s.views(nil) }

func (*questions) draws() (atOnce, calmly changeKinds) {
	return kindsOf(live.QuestionChanged), kindsOf(live.QuestionChanged, live.CallChanged, live.ServerChanged)
}

// draw draws changed questions, and questions whose accepted URL depends on a changed call or
// server. It removes those that pages no longer show.
func (s *questions) draw(p *painter, c changed) {
	for _, n := range c.settled {
		s.drafts.Delete(n)
	}
	var cards []int
	for _, q := range s.in.OnShow(s.settled) {
		cards = append(cards, q.Number)
		_, moved := c.calls[q.Call]
		awaits := q.Completion == conversation.CompletionAwaited && (moved || c.server(q.Server))
		if c.when == atOnce && c.what[live.Change{Kind: live.QuestionChanged, Number: q.Number}] || awaits {
			p.put(formID(q.Number), views.QuestionCard(s.view(q, nil, nil)), "append", "questions")
		}
	}
	for _, n := range s.cards {
		if _, stays := slices.BinarySearch(cards, n); !stays {
			p.remove(formID(n))
		}
	}
	s.cards = cards
}

// posted finds a question that waits, with its form as the page posts it.
func (s *questions) posted(c echo.Context) (typed, error) {
	q, err := questionIn(s.in)(c)
	if err != nil {
		return typed{}, err
	}
	if q.State != conversation.Pending {
		return typed{}, live.ErrSettled
	}
	return typed{q, forms.Submitted(posted(c), q.fields, s.draftOf(q))}, nil
}

func (s *questions) draftOf(a answerable) forms.Submission {
	if kept, ok := s.drafts.Load(a.Number); ok {
		return *kept.(*forms.Submission)
	}
	return a.first()
}

func (s *questions) draft(c echo.Context, q typed) error {
	old := s.draftOf(q.answerable)
	q.sub.Checked, q.sub.GaveUp = old.Checked, old.GaveUp
	s.drafts.Store(q.Number, new(q.sub))
	return preview(c, q.sub.View(formID(q.Number), q.fields, nil, q.wrap))
}

func (s *questions) past(c echo.Context, q answerable) error {
	return html(c, views.QuestionPast(s.view(q.Question, nil, nil)))
}

func formID(question int) string { return fmt.Sprintf("q%d", question) }

// card keeps what is typed as the draft, and answers with the card, drawn again.
func (s *questions) card(c echo.Context, q typed, problems []elicit.Problem) error {
	s.drafts.Store(q.Number, new(q.sub))
	return judged(c, len(problems) > 0, views.QuestionCard(s.view(q.Question, &q.sub, problems)))
}

func (s *questions) choices(c echo.Context, q answerable) error {
	return choices(c, formID(q.Number), q.fields)
}

func (s *questions) tab(c echo.Context, q typed) error {
	next, problems := q.sub.Switched(q.fields, c.FormValue("to") == "json")
	q.sub = next
	return s.card(c, q, problems)
}

func (s *questions) reset(c echo.Context, q typed) error {
	if err := q.sub.Reset(q.fields, c.FormValue("field")); err != nil {
		return refused(http.StatusBadRequest, err)
	}
	return s.card(c, q, nil)
}

// answer settles a question. If an accepted form has problems, it answers with the form
// and its problems, unless the person insists.
func (s *questions) answer(c echo.Context, q typed) error {
	answer := live.Answer{Action: c.FormValue("action"), Actor: conversation.ByPerson}
	switch answer.Action {
	case "accept":
		if q.isURL() {
			break
		}
		value, problems := q.sub.Check(q.fields, q.schema)
		if len(problems) > 0 && (c.FormValue("force") == "" || value == nil) {
			q.sub.Checked = value != nil
			return s.card(c, q, problems)
		}
		answer = q.accept(value)
	case "decline", "cancel":
	default:
		return bad("There is no action %q.", answer.Action)
	}
	err := s.in.Answer(q.Number, answer)
	return err
}

// readApp reads the resource of the app with which the server would draw a question, which
// need not be in its list. The call shows it as text.
func (s *questions) readApp(c echo.Context, q answerable) error {
	if q.Request == nil || q.Request.App() == "" {
		return bad("The question names no app.")
	}
	uri := q.Request.App()
	return s.calls.made(c)(s.in.Begin(live.Request{Server: q.Server, Kind: conversation.Resource, Name: uri, Key: uri}))
}

func (s *questions) faults(c echo.Context, q answerable) error {
	if q.State != conversation.Pending {
		return live.ErrSettled
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
func (s *questions) misbehave(c echo.Context, q typed) error {
	params := fault.Params{Field: c.FormValue("field"), Tool: strings.TrimSpace(c.FormValue("tool"))}
	if q.isURL() {
		params.JSON = json.RawMessage(`{}`)
	} else if value, problems := q.sub.Check(q.fields, q.schema); value != nil {
		if params.JSON = value; len(problems) == 0 {
			params.Answer = q.wrap(value)
		}
	} else {
		params.JSON = json.RawMessage(q.sub.Content)
	}
	if err := given(c, &params); err != nil {
		return err
	}
	err := s.in.Misbehave(q.Number, c.FormValue("fault"), params)
	if errors.Is(err, live.ErrSettled) {
		return err
	}
	return refused(http.StatusBadRequest, err)
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

// again repeats an earlier answer. It answers with the number of the new call, if the
// answer needs one.
func (s *questions) again(c echo.Context, n int) error {
	call, err := s.in.Again(n)
	switch {
	case err != nil:
		return refused(http.StatusBadRequest, err)
	case call == 0:
		return nil
	}
	return s.calls.made(c)(s.in.Call(call))
}

// view converts a question to the data of its card. sub is the state of its
// form; nil means the draft.
func (s *questions) view(q inspection.Question, sub *forms.Submission, problems []elicit.Problem) views.Question {
	a := answerableOf(q)
	v := views.Question{
		InputRequest: q.InputRequest, Server: serverOf(s.in, q.Server),
		Findings: q.Findings, Waited: q.Waited, LeftByPolicy: q.LeftByPolicy, Left: q.Left,
	}
	if a.isURL() {
		verdict := link.Judge(q.Request.URL) // reads the URL only; nothing is fetched
		v.Address = &verdict
	}
	if q.State == conversation.Pending || q.Fault == "" {
		v.Wrong, v.Fault = "", ""
	}
	if s.readOnly {
		v.ReadOnly, v.Unfolded = true, true
		sub = new(a.first()) // as it was answered, or with the defaults
		if content := a.Content(); a.Action == "accept" && content != nil {
			if inputs, err := elicit.InputsOf(a.fields, content); err == nil {
				sub = &forms.Submission{Inputs: inputs}
			}
		}
	}
	if q.State == conversation.Pending {
		if sub == nil {
			kept, _ := s.drafts.Load(q.Number)
			sub = new(s.draftOf(a))
			if checked := *sub; checked.Checked { // the problems of the last check stay while "Send anyway" is offered
				problems = checked.Recheck(a.fields, a.schema)
				s.drafts.CompareAndSwap(q.Number, kept, &checked) // keeps why a check gave up; a draft that came meanwhile stays
			}
		}
		v.Form = sub.View(formID(q.Number), a.fields, problems, a.wrap)
		forms.AddFindings(v.Form.Fields, q.Findings)
		if q.Request != nil {
			v.Form.Trouble = q.Request.Trouble
		}
		if a.isURL() {
			v.Form.Preview = rawjson.Pretty(a.accept(nil).JSON())
		}
		return v
	}
	if sub != nil && v.ReadOnly {
		v.Form = sub.View(formID(q.Number), a.fields, nil, a.wrap)
	}
	if q.Fault != "" {
		v.Next = s.in.Next(q)
	}
	if v.Action == "" && q.Answer != nil {
		v.Action = "accept"
	}
	if v.Action != "" {
		v.Digest = elicit.Digest(a.fields, q.Content())
	}
	if q.Completion == conversation.CompletionAwaited && !v.ReadOnly {
		s.await(&v, q)
	}
	return v
}

// await says what an accepted URL waits for. A URL that came as a request waits for the
// server's completion notification. A URL that came in a round waits as long as that
// round is the call's last one. A notification is possible there only if the URL came
// in error -32042.
func (s *questions) await(v *views.Question, q inspection.Question) {
	if q.Via == elicit.ByRequest || q.Call == 0 {
		v.ServerMayReport = v.Server.State == conversation.ServerReady
		return
	}
	c, err := s.in.Call(q.Call)
	if err != nil || c.State.Over() || len(c.Rounds) != q.Round {
		return
	}
	v.CallWaits, v.Every = true, c.Every
	for _, other := range s.in.OnShow(1) { // includes all questions whose URL is awaited
		if other.Number < q.Number && other.Call == q.Call && other.Round == q.Round && other.Awaited {
			v.OfferedAbove = true
		}
	}
	v.ServerMayReport = q.Via == elicit.InError
}

// views returns the questions on the page, oldest first: all pending ones and
// the latest settled ones, without those in have. It stops when the page has no more
// room, and more reports that some are missing.
func (s *questions) views(have map[int]bool) (out []views.Question, more bool) {
	list := s.in.OnShow(s.settled)
	latest := map[int]bool{}
	for _, q := range list[max(0, len(list)-unfoldedMost):] {
		latest[q.Number] = true
	}
	// Pending questions take room first, oldest first, and then settled ones, latest
	// first.
	order := func(q inspection.Question) int {
		if q.State == conversation.Pending {
			return q.Number + math.MinInt
		}
		return -q.Number
	}
	slices.SortFunc(list, func(a, b inspection.Question) int { return cmp.Compare(order(a), order(b)) })
	room := views.PanelMost
	for _, q := range list {
		if have[q.Number] {
			continue
		}
		v := s.view(q, nil, nil)
		v.Unfolded = v.Unfolded && latest[q.Number]
		card, size := markup.Drawn(views.QuestionCard(v))
		if room -= size; room < 0 && len(out) > 0 {
			more = true
			break
		}
		v.Card = card
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b views.Question) int { return a.Number - b.Number })
	return out, more
}

// more answers with cards that a page lacks. The header X-More says whether
// there are more.
func (s *questions) more(c echo.Context) error {
	have := map[int]bool{}
	for _, n := range strings.Split(c.QueryParam("have"), ",") {
		if number, err := strconv.Atoi(n); err == nil {
			have[number] = true
		}
	}
	list, more := s.views(have)
	c.Response().Header().Set("X-More", strconv.FormatBool(more))
	return html(c, views.Questions(list))
}
