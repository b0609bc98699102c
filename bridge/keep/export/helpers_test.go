package export

import (
	"bytes"
	"context"
	"testing"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// recordings are transcripts of the demo server that the inspector has written.
const recordings = "../../meaning/conversation/testdata/recorded/*.jsonl"

// callsOf reads all calls of a log.
func callsOf(t testing.TB, l *wire.Log) []*conversation.Call {
	t.Helper()
	c := follow(t, l)
	var out []*conversation.Call
	for place := 1; place <= c.Len(); place++ {
		out = append(out, read(t, c, place, conversation.Reading{}))
	}
	return out
}

func follow(t testing.TB, l *wire.Log) *conversation.Conversation {
	t.Helper()
	c := conversation.New(l)
	if err := c.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t testing.TB, c *conversation.Conversation, place int, how conversation.Reading) *conversation.Call {
	t.Helper()
	call, err := c.Call(t.Context(), place, how)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// write writes a document.
func write(t testing.TB, d Document, f *DocumentFormat) string {
	t.Helper()
	var b bytes.Buffer
	if d.Version == "" {
		d.Title, d.Version = "talk", "test"
	}
	if err := d.Write(context.Background(), &b, f); err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	return b.String()
}
