// Package otlp tells a log as spans of OpenTelemetry: one for each request, and one for
// each question from the moment when it is asked until it is settled. A file in OTLP/JSON and
// a collector that is sent the spans of a live session get the same ones.
//
// The conventions are those for MCP of open-telemetry/semantic-conventions-genai; see
// docs/traces.md.
package otlp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// TraceID and SpanID identify a trace and a span.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// MarshalText returns the id in hexadecimal digits, as OTLP/JSON has it.
func (id TraceID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// MarshalText returns the id in hexadecimal digits, as OTLP/JSON has it.
func (id SpanID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// The types below are messages of OTLP. Their json tags are the names in OTLP/JSON, and their pb
// tags the numbers of the fields in protobuf; see appendMessage. The library with these types adds
// 2.5 MB to a program, and the whole of this package 0.2 MB.

type request struct {
	Resource []resourceSpans `json:"resourceSpans" pb:"1"`
}

type resourceSpans struct {
	Resource resource     `json:"resource" pb:"1"`
	Scopes   []scopeSpans `json:"scopeSpans" pb:"2"`
}

type resource struct {
	Attributes []Attribute `json:"attributes" pb:"1"`
}

type scopeSpans struct {
	Scope scope   `json:"scope" pb:"1"`
	Spans []*Span `json:"spans" pb:"2"`
}

type scope struct {
	Name    string `json:"name" pb:"1"`
	Version string `json:"version,omitempty" pb:"2"`
}

// Span is a span of OTLP.
type Span struct {
	TraceID    TraceID     `json:"traceId" pb:"1"`
	ID         SpanID      `json:"spanId" pb:"2"`
	State      string      `json:"traceState,omitempty" pb:"3"`
	Parent     SpanID      `json:"parentSpanId,omitzero" pb:"4"`
	Name       string      `json:"name" pb:"5"`
	Kind       Kind        `json:"kind" pb:"6"`
	Start      uint64      `json:"startTimeUnixNano,string" pb:"7"`
	End        uint64      `json:"endTimeUnixNano,string" pb:"8"`
	Attributes []Attribute `json:"attributes,omitempty" pb:"9"`
	Events     []Event     `json:"events,omitempty" pb:"11"`
	Links      []Link      `json:"links,omitempty" pb:"13"`
	Status     Status      `json:"status,omitzero" pb:"15"`
}

// Kind is the kind of a span.
type Kind int32

// The kinds of span: what only the inspector knows, what a peer began, what the observed client began.
const (
	Internal Kind = 1
	Served   Kind = 2
	Called   Kind = 3
)

// Event is something that happened during a span.
type Event struct {
	Time       uint64      `json:"timeUnixNano,string" pb:"1"`
	Name       string      `json:"name" pb:"2"`
	Attributes []Attribute `json:"attributes,omitempty" pb:"3"`
}

// Link leads to another span.
type Link struct {
	TraceID TraceID `json:"traceId" pb:"1"`
	ID      SpanID  `json:"spanId" pb:"2"`
}

// Status says whether the operation that a span describes has failed.
type Status struct {
	Message string `json:"message,omitempty" pb:"2"`
	Code    int32  `json:"code,omitempty" pb:"3"`
}

const failed = 2 // Status.Code

// Attribute is a named value.
type Attribute struct {
	Key   string `json:"key" pb:"1"`
	Value Value  `json:"value" pb:"2"`
}

// Value has exactly one field that is not nil. We send the first three only.
type Value struct {
	Text    *string     `json:"stringValue,omitempty" pb:"1"`
	Bool    *bool       `json:"boolValue,omitempty" pb:"2"`
	Int     *int64      `json:"intValue,omitempty,string" pb:"3"`
	Double  *float64    `json:"doubleValue,omitempty" pb:"4"`
	List    *values     `json:"arrayValue,omitempty" pb:"5"`
	Members *attributes `json:"kvlistValue,omitempty" pb:"6"`
	Bytes   []byte      `json:"bytesValue,omitempty" pb:"7"`
}

type values struct {
	Values []Value `json:"values" pb:"1"`
}

type attributes struct {
	Values []Attribute `json:"values" pb:"1"`
}

// nameMost bounds the characters of a name, textMost and contentMost those of an attribute.
const (
	nameMost    = 200
	textMost    = 500
	contentMost = 8 << 10
)

// text returns attributes with a text; none for "".
func text(key, value string) []Attribute { return long(key, wording.Shorten(value, textMost)) }

func long(key, value string) []Attribute {
	if value == "" {
		return nil
	}
	value = strings.ToValidUTF8(wording.Shorten(value, contentMost), "\uFFFD")
	return []Attribute{{key, Value{Text: &value}}}
}

func number(key string, n int64) []Attribute { return []Attribute{{key, Value{Int: &n}}} }

// scopeName names the inspector in what it writes.
const scopeName = "elicitation-inspector"

// appendMessage appends a struct with pb tags as a message of protobuf, without the fields that are
// zero. A uint64 is a fixed64, another whole number a varint.
func appendMessage(dst []byte, v reflect.Value) []byte {
	for i := range v.NumField() {
		field, err := strconv.ParseUint(v.Type().Field(i).Tag.Get("pb"), 10, 8)
		if err == nil {
			dst = appendField(dst, field, v.Field(i), false)
		}
	}
	return dst
}

// appendField appends a field. always says that also zero is.
func appendField(dst []byte, field uint64, v reflect.Value, always bool) []byte {
	const varint, fixed64, bytes = 0, 1, 2
	tag := func(kind uint64) { dst = binary.AppendUvarint(dst, field<<3|kind) }
	switch kind := v.Kind(); {
	case v.IsZero() && !always:
	case kind == reflect.Pointer && v.Type().Elem().Kind() != reflect.Struct: // one of several, of which zero counts, too
		return appendField(dst, field, v.Elem(), true)
	case kind == reflect.Pointer:
		return appendField(dst, field, v.Elem(), always)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		tag(bytes)
		dst = append(binary.AppendUvarint(dst, uint64(v.Len())), v.Bytes()...)
	case kind == reflect.Slice:
		for i := range v.Len() {
			dst = appendField(dst, field, v.Index(i), true)
		}
	case kind == reflect.Struct:
		inner := appendMessage(nil, v)
		tag(bytes)
		dst = append(binary.AppendUvarint(dst, uint64(len(inner))), inner...)
	case kind == reflect.Array:
		tag(bytes)
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		for i := range v.Len() {
			dst = append(dst, byte(v.Index(i).Uint()))
		}
	case kind == reflect.String:
		tag(bytes)
		dst = append(binary.AppendUvarint(dst, uint64(v.Len())), v.String()...)
	case kind == reflect.Uint64:
		tag(fixed64)
		dst = binary.LittleEndian.AppendUint64(dst, v.Uint())
	case kind == reflect.Float64:
		tag(fixed64)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float()))
	case kind == reflect.Bool:
		tag(varint)
		dst = append(dst, map[bool]byte{true: 1}[v.Bool()])
	default:
		tag(varint)
		dst = binary.AppendUvarint(dst, uint64(v.Int()))
	}
	return dst
}

