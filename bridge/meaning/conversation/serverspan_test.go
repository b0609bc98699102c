package conversation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// asking is a call that asks, whose request is a span. The question is open from 1 s to 3 s.
const asking = `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},"name":"order"}}
+1s s2c {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}
+2s c2s {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`

// span makes the frame of a span that began and ended at these seconds of the call by the server's clock.
func span(transport, name, id, parent, kind string, from, to float64) wire.Frame {
	at := func(s float64) time.Time { return logtest.Epoch.Add(time.Duration(s * float64(time.Second))) }
	return wire.Frame{Time: logtest.Epoch.Add(9 * time.Second), Server: "files", Session: "files-1", Transport: transport, Dir: wire.Meta, Call: 1, Round: 1,
		Note: &wire.Note{Kind: wire.NoteSpan, Span: &wire.Span{Name: name, SpanID: id, ParentID: parent, Kind: kind, Start: at(from), End: at(to)}}}
}

// told says what a call has of the server's spans.
func told(c *Call) string {
	var b strings.Builder
	for _, s := range c.ServerSpans {
		fmt.Fprintf(&b, "%d %s %v-%v round %d question %d\n", s.Depth, s.Name, s.Start.Sub(c.Start).Round(time.Millisecond), s.End.Sub(c.Start).Round(time.Millisecond), s.Round, s.Question)
	}
	fmt.Fprint(&b, c.ServerClock)
	return b.String()
}

// Spans stand in the call, within each other, at the times of the inspector's clock, however they come
// and however the call is read.
func TestServerSpans(t *testing.T) {
	const ours = "00f067aa0ba902b7"
	for name, test := range map[string]struct {
		spans []wire.Frame
		want  string
	}{
		"the children come first": {[]wire.Frame{
			span("stdio", "INSERT", "c", "b", "client", 2, 2.1), span("stdio", "later", "d", "a", "internal", 3.5, 3.6), span("stdio", "work", "b", "a", "internal", 0.5, 2.2), span("stdio", "tools/call", "a", ours, "server", 0.1, 3.9),
		}, `0 tools/call 100ms-3.9s round 1 question 0
1 work 500ms-2.2s round 1 question 0
2 INSERT 2s-2.1s round 1 question 1
1 later 3.5s-3.6s round 1 question 0
`},
		"the clock is ahead": {[]wire.Frame{
			span("http", "INSERT", "c", "a", "client", 6, 6.1), span("http", "tools/call", "a", ours, "server", 4.4, 8.34),
		}, `0 tools/call 60ms-4s round 1 question 0
1 INSERT 1.66s-1.76s round 1 question 1
The server's clock is 4.34 s ahead, as estimated from the span of the request, give or take 60 ms.`},
		"the clock is behind": {[]wire.Frame{
			span("http", "tools/call", "a", ours, "server", -1, 2),
		}, `0 tools/call 0s-3s round 1 question 0
The server's clock is 1.00 s behind, as estimated from the span of the request, give or take 1.00 s.`},
		"longer than the request": {[]wire.Frame{
			span("http", "tools/call", "a", ours, "server", 0, 4.2),
		}, `0 tools/call -100ms-4.1s round 1 question 0
The server's clock is 100 ms ahead, as estimated from the span of the request, give or take 100 ms.`},
		"a little longer": {[]wire.Frame{
			span("stdio", "tools/call", "a", ours, "server", 0.1, 4.01), span("stdio", "background", "b", "a", "internal", 5, 6),
		}, `0 tools/call 100ms-4.01s round 1 question 0
1 background 5s-6s round 1 question 0
`},
		"no request's span": {[]wire.Frame{
			span("http", "INSERT", "c", "x", "client", -2, -1.9),
		}, `0 INSERT 0s-100ms round 1 question 0
The server's clock is at least 2.00 s behind, as estimated from spans that would be earlier than the request.`},
		"within each other, and twice the same": {[]wire.Frame{
			span("stdio", "one", "a", "b", "internal", 1, 2), span("stdio", "two", "b", "a", "internal", 1, 2), span("stdio", "two", "b", "a", "internal", 1, 2),
		}, `0 one 1s-2s round 1 question 1
1 two 1s-2s round 1 question 1
1 two 1s-2s round 1 question 1
`},
	} {
		frames := logtest.Talk(t, asking)
		for i := range frames {
			frames[i].Call, frames[i].Round = 1, 1
		}
		l := logtest.New(t)
		live := New(l)
		for _, f := range append(frames, test.spans...) {
			l.Append(f)
			if err := live.Update(context.Background()); err != nil {
				t.Fatal(err)
			}
			if _, err := live.Watch(t.Context(), 1, false); err != nil {
				t.Fatal(err)
			}
		}
		watched, err := live.Watch(t.Context(), 1, false)
		if err != nil {
			t.Fatal(err)
		}
		c := New(l)
		if err := c.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		read, err := c.Call(t.Context(), 1, Reading{})
		if err != nil {
			t.Fatal(err)
		}
		for way, got := range map[string]*Call{"watched": watched, "read": read} {
			if told(got) != test.want || got.State != Done || got.Took() != 4*time.Second {
				t.Errorf("%s, %s: %v after %v\n%s\nwant\n%s", name, way, got.State, got.Took(), told(got), test.want)
			}
		}
	}
}
