package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"

	"elicitation-inspector/bridge/client/live"
	answers "elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"

	"elicitation-inspector/bridge/wire"
)

// TestScriptOnThePage loads a script, which answers the questions that match it and
// leaves the others, and saves the given answers as another script.
func TestScriptOnThePage(t *testing.T) {
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server := demo.New(demo.Options{})
	defer server.Close()
	in := inspection.New(inspection.Config{Targets: []target.Spec{{Name: "demo", Builtin: server.ServeLines}}, Log: log})
	defer in.Close(t.Context())
	s := New(Config{Inspection: in, Token: "t"})
	ask := func(method, path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	changes := in.Subscribe()
	defer changes.Close()
	until := func(what string, holds func() bool) {
		t.Helper()
		for !holds() {
			select {
			case <-changes.Ready():
				changes.Take()
			case <-t.Context().Done():
				t.Fatal(what)
			}
		}
	}
	in.Start()
	until("the server is ready", func() bool { return in.Servers()[0].State == conversation.ServerReady })

	if w := ask("POST", "/script/load", url.Values{"text": {"answers:\n  - answer: maybe\n"}}); w.Code != http.StatusOK || w.Header().Get("X-Wrong") == "" || !strings.Contains(w.Body.String(), "Line 2:13: answer cannot be") {
		t.Errorf("a mistake: %d %s", w.Code, w.Body)
	}
	rules := "answers:\n  - {match: {withFields: [build]}, answer: {accept: {build: \"2288\"}}}\n"
	if w := ask("POST", "/script/load", url.Values{"text": {rules}}); w.Code != http.StatusNoContent {
		t.Fatalf("loading: %d %s", w.Code, w.Body)
	}
	if w := ask("GET", "/", nil); !strings.Contains(w.Body.String(), "Answered by") || !strings.Contains(w.Body.String(), "1 rule answers") {
		t.Error("the page does not say that a script answers")
	}
	if _, err := in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "deploy", Key: "deploy"}); err != nil {
		t.Fatal(err)
	}
	until("the second question waits", func() bool {
		q, err := in.Question(2)
		return err == nil && q.State == conversation.Pending
	})
	if first, err := in.Question(1); err != nil || first.By != conversation.ByScript || string(first.Content()) != `{"build":"2288"}` {
		t.Errorf("the first question: %+v, %v", first.Answer, err)
	}
	if second, _ := in.Question(2); second.Left == "" {
		t.Error("nothing says why the second question is the person's")
	}
	if err := in.Answer(2, live.Answer{Action: "decline", Actor: conversation.ByPerson}); err != nil {
		t.Fatal(err)
	}
	until("the call is over", func() bool { c, err := in.Call(1); return err == nil && c.State.Over() })
	saved := ask("GET", "/answers.yaml?download=1", nil)
	written, err := answers.Parse("answers.yaml", saved.Body.Bytes(), os.LookupEnv)
	if err != nil || len(written.Rules) != 2 || written.Rules[1].Answer.Action != answers.Decline {
		t.Errorf("%v\n%s", err, saved.Body)
	}
	if w := ask("POST", "/script/unload", nil); w.Code != http.StatusNoContent || in.Scripted() != nil {
		t.Errorf("unloading: %d", w.Code)
	}
}
