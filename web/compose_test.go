package web

import (
	"bytes"
	"context"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// compose posts to Compose as its page does.
func compose(t testing.TB, s *Server, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for name, values := range form {
		for _, value := range values {
			if err := parts.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := parts.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, path, &body)
	r.Header.Set("Content-Type", parts.FormDataContentType())
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func emptyServer(t testing.TB) *Server {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	in := inspection.New(inspection.Config{Log: log})
	t.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return New(Config{Inspection: in})
}

func TestComposeDraws(t *testing.T) {
	s := emptyServer(t)
	question := `{"mode":"form","message":"Where é😀 to?","requestedSchema":{"type":"object","properties":{"to":{"type":"string","title":"To"},"n":{"type":"integer","default":12345678901234567890}}}}`
	for _, c := range []struct {
		name, text string
		form       url.Values
		want, not  []string
	}{
		{"a question", question, nil, []string{"Where é😀 to?", "12345678901234567890", "Nothing found", "session.Elicit(", "No demo server is connected", "2 fields"}, []string{"data-at"}},
		{"broken JSON", "{\n  \"é😀\" 1}", nil, []string{`data-line="2"`, `data-at="10 11"`, "Line 2, column 8"}, []string{`id="draft-question"`}},
		{"an early end", "{", nil, []string{`data-at="1 1"`}, nil},
		{"no params", `[1]`, nil, []string{"are an array", "params-malformed"}, []string{`id="draft-question"`}},
		{"a finding in its place", strings.Replace(question, `"title":"To"`, `"allOf":[]`, 1), nil, []string{`data-rule="keyword-unsupported"`, `data-at="120 122"`, "2025-11-25/client/elicitation"}, nil},
		{"by another revision", question, url.Values{"revision": {"2025-06-18"}}, []string{`<option selected>2025-06-18`}, nil},
		{"code", question, url.Values{"sdk": {"python"}}, []string{"ctx.session.elicit("}, nil},
		{"a URL", `{"mode":"url","message":"Sign in","url":"https://a.example/","elicitationId":"e"}`, nil, []string{"a.example", "&#34;accept&#34;"}, []string{"Check the answer"}},
		{"an answer that does not fit", question, url.Values{"check": {"1"}, "was": {"n"}, "changed": {"0"}, "f0": {"1.5"}}, []string{"It does not fit", "1.5"}, nil},
	} {
		form := url.Values{"text": {c.text}}
		maps.Copy(form, c.form)
		w := compose(t, s, "/compose", form)
		for _, part := range c.want {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: %d, it lacks %q: %s", c.name, w.Code, part, w.Body)
			}
		}
		for _, part := range c.not {
			if strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: it has %q", c.name, part)
			}
		}
	}
}

// TestSeen asks for a question as other clients show it, of the draft and of the card.
func TestSeen(t *testing.T) {
	s := emptyServer(t)
	question := `{"message":"Keep how many?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":3}}}}`
	for _, c := range []struct {
		name, text, client, revision string
		status                       int
		want, not                    []string
	}{
		{"marks", question, "", "", http.StatusOK, []string{"Codex: unanswerable", "Gemini CLI: not shown", "have the server read the number"}, []string{"Its first Accept sends"}},
		{"a drawing", question, "codex", "", http.StatusOK, []string{`aria-label="As Codex shows it"`, "Its first Accept sends", "/content/n"}, nil},
		{"no such client", question, "nobody", "", http.StatusOK, []string{"Codex: unanswerable"}, []string{"Its first Accept sends"}},
		{"no question", "{", "", "", http.StatusNoContent, nil, []string{"draft-seen"}},
		{"no form", `{"message":"m","requestedSchema":7}`, "codex", "", http.StatusOK, []string{"trouble"}, []string{"data-seen"}},
		{"2 MB", strings.Replace(question, "Keep", strings.Repeat("Keep ", 400_000), 1), "codex", "", http.StatusOK, []string{"Only questions of at most"}, []string{"data-seen"}},
		{"asked in a round", question, "", "2026-07-28", http.StatusOK, []string{"TypeScript SDK, a program, with applyDefaults: not shown", "It takes no questions in results"}, nil},
		{"asked by a request", question, "", "2025-11-25", http.StatusOK, nil, []string{"with applyDefaults: not shown"}},
	} {
		w := compose(t, s, "/compose/seen", url.Values{"text": {c.text}, "client": {c.client}, "revision": {c.revision}})
		if w.Code != c.status || w.Body.Len() > 200_000 {
			t.Errorf("%s: %d, %d bytes", c.name, w.Code, w.Body.Len())
		}
		for _, part := range c.want {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: it lacks %q: %s", c.name, part, w.Body)
			}
		}
		for _, part := range c.not {
			if strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: it has %q", c.name, part)
			}
		}
	}
}

