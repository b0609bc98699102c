package export

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// The steps of a sign-in stand before the call that they were for, in the page and in the
// diagram, with the placeholders of secrets.
func TestSignInsInOrder(t *testing.T) {
	t.Parallel()
	step := func(number int, step wire.Step, method, address string, status int) wire.Frame {
		return wire.Frame{
			Dir: wire.Meta, Transport: "http", Session: "s1", Server: "s", Time: time.Unix(1_800_000_000, 0), HTTPMethod: method, URL: address, Status: status,
			Failed: status >= 400, Note: &wire.Note{Kind: wire.NoteSignIn, SignIn: &wire.SignIn{Number: number, Step: step, Sent: "code=[REDACTED]"}},
		}
	}
	frames := []wire.Frame{
		step(1, wire.StepResource, "GET", "https://server.example/.well-known/oauth-protected-resource", 200),
		step(1, wire.StepAuthorization, "GET", "https://as.example/authorize?state=[REDACTED]", 0),
		step(1, wire.StepToken, "POST", "https://as.example/token", 200),
	}
	frames = append(frames, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"transfer"}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`)...)
	frames = append(frames, step(2, wire.StepToken, "POST", "https://as.example/token", 400))
	l := logtest.New(t, frames...)
	for format, want := range map[*DocumentFormat][]string{
		HTML: {
			`<details class="exchange" id="s1" data-from="1">`, "Sign-in 1", "authorization server", "resource metadata: GET /.well-known", "HTTP 200 OK", `data-seq="3"`,
			`<details class="exchange" id="e1" data-from="4" open>`, `<details class="exchange" id="s6" data-from="6">`, `<span class="state bad" data-from="6">failed</span>`,
			`data-at="0" data-exchange="s1">`, `data-exchange="e1">`,
		},
		Mermaid: {
			"participant B as browser\n  participant A as authorization server\n  participant C as client\n", "Note over S1,P: Sign-in 1", "C->>S1: 1 resource metadata", "B->>A: 2 authorization",
			"C->>A: 3 token", "tools/call transfer", "A--xC: 6 HTTP 400 Bad Request",
		},
	} {
		text := write(t, Document{Log: l}, format)
		for _, words := range want {
			_, after, found := strings.Cut(text, words)
			if !found {
				t.Errorf("%s: no %q, or not in its place, in\n%s", format, words, text)
				break
			}
			text = after
		}
	}
}

// An exchange of a sign-in is a whole entry of an archive, and a curl command, with the
// placeholders of its secrets. What the browser sends is neither.
func TestSignInExchanges(t *testing.T) {
	t.Parallel()
	exchange := func(method, address string, status int, in wire.SignIn) wire.Frame {
		return wire.Frame{
			Dir: wire.Meta, Transport: "http", Session: "s1", Server: "s", Time: time.Unix(1_800_000_000, 0), HTTPMethod: method, URL: address, Status: status,
			Header: http.Header{"Content-Type": {"application/json"}}, Note: &wire.Note{Kind: wire.NoteSignIn, Took: "250ms", SignIn: &in},
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": {"Basic [REDACTED]"}}
	frames := []wire.Frame{
		exchange("GET", "https://server.example/.well-known/oauth-protected-resource", 200, wire.SignIn{Step: wire.StepResource, Received: `{"resource":"x"}`}),
		exchange("GET", "https://as.example/authorize?state=[REDACTED]", 0, wire.SignIn{Step: wire.StepAuthorization}),
		exchange("POST", "https://as.example/token", 200, wire.SignIn{
			Step: wire.StepToken, Header: form, Sent: "code=[REDACTED]&grant_type=authorization_code", Received: `{"access_token":"[REDACTED]"}`,
		}),
	}
	a := readArchive(t, write(t, Document{Log: logtest.New(t, frames...)}, HAR))
	if len(a.Log.Entries) != 2 {
		t.Fatalf("there are %d entries, want 2", len(a.Log.Entries))
	}
	text := write(t, Document{Log: logtest.New(t, frames...)}, HAR)
	for _, want := range []string{
		`"time":250`, `"startedDateTime":"2027-01-15T07:59:59.750000Z"`, `"name":"Authorization","value":"Basic [REDACTED]"`,
		`"text":"code=[REDACTED]&grant_type=authorization_code"`, `{\"access_token\":\"[REDACTED]\"}`, `{\"resource\":\"x\"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the archive does not have %s:\n%s", want, text)
		}
	}
	const want = `curl -sS -g -N -X POST \
  -H 'Authorization: Basic [REDACTED]' \
  -H 'Content-Type: application/x-www-form-urlencoded' \
  --data-binary 'code=[REDACTED]&grant_type=authorization_code' \
  https://as.example/token
`
	if got := Curl(&frames[2]); got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	if got := Curl(&frames[0]); strings.Contains(got, "--data") || !Curlable(&frames[0]) || Curlable(&frames[1]) {
		t.Errorf("the command is\n%s", got)
	}
}
