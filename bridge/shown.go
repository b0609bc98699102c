package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// shown is what a Replay shows at one time. It does not change.
type shown struct {
	now     time.Time // of the last frame
	servers []*shownServer
	list    []*shownCall
	found   []Found
	foundAt map[int64][]Found // by frame
}

// shownServer is a server with what it offers.
type shownServer struct {
	Server
	catalog *Catalog
	lists   map[string][]int64 // the frames that the catalog was read from
}

// shownCall is a call with its questions, or what was asked outside of any call.
type shownCall struct {
	place     int
	call      *Call // nil for what a server asked outside of any call
	questions []Question
}

// final reports whether nothing more can come of it.
func (one *shownCall) final(over bool) bool {
	if one.call != nil && one.call.State == CallRunning {
		return false
	}
	return !slices.ContainsFunc(one.questions, func(q Question) bool {
		return q.State == Pending || q.Completion == CompletionAwaited && !over
	})
}

func (s *shown) calls() []Call {
	out := []Call{}
	for _, one := range s.list {
		if one.call != nil {
			out = append(out, *one.call)
		}
	}
	slices.SortFunc(out, func(a, b Call) int { return a.Number - b.Number })
	return out
}

// questions are all questions, oldest first.
func (s *shown) questions() []Question {
	out := []Question{}
	for _, one := range s.list {
		for _, q := range one.questions {
			for _, f := range s.foundAt[q.Seq] {
				if f.Place == q.Place {
					q.Findings = append(q.Findings, f.Finding)
				}
			}
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b Question) int { return a.Number - b.Number })
	return out
}