// What a person has typed into the form stays with its field while the question changes around it.
func TestTypedMovesWithItsField(t *testing.T) {
	request, err := elicit.Parse([]byte(`{"message":"m","requestedSchema":{"type":"object","properties":{"new":{"type":"string","default":"d"},"b":{"type":"string"},"a":{"type":"string","default":"x"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	q := answerableOf(inspection.Question{InputRequest: conversation.InputRequest{Request: request}})
	sub := triedOn(&multipart.Form{Value: url.Values{
		"was": {"a", "b", "gone"}, "changed": {"1", "2"}, "f0": {"old default"}, "f1": {"typed"}, "f2": {"lost"}, "f1.empty": {"1"},
	}}, q)
	value, _ := sub.Value(q.fields)
	if got, want := string(value), `{"new":"d","b":"typed","a":"x"}`; got != want {
		t.Errorf("the form has %s, want %s", got, want)
	}
}

func TestComposeEditsAndAsks(t *testing.T) {
	s := emptyServer(t)
	w := compose(t, s, "/compose/edit", url.Values{"text": {"{\r\n\"message\":\"é😀\"}"}, "do": {"insert"}, "value": {"date"}})
	if got := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(got, `"format": "date"`) || w.Header().Get("X-At") == "" {
		t.Errorf("%d, %q: %s", w.Code, w.Header().Get("X-At"), got)
	}
	for path, form := range map[string]url.Values{
		"/compose/edit":          {"text": {`{`}, "do": {"insert"}, "value": {"date"}},
		"/compose/code":          {"text": {`{}`}, "sdk": {"cobol"}},
		"/compose/ask":           {"text": {`{}`}},
		"/compose/samples/0/900": {},
	} {
		if w := compose(t, s, path, form); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	r := httptest.NewRecorder()
	s.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/compose/samples/0/1", nil))
	if !strings.Contains(r.Body.String(), "contact information") {
		t.Errorf("the sample is %s", r.Body)
	}
}

// A huge draft is drawn in bounded markup, and in a time in which nothing seems frozen.
func TestComposeIsBounded(t *testing.T) {
	s := emptyServer(t)
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`,"field` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("9", i/26%300) + `":{"type":"string","title":"T","maxLength":20}`)
		}
		return `{"message":"m","requestedSchema":{"type":"object","properties":{` + b.String()[1:] + `}}}`
	}
	for name, text := range map[string]string{
		"10,000 fields": fields(10_000), "990 fields": fields(990),
		"5 MB of text":  `{"message":"` + strings.Repeat("long ", 1<<20) + `","requestedSchema":{"type":"object","properties":{}}}`,
		"5 MB of lines": strings.Repeat("\n", 5<<20) + "{",
	} {
		began := time.Now()
		w := compose(t, s, "/compose", url.Values{"text": {text}})
		if w.Code != http.StatusOK || w.Body.Len() > 1_000_000 {
			t.Errorf("%s: %d, %d bytes", name, w.Code, w.Body.Len())
		}
		t.Logf("%s: %v", name, time.Since(began))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s takes %v", name, took)
		}
	}
}

// BenchmarkCompose measures what lies between a keystroke and the redrawn form, for 50 fields.
func BenchmarkCompose(b *testing.B) {
	s := emptyServer(b)
	text := `{"message":"m"}`
	for i := range 50 {
		text, _, _ = elicit.Edited([]byte(text), elicit.Edit{Do: elicit.Insert, Value: elicit.Templates()[i%len(elicit.Templates())].Name})
	}
	for b.Loop() {
		if w := compose(b, s, "/compose", url.Values{"text": {text}}); w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
