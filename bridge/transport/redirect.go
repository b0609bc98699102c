package transport

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// maxRedirects is how often one request may be redirected.
const maxRedirects = 10

// checkRedirect implements [http.Client.CheckRedirect]. It follows a redirect if
// followed says so, and removes secrets from a request to another origin.
func (r *remote) checkRedirect(req *http.Request, _ []*http.Request) error {
	if !followed(req.Response) {
		return http.ErrUseLastResponse
	}
	// It would reveal the redirecting URL, including its query.
	req.Header.Del("Referer")
	note := wire.Note{Kind: wire.NoteRedirected, To: redact.WithoutQuery(req.URL.Redacted())}
	if !r.own(req.URL) {
		// net/http keeps some of these headers for another port or a subdomain.
		for _, name := range []string{sessionHeader, "Authorization", "Proxy-Authorization", "Cookie"} {
			req.Header.Del(name)
		}
		note.Withheld = r.origin.Host
	}
	r.tap.observer.Noted(noteOf(req.Response, note))
	return nil
}

// followed reports whether the HTTP client follows a redirect, so that only the client
// sees the response. A POST is not redirected by 301, 302 and 303, because it would
// become a GET and lose its message.
func followed(resp *http.Response) bool {
	redirects := 0
	for before := resp.Request.Response; before != nil; before = before.Request.Response {
		redirects++
	}
	if redirects >= maxRedirects || resp.Header.Get("Location") == "" {
		return false
	}
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		return resp.Request.Method == http.MethodGet
	default:
		return false
	}
}

// own reports whether u has the origin of the spec's URL, or differs from it only by
// https on the default port.
func (r *remote) own(u *url.URL) bool {
	if u.Scheme == r.origin.Scheme && strings.EqualFold(hostPort(u), hostPort(r.origin)) {
		return true
	}
	return r.origin.Scheme == "http" && u.Scheme == "https" && r.origin.Port() == "" && u.Port() == "" &&
		strings.EqualFold(u.Hostname(), r.origin.Hostname())
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
