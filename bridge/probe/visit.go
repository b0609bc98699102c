package probe

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// visits are the pages that clients are asked to open.
type visits struct {
	mu    sync.Mutex
	pages map[string]*page
	order []string
}

// pagesMost bounds the pages that are kept. The eldest goes first.
const pagesMost = 1000

// page is a page of the server, with the requests for it.
type page struct {
	url     string
	visits  *visits
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

// fetchesMost bounds the requests that are kept of one page.
const fetchesMost = 20

// page makes a new page, whose address nobody can guess.
func (s *Server) page(r *run) *page {
	p := &page{visits: &s.visits, session: r.session, first: make(chan struct{})}
	if s.options.Base == "" {
		p.url = "https://probe.invalid/open/" + strings.ToLower(rand.Text())
		return p
	}
	name := strings.ToLower(rand.Text())
	p.url = s.options.Base + "/open/" + name
	s.visits.mu.Lock()
	defer s.visits.mu.Unlock()
	if s.visits.pages == nil {
		s.visits.pages = map[string]*page{}
	}
	if len(s.visits.order) == pagesMost {
		delete(s.visits.pages, s.visits.order[0])
		s.visits.order = s.visits.order[1:]
	}
	s.visits.pages[name] = p
	s.visits.order = append(s.visits.order, name)
	return p
}

// open counts a request for a page, and answers it.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/open/")
	s.visits.mu.Lock()
	p := s.visits.pages[name]
	s.visits.mu.Unlock()
	if p == nil {
		http.NotFound(w, r)
		return
	}
	agent := wording.Shorten(r.UserAgent(), 200)
	f := p.session.frame(wire.Meta, nil)
	f.HTTPMethod, f.Note = r.Method, &wire.Note{Kind: wire.NoteURLFetched, To: s.options.Base + "/open/…", Said: agent}
	seq := s.options.Log.Append(f).Seq
	s.visits.mu.Lock()
	if p.fetched = append(p.fetched, fetch{agent, seq}); len(p.fetched) == 1 {
		close(p.first)
	}
	p.fetched = p.fetched[:min(len(p.fetched), fetchesMost)]
	s.visits.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprint(w, "<!doctype html>\n<html lang=\"en\"><title>Probe</title><h1>The probe's page</h1><p>This page counts that it was opened. You can close it.</p></html>\n") // the client may have gone
}

// fetches returns the requests so far.
func (p *page) fetches() []fetch {
	p.visits.mu.Lock()
	defer p.visits.mu.Unlock()
	return slices.Clone(p.fetched)
}
