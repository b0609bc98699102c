// The race detector makes these tests several times slower, and nothing in them runs concurrently.

//go:build !race

package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
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
	python, java := map[string]string{}, map[string]string{}
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
			switch sdk {
			case Python:
				python[name] = code
			case Java:
				java[name] = code
			}
			if sdk == Java || sdk == CSharp { // a raw literal of C#, and a text block of Java, which has escapes
				literal := regexp.MustCompile(`(?s)"""(.*)"""`).FindStringSubmatch(code)
				if literal != nil && sdk == Java {
					literal[1] = regexp.MustCompile(`\\(.)`).ReplaceAllString(literal[1], "$1")
				}
				if (literal != nil) != (question.Mode == elicit.ModeForm) || literal != nil && (strings.Contains(literal[1], `"""`) || !rawjson.Same([]byte(literal[1]), []byte(cmp.Or(string(question.Schema), "{}")))) {
					t.Errorf("%s, %s: the literal is not the schema:\n%s", name, sdk, code)
				}
			}
		}
	}
	parsePython(t, python)
	compileJava(t, java)
	if _, err := CodeThatAsks("cobol", &elicit.Request{}); err == nil {
		t.Error("there is code for cobol")
	}
}

// compileJava compiles the files. Without the SDK's archives in JAVA_MCP_JARS, a class path, that finds faults of syntax alone.
func compileJava(t *testing.T, files map[string]string) {
	t.Helper()
	compiler, err := exec.LookPath("javac")
	if err != nil {
		t.Log("there is no javac")
		return
	}
	jars, dir := os.Getenv("JAVA_MCP_JARS"), t.TempDir()
	args := []string{"-proc:none", "-Xmaxerrs", "1000", "-cp", jars, "-d", dir}
	for name, code := range files {
		path := filepath.Join(dir, "Of"+name+".java")
		if err := os.WriteFile(path, []byte(strings.Replace(code, "class Question", "class Of"+name, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, _ := exec.Command(compiler, args...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, ": error: ") && (jars != "" || !regexp.MustCompile(`does not exist|cannot find symbol`).MatchString(line)) {
			t.Errorf("javac: %s", line)
		}
	}
	if jars == "" && !strings.Contains(string(out), "package io.modelcontextprotocol.spec does not exist") {
		t.Errorf("javac says nothing of the files: %s", out)
	}
}

func parsePython(t *testing.T, files map[string]string) {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Log("there is no python3")
		return
	}
	text, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(interpreter, "-c", "import ast, json, sys\nfor name, code in json.load(sys.stdin).items(): ast.parse(code, name)")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A curl line has no raw hidden character, and still sends the same JSON to the same address.
func TestCurlEscapes(t *testing.T) {
	got := Curl(&wire.Frame{Dir: wire.ClientToServer, Stream: wire.StreamPost, URL: "http://127.0.0.1/\u202emcp", Raw: []byte("{\"a\":\"\u2066\U000e0041\"}")})
	if want := `'{"a":"\u2066\udb40\udc41"}'`; !strings.Contains(got, want) || !strings.Contains(got, "http://127.0.0.1/%E2%80%AEmcp") {
		t.Errorf("it is\n%s", got)
	}
}
