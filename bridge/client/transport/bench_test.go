package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// unseen is an Observer that does nothing, so that benchmarks measure only the tap.
type unseen struct{}

func (unseen) Sending(context.Context, Tapped) bool { return true }
func (unseen) Received(u Tapped) []byte             { return u.Raw }
func (unseen) Undelivered(Tapped, error)            {}
func (unseen) Stderr([]byte, bool, int64)           {}
func (unseen) Noted(wire.Frame)                     {}

// BenchmarkCall measures a small call through the tap, and through the SDK's own
// transport for comparison.
func BenchmarkCall(b *testing.B) {
	s := program("good")
	b.Run("stdio/tapped", func(b *testing.B) { benchmarkLink(b, s) })
	b.Run("stdio/plain", func(b *testing.B) {
		cmd := exec.Command(s.Command[0])
		cmd.Env = append(cmd.Environ(), s.Env...)
		benchmarkCalls(b, &mcp.CommandTransport{Command: cmd})
	})
	b.Run("in process/tapped", func(b *testing.B) { benchmarkLink(b, target.Spec{Builtin: logtest.Serving(testServer().Connect)}) })
	b.Run("in process/plain", func(b *testing.B) {
		client, server := mcp.NewInMemoryTransports()
		session, err := testServer().Connect(b.Context(), server, nil)
		if err != nil {
			b.Fatal(err)
		}
		benchmarkCalls(b, client)
		if err := session.Wait(); err != nil {
			b.Error(err)
		}
	})
}

// BenchmarkFlood measures a call during which the server sends many notifications.
func BenchmarkFlood(b *testing.B) {
	s := program("flood")
	b.Run("tapped", func(b *testing.B) { benchmarkLink(b, s) })
	b.Run("plain", func(b *testing.B) {
		cmd := exec.Command(s.Command[0])
		cmd.Env = append(cmd.Environ(), s.Env...)
		benchmarkCalls(b, &mcp.CommandTransport{Command: cmd})
	})
}

// BenchmarkLargeMessage measures how a message of 64 MiB passes to the SDK.
func BenchmarkLargeMessage(b *testing.B) {
	line := `{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("x", wire.DefaultMaxFrame-100) + `"}}` + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		c := newLineConn(&tap{observer: unseen{}, max: wire.DefaultMaxFrame}, nil)
		if err := c.readAll(strings.NewReader(line)); !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		if len(c.incoming) != 1 {
			b.Fatal("it has not arrived")
		}
	}
}

func benchmarkLink(b *testing.B, s target.Spec) {
	l, err := Open(b.Context(), s, unseen{}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkCalls(b, l.Transport())
	if err := l.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Error(err)
	}
}

func benchmarkCalls(b *testing.B, transport mcp.Transport) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	s, err := client.Connect(b.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		b.Fatal(err)
	}
	params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.CallTool(b.Context(), params); err != nil {
			b.Fatal(fmt.Errorf("call %d: %w", i, err))
		}
	}
	if err := s.Close(); err != nil {
		b.Error(err)
	}
}
