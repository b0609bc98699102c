// Package protectedtest serves the protected demo for tests that search for secrets: it knows
// every value that passed the authorization servers and that a client must not show.
package protectedtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/testdata/protected"
)

// Server is the demo behind OAuth.
type Server struct {
	URL string

	mu      sync.Mutex
	secrets []string
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	d := demo.New(demo.Options{})
	web := httptest.NewUnstartedServer(nil)
	s := &Server{URL: "http://" + web.Listener.Addr().String(), secrets: []string{protected.ServiceSecret}}
	handler := protected.Handler(d, protected.Options{BaseURL: s.URL})
	web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/auth/") || strings.HasSuffix(r.URL.Path, "-huge/auth/tokens") {
			handler.ServeHTTP(w, r)
			return
		}
		sent, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		s.keep(string(sent), answer)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
	web.Start()
	t.Cleanup(func() {
		web.CloseClientConnections() // of browsers, which keep them open
		web.Close()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Secrets returns the values that have passed so far: codes, verifiers, states, tokens, the
// signatures of JWTs, and secrets of clients.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.secrets)
}

// keep notes the secrets of an exchange.
func (s *Server) keep(sent string, answer *httptest.ResponseRecorder) {
	form, _ := url.ParseQuery(sent)
	back, _ := url.Parse(answer.Header().Get("Location"))
	var got map[string]any
	_ = json.Unmarshal(answer.Body.Bytes(), &got)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"code", "code_verifier", "state", "refresh_token", "access_token", "client_secret"} {
		said, _ := got[name].(string)
		for _, value := range []string{form.Get(name), back.Query().Get(name), said} {
			if value == "" || slices.Contains(s.secrets, value) {
				continue
			}
			s.secrets = append(s.secrets, value)
			if parts := strings.Split(value, "."); len(parts) == 3 {
				s.secrets = append(s.secrets, parts[2])
			}
		}
	}
}
