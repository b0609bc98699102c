// Command acts is an MCP server over stdio that is instrumented with the SDK of OpenTelemetry. Its tool does the
// steps that its argument lists, one after the other, so that a test can write down a server that acts rightly or
// wrongly. A step is one of
//
//	ask               asks whether to go on
//	rest MS           waits
//	db STATEMENT      is a span of a database
//	http METHOD       is a span of an HTTP request
//	send, receive     are spans of a queue
//	rpc METHOD        is a span of a remote procedure call
//	file NAME         is a span with this name about a file
//	log               writes a line of a log, and is a span without attributes
//	accepted STEP     is done if the latest question was accepted
//	refused STEP      is done if it was not
//	within MS STEP    is done after a while, whatever comes next
//	later MS STEP     is done a while after the tool has its result
package main

import (
	"context"
	"fmt"
	"log"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

var (
	tracer  trace.Tracer
	working sync.WaitGroup // what is done beside the steps
)

func main() {
	exporter, err := otlptracehttp.New(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter, sdk.WithBatchTimeout(20*time.Millisecond)))
	tracer = provider.Tracer("acts")
	server := mcp.NewServer(&mcp.Implementation{Name: "acts", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "act", Description: "Does what its steps say."}, act)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Print(err)
	}
	working.Wait()
	if err := provider.Shutdown(context.Background()); err != nil {
		log.Print(err)
	}
}

type arguments struct {
	Steps []string `json:"steps"`
}

// run is one call of the tool.
type run struct {
	session  *mcp.ServerSession
	accepted bool
	over     []func() // begun when the tool has its result
}

func act(ctx context.Context, r *mcp.CallToolRequest, a arguments) (*mcp.CallToolResult, any, error) {
	said, _ := r.Params.Meta["traceparent"].(string)
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": said})
	ctx, span := tracer.Start(ctx, "tools/call act", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	one := &run{session: r.Session}
	for _, step := range a.Steps {
		if err := one.do(ctx, step); err != nil {
			return nil, nil, err
		}
	}
	for _, later := range one.over {
		working.Go(later)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint("accepted: ", one.accepted)}}}, nil, nil
}

func (r *run) do(ctx context.Context, step string) error {
	word, rest, _ := strings.Cut(step, " ")
	wait := func() (then string) {
		ms, then, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(ms)
		if err != nil {
			log.Fatal(step)
		}
		time.Sleep(time.Duration(n) * time.Millisecond)
		return then
	}
	beside := func() { _ = r.do(context.WithoutCancel(ctx), wait()) } // no such step asks
	switch word {
	case "ask":
		answer, err := r.session.Elicit(ctx, &mcp.ElicitParams{Message: "Go on?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}})
		r.accepted = err == nil && answer.Action == "accept"
		return err
	case "rest":
		wait()
	case "accepted", "refused":
		if r.accepted == (word == "accepted") {
			return r.do(ctx, rest)
		}
	case "within":
		working.Go(beside)
	case "later":
		r.over = append(r.over, beside)
	case "db":
		span(ctx, rest, trace.SpanKindClient, "db.system.name", "sqlite", "db.operation.name", strings.Fields(rest)[0], "db.query.text", rest)
	case "http":
		span(ctx, rest, trace.SpanKindClient, "http.request.method", rest, "url.full", "https://shop.example/orders")
	case "send":
		span(ctx, "send mails", trace.SpanKindProducer, "messaging.system", "kafka", "messaging.operation.type", "send")
	case "receive":
		span(ctx, "receive mails", trace.SpanKindConsumer, "messaging.system", "kafka", "messaging.operation.type", "receive")
	case "rpc":
		span(ctx, rest, trace.SpanKindClient, "rpc.system", "grpc", "rpc.method", rest)
	case "file":
		span(ctx, rest, trace.SpanKindInternal, "file.path", "/tmp/ledger")
	case "log":
		log.Print("a line")
		span(ctx, "write log line", trace.SpanKindInternal)
	default:
		log.Fatal(step)
	}
	return nil
}

// span is a span that takes a moment. pairs are the names and values of its attributes.
func span(ctx context.Context, name string, kind trace.SpanKind, pairs ...string) {
	var attributes []attribute.KeyValue
	for i := 0; i < len(pairs); i += 2 {
		attributes = append(attributes, attribute.String(pairs[i], pairs[i+1]))
	}
	_, s := tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	time.Sleep(time.Millisecond)
	s.End()
}
