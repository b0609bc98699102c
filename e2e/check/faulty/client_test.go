package faulty

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/meaning/lint"
)

// client is the client of a server in the same synctest bubble.
type client struct {
	t        *testing.T
	revision string
	declares string // its elicitation capability; "" for none
	in       io.WriteCloser
	words    strings.Builder // the server's standard error
	crashed  bool
	ended    chan struct{}
	id       int

	mu   sync.Mutex
	came []message
}

func dial(t *testing.T, revision, declares string) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, revision: revision, declares: declares, in: inW, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		defer inR.Close()
		defer outW.Close()
		Serve(t.Context(), Options{In: inR, Out: outW, Err: &c.words, Exit: func(int) { c.crashed = true }})
	}()
	go func() {
		for in := bufio.NewScanner(outR); in.Scan(); {
			var m message
			if err := json.Unmarshal(in.Bytes(), &m); err != nil {
				t.Errorf("the server wrote %q: %v", in.Text(), err)
			}
			c.mu.Lock()
			c.came = append(c.came, m)
			c.mu.Unlock()
		}
	}()
	if revision < mcp.Revision20260728 {
		c.request("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"test","version":"1"}`, revision, c.capabilities()))
		c.next()
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return c
}

func (c *client) close() {
	c.in.Close()
	<-c.ended
}

func (c *client) capabilities() string {
	if c.declares == "" {
		return "{}"
	}
	return `{"elicitation":` + c.declares + `}`
}

func (c *client) send(line string) {
	_, _ = io.WriteString(c.in, line+"\n") // a server that has crashed no longer reads
}

// request sends a request and returns its id.
func (c *client) request(method, members string) string {
	c.id++
	if c.revision >= mcp.Revision20260728 {
		members += fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s}`, c.revision, c.capabilities())
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.id, method, members))
	return fmt.Sprint(c.id)
}

// next returns the messages that the server sends until all goroutines wait.
func (c *client) next() []message {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	came := c.came
	c.came = nil
	return came
}

// asked is a question as the client received it.
type asked struct {
	via    elicit.Via
	id     json.RawMessage // of the request; nil in a round
	key    string          // in inputRequests; "" for a request
	state  json.RawMessage
	params json.RawMessage
}

// trial is the outcome of a call.
type trial struct {
	questions int
	responded bool
	takenBack bool // its last question was taken back
	isError   bool
	text      string          // text of the result or the error
	all       string          // the whole response
	content   json.RawMessage // content of the last answer
	rules     []string        // IDs of the linter's rules that are broken
}

// behaviour answers the nth question of a call, from 1, and returns the content of the
// answer.
type behaviour func(c *client, tool, id string, q asked, n int) (content json.RawMessage)

// call makes one call.
func (c *client) call(tool string, do behaviour) (tr trial) {
	id := c.request(mcp.MethodCallTool, fmt.Sprintf(`"name":%q,"arguments":{}`, tool))
	for {
		came := c.next()
		if len(came) == 0 {
			time.Sleep(10 * time.Second) // on the clock of the bubble
			if came = c.next(); len(came) == 0 {
				c.cancel(id)
				return tr
			}
		}
		for _, m := range came {
			switch {
			case m.Method == mcp.MethodElicit:
				q := asked{via: elicit.ByRequest, id: m.ID, params: m.Params}
				tr.ask(c, q)
				if c.revision < mcp.Revision20260728 {
					tr.content = do(c, tool, id, q, tr.questions)
				} else {
					tr.questions--
				}
			case m.Method == mcp.NotificationCancelled:
				tr.takenBack = true
			case m.Method != "" || string(m.ID) == "null":
			case rawjson.Text(rawjson.Member(m.Result, "resultType")) == "input_required":
				for key, r := range rawjson.Members(rawjson.Member(m.Result, "inputRequests")) {
					q := asked{via: elicit.InRound, key: key, state: rawjson.Member(m.Result, "requestState"), params: rawjson.Member(r, "params")}
					tr.ask(c, q)
					tr.content = do(c, tool, id, q, tr.questions)
				}
			default:
				tr.end(c, m)
				return tr
			}
		}
	}
}

func (tr *trial) ask(c *client, q asked) {
	tr.questions++
	var declared json.RawMessage
	if c.declares != "" {
		declared = []byte(c.declares)
	}
	tr.broken(lint.Elicitation(lint.Input{
		Params: q.params, Revision: c.revision, Via: q.via, Declared: lint.DeclaredModes(declared, c.revision),
	}))
}

func (tr *trial) end(c *client, m message) {
	tr.responded = true
	tr.all = string(m.Result) + string(m.Error)
	tr.text = rawjson.Text(rawjson.At(m.Result, "/content/0/text")) + rawjson.Text(rawjson.Member(m.Error, "message"))
	tr.isError = m.Error != nil || string(rawjson.Member(m.Result, "isError")) == "true"
	if m.Result != nil {
		tr.broken(lint.Result(m.Result, mcp.MethodCallTool, c.revision))
	}
}

func (tr *trial) broken(found []lint.Finding) {
	for _, f := range found {
		if f.Severity <= lint.Should && !slices.Contains(tr.rules, f.Rule) {
			tr.rules = append(tr.rules, f.Rule)
		}
	}
}

func honestly(c *client, tool, id string, q asked, _ int) json.RawMessage {
	r := parsed(c.t, q.params)
	if r.Mode == elicit.ModeURL {
		c.respond(tool, q, `{"action":"accept"}`)
		return nil
	}
	content := elicit.Valid(r.Fields)
	c.respond(tool, q, fmt.Sprintf(`{"action":"accept","content":%s}`, content))
	return content
}

func parsed(t *testing.T, params json.RawMessage) *elicit.Request {
	r, err := elicit.Parse(params)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// respond answers a question with a result.
func (c *client) respond(tool string, q asked, result string) {
	if q.via == elicit.ByRequest {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, result))
		return
	}
	c.retry(tool, fmt.Sprintf(`%q:%s`, q.key, result), q.state)
}

func (c *client) cancel(id string) {
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	synctest.Wait()
}

func (c *client) retry(tool, responses string, state json.RawMessage) {
	members := fmt.Sprintf(`"name":%q,"arguments":{},"inputResponses":{%s}`, tool, responses)
	if state != nil {
		members += `,"requestState":` + string(state)
	}
	c.request(mcp.MethodCallTool, members)
}

// facts returns the facts of a question for package fault.
func (c *client) facts(tool string, q asked) fault.Facts {
	other := "order_lunch"
	if tool == other {
		other = "frame_picture"
	}
	return fault.Facts{
		Revision: c.revision, Transport: "stdio", Via: q.via, Method: mcp.MethodElicit, Request: parsed(c.t, q.params),
		ID: q.id, Key: q.key, InCall: true, State: q.state, Tool: tool, Others: []string{other},
	}
}

// spoilt answers the question at a position with a fault, and all others honestly.
func spoilt(name, field string, place int) behaviour {
	return func(c *client, tool, id string, q asked, n int) json.RawMessage {
		if n != place {
			return honestly(c, tool, id, q, n)
		}
		seconds := 2.0
		plan, err := fault.Build(c.facts(tool, q), name, fault.Params{Field: field, Seconds: &seconds})
		if err != nil {
			c.t.Fatal(err)
		}
		c.carryOut(plan, tool, id, q)
		return rawjson.Member(plan.Result, "content")
	}
}

func (c *client) carryOut(plan fault.Plan, tool, id string, q asked) {
	for _, s := range plan.Steps {
		switch s.Do {
		case fault.Send:
			c.send(string(s.Raw))
		case fault.Wait:
			time.Sleep(s.Time)
		case fault.AwaitWithdrawal:
			time.Sleep(10 * time.Second)
		case fault.CancelCall:
			c.cancel(id)
		}
	}
	r := plan.Retry
	switch {
	case r == nil:
		return
	case r.Cut:
		c.send(`{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{}`)
		return
	case r.Tool != "":
		tool = r.Tool
	}
	var responses []string
	for _, m := range append([]fault.Member{{Name: q.key, Value: r.Value}}, r.Extra...) {
		if m.Value != nil {
			responses = append(responses, fmt.Sprintf(`%q:%s`, m.Name, m.Value))
		}
	}
	state := q.state
	if r.ChangeState {
		state = r.State
	}
	c.retry(tool, strings.Join(responses, ","), state)
}
