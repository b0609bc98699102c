// Command collector receives traces as the OpenTelemetry Collector does: with its OTLP receiver. It prints its
// address, and then what it receives, one line of OTLP/JSON for each request, until it is interrupted. It is a
// module of its own, since the libraries of the collector are many; the task traces builds it.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run receives until the process is interrupted.
func run() error {
	free, err := net.Listen("tcp", "127.0.0.1:0") // the receiver does not say which port it has got
	if err != nil {
		return err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var printing sync.Mutex
	printed, err := consumer.NewTraces(func(_ context.Context, t ptrace.Traces) error {
		line, err := new(ptrace.JSONMarshaler).MarshalTraces(t)
		printing.Lock()
		defer printing.Unlock()
		fmt.Printf("%s\n", line)
		return err
	})
	if err != nil {
		return err
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	said := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": address}}})
	if err := said.Unmarshal(config); err != nil {
		return err
	}
	settings := receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	r, err := factory.CreateTraces(ctx, settings, config, printed)
	if err != nil {
		return err
	}
	if err := r.Start(ctx, componenttest.NewNopHost()); err != nil {
		return err
	}
	fmt.Println("http://" + address)
	<-ctx.Done()
	return r.Shutdown(context.Background())
}
