package target

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// config writes a file and returns its path.
func config(t *testing.T, path, text string) string {
	t.Helper()
	path = filepath.Join(t.TempDir(), filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// inUTF16 returns an ASCII text as editors of Windows write it.
func inUTF16(text string) string {
	out := "\xff\xfe"
	for _, c := range []byte(text) {
		out += string([]byte{c, 0})
	}
	return out
}

func lookup(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "s3cret", "EMPTY": "", "SP ACE": "x"}[name]
	return v, ok
}

func TestLoadConfig(t *testing.T) {
	t.Setenv("HOME", filepath.FromSlash("/home/me"))
	t.Setenv("USERPROFILE", filepath.FromSlash("/home/me"))
	tests := []struct {
		name, path, text string
		want             []Spec // DIR is the file's folder
	}{
		{"as in Claude", "mcp.json", `{"mcpServers": {
			"zebra": {"command": "npx", "args": ["-y", "srv"], "env": {"B": "1", "A": "x=y"}},
			"apple": {"url": "https://host/mcp", "headers": {"x-key": "${TOKEN}", "Authorization": "Bearer ${TOKEN:-none}"}}
		}}`, []Spec{
			{Name: "zebra", Command: []string{"npx", "-y", "srv"}, Env: []string{"B=1", "A=x=y"}, Dir: "DIR"},
			{Name: "apple", URL: "https://host/mcp", Header: http.Header{"X-Key": {"s3cret"}, "Authorization": {"Bearer s3cret"}}},
		}},
		{"as in Gemini and Windsurf, in UTF-16", "mcp.json", inUTF16(`{"mcpServers": {"a": {"httpUrl": "http://h/mcp"}, "b": {"serverUrl": "http://h/sse"}}}`), []Spec{
			{Name: "a", URL: "http://h/mcp", Transport: TransportHTTP},
			{Name: "b", URL: "http://h/sse"},
		}},
		{"as in VS Code", ".vscode/mcp.json", "\uFEFF" + `{
			// the inputs are for others
			"inputs": [{"id": "x"}],
			"servers": {
				"a": {"type": "stdio", "command": "${workspaceFolder}/bin/${workspaceFolderBasename}", "args": ["${env:TOKEN}", "${userHome}${/}x",], "cwd": "sub", /* ! */ "dev": {}},
				"b": {"type": "http", "url": "http://h"},
				"c": {"type": "sse", "url": "http://h"},
				"d": {"type": "streamable-http", "url": "http://h"},
			},
		}`, []Spec{
			{Name: "a", Command: []string{"DIR/bin/BASE", "s3cret", "/home/me/x"}, Dir: "DIR/sub"},
			{Name: "b", URL: "http://h"},
			{Name: "c", URL: "http://h", Transport: TransportSSE},
			{Name: "d", URL: "http://h", Transport: TransportHTTP},
		}},
		{"as in Cursor", ".cursor/mcp.json", `{"mcpServers": {"a": {"command": "x", "cwd": "${workspaceFolder}"}}}`,
			[]Spec{{Name: "a", Command: []string{"x"}, Dir: "DIR"}}},
		{"both lists", "mcp.json", `{"servers": {"a": {"command": "x"}}, "mcpServers": {"b": {"command": "y"}}}`,
			[]Spec{{Name: "a", Command: []string{"x"}, Dir: "DIR"}, {Name: "b", Command: []string{"y"}, Dir: "DIR"}}},
		{"a number that is none", "mcp.json", `{"servers": {"a": {"command": "x", "args": [007]}}}`,
			nil},
		{"numbers and booleans", "mcp.json", `{"servers": {"a": {"command": "x", "args": [1, true, 1.50], "env": {"N": 7, "T": true, "NULL": null}}}}`,
			[]Spec{{Name: "a", Command: []string{"x", "1", "true", "1.50"}, Env: []string{"N=7", "T=true"}, Dir: "DIR"}}},
		{"variables", "mcp.json", `{"servers": {"a": {"command": "x", "args": ["${NO:-a:-b}", "${EMPTY:-d}", "${EMPTY}", "${env:EMPTY}", "${env:NO:-e}", "${NO:-}", "${#x}", "${", "$TOKEN", "a${TOKEN}b${TOKEN}", "${foo:bar}", "${env:SP ACE}"]}}}`,
			[]Spec{{Name: "a", Command: []string{"x", "a:-b", "d", "", "", "e", "", "${#x}", "${", "$TOKEN", "as3cretbs3cret", "${foo:bar}", "x"}, Dir: "DIR"}}},
		{"disabled", "mcp.json", `{"servers": {"a": {"command": "${NO}", "disabled": true}, "b": {"command": "x", "disabled": false}}}`,
			[]Spec{{Name: "a", Disabled: true}, {Name: "b", Command: []string{"x"}, Dir: "DIR"}}},
		{"perhaps disabled", "mcp.json", `{"servers": {"a": {"command": "x", "disabled": "perhaps"}}}`, nil},
		{"escapes", "mcp.json", `{"mcpServers": {"\u00e9\"": {"command": "\u0078"}}}`, []Spec{{Name: `é"`, Command: []string{"x"}, Dir: "DIR"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := config(t, test.path, test.text)
			got, err := LoadConfig(path, lookup)
			if test.want == nil {
				if err == nil {
					t.Errorf("got %+v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if !strings.HasPrefix(got[i].From, path+":") {
					t.Errorf("%s is from %q", got[i].Name, got[i].From)
				}
				got[i].From = "" // TestLoadConfigProblems checks the line
			}
			dir := strings.TrimSuffix(path, filepath.FromSlash(test.path))
			dir = filepath.Clean(dir)
			for i, s := range test.want {
				for j, c := range s.Command {
					s.Command[j] = strings.NewReplacer("DIR", dir, "BASE", filepath.Base(dir)).Replace(c)
				}
				test.want[i].Dir = filepath.FromSlash(strings.ReplaceAll(s.Dir, "DIR", dir))
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestLoadConfigByName(t *testing.T) {
	path := config(t, "mcp.json", `{"servers": {"a": {"command": "x"}, "broken": {"command": "${NO}"}, "b": {"command": "y"}}}`)
	got, err := LoadConfig(path, lookup, "b", "a")
	if err != nil || len(got) != 2 || got[0].Name != "a" || got[1].Name != "b" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := LoadConfig(path, lookup, "a", "c"); err == nil || err.Error() != path+` has no server "c"; it has a, broken, b` {
		t.Errorf("got %v", err)
	}
}

// A mistake in one server is that server's Problem, and the others can be used.
func TestLoadConfigProblems(t *testing.T) {
	path := config(t, "mcp.json", `{"servers": {
		"good": {"command": "x", "protocol": "2025-11-25", "elicitation": "form"},
		"variable": {"command": "${NO}", "args": ["${input:key}"]},
		"number": 1,
		"good": {"command": "y"},
		"off": {"disabled": "yes", "command": "x"}
	}}`)
	got, err := LoadConfig(path, lookup)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"",
		`:3: server "variable", command: ${NO}: the environment has no NO|:3: server "variable", args[0]: ${input:key} has an editor ask`,
		`:4: server "number": want an object, got a number`,
		`:5: server "good": the name is taken by another one before`,
		`:6: server "off", disabled: want true or false, got a string`,
	} {
		problem := got[i].Problem
		if want == "" {
			if problem != nil || got[i].From != path+":2" || got[i].Protocol != "2025-11-25" || got[i].Elicitation != "form" {
				t.Errorf("got %+v", got[i])
			}
			continue
		}
		for _, line := range strings.Split(want, "|") {
			if problem == nil || !strings.Contains(problem.Error(), path+line) {
				t.Errorf("%s: %v, want %s", got[i].Name, problem, line)
			}
		}
	}
}

func TestLoadConfigErrors(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // lines of the error, after the path
	}{
		{"no JSON", "{\n  \"servers\": {,}\n}", []string{": line 2, column 15: "}},
		{"an array", "[]", []string{":1: want an object, got an array"}},
		{"no servers", `{"other": {}}`, []string{` has neither "mcpServers" nor "servers"`}},
		{"none", `{"servers": {}}`, []string{" names no servers"}},
		{"a list of servers", "{\n\"servers\": []}", []string{":2: servers: want an object of servers, got an array"}},
		{"no object", "{\"servers\": {\n\n\"a\": 1}}", []string{`:3: server "a": want an object, got a number`}},
		{"wrong and disabled", `{"servers": {"a": {"command": []}, "b": {"command": "x", "disabled": true}}}`, []string{`:1: server "a", command: want`}},
		{"nothing to reach", `{"servers": {"a": {"args": []}}}`, []string{`:1: server "a": it needs a "command" or a "url"`}},
		{"too much to reach", "{\"servers\": {\"a\": {\"command\": \"x\",\n\"url\": \"y\"}}}", []string{`:2: server "a", url: there is a command too`}},
		{"a type without its member", `{"servers": {"a": {"type": "stdio", "url": "x"}, "b": {"type": "sse", "command": "x"}}}`,
			[]string{`:1: server "a": a stdio server needs a "command"`, `:1: server "b": it needs a "command" or a "url"`}},
		{"an unknown type", "{\"servers\": {\"a\": {\n\"type\": \"carrier pigeon\", \"command\": \"x\"}}}", []string{`:2: server "a", type: "carrier pigeon" is not stdio, http, sse or streamable-http`}},
		{"wrong kinds", `{"servers": {"a": {
			"command": ["x"],
			"args": "y",
			"env": ["z"],
			"cwd": null
		}, "b": {
			"url": {},
			"headers": "h"
		}, "c": {"command": ""}, "d": {"command": "x", "args": ["y", ["z"]]}}}`, []string{
			`:2: server "a", command: want a string, got an array`,
			`:3: server "a", args: want an array of strings, got a string`,
			`:4: server "a", env: want an object of strings, got an array`,
			`:5: server "a", cwd: want a string, got null`,
			`:7: server "b", url: want a string, got an object`,
			`:8: server "b", headers: want an object of strings, got a string`,
			`:9: server "c", command: it is empty`,
			`:9: server "d", args[1]: want a string, got an array`,
		}},
		{"variables", `{"servers": {"a": {"command": "${NO}",
			"args": ["${env:NO}", "${input:api-key}", "${command:pick}"],
			"env": {"K": "${NO}"}}}}`, []string{
			`:1: server "a", command: ${NO}: the environment has no NO; set it, or give it a default as ${NO:-default}`,
			`:2: server "a", args[0]: ${env:NO}: the environment has no NO; set it, or give it a default as ${env:NO:-default}`,
			`:2: server "a", args[1]: ${input:api-key} has an editor ask for the value, which is not supported here: write ${env:NAME}`,
			`:2: server "a", args[2]: ${command:pick} is known to editors only`,
			`:3: server "a", env.K: ${NO}: the environment has no NO`,
		}},
		{"headers and names that cannot be", `{"servers": {"a": {"url": "http://x", "headers": {"a b": "c", "D": "e\nf"}}, "b": {"command": "x", "env": {"A=B": "c", "": "d"}}}}`, []string{
			`:1: server "a", headers.a b: this cannot be the name of a header`,
			`:1: server "a", headers.D: the value has characters that a header cannot have`,
			`:1: server "b", env.A=B: this cannot be the name of a variable`,
			`:1: server "b", env.: this cannot be the name of a variable`,
		}},
		{"an env file that is not there", `{"servers": {"a": {"command": "x", "envFile": "gone.env"}}}`, []string{`:1: server "a", envFile: open `}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := config(t, "mcp.json", test.text)
			got, err := LoadConfig(path, lookup)
			if err == nil {
				t.Fatalf("got %+v", got)
			}
			if got != nil {
				t.Errorf("with the error came %+v", got)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("got %d errors, want %d:\n%v", len(lines), len(test.want), err)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], path+want) {
					t.Errorf("got  %s\nwant %s", lines[i], path+want)
				}
			}
		})
	}
	if _, err := LoadConfig(filepath.Join(t.TempDir(), "gone.json"), lookup); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "gone.json") {
		t.Errorf("got %v", err)
	}
}

func TestEnvFile(t *testing.T) {
	tests := []struct {
		in, want string // input and result; "" for an error
	}{
		{"A=b", "[A=b]"},
		{" A = b \r\n\n# no\nexport C=d", "[A=b C=d]"},
		{"A=b # c\nB=c#d\nC=", "[A=b B=c#d C=]"},
		{`A="b # c" # d`, "[A=b # c]"},
		{`A="b\nc\"d\\n"`, "[A=b\nc\"d\\n]"},
		{`A='b\n"c'`, `[A=b\n"c]`},
		{`A=b=c`, `[A=b=c]`},
		{"nothing", ""},
		{"=b", ""},
		{"A B=c", ""},
		{`A="b`, ""},
		{`A='b' c`, ""},
	}
	for _, test := range tests {
		got, err := parseEnvFile(test.in)
		if test.want == "" {
			if err == nil || !strings.HasPrefix(err.Error(), "line 1") {
				t.Errorf("%q: %q, %v", test.in, got, err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("%q: %q, %v, want %s", test.in, got, err, test.want)
		}
	}

	// "env" takes precedence over "envFile".
	path := config(t, "mcp.json", `{"servers": {"a": {"command": "x", "env": {"A": "config"}, "envFile": "${workspaceFolder}/.env"}}}`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".env"), []byte("A=file\nB=${not expanded}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LoadConfig(path, lookup)
	if err != nil || fmt.Sprint(got[0].Env) != "[A=file B=${not expanded} A=config]" {
		t.Errorf("got %v, %v", got, err)
	}
}
