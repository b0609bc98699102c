package export

import (
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// The arrows of a ladder show the kinds of the frames, whatever text the frames
// contain.
func TestLadderSaysWhatFramesAre(t *testing.T) {
	const call = `+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}` + "\n"
	for name, tt := range map[string]struct {
		answer string // of the server
		kind   ArrowKind
		label  string
		notes  string
		state  conversation.State
	}{
		"a text like a question": {
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"input required: none"}]}}`,
			ArrowResult, "result: input required: none", "", conversation.Done,
		},
		"a text like an error": {
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"error: none"}]}}`,
			ArrowResult, "result: error: none", "", conversation.Done,
		},
		"a failed result": {
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no branch"}],"isError":true}}`,
			ArrowError, "failed: no branch", "", conversation.ToolFailed,
		},
		"a question that waits": {
			`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input\u005frequired","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Where?"}}}}}`,
			ArrowQuestion, "? Where?", "no answer in the log yet", conversation.Waiting,
		},
		"a retry that is due": {
			`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`,
			ArrowQuestion, "input required: nothing but a retry", "the call has not been made again", conversation.Waiting,
		},
		"a large question": {
			`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"` + strings.Repeat("s", 100_000) + `","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Where?"}}}}}`,
			ArrowQuestion, "input required", "no answer in the log yet", conversation.Waiting,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := logtest.New(t, logtest.Talk(t, call+"+1s s2c "+tt.answer)...)
			x := follow(t, l)
			e := read(t, x, 1, conversation.Reading{})
			ladder := Draw(e, 0)
			a := ladder.Arrows[1]
			if a.Kind != tt.kind || a.Label != tt.label {
				t.Errorf("the arrow is %s %q, want %s %q", a.Kind, a.Label, tt.kind, tt.label)
			}
			var notes []string
			for _, n := range ladder.Notes {
				notes = append(notes, n.Text)
			}
			if got := strings.Join(notes, "; "); got != tt.notes {
				t.Errorf("it remarks %q, want %q", got, tt.notes)
			}
			if e.State != tt.state {
				t.Errorf("the state is %v, want %v", e.State, tt.state)
			}
		})
	}
}

// A call refused by an HTTP status has failed, and the frame with the status is part of
// it.
func TestExchangeRefusedByStatus(t *testing.T) {
	frames := logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
+1s meta POST of tools/call was answered with 503 Service Unavailable
`)
	frames[1].Status, frames[1].Failed, frames[1].Answers = 503, true, []byte("1")
	x := follow(t, logtest.New(t, frames...))
	e := read(t, x, 1, conversation.Reading{})
	if e.State != conversation.Failed || len(e.Frames) != 2 || !strings.HasPrefix(sentence(e, plain), "Failed after 1.00 s") ||
		!strings.HasSuffix(sentence(e, plain), " POST of tools/call was answered with 503 Service Unavailable.") {
		t.Errorf("%v, %d frames: %s", e.State, len(e.Frames), sentence(e, plain))
	}
	if got := sentence(&conversation.Call{Failure: "said [so](http://x)"}, Span); !strings.HasSuffix(got, " `said [so](http://x)`.") {
		t.Errorf("a failure is quoted as %s", got)
	}
	if a := Draw(e, 0).Arrows[1]; a.Kind != ArrowError || a.From != conversation.ServerParty || a.Seq != 2 {
		t.Errorf("the refusal is drawn as %+v", a)
	}
	if n := x.PlaceOf(2); n != 1 {
		t.Errorf("the refusal belongs to exchange %d", n)
	}
	only := read(t, x, 1, conversation.Reading{Only: func(seq int64) bool { return seq == 1 }})
	if only.State != conversation.Failed || strings.Contains(fmt.Sprint(sentence(only, plain)), "503") {
		t.Errorf("with its request alone it is %v: %s", only.State, sentence(only, plain))
	}
	var kinds []wire.Kind
	for _, f := range e.Frames {
		kinds = append(kinds, f.Kind)
	}
	if fmt.Sprint(kinds) != "[request note]" {
		t.Errorf("its frames are %v", kinds)
	}
}
