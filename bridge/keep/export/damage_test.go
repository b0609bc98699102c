// The race detector makes this several times slower, and what is done at once
// here is done at smaller sizes by other tests.

//go:build !race

package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
)

// The lines before and after the damaged one.
const (
	lineBefore = `{"direction":"c2s","session_id":"s","server_label":"files","transport":"http","stream":"post","ts":"2026-07-28T10:02:03Z","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"before"}}}`
	lineAfter  = `{"direction":"s2c","session_id":"s","server_label":"files","transport":"http","stream":"post","ts":"2026-07-28T10:02:04Z","raw":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"after"}]}}}`
)

// lineFields are the fields of a transcript's lines (docs/transcript.md), and an
// unknown one.
var lineFields = []string{
	"v", "session_id", "server_label", "seq", "ts", "direction", "transport", "stream", "http_method", "url", "status",
	"call", "round", "elicitation", "actor", "kind", "truncated", "size", "redacted", "headers", "mcp_method", "mcp_name",
	"mcp_protocol_version", "auth_challenge", "mcp_param_headers", "bytes", "raw", "text", "conn_id", "unknown",
}

// valuesOfEveryType are invalid values that a field can have by mistake or on purpose.
var valuesOfEveryType = []string{
	`null`, `true`, `false`, `0`, `-1`, `1.5`, `1e400`, `99999999999999999999`, `9223372036854775807`, `4294967296`, `""`, `"x"`,
	`"\ud800"`, `"c2s"`, `"meta"`, `[]`, `{}`, `[null]`, `[1]`, `{"a":"b"}`, `{"a":["b"]}`, `{"a":[1]}`, `{"":[]}`, `[{"name":1}]`,
	`[{"name":"Mcp-Param-X","value":"y"}]`, `{"mark":{"seq":"x"}}`, `{"answer":1}`, `{"jsonrpc":"2.0","id":{},"method":1}`,
	`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":[]}`, `{"jsonrpc":"2.0","id":1,"result":null}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"data":{"elicitations":{}}}}`,
}

func TestDamagedLinesHideNothing(t *testing.T) {
	for _, field := range lineFields {
		for _, value := range valuesOfEveryType {
			checkAround(t, fmt.Sprintf(`{"direction":"s2c","%s":%s}`, field, value))
			checkAround(t, fmt.Sprintf(`{"direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"ping"},"%s":%s}`, field, value))
		}
	}
}

// FuzzDamagedLine puts an arbitrary line between two valid ones, which every reader and
// every export must return.
func FuzzDamagedLine(f *testing.F) {
	f.Add(`{"direction":"c2s","headers":{"a":"b"},"text":""}`)
	f.Add(`{"direction":"meta","raw":{"mark":{"seq":1,"pinned":1}}}`)
	f.Add(`{"direction":"s2c","truncated":true,"kind":"result","text":"{\"jsonrpc\""}`)
	f.Fuzz(func(t *testing.T, line string) { checkAround(t, line) })
}

func checkAround(t *testing.T, line string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	if err := os.WriteFile(path, []byte(lineBefore+"\n"+line+"\n"+lineAfter+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := wire.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}()
	if err := log.Wait(t.Context()); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	frames, err := logtest.Frames(log)
	if err != nil || len(frames) < 2 {
		t.Fatalf("%s: %d frames, %v", line, len(frames), err)
	}
	if err := errors.Join(log.Err(), bothSides(frames)); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	filter, err := query.Parse("kind:message or has:x or /y/")
	if err != nil {
		t.Fatal(err)
	}
	view := query.NewView(log, filter, nil)
	if err := view.Update(t.Context()); err != nil || view.Len() < 2 {
		t.Errorf("%s: a filter finds %d, %v", line, view.Len(), err)
	}
	for _, format := range Documents {
		var out bytes.Buffer
		if err := (Document{Log: log, Title: "x", Version: "x"}).Write(t.Context(), &out, format); err != nil {
			t.Errorf("%s: exported as %s: %v", line, format, err)
		}
		if format == JSONL || format == JSON || format == HTML {
			if !bytes.Contains(out.Bytes(), []byte("before")) || !bytes.Contains(out.Bytes(), []byte("after")) {
				t.Errorf("%s: the export as %s lacks the other lines", line, format)
			}
		}
	}
	var some bytes.Buffer
	err = wire.WriteFrames(io.MultiWriter(&some), log, nil, nil)
	if err != nil || !bytes.Contains(some.Bytes(), []byte("after")) {
		t.Errorf("%s: the transcript is %s, %v", line, some.Bytes(), err)
	}
}

// bothSides returns an error unless the frames before and after are intact.
func bothSides(frames []wire.Frame) error {
	first, last := frames[0], frames[len(frames)-1]
	if !bytes.Contains(first.Raw, []byte(`"before"`)) || !bytes.Contains(last.Raw, []byte(`"after"`)) {
		return fmt.Errorf("the lines around are %s and %s", first.Raw, last.Raw)
	}
	return nil
}
