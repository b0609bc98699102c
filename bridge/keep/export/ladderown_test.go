package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// A note of the inspector's own is drawn on the client's lane and never as an arrow; an
// answer of a round stands at its own time, and not at that of the request which carries
// it. An answer of the server over HTTP that is not a message is an arrow.
func TestLadderDrawsWhatWasOnTheWire(t *testing.T) {
	at := func(s int) time.Time { return logtest.Epoch.Add(time.Duration(s) * time.Second) }
	const ask = `{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}}`
	accept := json.RawMessage(`{"action":"accept","content":{}}`)
	said := func(s int, question int, pointer string) wire.Frame {
		note := &wire.Note{Kind: wire.NoteAnswered, Answer: accept, Pointer: pointer, At: at(s)}
		return wire.Frame{Time: at(s), Dir: wire.Meta, Call: 1, Round: 1, Question: question, Actor: conversation.ByPerson, Note: note}
	}
	frames := []wire.Frame{
		{Time: at(0), Dir: wire.ClientToServer, Call: 1, Round: 1, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book"}}`)},
		{Time: at(1), Dir: wire.ServerToClient, Call: 1, Round: 1, Question: 1, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":%s,"b":%s,"c":%s}}}`, ask, ask, ask)},
		said(3, 1, "/result/inputRequests/a/params"),
		said(6, 2, "/result/inputRequests/b/params"),
		{Time: at(8), Dir: wire.Meta, Call: 1, Round: 1, Question: 3, Actor: conversation.ByPerson, Note: &wire.Note{Kind: wire.NoteSettled, State: "withdrawn", Why: "you went on without it", Pointer: "/result/inputRequests/c/params", At: at(8)}},
		{Time: at(9), Dir: wire.ClientToServer, Call: 1, Round: 2, Actor: conversation.ByPerson, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book","requestState":"s","inputResponses":{"a":%s,"b":%s}}}`, accept, accept)},
		{Time: at(10), Dir: wire.Meta, Call: 1, HTTPMethod: "POST", Status: 503, Failed: true, Note: &wire.Note{Kind: wire.NoteHTTPStatus, Of: "tools/call", Said: "busy"}},
		{Time: at(12), Dir: wire.Meta, Call: 1, Note: &wire.Note{Kind: wire.NoteEnded, State: "stopped", At: at(11)}},
	}
	for i := range frames {
		frames[i].Server, frames[i].Session, frames[i].Transport = "s", "s-1", "http"
	}
	calls := callsOf(t, logtest.New(t, frames...))
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	l := Draw(calls[0], 0)
	var got []string
	for _, a := range l.Arrows {
		if a.Kind == ArrowOwn || a.Kind == ArrowReply || a.Seq == 7 {
			got = append(got, fmt.Sprintf("%d %s %s→%s %s", a.Seq, a.At, a.From, a.To, a.Full))
		}
	}
	want := []string{
		"3 3s person→client a: accept", "4 6s person→client b: accept", "5 8s client→client question 3: withdrawn, by the person: you went on without it",
		"7 10s server→client POST of tools/call was answered with HTTP 503 Service Unavailable: busy", "8 11s client→client call 1 stopped",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var b bytes.Buffer
	if err := l.Mermaid(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"  Note over C: 5 question 3: withdrawn, by the person: you went on without it\n", "  Note over C: 8 call 1 stopped\n", "  P-->>C: a: accept\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
	for _, el := range parseSVG(t, drawn(t, calls[0], true)) {
		if x2 := el.attrs["x2"]; el.attrs["class"] == "l-shaft" && el.attrs["y1"] == fmt.Sprint(l.Arrows[len(l.Arrows)-1].Y) && x2 != el.attrs["x1"] {
			t.Errorf("the note that the call was stopped has a shaft: %v", el.attrs)
		}
	}
}

// Who answers the questions of another client is not known, and no person is drawn. A question
// that no arrow to a person has stands with its message on the arrow from the server.
func TestLadderOfWhoAnswers(t *testing.T) {
	const message = "Which build?"
	for by, want := range map[string]struct{ participant, question, sentence string }{
		"":                    {"participant P as person or program", "S->>C: 2 elicitation/create", "1.50 s with the person or program"},
		conversation.ByPerson: {"actor P as person", "S->>C: 2 elicitation/create", "1.50 s with the person"},
		conversation.ByScript: {"actor P as person", "S->>C: 2 elicitation/create: " + message, "1.50 s with the client"},
	} {
		frames := []wire.Frame{
			{Dir: wire.ClientToServer, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}`)},
			{Dir: wire.ServerToClient, Raw: []byte(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"` + message + `","requestedSchema":{"type":"object","properties":{}}}}`)},
			{Dir: wire.ClientToServer, Actor: by, Raw: []byte(`{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`)},
			{Dir: wire.ServerToClient, Raw: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)},
		}
		for i := range frames {
			f := &frames[i]
			f.Server, f.Session, f.Transport, f.Time = "s", "s-1", "stdio", logtest.Epoch.Add(time.Duration(i*i)*time.Second/2)
			if by != "" { // an inspector recorded it
				if f.Call = 1; i == 1 || i == 2 {
					f.Question = 1
				}
			}
		}
		log := logtest.New(t, frames...)
		l := Draw(callsOf(t, log)[0], 0)
		var b bytes.Buffer
		if err := l.Mermaid(&b); err != nil {
			t.Fatal(err)
		}
		all := write(t, Document{Log: log}, Mermaid)
		for _, text := range []string{b.String(), all} {
			if text = strings.ReplaceAll(text, "S1", "S"); !strings.Contains(text, "  "+want.participant+"\n") || !strings.Contains(text, "  "+want.question+"\n") || strings.Count(text, message) == 0 {
				t.Errorf("answered by %q:\n%s", by, text)
			}
		}
		if !strings.Contains(l.Text, want.sentence+", ") && !strings.Contains(l.Text, want.sentence+";") {
			t.Errorf("answered by %q: %s", by, l.Text)
		}
	}
}