// nanos returns a time as OTLP has it; 0 for none.
func nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixNano(), 0))
}

// hash makes an id of what identifies something in a transcript, so that whoever reads the
// session gets the same id.
func hash(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// spanRef leads to a span; the zero value to none.
type spanRef struct {
	trace TraceID
	span  SpanID
	state string
}

// refOf returns the span of a message, in a trace of its own, or in that of the call of this number
// in the session. again tells messages apart that have the same id.
func refOf(session string, call int, dir wire.Direction, m wire.Message, again string) (r spanRef) {
	h := hash("span", session, dir.String(), m.Method, wire.IDKey(m.ID), again)
	copy(r.span[:], h[:8])
	copy(r.trace[:], h[8:24])
	if call != 0 {
		h = hash("call", session, strconv.Itoa(call))
		copy(r.trace[:], h[:16])
	}
	return r
}

// under returns the span of something within r that has these names.
func (r spanRef) under(names ...string) (inner spanRef) {
	h := hash(append(names, string(r.trace[:]), string(r.span[:]))...)
	inner.trace = r.trace
	copy(inner.span[:], h[:8])
	return inner
}

// Upstream is a span that the inspector works within, and what goes with it. The zero value is none.
type Upstream struct {
	parent  spanRef
	baggage string
}

// UpstreamOf reads an Upstream from TRACEPARENT, TRACESTATE and BAGGAGE (OpenTelemetry, Environment Variables as
// Context Propagation Carriers). wrong lists those that are not as W3C Trace Context and Baggage want them, which
// are left out.
func UpstreamOf(getenv func(name string) string) (u Upstream, wrong []string) {
	value := func(name string, most int) string {
		value := getenv(name)
		if len(value) > most || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) {
			wrong = append(wrong, name)
			return ""
		}
		return value
	}
	u.baggage = value("BAGGAGE", 8192)
	state := value("TRACESTATE", 512)
	if said := getenv("TRACEPARENT"); said != "" {
		if u.parent = parseTraceparent(said); u.parent == (spanRef{}) {
			return u, append(wrong, "TRACEPARENT")
		}
	}
	var members []string
	for m := range strings.SplitSeq(state, ",") {
		if m = strings.TrimSpace(m); m != "" && !strings.HasPrefix(m, stateKey) { // of an inspector that this one runs within
			members = append(members, m)
		}
	}
	if u.parent != (spanRef{}) {
		u.parent.state = strings.Join(members[:min(len(members), 31)], ",") // 32 with the inspector's own
	}
	return u, wrong
}

