package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// signInPath is where the pages are, below the base URL.
const signInPath = "/sign-in/"

// maxCards is how many sign-ins are remembered. The oldest makes room.
const maxCards = 256

// service is what a person signs in to.
type service struct {
	name    string
	purpose string // completes "to let the demo …"
	never   bool   // signing in leads nowhere
}

var (
	calendar  = service{name: "Fernhill Calendar", purpose: "read when you are free"}
	mailbox   = service{name: "Northmail", purpose: "read your newsletters", never: true}
	reporting = service{name: "Ledger Reports", purpose: "fetch the quarterly report"}
	boardroom = service{name: "Boardroom", purpose: "see what only the board sees"}
)

// verdict is what became of a sign-in.
type verdict uint8

const (
	waiting verdict = iota
	allowed
	refused
)

// card is one sign-in. Who knows its id may decide it, so it is only ever told to the client that asked.
type card struct {
	id          string
	elicitation string // as elicitationId, which is no secret
	service     service
	session     *mcp.ServerSession
	url         string

	// guarded by the desk
	verdict verdict
	settled chan struct{} // closed when there is a verdict
	then    func()        // called once, after settled is closed
}

// desk keeps the cards and serves their pages. Without a base URL it listens on a loopback port of its own from the first card on.
type desk struct {
	base string

	mu     sync.Mutex
	cards  map[string]*card
	oldest []string // ids in the order that they were made
	web    *http.Server
	served chan struct{} // closed when web has stopped
	closed bool
}

func newDesk(base string) *desk {
	return &desk{base: strings.TrimSuffix(base, "/"), cards: map[string]*card{}}
}

// card returns the card with this id, which is made if there is none.
func (d *desk) card(id string, s service, session *mcp.ServerSession) (*card, error) {
	if err := d.listen(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.cards[id]; ok {
		return c, nil
	}
	c := &card{
		id: id, elicitation: rand.Text(), service: s, session: session,
		url: d.base + signInPath + id, settled: make(chan struct{}),
	}
	if len(d.oldest) == maxCards {
		delete(d.cards, d.oldest[0])
		d.oldest = d.oldest[1:]
	}
	d.cards[id] = c
	d.oldest = append(d.oldest, id)
	return c, nil
}

// listen makes sure that the pages can be reached.
func (d *desk) listen() error {
	if done, err := d.listening(); done || err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("opening the sign-in pages: %w", err)
	}
	base := "http://" + l.Addr().String()
	web := &http.Server{Handler: http.NewCrossOriginProtection().Handler(d), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	d.mu.Lock()
	first := !d.closed && d.base == ""
	if first {
		d.base, d.web, d.served = base, web, served
	}
	d.mu.Unlock()
	if !first { // another card was quicker, or the end was
		_, err := d.listening()
		return errors.Join(err, l.Close())
	}
	go func() {
		defer close(served)
		web.Serve(l) // ends with close
	}()
	return nil
}

// listening reports whether the pages can be reached. The error says that they
// never will be again.
func (d *desk) listening() (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false, errors.New("the sign-in pages are closed")
	}
	return d.base != "", nil
}

func (d *desk) close() error {
	d.mu.Lock()
	d.closed = true
	web := d.web
	d.mu.Unlock()
	if web == nil {
		return nil
	}
	err := web.Close()
	<-d.served
	return err
}

// verdictOf returns what has become of a card so far.
func (d *desk) verdictOf(c *card) verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	return c.verdict
}

// find returns the newest card of a session for a service, or nil.
func (d *desk) find(session *mcp.ServerSession, s service) *card {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range slices.Backward(d.oldest) {
		if c := d.cards[id]; c.session == session && c.service.name == s.name {
			return c
		}
	}
	return nil
}

// whenSettled has f called once there is a verdict, which may be at once.
func (d *desk) whenSettled(c *card, f func()) {
	d.mu.Lock()
	late := c.verdict != waiting
	if !late {
		c.then = f
	}
	d.mu.Unlock()
	if late {
		f()
	}
}

// settle gives a card its verdict. Only the first one counts.
func (d *desk) settle(c *card, v verdict) {
	d.mu.Lock()
	first := c.verdict == waiting
	then := c.then
	if first {
		c.verdict = v
		close(c.settled)
	}
	d.mu.Unlock()
	if first && then != nil {
		then()
	}
}

