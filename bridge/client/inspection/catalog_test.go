// The race detector makes this test several times slower. Other tests do the same
// concurrently at smaller sizes.

//go:build !race

package inspection_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
)

// serveList returns a server whose tools/list has endless pages, made by page.
func serveList(page func(n int) string) func(*rawServer) {
	return func(s *rawServer) {
		for n := 1; ; {
			r, ok := s.read()
			if !ok {
				return
			}
			switch r.Method {
			case "initialize":
				s.reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"lists","version":"1"}}`)
			case "server/discover":
				s.fail(r, -32601, "Method not found", "")
			case "prompts/list":
				s.reply(r, `{"prompts":[{"name":"small"}]}`)
			case "tools/list":
				// Stop if the client does not limit the number of pages.
				if n > 400 {
					fmt.Fprintln(os.Stderr, "400 pages were read")
					os.Exit(1)
				}
				s.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, page(n))
				n++
			}
		}
	}
}

// endlessLists are servers whose list is too long in one way each, at a size that a bound divided
// by part ends.
func endlessLists(part int) map[string]func(*rawServer) {
	return map[string]func(*rawServer){
		"large pages": serveList(func(n int) string {
			description := strings.Repeat("d", 40<<20/part/100)
			var tools []string
			for i := range 100 {
				tools = append(tools, fmt.Sprintf(`{"name":"t%d-%d","description":"%s","inputSchema":{"type":"object"}}`, n, i, description))
			}
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, strings.Join(tools, ","), n)
		}),
		"large cursors": serveList(func(n int) string {
			return fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{}}],"nextCursor":"%d%s"}`, n, n, strings.Repeat("c", 8<<20/part))
		}),
		"many entries": serveList(func(n int) string {
			var tools []string
			for i := range 10_000 / part {
				tools = append(tools, fmt.Sprintf(`{"name":"t%d-%d","inputSchema":{}}`, n, i))
			}
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, strings.Join(tools, ","), n)
		}),
	}
}

// small is the part of the bound of a running inspector that is tried without -whole.
const small = 50

func init() {
	for _, part := range []int{1, small} {
		for name, serve := range endlessLists(part) {
			rawServers[fmt.Sprint(name, " ", part)] = serve
		}
	}
}

// A server's lists are limited in bytes and in entries. The catalog keeps what fits, and
// says that the rest is missing.
func TestCatalogIsBounded(t *testing.T) {
	part := small
	if *whole {
		part = 1
	}
	bound := conversation.Room{Bytes: conversation.CatalogMost.Bytes / part, Items: conversation.CatalogMost.Items / part}
	for server, want := range map[string]int{
		"large pages":   159, // pages of 100 tools with descriptions that take 5/8 of the bound together
		"large cursors": 8,
		"many entries":  bound.Items,
	} {
		t.Run(server, func(t *testing.T) {
			b := startConfig(t, fmt.Sprint(server, " ", part), inspection.Config{Room: bound})
			c, err := b.in.Catalog("s1")
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Items) < want || len(c.Items) > want+1 {
				t.Errorf("%d tools are kept, want about %d", len(c.Items), want)
			}
			const says = "tools/list: the rest of the list is left out"
			if len(c.Errors) == 0 || !strings.HasPrefix(c.Errors[0], says) {
				t.Errorf("it says %.200q, want %q", c.Errors, says)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most := uint64(20<<20 + 180<<20/part)
			if t.Logf("%d kB are in use", m.HeapAlloc>>10); m.HeapAlloc > most {
				t.Errorf("%d kB are in use", m.HeapAlloc>>10)
			}
		})
	}
}
