package wire

import (
	"encoding/json"
	"time"

	"elicitation-inspector/bridge/base/wording"
)

// Span is a span that a server has sent by OTLP, in a trace that a request of ours began. It is kept
// as it came: its times are of the server's clock, and the attributes and texts are cut to the
// bounds that docs/traces.md names. The frame has the call and the round that it belongs to, and the time when it
// was received.
type Span struct {
	TraceID  string `json:"trace_id"` // in hexadecimal digits, as the other ids
	SpanID   string `json:"span_id"`
	ParentID string `json:"parent_id,omitempty"`

	Name  string    `json:"name"`
	Kind  string    `json:"kind,omitempty"` // "internal", "server", "client", "producer", "consumer"; "" for unknown
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`

	// Attributes are JSON values by name: those of the span, and in Events of an event.
	Attributes map[string]json.RawMessage `json:"attributes,omitempty"`
	Events     []SpanEvent                `json:"events,omitempty"`

	Status  string `json:"status,omitempty"`  // "ok", "error"; "" if it is not set
	Message string `json:"message,omitempty"` // of the status
	Service string `json:"service,omitempty"` // service.name of the resource
	Scope   string `json:"scope,omitempty"`   // the library that made the span
	Effect  string `json:"effect,omitempty"`  // the value of --effect that the span matches
	Cut     bool   `json:"cut,omitempty"`     // something of it was over the bounds
}

// SpanEvent is something that happened during a span.
type SpanEvent struct {
	At         time.Time                  `json:"at"`
	Name       string                     `json:"name"`
	Attributes map[string]json.RawMessage `json:"attributes,omitempty"`
}

// NoEffect begins a Span.Effect that says that the span has none.
const NoEffect = "-"

// The values of Span.Kind and Span.Status.
const (
	SpanInternal = "internal"
	SpanServer   = "server"
	SpanClient   = "client"
	SpanProducer = "producer"
	SpanConsumer = "consumer"

	SpanOK    = "ok"
	SpanError = "error"
)

// Took is how long the span took.
func (s *Span) Took() time.Duration { return max(s.End.Sub(s.Start), 0) }

// words says in one line what the span is. They begin so that no name of a span looks like a mark.
func (s *Span) words() string {
	text := "span " + wording.EscapeLine(s.Name) + ", " + wording.Duration(s.Took())
	if s.Status == SpanError {
		text += "; failed" + wording.After(": ", wording.EscapeLine(s.Message))
	}
	return text
}
