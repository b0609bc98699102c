package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
)

// bare is a client that sends and reads messages unchanged, so that the server can ask questions
// which would end the SDK's client.
type bare struct {
	t        *testing.T
	conn     mcp.Connection
	revision string
	caps     string
	next     int64
	// answer returns the result for a request from the server.
	answer func(method string, params json.RawMessage) string
	seen   []*jsonrpc.Request // requests and notifications from the server
}

func newBare(t *testing.T, revision string, o Options) *bare {
	t.Helper()
	if o.Pause == nil {
		o.Pause = quick
	}
	srv := New(o)
	return newBareOver(t, revision, srv, serving(t, srv))
}

// newBareOver is newBare over a transport to a server.
func newBareOver(t *testing.T, revision string, srv *Server, near mcp.Transport) *bare {
	t.Helper()
	conn, err := near.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bare{
		t: t, conn: conn, revision: revision,
		caps:   `{"elicitation":{"form":{},"url":{}}}`,
		answer: func(string, json.RawMessage) string { return `{"action":"decline"}` },
	}
	return b
}

// greet performs the handshake in revisions with sessions.
func (b *bare) greet() {
	b.t.Helper()
	if b.revision >= protocol.Revision20260728 {
		return
	}
	if _, err := b.call("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"bare","version":"1"}}`, b.revision, b.caps)); err != nil {
		b.t.Fatal(err)
	}
	b.write(&jsonrpc.Request{Method: protocol.NotificationInitialized})
}

func (b *bare) write(m jsonrpc.Message) {
	b.t.Helper()
	if err := b.conn.Write(b.t.Context(), m); err != nil {
		b.t.Fatal(err)
	}
}

