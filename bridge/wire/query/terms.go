package query

import (
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/wire"
)

// Term is a term of the filter language.
type Term struct {
	Name    string
	Example string
	Means   string // in words
	rule
}

// Terms lists the terms of filter lines, the most useful first.
func Terms() []Term { return slices.Clone(terms) }

func termNamed(name string) *Term {
	i := slices.IndexFunc(terms, func(t Term) bool { return strings.EqualFold(t.Name, name) })
	if i < 0 {
		return nil
	}
	return &terms[i]
}

var terms = []Term{
	{"method", "method:elicitation/*", "the method, of a response that of its request",
		methods()},
	{"kind", "kind:error,noise", "error (what failed), request, notification, result, noise, stderr, note, span; response, message, rpc-error",
		oneOf(
			choice{"request", "", ofKind(wire.Request)},
			choice{"notification", "", ofKind(wire.Notification)},
			choice{"result", "", ofKind(wire.Result)},
			choice{"error", "what failed: errors, isError, HTTP 400 and above, exits with a code", where(func(c *candidate) bool { return c.Failed && !c.RefusesProbe() })},
			choice{"noise", "", ofKind(wire.Noise)},
			choice{"stderr", "", ofKind(wire.StderrLine)},
			choice{"note", "", ofKind(wire.NoteFrame)},
			choice{"span", "", ofKind(wire.SpanFrame)},
			choice{"response", "", ofKind(wire.Result, wire.Error)},
			choice{"message", "", ofKind(wire.Request, wire.Notification, wire.Result, wire.Error)},
			choice{"rpc-error", "", ofKind(wire.Error)},
		)},
	{"dir", "dir:in", "in (from the server) or out; also c2s, s2c, stderr, meta",
		oneOf(
			choice{"in", "from the server", going(wire.ServerToClient)},
			choice{"out", "to the server", going(wire.ClientToServer)},
			choice{"stderr", "", going(wire.Stderr)},
			choice{"meta", "said by the inspector", going(wire.Meta)},
			choice{"c2s", "the same as out", going(wire.ClientToServer)},
			choice{"s2c", "the same as in", going(wire.ServerToClient)},
		)},
	{"id", "id:7", "the JSON-RPC id", text(idIs)},
	{"server", "server:files", "the server's label",
		named(func(n *wire.Names) string { return n.Server })},
	{"tool", "tool:deploy", "the tool whose call it belongs to",
		named(func(n *wire.Names) string { return n.Tool })},
	{"call", "call:3", "number of the call", number(func(c *candidate) uint32 { return c.Rare().Call })},
	{"question", "question:1", "number of the question", number(func(c *candidate) uint32 { return c.Rare().Question })},
	{"round", "round>1", "round of the call", number(func(c *candidate) uint32 { return c.Rare().Round })},
	{"action", "action:accept", "what an answer says: accept, decline, cancel",
		oneOf(
			choice{"accept", "", answering("accept")},
			choice{"decline", "", answering("decline")},
			choice{"cancel", "", answering("cancel")},
		)},
	{"actor", "actor:person", "who answered: person, script, policy, fault, server",
		named(func(n *wire.Names) string { return n.Actor })},
	{"fault", "fault:*", "what is wrong on purpose, by the name of its fault",
		named(func(n *wire.Names) string { return n.Fault })},
	{"ms", "ms>500", "milliseconds since the request; with a unit also ms>2s",
		compared(parseLatency, func(c *candidate) (time.Duration, bool) { return c.Latency() }, "100", "500", "1000")},
	{"size", "size>10k", "bytes on the wire; k, M, G, Ki, Mi, Gi",
		compared(ParseSize, func(c *candidate) (int64, bool) { return int64(c.Size), true }, "1k", "10k", "1M")},
	{"after", "after:10:02:03", "from that time on; also a date, a date with a time, +5s", when(true)},
	{"before", "before:+5s", "before that time", when(false)},
	{"has", "has:requestedSchema", "a JSON member of that name",
		text(hasMember, "requestedSchema", "inputRequests", "inputResponses", "structuredContent", "progressToken")},
	{"finding", "finding:any", "what the linter found: any, or the name of a rule", findings},
	{"span", "span:insert", "text in the name of a span of the server, or in why it failed", text(spanSays)},
	{"is", "is:question", "question, answer, span, duplicate, orphan, repeat, truncated, redacted, pinned, noted",
		oneOf(
			choice{"question", "what a server asks of people", isQuestion},
			choice{"answer", "what went back", isAnswer},
			choice{"span", "a span of the server's own", ofKind(wire.SpanFrame)},
			choice{"duplicate", "an id used before, or a second response", where(func(c *candidate) bool { return c.Duplicate })},
			choice{"orphan", "a response to nothing", where(func(c *candidate) bool { return c.Orphan })},
			choice{"repeat", "a poll of a task that says nothing new", where(func(c *candidate) bool { return c.Repeat })},
			choice{"truncated", "only the head was kept", where(func(c *candidate) bool { return c.Truncated })},
			choice{"redacted", "secrets were left out", where(func(c *candidate) bool { return c.Redacted })},
			choice{"pinned", "", marked(func(m wire.Mark) bool { return m.Pinned })},
			choice{"noted", "somebody wrote a note", marked(func(m wire.Mark) bool { return m.Note != "" })},
		)},
	{"colour", "colour:amber", "the colour it was marked with", oneOf(colours()...)},
	{"status", "status>=400", "the HTTP status", number(func(c *candidate) uint32 { return c.Rare().Status })},
	{"stream", "stream:get-sse", "which HTTP stream carried it: post, post-sse, get-sse",
		oneOf(
			choice{"post", "the body of a POST, or its JSON answer", carriedBy(wire.StreamPost)},
			choice{"post-sse", "the event stream that answers a POST", carriedBy(wire.StreamPostSSE)},
			choice{"get-sse", "the event stream opened by GET", carriedBy(wire.StreamGetSSE)},
		)},
	{"transport", "transport:http", "stdio, http, sse, memory",
		named(func(n *wire.Names) string { return n.Transport })},
	{"session", "session:s1-*", "the id of the session",
		named(func(n *wire.Names) string { return n.Session })},
	{"seq", "seq>=100", "the number of the frame",
		compared(wholeNumber, func(c *candidate) (int64, bool) { return c.Seq, true })},
}
