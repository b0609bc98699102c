package demo

import (
	"maps"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
)

// Handler serves the demo over Streamable HTTP: MCP on every path except those of the sign-in pages.
//
// Revisions up to 2025-11-25 need a session, and 2026-07-28 must not have one,
// so each has a handler of its own, chosen by the MCP-Protocol-Version header.
func (s *Server) Handler() http.Handler {
	get := func(*http.Request) *mcp.Server { return s.mcp }
	sessions := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Logger: s.options.Logger})
	requests := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Logger:                       s.options.Logger,
		Stateless:                    true,
		PropagateRequestCancellation: true,
	})
	mux := http.NewServeMux()
	mux.Handle(signInPath, s.desk)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Protocol-Version") >= protocol.Revision20260728 {
			requests.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodDelete {
			s.leave(r.Header.Get("Mcp-Session-Id"))
		}
		sessions.ServeHTTP(w, r)
	})
	return http.NewCrossOriginProtection().Handler(mux)
}

// leave cancels the calls of a session, because the SDK only ends a session after its last call.
func (s *Server) leave(session string) {
	s.mu.Lock()
	visits := slices.Collect(maps.Keys(s.visits))
	s.mu.Unlock()
	for _, v := range visits {
		if session != "" && v.session.ID() == session {
			v.end()
		}
	}
}
