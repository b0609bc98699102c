//go:build !race

package demo

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
)

var (
	update  = flag.Bool("update", false, "write what goes over the wire to testdata, rather than compare it")
	wireDir = flag.String("wire", "", "write all that goes over the wire to this `directory`, to be compared by hand")
)

// declared holds the capabilities of the test's clients.
var declared = map[string]string{
	"everything": `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`,
	"forms":      `{"elicitation":{}}`,
	"URLs":       `{"elicitation":{"url":{}}}`,
	"nothing":    `{}`,
}

// TestWire compares the messages for every tool, prompt and resource in every revision with
// testdata/wire. The files contain the ordinary transcripts in full, and digests of those with
// difficult clients or varied arguments.
func TestWire(t *testing.T) {
	for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
		t.Run(rev, func(t *testing.T) {
			t.Parallel()
			var kept, all strings.Builder
			var got []transcript
			for _, x := range transcripts(t, rev) {
				fmt.Fprintf(&all, "# %s\n%s\n", x.title, x.text)
				fmt.Fprintf(&kept, "# %s\n%s\n", x.title, x.kept())
				got = append(got, x)
			}
			if *wireDir != "" {
				if err := os.WriteFile(filepath.Join(*wireDir, rev+".txt"), []byte(all.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join("testdata", "wire", rev+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(kept.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSuffix(strings.TrimPrefix(string(text), "# "), "\n"), "\n# ")
			if len(want) != len(got) {
				t.Fatalf("%d transcripts, and %d in %s; if that is meant, run the test with -update", len(got), len(want), file)
			}
			for i, x := range got {
				if before := want[i]; x.title+"\n"+x.kept() != before {
					t.Errorf("if this is meant, run the test with -update.\n%s\n%s\nIt was\n%s", x.title, x.text, before)
				}
			}
		})
	}
}

// transcript holds the messages of one story with one policy.
type transcript struct {
	title, text string
	ordinary    bool
}

// kept returns the part of a transcript that is in testdata.
func (x transcript) kept() string {
	if x.ordinary {
		return x.text
	}
	return fmt.Sprintf("%.8x\n", sha256.Sum256([]byte(x.text)))
}

// transcripts runs every story in a revision, and returns the transcripts.
func transcripts(t *testing.T, rev string) []transcript {
	var list []transcript
	tell := func(s storyToTell, client string, p policy) {
		c := newTeller(t, rev, declared[client], p)
		c.tell(s.method, s.params)
		list = append(list, transcript{
			title:    fmt.Sprintf("%s %s: %s, %s", s.method, s.params, client, p),
			text:     c.text(s.params),
			ordinary: s.ordinary && p == accepts && client == "everything",
		})
	}
	stories := storiesToTell()
	for _, client := range slices.Sorted(maps.Keys(declared)) {
		c := newTeller(t, rev, declared[client], accepts)
		for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
			c.call(method, `{}`)
		}
		list = append(list, transcript{"lists: " + client, c.greeting + c.text(""), client == "everything"})
		for _, s := range stories {
			policies := s.policies
			switch {
			case client != "everything" && s.ordinary:
				policies = []policy{accepts}
			case client != "everything":
				policies = nil
			}
			for _, p := range policies {
				tell(s, client, p)
			}
		}
	}
	return list
}

// policy is how the client of a transcript answers questions.
type policy string

const (
	accepts  policy = "accepting"
	declines policy = "declining"
	cancels  policy = "cancelling"
	wavers   policy = "accepting, then declining"
	misfits  policy = "accepting with what does not fit"
	refuses  policy = "accepting, and refusing on the page"
	errs     policy = "answering with an error"
	silent   policy = "not answering until it is too late"
)

type storyToTell struct {
	method, params string
	policies       []policy
	ordinary       bool // also run with clients that cannot be asked
}

func storiesToTell() []storyToTell {
	everyWay := []policy{accepts, declines, cancels, wavers, misfits, errs}
	var list []storyToTell
	tool := func(name, args string, ordinary bool, policies ...policy) {
		list = append(list, storyToTell{protocol.MethodCallTool, fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args), policies, ordinary})
	}
	for _, name := range []string{"deploy", "transfer_money", "book_table", "delete_files", "onboard", "every_field", "ask", "connect_calendar",
		"connect_mailbox", "protected_report", "suspicious_link", "pay_invoice", "export_photos", "haggle", "crash_on_decline", "slow_count", "who_am_i"} {
		tool(name, `{}`, true, everyWay...)
		tool(name, `{"x":1}`, false, accepts)
	}
	// These ask several questions at the same time, so that their order is random.
	tool("plan_trip", `{}`, true, accepts, declines, cancels, misfits, errs)
	tool("ask_many", `{"count":3}`, true, accepts, declines, cancels, misfits, errs)
	tool("ask_this", `{"question":{"message":"Go on?","mode":"form","requestedSchema":{"type":"object","properties":{"n":{"type":"number","default":1.50}}}}}`, true, everyWay...)
	tool("ask_this", `{"question":{"message":"Sign in","mode":"url","url":"https://example.com/","elicitationId":"e"}}`, false, accepts)
	tool("ask_this", `{"question":{"message":7}}`, false, accepts)
	tool("haggle", `{"rounds":2}`, false, accepts)
	tool("haggle", `{"rounds":2.5}`, false, accepts)
	tool("haggle", `{"rounds":2.0}`, false, accepts)
	tool("export_photos", `{"rounds":1}`, false, accepts)
	tool("transfer_money", `{"amount":1e1,"currency":"JPY","to":"A <b> & Co"}`, false, accepts, declines)
	tool("book_table", `{"restaurant":"nonna"}`, false, accepts, declines)
	tool("delete_files", `{"folder":"a \"b\""}`, false, accepts)
	tool("deploy", `{"service":"search"}`, false, accepts)
	tool("connect_calendar", `{}`, false, refuses)
	tool("protected_report", `{"report":"board"}`, false, accepts, declines, cancels, refuses)
	tool("flood", `{"count":3}`, true, everyWay...)
	tool("flood", `{"count":3,"wait":false}`, false, declines)
	for _, name := range []string{"impatient", "times_out"} {
		tool(name, `{}`, true, everyWay...)
		tool(name, `{"seconds":1.5}`, false, accepts, silent)
	}
	for _, kind := range kinds() {
		tool("ask", fmt.Sprintf(`{"kind":%q}`, kind.Name), false, accepts)
	}
	for _, link := range suspicious {
		tool("suspicious_link", fmt.Sprintf(`{"link":%q}`, link.name), false, declines)
	}
	for _, kind := range shows {
		tool("show_result", fmt.Sprintf(`{"kind":%q}`, kind), kind == "everything", accepts)
	}
	for _, b := range breaches() {
		tool("rule_breaker", fmt.Sprintf(`{"rule":%q}`, b.Name), false, accepts, declines)
	}
	tool("rule_breaker", `{"rule":"undeclared_mode"}`, true, errs)
	list = append(list,
		storyToTell{protocol.MethodGetPrompt, `{"name":"release_notes","arguments":{"version":"1.4.0"}}`, everyWay, true},
		storyToTell{protocol.MethodGetPrompt, `{"name":"release_notes"}`, []policy{accepts}, false},
		storyToTell{protocol.MethodGetPrompt, `{"name":"stand_up"}`, []policy{accepts}, false},
		storyToTell{protocol.MethodReadResource, `{"uri":"contract://lease/old-mill"}`, everyWay, true},
		storyToTell{protocol.MethodReadResource, `{"uri":"contract://acme/terms"}`, []policy{accepts, declines}, false},
		storyToTell{protocol.MethodReadResource, `{"uri":"contract://"}`, []policy{accepts}, false},
		storyToTell{protocol.MethodReadResource, `{"uri":"weather://harbour/yesterday"}`, []policy{accepts}, false},
		storyToTell{protocol.MethodReadResource, `{"uri":"weather://harbour/yesterday.png"}`, []policy{accepts}, false},
	)
	return list
}

// teller is a client that records all messages.
type teller struct {
	t              *testing.T
	conn           mcp.Connection
	revision, caps string
	policy         policy
	next           int
	asked          int
	said           []string
	greeting       string
	minutes        int
	asking         chan struct{}  // closed when a question is left without an answer
	withdrawn      chan struct{}  // closed when a question is withdrawn
	visits         sync.WaitGroup // requests of pages
	opened         []string
	rules          bool // the story is rule_breaker
}

func newTeller(t *testing.T, revision, caps string, p policy) *teller {
	t.Helper()
	c := &teller{t: t, revision: revision, caps: caps, policy: p, asking: make(chan struct{}), withdrawn: make(chan struct{})}
	srv := New(Options{Now: c.now, Pause: c.pause})
	conn, err := serving(t, srv).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.conn = conn
	t.Cleanup(func() {
		c.visits.Wait()
		conn.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	if revision < protocol.Revision20260728 {
		c.call("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"teller","version":"1"}}`, revision, caps))
		c.write(&jsonrpc.Request{Method: protocol.NotificationInitialized})
	} else {
		c.call("server/discover", `{}`)
	}
	c.greeting, c.said = c.text(""), nil
	return c
}

// now returns a fixed time, which only advances if answers are to be too late.
func (c *teller) now() time.Time {
	if c.policy == silent {
		c.minutes++
	}
	return time.Date(2026, 6, 3, 12, c.minutes, 0, 0, time.UTC)
}

// pause makes no answer too late, unless the policy is silent.
func (c *teller) pause(ctx context.Context, d time.Duration) error {
	var until chan struct{}
	switch {
	case d < time.Second+1 && c.policy != silent:
		return ctx.Err()
	case d == 1500*time.Millisecond:
		until = c.asking
	case d == 100*time.Millisecond:
		until = c.withdrawn
	}
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *teller) write(m jsonrpc.Message) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), m); err != nil {
		c.t.Fatal(err)
	}
}

func (c *teller) note(format string, a ...any) { c.said = append(c.said, fmt.Sprintf(format, a...)) }

// read returns the response with this id. Meanwhile it answers the server's requests.
func (c *teller) read(id jsonrpc.ID) *jsonrpc.Response {
	c.t.Helper()
	for {
		m, err := c.conn.Read(c.t.Context())
		if err != nil {
			c.note("end: the session is over")
			return nil
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			if m.ID == id {
				if m.Error != nil {
					text, _ := json.Marshal(m.Error)
					c.note("error: %s", text)
				} else {
					c.note("result: %s", m.Result)
				}
				return m
			}
			c.note("stray response: %s", m.Result)
		case *jsonrpc.Request:
			if !m.IsCall() {
				c.note("%s %s", m.Method, m.Params)
				if m.Method == protocol.NotificationCancelled && c.policy == silent {
					close(c.withdrawn)
				}
				continue
			}
			r := c.answer(m.Method, m.Params)
			if r == "" {
				c.note("%s %s -> nothing", m.Method, m.Params)
				close(c.asking)
				continue
			}
			res := &jsonrpc.Response{ID: m.ID, Result: json.RawMessage(r)}
			if c.policy == errs {
				res.Result, res.Error = nil, &jsonrpc.Error{Code: -32603, Message: "no"}
			}
			c.note("%s %s -> %s", m.Method, m.Params, r)
			c.write(res)
		}
	}
}

// call sends a request and returns its response.
func (c *teller) call(method, params string) *jsonrpc.Response {
	c.t.Helper()
	c.next++
	id, _ := jsonrpc.MakeID(float64(c.next))
	meta := `"progressToken":"p"`
	if c.revision >= protocol.Revision20260728 {
		meta += fmt.Sprintf(`,"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s,"io.modelcontextprotocol/logLevel":"debug"`, c.revision, c.caps)
	}
	c.write(&jsonrpc.Request{ID: id, Method: method, Params: json.RawMessage(withMembers(params, `"_meta":{`+meta+`}`))})
	return c.read(id)
}

// withMembers returns an object with more members.
func withMembers(object, members string) string {
	if object == `{}` || members == "" {
		return object[:len(object)-1] + members + "}"
	}
	return object[:len(object)-1] + "," + members + "}"
}

// tell runs a story through some rounds or sign-ins.
func (c *teller) tell(method, params string) {
	c.t.Helper()
	c.rules = strings.Contains(params, "rule_breaker")
	var more []string
	for range 6 {
		res := c.call(method, withMembers(params, strings.Join(more, ",")))
		if res == nil {
			return
		}
		if e, ok := res.Error.(*jsonrpc.Error); ok && e.Code == protocol.CodeURLElicitationRequired && strings.Contains(params, "protected_report") {
			c.signInto(e.Data)
			continue
		}
		var r struct {
			ResultType    string
			InputRequests json.RawMessage
			RequestState  *string
		}
		json.Unmarshal(res.Result, &r)
		if r.ResultType != "input_required" || r.InputRequests == nil && r.RequestState == nil {
			return
		}
		var requests map[string]*struct {
			Method string
			Params json.RawMessage
		}
		responses := map[string]json.RawMessage{}
		json.Unmarshal(r.InputRequests, &requests)
		var keys []string
		for k := range requests {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if q := requests[k]; q != nil {
				if a := c.answer(q.Method, q.Params); a != "" {
					responses[k] = json.RawMessage(a)
				} else {
					responses[k] = fill(c.t, q.Params)
				}
			}
		}
		more = nil
		if len(responses) > 0 {
			more = append(more, fmt.Sprintf(`"inputResponses":%s`, mustJSON(responses)))
		}
		c.note("answers: %s", mustJSON(responses))
		if r.RequestState != nil {
			more = append(more, fmt.Sprintf(`"requestState":%s`, mustJSON(*r.RequestState)))
		}
	}
	c.note("and so on")
}

// signInto opens the pages of an error -32042 and reads the notifications of their completion.
func (c *teller) signInto(data json.RawMessage) {
	var d struct{ Elicitations []struct{ URL string } }
	if err := json.Unmarshal(data, &d); err != nil {
		c.t.Fatal(err)
	}
	for _, e := range d.Elicitations {
		c.open(e.URL)
		m, err := c.conn.Read(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		c.note("%s %s", m.(*jsonrpc.Request).Method, m.(*jsonrpc.Request).Params)
	}
}

// open makes the policy's choice on a sign-in page. It ignores other addresses.
func (c *teller) open(address string) {
	if !strings.Contains(address, signInPath) || slices.Contains(c.opened, address) {
		return
	}
	c.opened = append(c.opened, address)
	choice := "allow"
	if c.policy == refuses {
		choice = "refuse"
	}
	c.visits.Go(func() { browse(c.t, "POST", address, url.Values{"choice": {choice}}) })
	if c.revision >= protocol.Revision20260728 {
		c.visits.Wait()
	}
}

// answer returns the answer to a question, or "" for none.
func (c *teller) answer(method string, params json.RawMessage) string {
	switch method {
	case protocol.MethodSample:
		return `{"role":"assistant","model":"m","content":{"type":"text","text":"Gutters."}}`
	case protocol.MethodListRoots:
		return `{"roots":[{"uri":"file:///books","name":"Books"}]}`
	}
	c.asked++
	var q struct{ URL string }
	json.Unmarshal(params, &q) // the params of rule_breaker may be invalid
	switch {
	case c.policy == declines || c.policy == wavers && c.asked > 1:
		return `{"action":"decline"}`
	case c.policy == cancels:
		return `{"action":"cancel"}`
	case c.policy == silent:
		return ""
	case q.URL != "":
		c.open(q.URL)
		return `{"action":"accept"}`
	case c.policy == misfits:
		return `{"action":"accept","content":{"build":7,"amount":"x","party":0,"name":"","answer":[],"leave":1,"approve":"yes","offer":0,"stars":9,"quietly":2,"open":-1,"place":"","audience":"","reason":""}}`
	case c.rules:
		return `{"action":"accept","content":{"size":"L"}}`
	}
	return string(fill(c.t, params))
}

var (
	states  = regexp.MustCompile(`"requestState":"[^"]+"`)
	ids     = regexp.MustCompile(`"elicitationId":"[A-Z2-7]{26}"`)
	cards   = regexp.MustCompile(`http://127\.0\.0\.1:\d+/sign-in/[A-Z2-7]{26}`)
	ms      = regexp.MustCompile(`in \d+ ms`)
	msField = regexp.MustCompile(`"milliseconds":\d+`)
)

// text returns the messages, one per line, without the parts that differ between runs.
func (c *teller) text(params string) string {
	for i, l := range c.said {
		l = states.ReplaceAllString(l, `"requestState":"STATE"`)
		l = ids.ReplaceAllString(l, `"elicitationId":"ID"`)
		l = cards.ReplaceAllString(l, `PAGE`)
		l = ms.ReplaceAllString(l, `in 0 ms`)
		l = msField.ReplaceAllString(l, `"milliseconds":0`)
		if len(l) > 8000 {
			l = fmt.Sprintf("%s… %d bytes, %x", l[:200], len(l), sha256.Sum256([]byte(l)))
		}
		c.said[i] = l
	}
	together := regexp.MustCompile(`plan_trip|pay_invoice|ask_many|flood|impatient|connect_calendar`).MatchString(params)
	if together && c.policy == errs || strings.Contains(params, `"wait":false`) {
		// The number of questions that are sent and answered before the others are cancelled is
		// random.
		for i := range c.said {
			c.said[i] = strings.Replace(c.said[i], `,"answer":"decline"`, "", 1)
		}
		c.said = slices.DeleteFunc(c.said, func(l string) bool {
			return !regexp.MustCompile(`^(result|error|notifications/message)`).MatchString(l)
		})
	}
	if together {
		for i := 0; i < len(c.said); i++ {
			from := i
			for i < len(c.said) && !strings.HasPrefix(c.said[i], "result:") && !strings.HasPrefix(c.said[i], "error:") {
				i++
			}
			slices.Sort(c.said[from:i])
		}
	}
	return strings.Join(c.said, "\n") + "\n"
}
