package mock

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// pages are where people are sent in place of the recorded pages. Without a base URL they have a port of this machine
// from the first one on.
type pages struct {
	opened sync.Once
	base   string
	web    *http.Server // nil without a port of its own
	served sync.WaitGroup
}

const pagePath = "/visit"

// of returns the address of the page in place of a recorded one. If no port can be opened, it leads nowhere.
func (p *pages) of(recorded string) string {
	p.opened.Do(func() {
		if p.base != "" {
			return
		}
		p.base = "http://127.0.0.1:9"
		if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
			p.base, p.web = "http://"+l.Addr().String(), &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
			p.served.Go(func() { _ = p.web.Serve(l) }) // until close
		}
	})
	return strings.TrimSuffix(p.base, "/") + pagePath + "?" + url.Values{"for": {recorded}}.Encode()
}

func (p *pages) close() {
	p.opened.Do(func() {})
	if p.web != nil {
		_ = p.web.Close()
		p.served.Wait()
	}
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = visited(r.URL.Query().Get("for")).Render(r.Context(), w) // an error means that nobody waits for it any more
}
