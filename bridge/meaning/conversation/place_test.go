package conversation

import (
	"fmt"
	"sync"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// A session places a message while a reader reads on, whatever the frames refer to.
func TestPlaceWhileOthersRead(t *testing.T) {
	l := logtest.New(t)
	c := New(l)
	of := wire.Frame{Server: "a", Session: "a-1"}
	add := func(dir wire.Direction, call int, format string, args ...any) {
		f := of
		f.Dir, f.Call, f.Raw = dir, call, fmt.Appendf(nil, format, args...)
		l.Append(f)
	}
	add(wire.ClientToServer, 1, `{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"ask"}}`)
	question := of
	question.Dir, question.Raw = wire.ServerToClient, []byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)
	question.Identify()
	var reader sync.WaitGroup
	over := make(chan struct{})
	reader.Go(func() {
		defer close(over)
		for i := range 1000 {
			add(wire.ClientToServer, i+2, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}`, i)
			add(wire.ClientToServer, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
			if err := c.Update(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	defer reader.Wait()
	for {
		if call, _, _ := c.Place(&question, nil); call == 0 {
			t.Error("the question has no place although a call is open")
			return
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

// Who reads a call while an update goes on sees no question without its number, and sees it once
// it has one.
func TestReadBeforeNumbers(t *testing.T) {
	l := logtest.New(t)
	c := New(l)
	f := wire.Frame{Server: "a", Session: "a-1", Dir: wire.ServerToClient, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)}
	for range 2 {
		f.Question++
		l.Append(f)
	}
	f.Note, f.Dir, f.Raw = &wire.Note{Kind: wire.NoteSettled, State: "withdrawn"}, wire.Meta, nil // about the second
	l.Append(f)
	look := func(place, want int) {
		t.Helper()
		called, err := c.Call(t.Context(), place, Reading{})
		if err != nil {
			t.Fatal(err)
		}
		watched, err := c.Watch(t.Context(), place, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []*Call{called, watched} {
			if len(call.Questions) != want || want == 1 && call.Questions[0].Number != place {
				t.Errorf("the call at %d: %+v", place, call)
			}
		}
	}
	apply := func(seq int64) {
		f := frame{Frame: l.Head(seq)}
		if err := c.read(&f); err != nil {
			t.Fatal(err)
		}
		c.apply(&f)
		c.upTo = seq
	}
	apply(1)
	look(1, 0)
	c.numberQuestions()
	look(1, 1)
	apply(2)
	apply(3)
	look(1, 1)
	look(2, 0)
	c.numberQuestions()
	look(2, 1)
}
