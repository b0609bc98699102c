package web

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

// This file converts the state of an inspection to the plain data that the components
// show. It decides nothing.

func serverView(s bridge.Server) views.Server {
	s.Label = markup.Brief(s.Label)
	return views.Server{ServerStatus: s.ServerStatus, QuestionCounts: s.QuestionCounts, Findings: s.Findings}
}

func (s *Server) serverViews() []views.Server {
	var out []views.Server
	for _, server := range s.in.Servers() {
		v := serverView(server)
		if token, ok := tokenOf(s.in, v.ID); ok {
			v.SignIn = views.TokenView(token)
		}
		out = append(out, v)
	}
	return out
}

// serverOf returns the view of a server, or an empty one with its id if the server is
// unknown.
func (s *Server) serverOf(id string) views.Server {
	server, err := s.in.Server(id)
	if err != nil {
		return views.Server{ServerStatus: conversation.ServerStatus{ID: id}}
	}
	return serverView(server)
}

// callStrip returns the tabs of the latest calls, and describes the earlier calls that
// have no tab.
func (s *Server) callStrip() (tabs []views.CallTab, earlier views.EarlierCalls) {
	calls := s.in.Calls()
	shown := calls[max(0, len(calls)-views.TabsMost):]
	for _, c := range shown {
		server := s.serverOf(c.Request.Server)
		tabs = append(tabs, views.CallTab{
			Number: c.Number, Server: server.Label, ServerIndex: server.Index,
			Name: c.Request.Name, State: c.State, Waiting: c.Waiting,
			Yours: !c.State.Over() && c.Yours,
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

func (s *Server) callView(c bridge.Call) views.Call {
	server := s.serverOf(c.Request.Server)
	item := conversation.Item{Kind: c.Request.Kind, Name: c.Request.Name, Key: itemKey(c.Request)}
	if known, err := s.in.Item(c.Request.Server, item.Kind, item.Key); err == nil {
		item = known
	}
	v := views.Call{
		Call: c.Call, Wait: c.Wait, Item: itemView(server, item), Server: server,
		Duration: c.Duration, Served: c.Served, Counted: c.Counted,
	}
	if c.Unsent != "" {
		v.Unsent = s.unsentView(c, server)
	}
	if c.State.Over() {
		v.Result = s.resultView(c)
		if s.replay == nil && (c.State == conversation.ToolFailed || c.State == conversation.Failed) {
			v.Result.Undeclared = conversation.UndeclaredIn(v.Result.Raw, server.Settings)
		}
	}
	form := callFormOf(server, item, c.Request.Arguments)
	form.call = c.Number
	v.Form = s.callFormView(form, nil)
	if c.Request.Timeout > 0 {
		v.Form.Timeout = strconv.FormatFloat(c.Request.Timeout.Seconds(), 'f', -1, 64)
	}
	v.Form.Each = c.Request.Each
	if v.Form.AsTask = c.Request.AsTask; c.Request.TTL > 0 {
		v.Form.TTL = strconv.FormatFloat(c.Request.TTL.Seconds(), 'f', -1, 64)
	}
	return v
}

func (s *Server) unsentView(c bridge.Call, server views.Server) *views.Unsent {
	out := &views.Unsent{Method: c.Unsent}
	if s.replay == nil && server.Settings.Protocol != live.RevisionOfRequests {
		out.Revision = live.RevisionOfRequests
	}
	for _, f := range s.in.Found(c.ResultSeq) {
		if f.Rule == lint.RuleUnsent {
			out.Finding = &f.Finding
		}
	}
	return out
}

func (s *Server) resultView(c bridge.Call) *views.Result {
	out := &views.Result{Seq: c.ResultSeq}
	if c.ResultSeq == 0 {
		out.Failed, out.Failure = true, c.Failure
		if c.State == conversation.Stopped {
			out.Failure = "Stopped. There is no result."
		}
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

// questionView converts a question to the data of its card. sub is the state of its
// form; nil means the draft.
func (s *Server) questionView(q bridge.Question, sub *forms.Submission, problems []elicit.Problem) views.Question {
	a := answerableOf(q)
	v := views.Question{
		Question: q.Question, Request: q.Request, Server: s.serverOf(q.Server), Call: q.Call, CallName: q.CallName,
		Findings: q.Findings, Waited: q.Waited, Handed: q.Handed, Left: q.Left,
	}
	if q.Request != nil && q.Request.Mode == elicit.ModeURL {
		verdict := link.Judge(q.Request.URL) // reads the URL only; nothing is fetched
		v.Address = &verdict
	}
	if q.State == conversation.Pending || q.Fault == "" {
		v.Wrong, v.Fault = "", ""
	}
	if s.replay != nil {
		v.ReadOnly, v.Unfolded = true, true
		sub = a.looked()
	}
	if q.State == conversation.Pending {
		if sub == nil {
			kept := s.draftOf(a)
			sub = &kept
			if kept.Checked { // the problems of the last check stay while "Send anyway" is offered
				problems = s.drafts.found(q.Number, kept, a.fields, a.schema)
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
func (s *Server) await(v *views.Question, q bridge.Question) {
	if q.Via == elicit.ByRequest || q.Call == 0 {
		v.Told = v.Server.State == conversation.ServerReady
		return
	}
	c, err := s.in.Call(q.Call)
	if err != nil || c.State.Over() || len(c.Rounds) != q.Round {
		return
	}
	v.Waits, v.Every = true, c.Every
	for _, other := range s.in.OnShow(1) { // includes all questions whose URL is awaited
		if other.Number < q.Number && other.Call == q.Call && other.Round == q.Round && other.Awaited {
			v.Behind = true
		}
	}
	v.Told = q.Via == elicit.InError
}

// Numbers of settled questions on the page. A live page shows fewer, because its
// pending questions matter more.
const (
	settledLive     = 40
	settledReplayed = 150
	unfoldedMost    = 3 // cards shown open when the page of a transcript is first drawn
)

func (s *Server) settledShown() int {
	if s.replay != nil {
		return settledReplayed
	}
	return settledLive
}

// questionViews returns the questions on the page, oldest first: all pending ones and
// the latest settled ones, without those in have. It stops when the page has no more
// room, and more reports that some are missing.
func (s *Server) questionViews(have map[int]bool) (out []views.Question, more bool) {
	list := s.in.OnShow(s.settledShown())
	latest := map[int]bool{}
	for _, q := range list[max(0, len(list)-unfoldedMost):] {
		latest[q.Number] = true
	}
	// Pending questions take room first, oldest first, and then settled ones, latest
	// first.
	order := func(q bridge.Question) int {
		if q.State == conversation.Pending {
			return q.Number + math.MinInt
		}
		return -q.Number
	}
	slices.SortFunc(list, func(a, b bridge.Question) int { return cmp.Compare(order(a), order(b)) })
	room := views.PanelMost
	for _, q := range list {
		if have[q.Number] {
			continue
		}
		v := s.questionView(q, nil, nil)
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

// moreQuestions answers with cards that a page lacks. The header X-More says whether
// there are more.
func (s *Server) moreQuestions(c echo.Context) error {
	have := map[int]bool{}
	for _, n := range strings.Split(c.QueryParam("have"), ",") {
		if number, err := strconv.Atoi(n); err == nil {
			have[number] = true
		}
	}
	list, more := s.questionViews(have)
	c.Response().Header().Set("X-More", strconv.FormatBool(more))
	return html(c, views.Questions(list))
}

// whole returns the page without its middle, which shows a call or a form.
func (s *Server) whole() views.Page {
	servers := s.serverViews()
	questions, more := s.questionViews(nil)
	calls, earlier := s.callStrip()
	page := views.Page{
		Version: s.config.Version, Now: s.in.Now(), Servers: servers,
		Calls: calls, Earlier: earlier, Questions: questions, More: more, Log: s.logStatus(),
		Start: s.startView(), ReadOnly: s.replay != nil, Replay: s.replayView(), Recording: s.recordingView(), Script: s.scriptView(),
		Probe: s.probeView(), Taps: s.tapsView(),
	}
	active := s.activity()
	var cards []views.SignIn
	for _, server := range servers {
		page.Catalogs = append(page.Catalogs, s.catalogView(server, active))
		if card, ok := signInCard(s.in, server); ok {
			cards = append(cards, card)
		}
	}
	page.SignIns = views.SignIns(cards)
	var err error
	if page.Log.Pins, err = s.pins(); err != nil && page.Log.Err == "" {
		page.Log.Err = "The log cannot be read: " + err.Error()
	}
	return page
}
