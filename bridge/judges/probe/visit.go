package probe

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// page is a page of the server that a client is asked to open, with the requests for it.
type page struct {
	url     string
	session *session
	fetched []fetch
	first   chan struct{} // closed by the first request
}

// fetch is one request for a page.
type fetch struct {
	agent string
	seq   int64 // its note in the log
}

func (f fetch) words() string {
	if f.agent == "" {
		return "without a user agent"
	}
	return "by " + wording.Quoted(f.agent)
}

// Bounds on what is kept of pages. The eldest page goes first.
const (
	pagesMost   = 1000
	fetchesMost = 20 // of one page
)

// page makes a new page, whose address nobody can guess.
func (s *Server) page(r *run) *page {
	p := &page{
		url:     cmp.Or(s.options.Base, "https://probe.invalid") + "/open/" + strings.ToLower(rand.Text()),
		session: r.session, first: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = append(s.pages[max(0, len(s.pages)+1-pagesMost):], p)
	return p
}

// open counts a request for a page, and answers it.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	i := slices.IndexFunc(s.pages, func(p *page) bool { return p.url == s.options.Base+r.URL.Path })
	if i < 0 {
		s.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	p := s.pages[i]
	s.mu.Unlock()
	agent := wording.Shorten(r.UserAgent(), 200)
	f := p.session.Frame(wire.Meta, nil)
	f.HTTPMethod, f.Note = r.Method, &wire.Note{Kind: wire.NoteURLFetched, To: s.options.Base + "/open/…", Said: agent}
	seq := s.options.Log.Append(f).Seq
	s.mu.Lock()
	if p.fetched = append(p.fetched, fetch{agent, seq}); len(p.fetched) == 1 {
		close(p.first)
	}
	p.fetched = p.fetched[:min(len(p.fetched), fetchesMost)]
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprint(w, "<!doctype html>\n<html lang=\"en\"><title>Probe</title><h1>The probe's page</h1><p>This page counts that it was opened. You can close it.</p></html>\n") // the client may have gone
}

// fetches returns the requests so far.
func (p *page) fetches() []fetch {
	p.session.server.mu.Lock()
	defer p.session.server.mu.Unlock()
	return slices.Clone(p.fetched)
}
