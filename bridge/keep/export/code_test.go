// The race detector makes these tests several times slower, and nothing in them runs concurrently.

//go:build !race

package export

import (
	"go/format"
	"os/exec"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

var codeParams = map[string]string{
	"form":      `{"message":"Say \"hi\" \u2028 \ud83d\ude00 \n` + "`" + `","requestedSchema":{"type":"object","properties":{"b\"\"\"":{"type":"boolean","default":true,"title":"<é>"},"a":{"type":"string"}}}}`,
	"bare":      `{"message":"Go on?"}`,
	"url":       `{"mode":"url","message":"Sign in","url":"https://example.com/?a=1&b=2","elicitationId":"e1"}`,
	"long":      `{"mode":"url","message":"Sign\nin","url":"https://example.com/","elicitationId":"e\n1"}`,
	"hidden":    `{"message":"Pay \u202e001\u202c \u2028 \u2066x\u2069 \u200b \ufeff \u115f \u0085 \ud83d\udc69\u200d\ud83d\ude92\n","requestedSchema":{"type":"object","properties":{"\u202ea":{"type":"string","title":"` + "\u202e\u2066\u2028\ue0041" + `"}}}}`,
	"hiddenurl": `{"mode":"url","message":"\u202e","url":"https://example.com/\u202e\u2028","elicitationId":"e\u20661"}`,
	"any":       `{"message":"Go on?","requestedSchema":{}}`,
}

// Each piece of code is well formed in its language. Those in Go are as gofmt writes them;
// e2e compiles them against the SDKs.
func TestCodeThatAsks(t *testing.T) {
	for name, raw := range codeParams {
		question, err := elicit.Parse([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		for _, sdk := range SDKs() {
			code, err := CodeThatAsks(sdk, question)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", name, sdk, err, code)
			}
			for hidden := range wording.HiddenIn(code) {
				t.Errorf("%s, %s: the code has a raw %U:\n%s", name, sdk, hidden.Rune, code)
			}
			if !strings.Contains(code, "ask") {
				t.Errorf("%s, %s: %s", name, sdk, code)
			}
			if sdk == GoSDK || sdk == MCPGo {
				if want, err := format.Source([]byte(code)); err != nil || string(want) != code {
					t.Errorf("%s, %s: %v; gofmt writes\n%s\nnot\n%s", name, sdk, err, want, code)
				}
			}
			if sdk == Python {
				python(t, name, code)
			}
		}
	}
	if _, err := CodeThatAsks("cobol", &elicit.Request{}); err == nil {
		t.Error("there is code for cobol")
	}
}

func python(t *testing.T, name, code string) {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	cmd := exec.Command(interpreter, "-c", "import ast, sys; ast.parse(sys.stdin.read())")
	cmd.Stdin = strings.NewReader(code)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, err, out, code)
	}
}

// A curl line has no raw hidden character, and still sends the same JSON to the same address.
func TestCurlEscapes(t *testing.T) {
	got := Curl(&wire.Frame{Dir: wire.ClientToServer, Stream: wire.StreamPost, URL: "http://127.0.0.1/\u202emcp", Raw: []byte("{\"a\":\"\u2066\U000e0041\"}")})
	if want := `'{"a":"\u2066\udb40\udc41"}'`; !strings.Contains(got, want) || !strings.Contains(got, "http://127.0.0.1/%E2%80%AEmcp") {
		t.Errorf("it is\n%s", got)
	}
}
