// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// odd is a server in the shell that does one thing oddly, as its argument says.
const odd = `
while read -r line; do
	id=${line#*'"id":'}; id=${id%%,*}; mark=
	[ $1 = mark ] && mark=$(printf '\357\273\277')
	say() { printf '%s{"jsonrpc":"2.0","id":%s,%s}\n' "$mark" "$id" "$1"; }
	case $1:$line in
	silent:*) ;;
	*'"server/discover"'*) say '"error":{"code":-32601,"message":"no"}' ;;
	refuse:*'"form"'*) say '"error":{"code":-32602,"message":"unexpected member form"}' ;;
	*'"method":"initialize"'*)
		echo orders is up >&2
		say '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"logging":{}},"serverInfo":{"name":"orders","version":"1"}}' ;;
	prompts:*'"prompts/list"'* | level:*'"logging/setLevel"'*) ;;
	*'"logging/setLevel"'*) say '"result":{}' ;;
	*'"prompts/list"'*) say '"result":{"prompts":[]}' ;;
	broken:*'"tools/list"'*) say '"result":{"tools":[1,2]}' ;;
	*'"tools/list"'*) say '"result":{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}' ;;
	ids:*'"tools/call"'*) id="\"$id\"" && say '"result":{"content":[]}' ;;
	*'"tools/call"'*) say '"result":{"content":[{"type":"text","text":"ok"}]}' ;;
	esac
done`

// TestWordsForOddServers expects the command line to say what is odd of a server, and to go on where
// it can.
func TestWordsForOddServers(t *testing.T) {
	t.Parallel()
	script := write(t, "odd.sh", odd)
	for name, cases := range map[string][]wordsCase{
		"refuse": {
			{"list", "", exitConnect, "", []string{`over stdio, the server answered initialize with error -32602: unexpected member form`, "--elicitation empty, or --elicitation form"}},
			{"list --elicitation empty", "", exitOK, "tool  add    \n", nil},
		},
		"silent": {
			{"list --timeout 4s", "", exitConnect, "", []string{"within 4s: no response to server/discover"}},
		},
		"prompts": {
			{"list --timeout 4s", "", exitRPC, "", []string{"inspector: the lists take more than 4s: no response to prompts/list"}},
			{"call add", "", exitOK, "ok\n", nil},
		},
		"level": {
			{"call add", "", exitOK, "ok\n", nil},
		},
		"mark": {
			{"list", "", exitOK, "tool  add    \n", []string{"noise: a byte order mark (U+FEFF) before a message, which other clients may refuse\n"}},
		},
		"ids": {
			{"call add --timeout 1s", "", exitTimeout, "", []string{`a response came with id "`, ", which nothing asked for; the call waits for one with id "}},
		},
		"stderr": {
			{"list", "", exitOK, "tool  add    \n", []string{"stderr: orders is up\n"}},
		},
		"broken": {
			{"list", "", exitRPC, "", []string{"\ninspector: tools/list: ", "tools/list: tools[1]"}},
		},
	} {
		for _, c := range cases {
			t.Run(name+" "+c.args, func(t *testing.T) {
				t.Parallel()
				c.check(t, inspectorRun(t, append(strings.Fields(c.args), "--", "sh", script, name)...))
			})
		}
	}
}

// TestWordsForOddServersOverHTTP is TestWordsForOddServers for what only HTTP can have.
func TestWordsForOddServersOverHTTP(t *testing.T) {
	t.Parallel()
	ended := t.Context().Done()
	answer := func(w http.ResponseWriter, r *http.Request, oddly func(method string) string) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &m) // a GET has none
		said := oddly(m.Method)
		switch {
		case said == "":
			said = map[string]string{
				"initialize": `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"orders","version":"1"}}`,
				"tools/list": `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"add","inputSchema":{"type":"object"}}]}`,
				"tools/call": `"result":{"resultType":"complete","content":[{"type":"text","text":"ok"}]}`,
			}[m.Method]
		case said == "nothing":
			<-ended
			return
		}
		if said == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasPrefix(said, `"id"`) {
			said = fmt.Sprintf(`"id":%s,%s`, m.ID, said)
		}
		fmt.Fprintf(w, "%s", strings.ReplaceAll(`{"jsonrpc":"2.0",`+said+`}`, "ID", string(m.ID)))
	}
	refused := `"error":{"code":-32601,"message":"no"}`
	handlers := map[string]http.HandlerFunc{
		"listen": func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, func(method string) string {
				return map[string]string{
					"server/discover":      `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`,
					"subscriptions/listen": "nothing",
				}[method]
			})
		},
		"ids": func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, func(method string) string {
				return map[string]string{"server/discover": refused, "tools/call": `"id":"ID","result":{"content":[]}`}[method]
			})
		},
		"path": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			switch {
			case r.Method == http.MethodGet && r.URL.Path == "/lost/sse":
				fmt.Fprint(w, "event: endpoint\ndata: /messages\n\n")
			case r.Method == http.MethodGet && r.URL.Path == "/foreign/sse":
				fmt.Fprint(w, "event: endpoint\ndata: http://other.example/messages\n\n")
			default:
				http.NotFound(w, r)
				return
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	}
	urls := map[string]string{}
	for name, handler := range handlers {
		s := httptest.NewServer(handler)
		t.Cleanup(s.CloseClientConnections)
		urls[name] = s.URL
	}
	private := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(private.Close)
	for _, c := range []wordsCase{
		{"list", urls["listen"] + "/mcp", exitOK, "tool  add    \n", nil},
		{"call add", urls["listen"] + "/mcp", exitOK, "ok\n", nil},
		{"call add", urls["ids"] + "/mcp", exitConnect, "", []string{`the answer has the id "`, ", and the request "}},
		{"list", urls["path"] + "/lost/sse", exitConnect, "", []string{"HTTP 404 Not Found: 404 page not found at " + urls["path"] + "/messages"}},
		{"list", urls["path"] + "/foreign/sse", exitConnect, "", []string{"the endpoint event of " + urls["path"] + "/foreign/sse names http://other.example/messages for messages"}},
		{"list", private.URL + "/mcp", exitConnect, "", []string{"SSL_CERT_FILE"}},
	} {
		t.Run(c.args+" "+c.url, func(t *testing.T) {
			c.check(t, inspectorRun(t, append(strings.Fields(c.args), "--timeout", "20s", c.url)...))
		})
	}
}

type wordsCase struct {
	args, url string
	code      int
	out       string // exactly
	err       []string
}

func (c wordsCase) check(t *testing.T, got ended) {
	t.Helper()
	if got.code != c.code || got.out != c.out {
		t.Errorf("exit code %d, want %d, and %q:\n%s%s", got.code, c.code, c.out, got.out, got.err)
	}
	for _, want := range c.err {
		if !strings.Contains("\n"+got.err, want) {
			t.Errorf("it does not say %q:\n%s", want, got.err)
		}
	}
}
