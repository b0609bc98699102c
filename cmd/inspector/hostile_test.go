package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// asHostile is the environment variable that makes the test binary a server all of whose texts
// act on terminals. Its value is "serve", "refuse" for an error to initialize, or "secret" for
// texts that all are the secret everywhere.
const asHostile = "INSPECTOR_TEST_HOSTILE"

const everywhere = "geheim-0815-ueberall"

// evil acts on terminals and on services that run tests.
const evil = "x\x00\x1b[2J\x1b]0;own\x07\u0085\u009b31m\u202ex\u2028y\r\n::set-output name=a::b\n \t::error::c\n##vso[task.x]\n"

// beHostile answers as a server of 2025-11-25.
func beHostile(in io.Reader, out io.Writer, how string) {
	evil := evil
	if how == "secret" {
		evil = everywhere
	}
	send := func(message map[string]any) {
		message["jsonrpc"] = "2.0"
		text, _ := json.Marshal(message)
		// The texts have their characters as they are where JSON allows it.
		for _, r := range "\u0085\u009b\u202e\u2028" {
			text = []byte(strings.ReplaceAll(string(text), fmt.Sprintf(`\u%04x`, r), string(r)))
		}
		fmt.Fprintf(out, "%s\n", text)
	}
	text := []any{map[string]any{"type": "text", "text": evil}}
	asking := json.RawMessage("null")
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s\n\x9b", evil)
		result := any(map[string]any{})
		switch m.Method {
		case "":
			if m.ID != nil { // the answer of the question
				send(map[string]any{"id": asking, "result": map[string]any{"content": text, "isError": true}})
			}
			continue
		case "server/discover":
			send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32601, "message": evil}})
			continue
		case "initialize":
			if how == "refuse" {
				send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32000, "message": evil, "data": evil}})
				continue
			}
			result = map[string]any{
				"protocolVersion": "2025-11-25", "instructions": evil, "serverInfo": map[string]any{"name": evil, "version": evil},
				"capabilities": map[string]any{"tools": map[string]any{}, "prompts": map[string]any{}, "logging": map[string]any{}},
			}
		case "tools/list":
			schema := map[string]any{"type": "object", "properties": map[string]any{evil: map[string]any{"type": "string"}}}
			result = map[string]any{"tools": []any{
				map[string]any{"name": "act", "title": evil, "description": evil, "inputSchema": schema},
				map[string]any{"name": evil, "description": evil, "inputSchema": schema, "annotations": map[string]any{"destructiveHint": true}},
			}}
		case "prompts/list":
			send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32603, "message": evil}})
			continue
		case "tools/call":
			if m.Params.Name != "act" {
				send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32602, "message": evil, "data": evil}})
				continue
			}
			asking = m.ID
			fmt.Fprintf(out, "noise %s", strings.ReplaceAll(evil, "\n", " "))
			fmt.Fprintln(out)
			send(map[string]any{"method": "notifications/message", "params": map[string]any{"level": "info", "logger": evil, "data": evil}})
			send(map[string]any{"id": "q", "method": "elicitation/create", "params": map[string]any{
				"message": evil, "mode": "form", "requestedSchema": map[string]any{"type": "object", "required": []any{evil}, "properties": map[string]any{
					evil: map[string]any{"type": "string", "title": evil, "description": evil, "enum": []any{evil}, "enumNames": []any{evil}, "format": evil, "minLenght": 1},
				}},
			}})
			continue
		}
		if m.ID != nil {
			send(map[string]any{"id": m.ID, "result": result})
		}
	}
}
