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
