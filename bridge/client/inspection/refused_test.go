package inspection_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire/query"
)

// picked returns the frames of the log that match a filter.
func (b *bench) picked(line string) []int64 {
	b.Helper()
	filter, err := query.Parse(line)
	if err != nil {
		b.Fatal(err)
	}
	v := query.NewView(b.in.Log(), filter, nil)
	if err := v.Update(b.Context()); err != nil {
		b.Fatal(err)
	}
	return v.Seqs(0, int(v.Len()))
}

// However a server refuses server/discover, the request has ended.
func TestRefusedRequestsDoNotWait(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"a text":           func(w http.ResponseWriter) { http.Error(w, "Bad Request: no session", http.StatusBadRequest) },
		"nothing":          func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"an id of null":    refuseWith(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no session"}}`),
		"an id of its own": refuseWith(400, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no session"}}`),
		"no id":            refuseWith(400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"no session"}}`),
		"no message":       refuseWith(200, `{"detail":"what?"}`),
		"no JSON":          func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html"); fmt.Fprint(w, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &rawHTTP{revision: "2025-11-25", session: "session-1", stream: make(chan string), posted: make(chan request, 100)}
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if bytes.Contains(body, []byte(`"server/discover"`)) {
					refuse(w)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.ServeHTTP(w, r)
			}))
			t.Cleanup(web.Close)
			t.Cleanup(web.CloseClientConnections)
			b := startInspection(t, inspection.Config{Targets: []target.Spec{{Name: "raw", URL: web.URL, Transport: target.TransportHTTP}}})
			asked := b.picked("method:server/discover kind:request")
			if len(asked) != 1 {
				t.Fatalf("server/discover went out %d times", len(asked))
			}
			f := b.in.Log().Head(asked[0])
			if f.Pair == 0 {
				t.Fatalf("the request has no end:\n%s", b.transcript())
			}
			end := b.in.Log().Head(f.Pair)
			// A refusal is expected, and is no error; what is no refusal is one.
			if errors := b.picked("kind:error method:server/discover"); end.Pair != f.Seq || !end.Failed || (len(errors) > 0) != (end.Status == http.StatusOK) {
				t.Errorf("the end is %+v; the errors are %v", end, errors)
			}
		})
	}
}

// An exit with an error code is an error. An exit by the inspector's signal is not.
func TestExitsAreErrors(t *testing.T) {
	b := start(t, "withdraws", conversation.ClientSettings{})
	call := b.call("exits")
	b.done(call.Number)
	b.until("the server's end", func() bool { return b.server().State == conversation.ServerEnded })
	found := b.picked("kind:error process")
	if len(found) != 1 {
		t.Fatalf("the errors are %v:\n%s", found, b.transcript())
	}
	if f, err := b.log.Frame(found[0]); err != nil || !strings.HasSuffix(string(f.Raw), "exited with code 3") {
		t.Errorf("the error is %s, %v", f.Raw, err)
	}
}

func refuseWith(status int, body string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}
