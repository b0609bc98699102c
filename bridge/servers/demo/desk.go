package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
)

// signInPath is the path of the pages below the base URL.
const signInPath = "/sign-in/"

// maxCards is how many sign-ins are kept. A further one replaces the oldest.
const maxCards = 256

type service struct {
	key     string // key of the question
	name    string
	purpose string // completes "to let the demo …"
	never   bool   // the sign-in never ends
}

type verdict uint8

const (
	waiting verdict = iota
	allowed
	refused
)

// card is one sign-in. Anybody who knows its id can decide it, so the id is only sent to the client that asked.
type card struct {
	id          string
	elicitation string // the elicitationId, which is no secret
	service     service
	session     *session
	url         string

	verdict verdict       // set once, by the desk, before settled is closed
	settled chan struct{} // closed after verdict is set
	then    func(*card)   // called after settled is closed; may be nil
}

func (c *card) decided() verdict {
	select {
	case <-c.settled:
		return c.verdict
	default:
		return waiting
	}
}

func (c *card) question() question {
	q := form(c.service.key, nil, c.service.name, c.service.purpose)
	q.url, q.id = c.url, c.elicitation
	return q
}

// desk holds the cards and serves their pages. Without a base URL it listens on a loopback port of its own from the
// first card on.
type desk struct {
	pages *http.ServeMux

	open   sync.Once     // opens the port, unless there is a base URL or the desk is closed
	down   error         // why the pages cannot be served; nil if they can
	base   string        // base URL of the pages
	web    *http.Server  // nil without a port of its own
	served chan struct{} // closed when web has stopped

	mu    sync.Mutex
	cards []*card // the newest last
}

func newDesk(base string) *desk {
	d := &desk{pages: http.NewServeMux(), base: strings.TrimSuffix(base, "/")}
	d.pages.HandleFunc("GET "+signInPath+"style.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, pageFiles, "signin.css")
	})
	d.pages.HandleFunc("GET "+signInPath+"{card}", d.show)
	d.pages.HandleFunc("POST "+signInPath+"{card}", d.decide)
	return d
}

func (d *desk) listen() error {
	d.open.Do(func() {
		if d.base != "" {
			return
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			d.down = fmt.Errorf("opening the sign-in pages: %w", err)
			return
		}
		d.base = "http://" + l.Addr().String()
		d.web = &http.Server{Handler: http.NewCrossOriginProtection().Handler(d), ReadHeaderTimeout: 10 * time.Second}
		d.served = make(chan struct{})
		go func() {
			defer close(d.served)
			d.web.Serve(l) // returns when the desk is closed
		}()
	})
	return d.down
}

func (d *desk) close() error {
	d.open.Do(func() { d.down = errors.New("the sign-in pages are closed") })
	if d.web == nil {
		return nil
	}
	err := d.web.Close()
	<-d.served
	return err
}

func (d *desk) card(id string, s service, session *session, then func(*card)) (*card, error) {
	if err := d.listen(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.newest(func(c *card) bool { return c.id == id }); c != nil {
		return c, nil
	}
	c := &card{
		id: id, elicitation: rand.Text(), service: s, session: session,
		url: d.base + signInPath + id, settled: make(chan struct{}), then: then,
	}
	d.cards = append(d.cards[max(0, len(d.cards)+1-maxCards):], c)
	return c, nil
}

func (d *desk) find(is func(*card) bool) *card {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.newest(is)
}

func (d *desk) newest(is func(*card) bool) *card {
	for _, c := range slices.Backward(d.cards) {
		if is(c) {
			return c
		}
	}
	return nil
}

// settle sets a card's verdict. Only the first one counts.
func (d *desk) settle(c *card, v verdict) {
	d.mu.Lock()
	first := c.decided() == waiting
	if first {
		c.verdict = v
		close(c.settled)
	}
	d.mu.Unlock()
	if first && c.then != nil {
		c.then(c)
	}
}

// ServeHTTP serves
//
//	GET  /sign-in/ID         the page of a sign-in; looking at it changes nothing
//	POST /sign-in/ID         choice=allow or choice=refuse
//	GET  /sign-in/style.css
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	SetPageHeaders(w.Header(), "form-action 'self'")
	d.pages.ServeHTTP(w, r)
}

func (d *desk) named(w http.ResponseWriter, r *http.Request) *card {
	id := r.PathValue("card")
	c := d.find(func(c *card) bool { return c.id == id })
	if c == nil {
		WritePage(w, http.StatusNotFound, "This sign-in is over", "The server no longer knows it. Call the tool again for a new one.", templ.NopComponent)
		return nil
	}
	u, err := url.Parse(c.url)
	if err != nil || r.Host != u.Host && r.Host != strings.Replace(u.Host, "127.0.0.1:", "localhost:", 1) {
		http.Error(w, "These pages are not served under this name.", http.StatusMisdirectedRequest)
		return nil
	}
	return c
}

func (d *desk) show(w http.ResponseWriter, r *http.Request) {
	c := d.named(w, r)
	if c == nil {
		return
	}
	name := c.service.name
	title, text, own := "Sign in to "+name, "To let the demo server "+c.service.purpose+". Nothing here is real: there is no account, and no password is asked for.", choice()
	switch c.decided() {
	case allowed:
		title, text, own = "You are signed in", name+" is connected. You can close this page and go back.", templ.NopComponent
	case refused:
		title, text, own = "You said no", name+" is not connected. You can close this page and go back.", templ.NopComponent
	}
	WritePage(w, http.StatusOK, title, text, own)
}

func (d *desk) decide(w http.ResponseWriter, r *http.Request) {
	c := d.named(w, r)
	if c == nil {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4096)
	switch choice := r.PostFormValue("choice"); {
	case choice == "allow" && c.service.never:
		WritePage(w, http.StatusOK, c.service.name, "Checking your mailbox. This can take a while, and in this demo it never ends.", busy())
		return
	case choice == "allow":
		d.settle(c, allowed)
	case choice == "refuse":
		d.settle(c, refused)
	default:
		http.Error(w, "choice must be allow or refuse", http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, signInPath+c.id, http.StatusSeeOther)
}

//go:embed signin.css
var pageFiles embed.FS

// WritePage answers a request with a page that has a title, a text, and below them a part of its own.
func WritePage(w http.ResponseWriter, status int, title, text string, own templ.Component) {
	var b bytes.Buffer
	if err := document(title, text, own).Render(context.Background(), &b); err != nil {
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