// call sends a request and returns its result. Meanwhile it answers the server's requests. params
// is an object; since 2026-07-28 call adds the _meta that every request needs.
func (b *bare) call(method, params string) (json.RawMessage, error) {
	b.t.Helper()
	b.next++
	id, err := jsonrpc.MakeID(float64(b.next))
	if err != nil {
		b.t.Fatal(err)
	}
	if b.revision >= protocol.Revision20260728 {
		meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s,"io.modelcontextprotocol/logLevel":"debug"}`, b.revision, b.caps)
		params = strings.TrimSuffix(params, "}")
		if params != "{" {
			params += ","
		}
		params += meta + "}"
	}
	b.write(&jsonrpc.Request{ID: id, Method: method, Params: json.RawMessage(params)})
	for {
		m, err := b.conn.Read(b.t.Context())
		if err != nil {
			return nil, fmt.Errorf("reading: %w", err)
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			if m.ID == id {
				return m.Result, m.Error
			}
		case *jsonrpc.Request:
			b.seen = append(b.seen, m)
			if m.IsCall() {
				b.write(&jsonrpc.Response{ID: m.ID, Result: json.RawMessage(b.answer(m.Method, m.Params))})
			}
		}
	}
}

// tool calls a tool and goes through all rounds.
func (b *bare) tool(name, args string) (json.RawMessage, error) {
	b.t.Helper()
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)
	for range 30 {
		res, err := b.call(protocol.MethodCallTool, params)
		if err != nil {
			return nil, err
		}
		var r struct {
			ResultType    string
			InputRequests json.RawMessage
			RequestState  *string
		}
		if err := json.Unmarshal(res, &r); err != nil {
			b.t.Fatal(err)
		}
		if r.ResultType != "input_required" {
			return res, nil
		}
		if r.InputRequests == nil && r.RequestState == nil {
			return res, nil // no inputRequests and no requestState to repeat the call with
		}
		var requests map[string]*struct {
			Method string
			Params json.RawMessage
		}
		responses := map[string]json.RawMessage{}
		if json.Unmarshal(r.InputRequests, &requests) == nil {
			for k, q := range requests {
				if q == nil {
					continue
				}
				b.seen = append(b.seen, &jsonrpc.Request{Method: q.Method, Params: q.Params})
				responses[k] = json.RawMessage(b.answer(q.Method, q.Params))
			}
		}
		params = fmt.Sprintf(`{"name":%q,"arguments":%s,"inputResponses":%s`, name, args, mustJSON(responses))
		if r.RequestState != nil {
			params += fmt.Sprintf(`,"requestState":%s`, mustJSON(*r.RequestState))
		}
		params += "}"
	}
	b.t.Fatalf("%s does not come to an end", name)
	return nil, nil
}

func TestEveryRuleIsBroken(t *testing.T) {
	for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
		t.Run(rev, func(t *testing.T) {
			for _, breach := range breaches() {
				t.Run(breach.Name, func(t *testing.T) {
					b := newBare(t, rev, Options{})
					b.answer = func(_ string, params json.RawMessage) string {
						if strings.Contains(string(params), `"size"`) && strings.Contains(string(params), `"L"`) {
							return `{"action":"accept","content":{"size":"L"}}`
						}
						return `{"action":"decline"}`
					}
					b.greet()
					res, err := b.tool("rule_breaker", fmt.Sprintf(`{"rule":%q}`, breach.Name))
					possible := rev >= breach.Since && (breach.Before == "" || rev < breach.Before)
					if !possible {
						if err != nil || !strings.Contains(string(res), "cannot be done in "+rev) || len(b.seen) > 0 {
							t.Fatalf("it should say that it is not possible: %s, %v", res, err)
						}
						return
					}
					switch breach.Name {
					case "malformed_required_error", "left_over_error":
						if e, ok := err.(*jsonrpc.Error); !ok || e.Code != protocol.CodeURLElicitationRequired || !json.Valid(e.Data) {
							t.Fatalf("got %v, want error -32042", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if want := strings.TrimPrefix(breach.What, "none; but "); !strings.Contains(string(res), string(mustJSON(want)[1:len(want)-1])) &&
						!slices.Contains([]string{"no_result_type", "unknown_result_type", "nothing_required", "undeclared_mode"}, breach.Name) {
						t.Errorf("the result does not say what was broken: %s", res)
					}
					if breach.Schema != nil || breach.Params != nil {
						b.arrivedAsWritten(breach)
					}
				})
			}
		})
	}
}

// arrivedAsWritten checks that the question was sent with its members in order, with only the
// intended duplicates and omissions.
func (b *bare) arrivedAsWritten(breach breach) {
	b.t.Helper()
	if len(b.seen) != 1 || b.seen[0].Method != protocol.MethodElicit {
		b.t.Fatalf("the server sent %d messages", len(b.seen))
	}
	want := compact(b.t, cmp.Or(string(breach.Schema), string(breach.paramsFor(b.revision))))
	if got := compact(b.t, cmp.Or(string(b.seen[0].Params), "null")); !strings.Contains(got, want) {
		b.t.Errorf("sent %s\nwant %s", got, want)
	}
}

func compact(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(json.RawMessage(s)); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return strings.TrimSpace(b.String())
}

func TestRawResults(t *testing.T) {
	cases := []struct {
		rule, want string
	}{
		{"nothing_required", `{"resultType":"input_required"`},
		{"no_result_type", `{"content":[{"type":"text"`},
		{"unknown_result_type", `{"resultType":"perhaps"`},
		{"null_input_request", `{"resultType":"input_required","inputRequests":{"a":null},"requestState":"`},
		{"empty_state", `"requestState":""`},
		{"no_params", `"inputRequests":{"broken":{"method":"elicitation/create"}}`},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			b := newBare(t, protocol.Revision20260728, Options{})
			res, err := b.call(protocol.MethodCallTool, fmt.Sprintf(`{"name":"rule_breaker","arguments":{"rule":%q}}`, c.rule))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(res), c.want) {
				t.Errorf("got %s, want %s", res, c.want)
			}
		})
	}
}

// TestUndeclaredMode tests different capabilities of the client, which the test of the other
// breaches does not vary.
func TestUndeclaredMode(t *testing.T) {
	cases := []struct{ revision, caps, want string }{
		{protocol.Revision20250618, `{}`, `"requestedSchema"`},
		{protocol.Revision20251125, `{"elicitation":{}}`, `"mode":"url"`},
		{protocol.Revision20251125, `{"elicitation":{"url":{}}}`, `"mode":"form"`},
		{protocol.Revision20260728, `{"elicitation":{"form":{}}}`, `"mode":"url"`},
	}
	for _, c := range cases {
		b := newBare(t, c.revision, Options{})
		b.caps = c.caps
		b.greet()
		if _, err := b.tool("rule_breaker", `{"rule":"undeclared_mode"}`); err != nil {
			t.Fatal(err)
		}
		if len(b.seen) != 1 || !strings.Contains(string(b.seen[0].Params), c.want) {
			t.Errorf("%s, %s: sent %v, want %s", c.revision, c.caps, b.seen, c.want)
		}
	}
}

func TestRequestState(t *testing.T) {
	b := newBare(t, protocol.Revision20260728, Options{})
	var round struct{ RequestState *string }
	first := func() string {
		round.RequestState = nil
		res, err := b.call(protocol.MethodCallTool, `{"name":"onboard","arguments":{},"inputResponses":{"who":{"action":"accept","content":{"name":"Ada","email":"ada@example.com"}}}}`)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(res, &round); err != nil {
			t.Fatal(err)
		}
		return *round.RequestState
	}

	res, err := b.call(protocol.MethodCallTool, `{"name":"onboard","arguments":{}}`)
	if err != nil || strings.Contains(string(res), "requestState") {
		t.Errorf("a first round has nothing to remember: %s, %v", res, err)
	}
	state := first()
	if strings.Contains(state, "Ada") || strings.Contains(state, "ada@") {
		t.Errorf("requestState can be read: %s", state)
	}
	const answer = `"inputResponses":{"job":{"action":"cancel"}}`
	if res, err = b.call(protocol.MethodCallTool, fmt.Sprintf(`{"name":"onboard",%s,"requestState":%q}`, answer, state)); err != nil || !strings.Contains(string(res), "The account of Ada is there") {
		t.Errorf("got %s, %v", res, err)
	}
	for what, params := range map[string]string{
		"changed":                fmt.Sprintf(`{"name":"onboard",%s,"requestState":%q}`, answer, flip(state)),
		"made up":                fmt.Sprintf(`{"name":"onboard",%s,"requestState":"bm90aGluZw"}`, answer),
		"no base64":              fmt.Sprintf(`{"name":"onboard",%s,"requestState":"***"}`, answer),
		"of another tool":        fmt.Sprintf(`{"name":"deploy",%s,"requestState":%q}`, answer, state),
		"of other arguments":     fmt.Sprintf(`{"name":"onboard","arguments":{"x":1},%s,"requestState":%q}`, answer, state),
		"of another server":      fmt.Sprintf(`{"name":"onboard",%s,"requestState":%q}`, answer, stateOfAnother()),
		"of a former revision's": fmt.Sprintf(`{"name":"onboard",%s,"requestState":"{}"}`, answer),
	} {
		if _, err := b.call(protocol.MethodCallTool, params); err == nil || !strings.Contains(err.Error(), "not one that this server gave out") {
			t.Errorf("a requestState that is %s: %v", what, err)
		}
	}
	// The deadline of this answer is in the requestState that came with the question.
	if _, err := b.call(protocol.MethodCallTool, `{"name":"impatient","inputResponses":{"seats":{"action":"cancel"}}}`); err == nil || !strings.Contains(err.Error(), "requestState is missing") {
		t.Errorf("a requestState that is left out: %v", err)
	}
}

func flip(s string) string {
	b := []byte(s)
	if i := len(b) / 2; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

func stateOfAnother() string {
	return New(Options{}).seal.Close(mustJSON(notes{}), "tools/call\nonboard\n{}")
}

func TestModesOnTheWire(t *testing.T) {
	for rev, want := range map[string]string{
		protocol.Revision20250618: `{"message":"Who is joining?"`,
		protocol.Revision20251125: `{"mode":"form","message":"Who is joining?"`,
		protocol.Revision20260728: `{"mode":"form","message":"Who is joining?"`,
	} {
		b := newBare(t, rev, Options{})
		b.greet()
		if _, err := b.tool("onboard", `{}`); err != nil {
			t.Fatal(err)
		}
		if len(b.seen) != 1 || !strings.HasPrefix(string(b.seen[0].Params), want) {
			t.Errorf("%s: sent %s", rev, b.seen[0].Params)
		}
	}
}

func TestDroppedQuestion(t *testing.T) {
	// If the client disconnects while it is asked, the call ends.
	srv := New(Options{})
	conn, err := serving(t, srv).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &bare{t: t, conn: conn, revision: protocol.Revision20251125, caps: `{"elicitation":{}}`}
	b.greet()
	id, _ := jsonrpc.MakeID("last")
	b.write(&jsonrpc.Request{ID: id, Method: protocol.MethodCallTool, Params: json.RawMessage(`{"name":"delete_files"}`)})
	if m, err := conn.Read(context.Background()); err != nil || m.(*jsonrpc.Request).Method != protocol.MethodElicit {
		t.Fatalf("got %v, %v", m, err)
	}
	conn.Close()
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
}