// onShow are the questions that a page shows: those that wait, the latest of those
// that are settled, and those with a URL whose outcome is awaited.
func (s *shown) onShow(settled int) []Question {
	all := s.questions()
	var ends []time.Time
	ended := func(q *Question) time.Time { return q.Asked.Add(q.Waited) }
	for i := range all {
		if all[i].State != Pending {
			ends = append(ends, ended(&all[i]))
		}
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	room := min(settled, len(ends))
	return slices.DeleteFunc(all, func(q Question) bool {
		if q.State == Pending || settled > 0 && q.Awaited {
			return false
		}
		return room == 0 || ended(&q).Before(ends[room-1])
	})
}

// asked is the question that a finding is about, nil if it is not shown.
func (s *shown) asked(f Found) *Question {
	for _, one := range s.list {
		for i := range one.questions {
			if q := &one.questions[i]; q.Seq == f.Seq && q.Place == f.Place {
				return q
			}
		}
	}
	return nil
}

// findings are what the linter has to say of a server, or of all for the id "",
// with the questions and calls that are shown.
func (s *shown) findings(id string, of []Found) []Found {
	calls := map[int]bool{}
	type place struct {
		seq   int64
		place int
	}
	questions := map[place]*Question{}
	for _, one := range s.list {
		if one.call != nil {
			calls[one.call.Number] = true
		}
		for i := range one.questions {
			q := &one.questions[i]
			questions[place{q.Seq, q.Place}] = q
		}
	}
	var out []Found
	for _, f := range of {
		if id != "" && f.Server != id {
			continue
		}
		if q := questions[place{f.Seq, f.Place}]; q != nil {
			f.Question, f.Call = q.Number, q.Call
		}
		if !calls[f.Call] {
			f.Call = 0
		}
		out = append(out, f)
	}
	return out
}

// labelled is the server that frames name so, nil if it is not shown by itself.
func (s *shown) labelled(label string) *shownServer {
	for _, server := range s.servers {
		if server.Label == cmp.Or(label, conversation.Unnamed) {
			return server
		}
	}
	return nil
}

// all are the servers as readers get them.
func (s *shown) all() []Server {
	out := make([]Server, len(s.servers))
	for i, server := range s.servers {
		out[i] = server.Server
	}
	return out
}

// server is the one with that id.
func (s *shown) server(id string) (*shownServer, error) {
	for _, server := range s.servers {
		if server.ID == id {
			return server, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownServer, id)
}

// askedMost is the size in bytes of the largest question or answer that is shown.
// What is larger stands in the log.
const askedMost = 1 << 20

var callStates = map[conversation.State]CallState{
	conversation.Running: CallRunning, conversation.Waiting: CallRunning, conversation.Done: CallDone,
	conversation.ToolFailed: CallDone, conversation.Failed: CallFailed, conversation.Stopped: CallStopped,
}

// callOf is a call as a page shows it.
func (s *shown) callOf(c *conversation.Call) *shownCall {
	one := &shownCall{place: c.Place}
	server := s.further()
	if known := s.labelled(c.Server); known != nil {
		server = known
	}
	if c.Number != 0 {
		call := s.request(c, server)
		one.call = &call
	}
	for i := range c.Questions {
		q := questionOf(c, i)
		q.Server = server.ID
		if one.call != nil {
			q.Call, q.CallName = one.call.Number, one.call.Request.Name
		}
		one.questions = append(one.questions, q)
	}
	return one
}

// further stands for the servers that are not shown one by one.
func (s *shown) further() *shownServer {
	if len(s.servers) == 0 {
		return &shownServer{}
	}
	return s.servers[len(s.servers)-1]
}

func (s *shown) request(c *conversation.Call, server *shownServer) Call {
	out := Call{
		Number: c.Number, Request: CallRequest{Server: server.ID, Kind: KindTool, Name: c.Name, Key: c.Name, Arguments: c.Arguments},
		State: callStates[c.State], Started: c.Start, Duration: s.now.Sub(c.Start), Rounds: len(c.Rounds), Dropped: c.Dropped, Logs: c.Logs,
		IsError: c.State == conversation.ToolFailed, Unsent: c.Unsent, Failure: c.Failure, Waited: c.With(conversation.PersonParty),
	}
	switch c.Method {
	case mcp.MethodGetPrompt:
		out.Request.Kind = KindPrompt
	case mcp.MethodReadResource:
		out.Request.Kind, out.Request.Arguments = KindResource, nil
		for _, item := range server.catalog.Items {
			if item.Kind == KindResource && item.Key == c.Name {
				out.Request.Name = item.Name
			}
		}
	}
	if n := len(c.Rounds); n > 0 {
		out.Seq = c.Rounds[n-1].Request
	}
	if p := c.Progress; p != nil {
		out.Progress = &Progress{Value: p.Value, Total: p.Total, Message: p.Message}
	}
	for _, step := range c.Steps {
		out.Steps = append(out.Steps, Step{At: step.At, Kind: StepKind(step.Kind), Text: step.Text, Seq: step.Seq, Question: step.Question})
	}
	if c.State.Over() {
		out.Duration, out.Reply = c.Ended.Sub(c.Start), c.ResultSeq
		return out
	}
	out.Waiting = c.Pending()
	out.Yours = out.Waiting > 0
	for _, q := range c.Questions {
		if q.State == conversation.Pending && (out.Asked.IsZero() || q.Asked.Before(out.Asked)) {
			out.Asked = q.Asked
		}
	}
	return out
}

var questionStates = map[conversation.QuestionState]State{
	conversation.Pending: Pending, conversation.Answered: Answered, conversation.Withdrawn: Withdrawn,
	conversation.Refused: Refused, conversation.Undelivered: Undelivered, conversation.Unheard: Answered,
}

// questionOf is the i-th question of a call as a page shows it.
func questionOf(c *conversation.Call, i int) Question {
	q := c.Questions[i]
	out := Question{Question: inbox.Question{
		InputRequest: client.InputRequest{
			Place: q.Place, Guessed: q.Guessed, Key: q.Key, Origin: q.Via, Carried: session.Carried(q.Stream), Method: q.Method, Asked: q.Asked, Seq: q.AskedSeq,
		},
		Number: q.Number, State: questionStates[q.State], Answer: answerOf(q.Method, q.Answer), By: Actor(q.By), Reason: q.Reason,
		AnswerSeq: q.AnswerSeq, Completion: Completion(q.Completion),
	}}
	if len(q.Params) <= askedMost {
		out.Params = q.Params
	}
	if q.Method == mcp.MethodElicit && out.Params != nil {
		out.Request, _ = elicit.Parse(out.Params) // what cannot be read is shown as it is
	}
	if out.Request == nil {
		out.Suggestion = suggestions[q.Method]
	}
	switch q.Via {
	case elicit.InRound:
		out.Round, out.Carried = q.Round, fmt.Sprintf("round %d, %q", q.Round, q.Key)
	case elicit.InError:
		out.Round, out.AnswerSeq = q.Round, 0
		out.Carried = fmt.Sprintf("error %d, elicitation %d of %d", mcp.CodeURLElicitationRequired, q.Place, c.Rounds[q.Round-1].Questions)
	}
	if q.State != conversation.Pending {
		out.Waited = q.Ended.Sub(q.Asked)
	}
	if q.State == conversation.Answered {
		out.Answer.Actor = out.By
	}
	if q.Fault != "" {
		out.Answer = inbox.Misbehave(fault.Plan{Fault: q.Fault, Title: q.Wrong, Result: q.Answer})
	}
	if q.State == conversation.Unheard {
		out.Answer.Action, out.Reason = "accept", q.State.String()+"; "+q.Reason
	}
	out.Awaited = q.Completion == conversation.CompletionAwaited &&
		(out.Request != nil && out.Request.ElicitationID != "" || c.Number != 0 && !c.State.Over())
	return out
}

// answerOf takes a result apart, if its bytes are exactly those of the answer
// that it amounts to.
func answerOf(method string, result json.RawMessage) Answer {
	if len(result) > askedMost {
		result = nil
	}
	if method != mcp.MethodElicit {
		return Answer{Result: result}
	}
	var p struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(result, &p) != nil {
		return Answer{Result: result}
	}
	a := Answer{Action: p.Action, Content: p.Content}
	if !bytes.Equal(a.JSON(), result) {
		a.Result = result
	}
	return a
}

// ways are the words for how a server was reached.
var ways = map[string]string{"stdio": "stdio", "http": "HTTP", "sse": "SSE", "memory": "in process"}

// servers are those in the log.
func (r *Replay) servers(before *shown) []*shownServer {
	var out []*shownServer
	for i, s := range r.conversation.Servers() {
		spec := target.Spec{Name: s.Label, Command: s.Command}
		server := &shownServer{Server: Server{
			ID: fmt.Sprintf("s%d", i+1), Index: i, Label: s.Label, Address: spec.Address(), Target: spec.Key(), How: ways[s.Transport],
			State: Recorded, Since: s.Since, Policy: PolicyAsk, Room: ShownMost, Findings: map[lint.Severity]int{},
			Info: ServerInfo{
				Name: s.Name, Title: s.Title, Version: s.Version, Protocol: s.Protocol, Instructions: s.Instructions,
				Capabilities: s.Capabilities, How: ways[s.Transport], Negotiated: session.Negotiated(s.Methods, ""),
			},
		}, lists: s.Lists}
		if s.Declared != nil {
			server.Settings = settingsOf(s.Declared)
		}
		if i < len(before.servers) && maps.EqualFunc(before.servers[i].lists, s.Lists, slices.Equal) {
			server.catalog = before.servers[i].catalog
		} else {
			server.catalog = r.catalog(server.ID, s.Lists)
		}
		out = append(out, server)
	}
	return out
}

// settingsOf are the settings under which a client declares this.
func settingsOf(d *conversation.Declared) Settings {
	s := Settings{Elicitation: DeclareNone, Sampling: d.Sampling != nil, Roots: d.Roots != nil}
	var modes map[string]json.RawMessage
	if d.Elicitation == nil || json.Unmarshal(d.Elicitation, &modes) != nil || modes == nil {
		return s
	}
	form, url := modes["form"] != nil, modes["url"] != nil
	switch {
	case form && url:
		s.Elicitation = DeclareBoth
	case form:
		s.Elicitation = DeclareForm
	case url:
		s.Elicitation = DeclareURL
	default:
		s.Elicitation = DeclareEmpty
	}
	return s
}

// itemsMost bounds a list of a recorded server.
const itemsMost = 10_000

// catalog reads what a server offers from the frames that list it.
func (r *Replay) catalog(id string, from map[string][]int64) *Catalog {
	parts := map[string]catalog.Part{}
	for _, l := range catalog.Lists {
		read := catalog.Reader{List: l}
		var problem error
		for _, seq := range from[l.Method] {
			f, err := r.log.Frame(seq)
			if err != nil {
				problem = err
				continue
			}
			if !r.continues(&f) {
				read, problem = catalog.Reader{List: l, Room: catalog.Room{Bytes: CatalogBytes / len(catalog.Lists), Items: itemsMost}}, nil
			}
			if _, err := read.Page(f.Message.Result); err != nil {
				problem = err
			}
		}
		parts[l.Method] = read.Part(problem)
	}
	return new(catalog.Join(id, parts))
}

// continues reports whether a page was asked for with a cursor.
func (r *Replay) continues(page *wire.Frame) bool {
	request, err := r.log.Frame(page.Pair)
	if page.Pair == 0 || err != nil {
		return false
	}
	var p struct {
		Cursor string `json:"cursor"`
	}
	return json.Unmarshal(request.Message.Params, &p) == nil && p.Cursor != ""
}
