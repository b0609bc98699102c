package query

import (
	"slices"
	"testing"

	"elicitation-inspector/bridge/wire"
)

func TestFilterMarks(t *testing.T) {
	l := newLog(t)
	for i := range 6 {
		l.Append(message(wire.ServerToClient, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}`, i))
	}
	for seq, m := range map[int64]wire.Mark{2: {Pinned: true, Colour: "red"}, 5: {Note: "see"}} {
		if err := l.Mark(seq, m); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string][]int64{
		"is:pinned": {2}, "is:noted": {5}, "colour:red": {2}, "colour:RED,blue": {2}, "is:pinned or is:noted": {2, 5}, "dir:in !is:pinned seq<4": {1, 3},
	} {
		f, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if !f.UsesFindings() && !f.UsesMarks() {
			t.Errorf("%q is said to last", line)
		}
		v := NewView(l, f, nil)
		if err := v.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := v.Seqs(0, 10); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", line, got, want)
		}
	}
	for line, want := range map[string][2]bool{ // UsesFindings, UsesMarks
		"is:orphan": {}, "kind:error": {}, "finding:any": {true, false}, "(call:3 or !colour:red)": {false, true},
		`"is:pinned"`: {}, "is:noted -finding:any": {true, true}, "": {},
	} {
		f := MustParse(line)
		if got := [2]bool{f.UsesFindings(), f.UsesMarks()}; got != want {
			t.Errorf("%q uses findings and marks: %v, want %v", line, got, want)
		}
	}
}

// Questions and answers are found in every kind of message that can carry them.
func TestFilterQuestionsAndAnswers(t *testing.T) {
	l := newLog(t)
	for _, f := range []struct {
		dir wire.Direction
		raw string
	}{
		{wire.ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`},
		{wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}`},
		{wire.ClientToServer, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`},
		{wire.ServerToClient, `{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"?"}}`},
		{wire.ClientToServer, `{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}`},
		{wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{}}}}`},
		{wire.ClientToServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","inputResponses":{"k":{}}}}`},
		{wire.ServerToClient, `{"jsonrpc":"2.0","id":2,"error":{"code":-32042,"message":"","data":{"elicitations":[]}}}`},
		{wire.ClientToServer, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}`},
		{wire.ServerToClient, `{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"inputRequests"}}`},
		{wire.ServerToClient, `{"jsonrpc":"2.0","id":4,"method":"ping"}`},
		{wire.ClientToServer, `{"jsonrpc":"2.0","id":4,"result":{}}`},
	} {
		l.Append(wire.Frame{Session: "s", Dir: f.dir, Raw: []byte(f.raw)})
	}
	for line, want := range map[string][]int64{"is:question": {2, 4, 6, 8}, "is:answer": {3, 5, 7}, "!is:question,answer": {1, 9, 10, 11, 12}} {
		f, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		v := NewView(l, f, nil)
		if err := v.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := v.Seqs(0, 20); !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", line, got, want)
		}
	}
}
