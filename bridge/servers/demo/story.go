package demo

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// story is the behaviour of a tool. It asks through v, and may run several times for one call (see visit).
type story func(ctx context.Context, v *visit) (*mcp.CallToolResult, error)

// taking makes a story of a function with arguments. Missing arguments get the defaults of the tool's input schema.
func taking[A any](tell func(context.Context, *visit, A) (*mcp.CallToolResult, error)) story {
	return func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var args A
		if err := v.args(&args); err != nil {
			return nil, err
		}
		return tell(ctx, v, args)
	}
}

// stories maps the names of tools to their stories.
var stories = map[string]story{
	// Everyday work: each asks in form mode, once or several times.
	"deploy": taking(deploy), "transfer_money": taking(transfer), "book_table": taking(bookTable), "delete_files": taking(deleteFiles), "onboard": onboard,
	// The fields of a form.
	"every_field": func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		return v.whatArrives(ctx, form("form", nil))
	},
	"ask": taking(ask), "ask_this": askThis,
	// Sign-ins and other links.
	"connect_calendar": connectCalendar, "connect_mailbox": connectMailbox, "protected_report": taking(protectedReport), "suspicious_link": taking(suspiciousLink),
	// Best in 2026-07-28, where questions are part of results, and answers part of repeated requests.
	"plan_trip": planTrip, "pay_invoice": payInvoice, "export_photos": taking(exportPhotos), "haggle": taking(haggle),
	// Timeouts, floods and crashes.
	"impatient": taking(impatient), "times_out": taking(timesOut), "flood": taking(flood), "ask_many": taking(askMany),
	"crash_on_decline": crashOnDecline, "slow_count": taking(slowCount),
	// Long work: calls that can be tasks, and a question that is one.
	"migrate_table": asTask(taking(migrateTable)), "request_review": requestReview,
	// Breaking the rules.
	"rule_breaker": taking(ruleBreaker),
	// Asking nothing: results of all types, and what the server knows about its client.
	"show_result": taking(showResult), "who_am_i": whoAmI,
}

// tool describes a story to the client. Its schemas are exact JSON, because Go types would lose the order of
// properties.
type tool struct {
	Name, Title, Description string
	Input                    json.RawMessage // properties of the arguments' JSON Schema; nil for a tool without arguments
	Output                   json.RawMessage // JSON Schema of structuredContent; nil for none
	Annotations              *mcp.ToolAnnotations
	URLOnly                  bool   // hidden from a client without URL mode, to which it is useless
	AsksLater                bool   // hidden from a client that takes no question as a task
	Task                     string // execution.taskSupport: "optional", "required", or "" for a tool that is never a task
	story                    story  // nil for that of its name in stories
}

//go:embed tools.json
var toolsJSON string

// tools returns the tools in the order of tools.json, instead of alphabetically.
var tools = sync.OnceValue(func() []tool {
	return read[[]tool](strings.NewReplacer(
		`"$kinds"`, namesOf(kinds()), `"$links"`, namesOf(suspicious), `"$breaches"`, namesOf(breaches()), `"$results"`, namesOf(shows),
	).Replace(toolsJSON))()
})

func (t tool) inputSchema() string {
	return `{"type":"object","properties":` + cmp.Or(string(t.Input), "{}") + `,"additionalProperties":false}`
}

func object(properties string, required ...string) string {
	if required == nil {
		return `{"type":"object","properties":{` + properties + `}}`
	}
	return `{"type":"object","properties":{` + properties + `},"required":` + string(mustJSON(required)) + `}`
}

func (t tool) listed() *mcp.Tool {
	l := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: json.RawMessage(t.inputSchema()), Annotations: t.Annotations,
	}
	if t.Output != nil {
		l.OutputSchema = t.Output
	}
	return l
}

// tools returns the tools of a client, as a list of its revision has them.
func (r served) tools() []json.RawMessage {
	list := []json.RawMessage{}
	opensPages := slices.Contains(r.Modes(), "url")
	for _, t := range r.server.tools() {
		if !opensPages && t.URLOnly || t.AsksLater && !r.asksLater() {
			continue
		}
		one := mustJSON(t.listed())
		if t.Task != "" && r.Revision == protocol.Revision20251125 {
			one = rawjson.WithMember(one, "execution", `{"taskSupport":"`+t.Task+`"}`)
		}
		list = append(list, one)
	}
	return list
}

func (s *Server) tools() []tool {
	if s.options.Conformance {
		return conformance
	}
	return tools()
}

// tellTool tells the story of the tool that is called.
func (v *visit) tellTool(ctx context.Context) (any, error) {
	list := v.server.tools()
	i := slices.IndexFunc(list, func(t tool) bool { return t.Name == v.name })
	if i < 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", v.name)}
	}
	t := list[i]
	v.input = t.inputSchema()
	if v.RefusesTask(t.Task) {
		return nil, raw(nil)
	}
	if err := validate(v.input, v.arguments); err != nil {
		return failed("The arguments do not fit: %v", err), nil
	}
	if t.story == nil {
		t.story = stories[t.Name]
	}
	return v.finish(t.story(ctx, v))
}

// finish returns the result of a call whose story has ended.
func (v *visit) finish(res *mcp.CallToolResult, err error) (*mcp.CallToolResult, error) {
	if early := (*ending)(nil); errors.As(err, &early) {
		if early.failed {
			return failed("%s", early.text), nil
		}
		res, err = said("%s", early.text), nil
	}
	if err == nil && v.outcome != nil {
		res.StructuredContent = mustJSON(v.outcome)
	}
	return res, err
}

// ending is an error that ends a story early, with a text for the person. It becomes a result, which is marked as an
// error if the story has failed.
type ending struct {
	text   string
	failed bool
}

func (e *ending) Error() string { return e.text }

func problem(format string, a ...any) error { return &ending{fmt.Sprintf(format, a...), true} }

func said(format string, a ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
}

func failed(format string, a ...any) *mcp.CallToolResult {
	r := said(format, a...)
	r.IsError = true
	return r
}

// variant is one of the options of a tool, chosen by name.
type variant interface{ id() string }

func namesOf[V variant](list []V) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.id()
	}
	return string(mustJSON(names))
}

// chosen returns the variant with this name. It is always in the list, because the argument satisfies its schema.
func chosen[V variant](name string, list []V) V {
	return list[slices.IndexFunc(list, func(v V) bool { return v.id() == name })]
}

// read returns a function that decodes an embedded file at its first call, so that it does not delay the start of the
// program.
func read[T any](text string) func() T {
	return sync.OnceValue(func() (v T) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			panic(fmt.Sprintf("reading %T: %v", v, err))
		}
		return v
	})
}