// wait returns the verdict, or that there is none when ctx ends or d has gone by. A d of 0 has no end.
func (v *visit) wait(ctx context.Context, c *card, d time.Duration) (verdict, error) {
	ctx, cancel := context.WithCancel(ctx)
	var timer sync.WaitGroup
	defer timer.Wait()
	defer cancel()
	tick := make(chan error, 1)
	if d > 0 {
		timer.Go(func() { tick <- v.server.options.Pause(ctx, d) })
	}
	select {
	case <-c.settled:
		return v.server.desk.verdictOf(c), nil
	case err := <-tick:
		return v.server.desk.verdictOf(c), err
	case <-ctx.Done():
		return waiting, ctx.Err()
	}
}

// ServeHTTP serves
//
//	GET  /sign-in/ID         the page of a sign-in; looking at it changes nothing
//	POST /sign-in/ID         choice=allow or choice=refuse
//	GET  /sign-in/style.css
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")

	d.mu.Lock()
	base, err := url.Parse(d.base)
	d.mu.Unlock()
	if err != nil || !sameHost(base.Host, r.Host) {
		http.Error(w, "These pages are not served under this name.", http.StatusMisdirectedRequest)
		return
	}
	id := strings.TrimPrefix(r.URL.Path, signInPath)
	if id == "style.css" && r.Method == http.MethodGet {
		h.Set("Content-Type", "text/css; charset=utf-8")
		w.Write([]byte(style))
		return
	}
	d.mu.Lock()
	c := d.cards[id]
	d.mu.Unlock()
	if c == nil {
		d.page(w, http.StatusNotFound, page{Title: "This sign-in is over", Text: "The server no longer knows it. Call the tool again for a new one."})
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		d.show(w, c)
	case http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, 4096)
		switch choice := r.PostFormValue("choice"); {
		case choice == "allow" && c.service.never:
			d.page(w, http.StatusOK, page{Title: c.service.name, Text: "Checking your mailbox. This can take a while, and in this demo it never ends.", Busy: true})
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
	default:
		h.Set("Allow", "GET, HEAD, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// sameHost compares authorities, where a loopback server goes by more than one name.
func sameHost(want, got string) bool {
	return got == want || got == strings.Replace(want, "127.0.0.1:", "localhost:", 1)
}

func (d *desk) show(w http.ResponseWriter, c *card) {
	switch d.verdictOf(c) {
	case allowed:
		d.page(w, http.StatusOK, page{Title: "You are signed in", Text: c.service.name + " is connected. You can close this page and go back."})
	case refused:
		d.page(w, http.StatusOK, page{Title: "You said no", Text: c.service.name + " is not connected. You can close this page and go back."})
	default:
		d.page(w, http.StatusOK, page{Title: "Sign in to " + c.service.name, Text: "To let the demo server " + c.service.purpose + ". Nothing here is real: there is no account, and no password is asked for.", Ask: true})
	}
}

// page is what a sign-in page says.
type page struct {
	Title, Text string
	Ask, Busy   bool
}

func (d *desk) page(w http.ResponseWriter, status int, p page) {
	var b bytes.Buffer
	if err := layout().Execute(&b, p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

// layout is read when it is first needed, so that it does not cost the start of the program.
var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<link rel="stylesheet" href="/sign-in/style.css">
<main>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
{{if .Ask}}<form method="post">
<button name="choice" value="allow">Continue as Robin</button>
<button name="choice" value="refuse" class="plain">Not now</button>
</form>{{end}}
{{if .Busy}}<progress aria-label="Checking"></progress>{{end}}
</main>
</html>
`))
})

const style = `:root{--bg:#f6f7f9;--panel:#fff;--line:#cfd6de;--ink:#16202b;--soft:#51606f;--accent:#0b6e66;--on:#fff}
@media (prefers-color-scheme:dark){:root{--bg:#0f1419;--panel:#161c23;--line:#35414e;--ink:#e6ebf0;--soft:#a5b2bf;--accent:#4cc3b5;--on:#06201d}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--bg);color:var(--ink);font:16px/1.5 ui-sans-serif,system-ui,"Segoe UI",Roboto,sans-serif}
main{width:min(26rem,92vw);padding:2rem;background:var(--panel);border:1px solid var(--line);border-radius:12px}
h1{margin:0 0 .5rem;font-size:1.3rem}
p{margin:0 0 1.25rem;color:var(--soft)}
form{display:flex;gap:.75rem;flex-wrap:wrap}
button{font:inherit;font-weight:600;padding:.55rem 1rem;border-radius:8px;border:1px solid var(--accent);background:var(--accent);color:var(--on);cursor:pointer}
button.plain{background:none;border-color:var(--line);color:var(--ink)}
progress{width:100%;accent-color:var(--accent)}
`
