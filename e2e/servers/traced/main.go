// Command traced is an MCP server over stdio that is instrumented with the SDK of OpenTelemetry, and sends
// its spans where OTEL_EXPORTER_OTLP_ENDPOINT says. Its tool asks whether to order something. The
// argument "early" makes it store the order before the answer.
package main

import (
	"cmp"
	"context"
	"log"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

var tracer trace.Tracer

func main() {
	exporter, err := otlptracehttp.New(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	tracer = provider.Tracer("traced")
	server := mcp.NewServer(&mcp.Implementation{Name: "traced", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "order", Description: "Orders something, if you agree."}, order)
	_, startup := tracer.Start(context.Background(), "startup") // which is no span of a call
	startup.End()
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Print(err)
	}
	if err := provider.Shutdown(context.Background()); err != nil {
		log.Print(err)
	}
}

type arguments struct {
	Item string `json:"item,omitempty"`
	// Early inserts before the answer, and not after it.
	Early bool `json:"early,omitempty"`
}

func order(ctx context.Context, r *mcp.CallToolRequest, a arguments) (*mcp.CallToolResult, any, error) {
	a.Item = cmp.Or(a.Item, "tea")
	carrier := propagation.MapCarrier{}
	if said, ok := r.Params.Meta["traceparent"].(string); ok {
		carrier["traceparent"] = said
	}
	ctx = propagation.TraceContext{}.Extract(ctx, carrier)
	ctx, span := tracer.Start(ctx, "tools/call order", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	query(ctx, "SELECT stock", "SELECT count FROM stock WHERE item = ?", a.Item, 2*time.Millisecond)
	if a.Early {
		query(ctx, "INSERT orders", "INSERT INTO orders (item) VALUES (?)", a.Item, 5*time.Millisecond)
	}
	answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{
		Message: "Order " + a.Item + "?",
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{
			"count": map[string]any{"type": "integer", "title": "Count", "default": 1},
		}},
	})
	switch {
	case err != nil:
		span.SetStatus(codes.Error, err.Error())
		return nil, nil, err
	case answer.Action != "accept":
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Nothing is ordered."}}}, nil, nil
	case !a.Early:
		within, work := tracer.Start(ctx, "store order")
		query(within, "INSERT orders", "INSERT INTO orders (item) VALUES (?)", a.Item, 5*time.Millisecond)
		work.End()
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Item + " is ordered."}}}, nil, nil
}

// query is a span of a database, as the semantic conventions have it. It takes a while.
func query(ctx context.Context, name, text, item string, takes time.Duration) {
	_, span := tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("db.system.name", "sqlite"), attribute.String("db.operation.name", name[:6]),
		attribute.String("db.query.text", text), attribute.String("db.query.parameter.item", item),
	))
	time.Sleep(takes)
	span.End()
}
