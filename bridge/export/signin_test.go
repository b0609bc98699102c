package export

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/logtest"
	"elicitation-inspector/bridge/wire"
)

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
