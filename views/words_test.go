package views

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views/forms"
)

// The reason why a server cannot be called is a sentence in every state of the server.
func TestNotReady(t *testing.T) {
	for state, want := range map[conversation.ServerState]string{
		conversation.ServerConnecting:   "far is still connecting.",
		conversation.ServerFailed:       "far could not be reached. Reconnect to call tools.",
		conversation.ServerEnded:        "far is no longer connected. Reconnect to call tools.",
		conversation.ServerDisconnected: "far is disconnected. Reconnect to call tools.",
	} {
		doc := draw(t, CallPanel(&CallForm{Server: Server{ServerStatus: conversation.ServerStatus{Label: "far", State: state}}}, nil))
		if got := text(doc); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
	refused := Server{ServerStatus: conversation.ServerStatus{Label: "near", How: "stdio", State: conversation.ServerFailed, Refused: true}}
	if got := text(draw(t, StartPanel(Start{Servers: []Found{{Server: refused}}}))); !strings.Contains(got, "near has answered, and refused") || !strings.Contains(got, "It can be reached.") {
		t.Errorf("of one that refuses: %q", got)
	}
	slow := Server{ServerStatus: conversation.ServerStatus{State: conversation.ServerReady}}
	if got := text(draw(t, StartPanel(Start{Servers: []Found{{Server: slow, Loading: true, Waits: "tools/list"}}}))); !strings.Contains(got, "No response yet to tools/list") {
		t.Errorf("of one that lists nothing: %q", got)
	}
	if got := text(draw(t, CatalogPanel([]Catalog{{Server: slow, Loading: true, Waits: "tools/list"}}))); !strings.Contains(got, "Loading… No response yet to tools/list") {
		t.Errorf("in the tabs of one that lists nothing: %q", got)
	}
	process := Server{ServerStatus: conversation.ServerStatus{Label: "near", How: "stdio", State: conversation.ServerEnded}}
	if got := text(draw(t, CallPanel(&CallForm{Server: process}, nil))); !strings.Contains(strings.Join(strings.Fields(got), " "), "near has exited. Reconnect") {
		t.Errorf("of a process: %q", got)
	}
	unusable := Server{ServerStatus: conversation.ServerStatus{Label: "far", State: conversation.ServerFailed, Unusable: true}}
	if got := strings.Join(strings.Fields(text(draw(t, StartPanel(Start{Servers: []Found{{Server: unusable}}})))), " "); !strings.Contains(got, "far is described wrongly in its fileCorrect its entry") || strings.Contains(got, "Reconnect") {
		t.Errorf("with mistakes in its entry: %q", got)
	}
}

// If a default is not among the choices, none is chosen, and the field tells so visibly
// and accessibly.
func TestDefaultThatDoesNotFit(t *testing.T) {
	for _, schema := range []string{
		`{"enum":["red","blue"],"default":"purple"}`,
		`{"type":"array","items":{"enum":["red","blue"]},"default":["purple"]}`,
		`{"type":"boolean","default":"purple"}`,
		`{"type":"number","default":"purple"}`,
		`{"type":"string","default":["purple"]}`,
	} {
		fields, err := elicit.FieldsOf([]byte(`{"properties":{"x":` + schema + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		doc := draw(t, forms.Fields(forms.Form{Fields: []forms.Field{{Field: fields[0], ID: "q1-f0", Input: elicit.Defaults(fields).Fields[0]}}}))
		if len(every(doc, tag("textarea"))) > 0 {
			t.Errorf("%s: it is a box of JSON", schema)
		}
		for _, e := range every(doc, tag("input")) {
			if has(e, "checked") && attr(e, "value") != "" || attr(e, "type") == "text" && attr(e, "value") != "" {
				t.Errorf("%s: %q is given", schema, attr(e, "value"))
			}
		}
		note := only(t, doc, "note", func(e *html.Node) bool { return attr(e, "id") == "q1-f0-default" })
		if got := text(note); !strings.Contains(got, `"purple"`) {
			t.Errorf("%s: it says %q", schema, got)
		}
		if control := only(t, doc, "control", func(e *html.Node) bool { return attr(e, "id") == "q1-f0" }); !slices.Contains(strings.Fields(attr(control, "aria-describedby")), "q1-f0-default") {
			t.Errorf("%s: the control is not described by it", schema)
		}
	}
}

// A question that the server's policy could not answer shows the reason.
func TestHandedOver(t *testing.T) {
	q := someQuestion()
	q.LeftByPolicy = `"Signer" is required and has no default`
	if got := text(draw(t, QuestionCard(q))); !strings.Contains(got, `The policy left this one to you: "Signer" is required and has no default.`) {
		t.Errorf("it says %q", got)
	}
}

// A client that a tap watches may call a tool whose list it has never asked for, so the page
// does not say that there is none.
func TestNothingListedThroughATap(t *testing.T) {
	for state, want := range map[conversation.ServerState]string{
		conversation.ServerTapped: "No tools have been listed to the client.",
		conversation.ServerReady:  "No tools.",
	} {
		if got := text(draw(t, Offer(Catalog{Server: Server{ServerStatus: conversation.ServerStatus{Label: "files", State: state}}}, "tools", 10))); !strings.Contains(got, want) {
			t.Errorf("%s: %q", state, got)
		}
	}
}
