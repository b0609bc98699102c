package target

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// maxRedirects is how often one request may be sent elsewhere.
const maxRedirects = 10

// checkRedirect follows the redirects that are followed.
func (r *remote) checkRedirect(req *http.Request, _ []*http.Request) error {
	if !followed(req.Response) {
		return http.ErrUseLastResponse
	}
	// It would tell the address that the redirect came from, with its query.
	req.Header.Del("Referer")
	note := wire.Note{Kind: wire.NoteRedirected, To: redact.WithoutQuery(req.URL.Redacted())}
	if !r.own(req.URL) {
		// net/http keeps some of these for another port or a part of the domain.
		for _, name := range []string{sessionHeader, "Authorization", "Proxy-Authorization", "Cookie"} {
			req.Header.Del(name)
		}
		note.Withheld = r.origin.Host
	}
	r.tap.observer.Noted(noteOf(req.Response, note))
	return nil
}

// followed reports whether the HTTP client goes where the response sends it, so
// that nobody else sees the response. A message is not lost on the way: 301, 302
// and 303 would turn its POST into a GET.
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

// own reports whether u is of the origin that the spec names, or of the same
// host and default port with TLS added.
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
