package otlp

import (
	"context"
	"fmt"
	"io"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// service returns the attributes of the resource that the spans are of.
func service(version string) []Attribute {
	return append(text("service.name", scopeName), text("service.version", version)...)
}

// Write writes the spans of a log as one object of OTLP/JSON.
func Write(ctx context.Context, w io.Writer, l *wire.Log, o Options, version string) (err error) {
	before, end := "", ""
	print := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format, args...)
		}
	}
	reader := NewReader(l, o, func(s *Span) {
		raw, wrong := rawjson.Encode(s)
		if err == nil {
			err = wrong
		}
		print("%s\n%s", before, wording.EscapeJSON(raw))
		before, end = ",", "\n"
	})
	head, wrong := rawjson.Encode(resource{service(version)})
	scope, wrong2 := rawjson.Encode(scope{scopeName, version})
	if wrong != nil || wrong2 != nil {
		return fmt.Errorf("writing the service: %v%v", wrong, wrong2)
	}
	print(`{"resourceSpans":[{"resource":%s,"scopeSpans":[{"scope":%s,"spans":[`, wording.EscapeJSON(head), wording.EscapeJSON(scope))
	if wrong := reader.Finish(ctx); wrong != nil {
		return wrong
	}
	print("%s]}]}]}\n", end)
	return err
}
