package otlp

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// Bounds of a span that is kept: the attributes of a span or an event, the events, and the bytes of a
// name or a value and of all of them together.
const (
	attributesMost = 64
	eventsMost     = 16
	valueMost      = 1 << 10
	wholeMost      = 32 << 10
)

var spanKinds = []string{Internal: wire.SpanInternal, Served: wire.SpanServer, Called: wire.SpanClient, 4: wire.SpanProducer, 5: wire.SpanConsumer}

// kept returns a span as it is kept in the log, within the bounds.
func (s *Span) kept(service, scope string) *wire.Span {
	c := cutter{room: wholeMost}
	out := &wire.Span{
		TraceID: textOf(s.TraceID), SpanID: textOf(s.ID), Name: c.text(s.Name, nameMost), Start: timeOf(s.Start), End: timeOf(s.End),
		Message: c.text(s.Status.Message, valueMost), Service: service, Scope: scope, Attributes: c.attributes(s.Attributes),
	}
	if s.Parent != (SpanID{}) {
		out.ParentID = textOf(s.Parent)
	}
	if s.Kind > 0 && int(s.Kind) < len(spanKinds) {
		out.Kind = spanKinds[s.Kind]
	}
	out.Status = map[int32]string{1: wire.SpanOK, failed: wire.SpanError}[s.Status.Code]
	for i, e := range s.Events {
		if i == eventsMost || c.room <= 0 {
			c.cut = true
			break
		}
		out.Events = append(out.Events, wire.SpanEvent{At: timeOf(e.Time), Name: c.text(e.Name, nameMost), Attributes: c.attributes(e.Attributes)})
	}
	out.Cut = c.cut
	return out
}

func textOf(id interface{ MarshalText() ([]byte, error) }) string {
	text, _ := id.MarshalText() // which has no error
	return string(text)
}

// timeOf is the reverse of nanos.
func timeOf(nanos uint64) time.Time { return time.Unix(0, int64(min(nanos, math.MaxInt64))).UTC() }

// cutter cuts what is kept of a span to the bounds.
type cutter struct {
	room int  // bytes that are left
	cut  bool // something was cut
}

func (c *cutter) text(s string, most int) string {
	short := wording.Shorten(strings.ToValidUTF8(s, "\uFFFD"), most)
	c.cut = c.cut || len(short) < len(s)
	c.room -= len(short)
	return short
}

func (c *cutter) attributes(list []Attribute) map[string]json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	out := map[string]json.RawMessage{}
	for _, a := range list {
		if len(out) == attributesMost || c.room <= 0 {
			c.cut = true
			break
		}
		value, _ := rawjson.Encode(a.Value.plain()) // which has no error
		if text := a.Value.Text; text != nil {
			value = rawjson.Quoted(c.text(*text, valueMost))
		} else if len(value) > valueMost {
			value = rawjson.Quoted(c.text(string(value), valueMost))
		} else {
			c.room -= len(value)
		}
		out[c.text(a.Key, nameMost)] = value
	}
	return out
}

// plain returns the value as encoding/json writes it.
func (v Value) plain() any {
	switch {
	case v.Text != nil:
		return *v.Text
	case v.Bool != nil:
		return *v.Bool
	case v.Int != nil:
		return *v.Int
	case v.Double != nil && (math.IsNaN(*v.Double) || math.IsInf(*v.Double, 0)):
		return fmt.Sprint(*v.Double)
	case v.Double != nil:
		return *v.Double
	case v.List != nil:
		list := []any{}
		for _, one := range v.List.Values {
			list = append(list, one.plain())
		}
		return list
	case v.Members != nil:
		members := map[string]any{}
		for _, one := range v.Members.Values {
			members[one.Key] = one.Value.plain()
		}
		return members
	case v.Bytes != nil:
		return v.Bytes
	}
	return nil
}
