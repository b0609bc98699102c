package inspection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

func init() {
	// answers with wrong ids, and then with the right one.
	rawServers["mistaken"] = func(s *rawServer) {
		wrong := map[string]string{
			"text":   `"id":"%s",`,
			"other":  `"id":9%s,`,
			"none":   ``,
			"null":   `"id":null,`,
			"failed": ``,
		}
		var held *request
		s.serve("2025-11-25", []string{"text", "other", "none", "null", "failed", "twice", "hold"}, func(call request) {
			switch tool := call.tool(); tool {
			case "hold":
				held = &call
			case "twice":
				s.text(call, "once")
				s.text(call, "and again")
				if held != nil {
					s.text(*held, "at last")
				}
			default:
				id := wrong[tool]
				if id != "" && tool != "null" {
					id = fmt.Sprintf(id, call.ID)
				}
				body := `"result":{"content":[]}`
				if tool == "failed" {
					body = `"error":{"code":-32603,"message":"no"}`
				}
				s.write(`{"jsonrpc":"2.0",%s%s}`, id, body)
			}
		})
	}
}

// A response with an unknown id shows at the waiting call, with a finding: it explains
// why the call does not end.
func TestResponseThatNothingAskedFor(t *testing.T) {
	t.Parallel()
	for tool, says := range map[string]string{
		"text":   `a response came with id "%s", which nothing asked for`,
		"other":  `a response came with id 9%s, which nothing asked for`,
		"none":   `a response came without an id, so that nothing tells what it answers`,
		"null":   `a response came with id null, which nothing asked for`,
		"failed": `a response came without an id, so that nothing tells what it answers`,
	} {
		t.Run(tool, func(t *testing.T) {
			b := start(t, "mistaken", conversation.ClientSettings{Protocol: mcp.Revision20251125})
			number := b.call(tool).Number
			var stray conversation.Step
			b.until("the line at the call", func() bool {
				stray = strayOf(b.in, number)
				return stray.Seq != 0
			})
			want := says
			if f := b.frameOf("tools/call"); tool == "text" || tool == "other" {
				want = fmt.Sprintf(says, f.Message.ID)
			}
			if strings.Contains(says, "with id") {
				want += fmt.Sprintf("; the call waits for one with id %s", b.frameOf("tools/call").Message.ID)
			}
			if stray.Text != want {
				t.Errorf("the call says %q, want %q", stray.Text, want)
			}
			if call, err := b.in.Call(number); err != nil || call.State.Over() {
				t.Errorf("the call is %v, %v", call.State, err)
			}
			rule := "response-unasked"
			if tool == "failed" {
				rule = "error-without-id"
			}
			b.until("the finding", func() bool {
				return slices.ContainsFunc(b.in.Found(stray.Seq), func(f inspection.Found) bool { return f.Rule == rule })
			})
		})
	}
}

// A second response shows at a call if exactly one call is waiting, and otherwise only in
// the log.
func TestResponseThatComesTwice(t *testing.T) {
	b := start(t, "mistaken", conversation.ClientSettings{Protocol: mcp.Revision20251125})
	held := b.call("hold").Number
	b.until("the call that waits", func() bool { return b.sent("tools/call") == 1 })
	b.done(b.call("twice").Number)
	b.done(held)
	stray := strayOf(b.in, held)
	if !strings.HasPrefix(stray.Text, "a second response came with id ") {
		t.Errorf("the call says %q", stray.Text)
	}
	b.done(b.call("twice").Number)
	b.until("a note in the log", func() bool {
		want := fmt.Sprintf("a second response came with id %s, which had its response already", b.frameOf("tools/call").Message.ID)
		frames, err := logtest.Frames(b.log)
		return err == nil && slices.ContainsFunc(frames, func(f wire.Frame) bool { return f.Kind == wire.NoteFrame && string(f.Raw) == want })
	})
}

func strayOf(in *inspection.Inspection, call int) conversation.Step {
	c, err := in.Call(call)
	if err != nil {
		return conversation.Step{}
	}
	for _, step := range c.Steps {
		if step.Kind == conversation.StepStray {
			return step
		}
	}
	return conversation.Step{}
}

// frameOf returns the latest request of a method that the client sent.
func (b *bench) frameOf(method string) wire.Frame {
	b.Helper()
	frames, err := logtest.Frames(b.log)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range slices.Backward(frames) {
		if f.Dir == wire.ClientToServer && f.Message.Method == method {
			return f
		}
	}
	b.Fatalf("no %s went out\n%s", method, b.transcript())
	return wire.Frame{}
}
