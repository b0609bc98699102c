package demo

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

// Pages draws web pages that have a title, a text, and below them a part of their own.
type Pages func() *template.Template

//go:embed page.html signin.css
var pageFiles embed.FS

// NewPages returns pages with a template for their own part. The template is parsed at the first page, so that it does
// not delay the start of the program.
func NewPages(own string) Pages {
	return sync.OnceValue(func() *template.Template {
		t := template.Must(template.ParseFS(pageFiles, "page.html"))
		template.Must(t.New("own").Parse(own))
		return t
	})
}

// Write answers a request with a page. The data has the fields Title and Text, and those that the own part needs.
func (p Pages) Write(w http.ResponseWriter, status int, data any) {
	var b bytes.Buffer
	if err := p().Execute(&b, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // an error means that the browser is gone
}

// SetPageHeaders sets the headers of pages. The directives are added to their content security policy.
func SetPageHeaders(h http.Header, directives ...string) {
	policy := append([]string{"default-src 'none'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"}, directives...)
	h.Set("Content-Security-Policy", strings.Join(policy, "; "))
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}
