package inspection_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/conversation"
)

// listPages are the lists of the servers below: what each is called in its result, and how an
// entry begins.
var listPages = map[string][2]string{
	"tools/list": {"tools", `"inputSchema":{"type":"object"},"name"`}, "prompts/list": {"prompts", `"name"`},
	"resources/list": {"resources", `"name":"r","uri"`}, "resources/templates/list": {"resourceTemplates", `"name":"t","uriTemplate"`},
}

// cursors are the nextCursor of the first page of every list, and what is read of it in a
// revision: the names of the tools, and what is said of the list.
var cursors = []struct {
	name, next, revision string
	tools                []string
	says                 string
}{
	{"empty", `""`, mcp.Revision20260728, []string{"a:/first", "a:/second"}, ""},
	{"empty-before", `""`, mcp.Revision20251125, []string{"a:/first"}, ""},
	{"null", `null`, mcp.Revision20260728, []string{"a:/first"}, ""},
	{"null-before", `null`, mcp.Revision20250618, []string{"a:/first"}, ""},
	{"number", `7`, mcp.Revision20260728, []string{"a:/first"}, "nextCursor is a number, not a string"},
	{"empty-for-the-end", `""`, mcp.Revision20260728, []string{"a:/first"}, "nextCursor leads to the same page again"},
	{"again", `"x"`, mcp.Revision20251125, []string{"a:/first", "a:/second"}, `the cursor "x" came twice`},
}

func init() {
	for _, c := range cursors {
		rawServers["cursor-"+c.name] = func(s *rawServer) {
			for {
				r, ok := s.read()
				if !ok {
					return
				}
				var params map[string]json.RawMessage
				_ = json.Unmarshal(r.Params, &params)
				list, isList := listPages[r.Method]
				const offers = `"capabilities":{"tools":{},"prompts":{},"resources":{}}`
				switch {
				case r.Method == "server/discover":
					s.reply(r, `{"resultType":"complete","supportedVersions":[%q],`+offers+`}`, c.revision)
				case r.Method == "initialize":
					s.reply(r, `{"protocolVersion":%q,"serverInfo":{"name":"raw","version":"1"},`+offers+`}`, c.revision)
				case !isList:
				case params["cursor"] == nil || c.name == "empty-for-the-end":
					s.reply(r, `{"resultType":"complete",%q:[{%s:"a:/first"}],"nextCursor":%s}`, list[0], list[1], c.next)
				case c.name == "again":
					s.reply(r, `{"resultType":"complete",%q:[{%s:"a:/second"}],"nextCursor":%s}`, list[0], list[1], c.next)
				default:
					s.reply(r, `{"resultType":"complete",%q:[{%s:"a:/second"}]}`, list[0], list[1])
				}
			}
		}
	}
}

// An empty cursor is one since 2026-07-28, and ends a list before; null always ends it; a cursor
// that leads nowhere else is said. Every list is read so, live and from a transcript.
func TestCursors(t *testing.T) {
	for _, c := range cursors {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t, "cursor-"+c.name, conversation.ClientSettings{Protocol: c.revision})
			live, err := b.in.Catalog("s1")
			if err != nil {
				t.Fatal(err)
			}
			replayed := b.replayed()
			opened, err := replayed.Catalog(replayed.Servers()[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			for where, read := range map[string]conversation.Catalog{"live": live, "opened": opened} {
				said := strings.Join(read.Errors, "\n")
				for kind := range map[conversation.Kind]bool{conversation.Tool: true, conversation.Prompt: true, conversation.Resource: true, conversation.Template: true} {
					var got []string
					for _, item := range read.Items {
						if item.Kind == kind {
							got = append(got, item.Key)
						}
					}
					if !slices.Equal(got, c.tools) {
						t.Errorf("%s: %s %q, want %q; it says %s", where, kind, got, c.tools, said)
					}
				}
				if lists := strings.Count(said, c.says); c.says == "" && said != "" || c.says != "" && lists != len(listPages) {
					t.Errorf("%s: it says %q, want %q of every list", where, said, c.says)
				}
			}
			if c.name == "empty" || c.name == "null" {
				more := 0
				for seq := range b.log.Len() {
					if f, err := b.log.Frame(seq + 1); err == nil && strings.HasSuffix(f.Summary(), ", more to come") {
						more++
					}
				}
				if want := map[string]int{"empty": len(listPages), "null": 0}[c.name]; more != want {
					t.Errorf("%d pages say that more is to come, want %d", more, want)
				}
			}
		})
	}
}
