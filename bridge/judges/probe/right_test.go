package probe_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/wire"
)

// TestRightClients runs the go-sdk's client against all probes, in each revision and over both
// transports. Only the probes in known, which show real deviations of this SDK, may find a fault.
func TestRightClients(t *testing.T) {
	known := []string{"exact-integer", "exact-number"} // which are floats there
	for _, revision := range mcp.Revisions {
		for _, way := range []string{"stdio", "HTTP"} {
			t.Run("go-sdk over "+way+" in "+revision, func(t *testing.T) {
				t.Parallel()
				s, url := serve(t, probe.Options{Pause: 10 * time.Millisecond})
				if way == "stdio" {
					url = ""
				}
				ofSDK(t, s, url, revision)
				s.Close()
				r := s.Report()
				if len(r.Clients) != 1 || r.Clients[0].Revision != revision {
					t.Fatalf("the clients are %+v", r.Clients)
				}
				for _, one := range r.Clients[0].Results {
					if one.Verdict != probe.Works && one.Verdict != probe.May && one.Verdict != probe.NotSeen && !slices.Contains(known, one.Probe) {
						t.Errorf("%s: %s: %s", one.Probe, one.Verdict, one.How)
					}
				}
				if n := r.Clients[0].Count(probe.Works); n < 25 {
					t.Errorf("only %d probes work", n)
				}
			})
		}
	}
}

// serve starts a probe over HTTP with a log of its own, until the end of the test.
func serve(t *testing.T, o probe.Options) (s *probe.Server, url string) {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	web := httptest.NewUnstartedServer(nil)
	o.Log, o.Base = log, "http://"+web.Listener.Addr().String()
	s = probe.New(o)
	web.Config.Handler = s.Handler()
	web.Start()
	t.Cleanup(web.Close)
	t.Cleanup(s.Close)
	return s, web.URL + "/mcp"
}

// ofSDK is a client of the go-sdk, over HTTP or, without a URL, over pipes.
func ofSDK(t *testing.T, s *probe.Server, url, revision string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var way sdk.Transport = &sdk.StreamableClientTransport{Endpoint: url}
	if url == "" {
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.ServeLines(ctx, fromClient, toClient) }()
		defer func() {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		way = &sdk.IOTransport{Reader: fromServer, Writer: toServer}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "right", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if asks := r.Params.Message; strings.HasPrefix(asks, "Decline") || strings.HasSuffix(asks, "and decline.") {
				return &sdk.ElicitResult{Action: "decline"}, nil
			} else if strings.HasPrefix(asks, "Close") {
				return &sdk.ElicitResult{Action: "cancel"}, nil
			}
			if r.Params.Mode == "url" {
				return &sdk.ElicitResult{Action: "accept"}, nil
			}
			schema, err := json.Marshal(r.Params.RequestedSchema)
			if err != nil {
				return nil, err
			}
			asked, err := probe.AsAsked(r.Params.Message, schema)
			if err != nil {
				return nil, err
			}
			content := map[string]any{}
			return &sdk.ElicitResult{Action: "accept", Content: content}, json.Unmarshal(asked, &content)
		},
	})
	session, err := client.Connect(ctx, way, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, name := range []string{probe.All, "outside-call"} {
		if name != probe.All && !probe.Find(name).In(revision) {
			continue
		}
		for more := true; more; {
			result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name})
			if err != nil && !strings.Contains(err.Error(), "exceeded maximum retries") {
				t.Fatal(err)
			}
			// A tenth round, and a round without questions, end the call in this SDK; the next call goes on.
			more = err != nil || len(result.Content) == 0 || strings.Contains(result.Content[0].(*sdk.TextContent).Text, "again")
		}
	}
	for waits := true; waits; { // outside-call asks after its call
		changed := s.Changed()
		results := s.Report().Clients[0].Results
		waits = slices.ContainsFunc(results, func(r probe.Result) bool { return r.Probe == "outside-call" && r.Verdict == probe.Running })
		if waits {
			<-changed
		}
	}
}