// Alone returns the Upstream for traces of their own.
func (u Upstream) Alone() Upstream { return Upstream{baggage: u.baggage} }

// Context returns what a request of the inspector's own carries in its _meta (W3C Trace Context and Baggage;
// SEP-414): as traceparent the span that the request will be, and as tracestate what leads to the span upstream,
// so that a transcript has both. tracestate and baggage are "" for none.
func (u Upstream) Context(session string, call int, m wire.Message) (traceparent, tracestate, baggage string) {
	r := refOf(session, call, wire.ClientToServer, m, "")
	if u.parent != (spanRef{}) {
		r.trace, tracestate = u.parent.trace, stateKey+hex.EncodeToString(u.parent.span[:])+wording.After(",", u.parent.state)
	}
	return "00-" + hex.EncodeToString(r.trace[:]) + "-" + hex.EncodeToString(r.span[:]) + "-01", tracestate, u.baggage
}

// stateKey begins the member of a tracestate that has the span upstream. As W3C wants it, it is the first.
const stateKey = scopeName + "="

// parentIn returns the span upstream that a tracestate of the inspector's own leads to; the zero value for none.
func parentIn(state string) (id SpanID) {
	if value, ok := strings.CutPrefix(state, stateKey); ok && len(value) >= hex.EncodedLen(len(id)) {
		_, _ = hex.Decode(id[:], []byte(value[:hex.EncodedLen(len(id))]))
	}
	return id
}

// parseTraceparent reads a traceparent; the zero value for one that is none.
func parseTraceparent(value string) (r spanRef) {
	p := strings.Split(value, "-")
	if len(p) < 4 || len(p[0]) != 2 || p[0] == "ff" || p[0] == "00" && len(p) > 4 || len(p[1]) != 32 || len(p[2]) != 16 || len(p[3]) != 2 || strings.ToLower(value) != value {
		return spanRef{}
	}
	_, err1 := hex.Decode(r.trace[:], []byte(p[1]))
	_, err2 := hex.Decode(r.span[:], []byte(p[2]))
	if err1 != nil || err2 != nil || r.trace == (TraceID{}) || r.span == (SpanID{}) {
		return spanRef{}
	}
	return r
}
