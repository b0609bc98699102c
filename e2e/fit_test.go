package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/e2e/internal/servers"
)

// TestFitTypeScript holds the profiles of the TypeScript SDK against the SDK itself: byte for byte, but for the
// order of members, which is the program's.
func TestFitTypeScript(t *testing.T) {
	t.Parallel()
	questions := fitQuestions(t)
	for profile, mode := range map[string]string{"typescript-sdk": "defaults", "typescript-sdk-plain": "plain"} {
		list := slices.DeleteFunc(fit.All(), func(p *fit.Profile) bool { return p.Client != profile })
		node := servers.Node(t, "@modelcontextprotocol", "sdk", "package.json")
		cmd := exec.CommandContext(t.Context(), node[0], filepath.Join("clients", "typescript", "fit.mjs"), servers.Installed("npm", "node_modules"), mode)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		next := 0
		lines := bufio.NewScanner(out)
		for next <= len(questions) && lines.Scan() {
			line := lines.Bytes()
			switch rawjson.Text(rawjson.Member(line, "method")) {
			case "initialize":
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"asks","version":"1"}}}`+"\n", rawjson.Member(line, "id"))
				continue
			case "":
				result := rawjson.Member(line, "result")
				if s := fit.See(questions[next-1], list[0]); !bytes.Equal(s.Accept, result) && (len(s.Fields) < 2 || !rawjson.Same(s.Accept, result)) {
					t.Errorf("%s: %s: the profile says %s, and the SDK sends %s", profile, questions[next-1].Params, s.Accept, line)
				}
			}
			if next < len(questions) {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s}`+"\n", next, questions[next].Params)
			}
			next++
		}
		if next != len(questions)+1 {
			t.Errorf("%s: it answered %d of %d questions: %v", profile, next-1, len(questions), lines.Err())
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		_ = cmd.Process.Kill() // it has no end of its own
		_ = cmd.Wait()
	}
}

// fitQuestions are questions of all kinds: each optional and required, with a default and without, all at once, and
// one without fields. Each tells the program in _meta what it may enter.
func fitQuestions(t *testing.T) (list []*elicit.Request) {
	var all, values rawjson.ObjectWriter
	add := func(properties json.RawMessage, required string) {
		fields, _ := elicit.FieldsIn(fmt.Appendf(nil, `{"properties":%s,"required":[]}`, properties))
		values = nil
		for i := range fields {
			fields[i].Required = true
			values.Add(fields[i].Name, rawjson.Member(elicit.Valid(fields[i:i+1]), fields[i].Name))
		}
		q, err := elicit.Parse(fmt.Appendf(nil, `{"message":"Question %d","mode":"form","_meta":{"values":%s},"requestedSchema":{"type":"object","properties":%s,"required":[%s]}}`, len(list), values.JSON(), properties, required))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	for _, one := range [][2]string{
		{`{"type":"string"}`, `"a <b> & \u2028 ä \"q\" \\ \t"`}, {`{"type":"number","minimum":0.5}`, `2.50`}, {`{"type":"integer","minimum":2}`, `9007199254740993`},
		{`{"type":"boolean"}`, `false`}, {`{"type":"string","enum":["a<b","b"]}`, `"b"`}, {`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, `"b"`},
		{`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`, `"b"`}, {`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `["b"]`},
		{`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}`, `["b"]`},
	} {
		for _, schema := range []string{one[0], rawjson.WithMember(one[0], "default", one[1])} {
			for _, required := range []string{"", `"value"`} {
				add(json.RawMessage(`{"value":`+schema+`}`), required)
			}
			all.Add(fmt.Sprintf("f%d", len(list)), json.RawMessage(schema))
		}
	}
	add(json.RawMessage(`{"value":{"type":"string","minLength":2,"maxLength":9}}`), `"value"`)
	add(json.RawMessage(`{"b":{"type":"boolean","default":true},"10":{"type":"integer","default":-3},"2":{"type":"number","default":1e21},"on":{"type":"boolean"}}`), "")
	add(all.JSON(), `"f2"`)
	add(json.RawMessage(`{}`), "")
	return list
}
