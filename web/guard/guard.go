// Package guard decides who may come in. Anybody it admits can start programs, so every
// request passes it before routing: pages, pushes and static files.
package guard

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path"
	"strings"
	"sync"

	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/static"
)

// Guard only admits requests with the token.
type Guard struct {
	token  string
	cookie string          // name of the cookie with the token
	hosts  map[string]bool // allowed Host headers, in lower case
	// own is the host of this page alone, with its port; "" if no browser would find it.
	// Cookies know no ports: one of 127.0.0.1 goes to every server on this computer. The name
	// is random, or others could lead a browser to another port of it.
	own string
	// known is the host of all runs at this port, whose pages keep in the browser which host is the
	// own one, and lead there; "" without an own host.
	known string
	next  http.Handler
	// Callback gets the requests for signin.CallbackPath without a token, because they come
	// from another site; may be nil.
	Callback http.Handler
	// Opened is called when the token came in an address; may be nil.
	Opened func()
	// Shared is called when a browser does not find the own host, and gets its cookie on an
	// address that it shares with other servers; may be nil.
	Shared func()
}

// ownDomain is the domain of own hosts. Browsers look for names below localhost on this
// computer (RFC 6761, section 6.3). Settings are remembered for the domain, and so in the
// next run, which has another host.
const ownDomain = ".inspector.localhost"

// NewToken returns the secret of one run, with more than 256 random bits.
func NewToken() string { return rand.Text() + rand.Text() }

// New returns a guard in front of next, which is served at addr.
func New(token string, addr net.Addr, next http.Handler) *Guard {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		port = "0"
	}
	g := &Guard{token: token, cookie: "inspector_" + port, hosts: hostsOf(addr), next: next}
	if g.hosts["127.0.0.1:"+port] {
		g.own = strings.TrimSuffix(strings.ToLower(rand.Text())+ownDomain+":"+port, ":80")
		g.known = strings.TrimSuffix(ownDomain[1:]+":"+port, ":80")
		g.hosts[g.own], g.hosts[g.known] = true, true
	}
	return g
}

// hostsOf lists the allowed Host headers for a listening address. Any other name that
// resolves to the address is a DNS rebinding attack.
func hostsOf(addr net.Addr) map[string]bool {
	hosts := map[string]bool{}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return hosts
	}
	add := func(name string) {
		hosts[strings.ToLower(net.JoinHostPort(name, port))] = true
		if port == "80" {
			hosts[strings.ToLower(name)] = true
		}
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		add(host)
	case ip.IsLoopback():
		add(host)
		add("localhost")
	case ip.IsUnspecified():
		add("localhost")
		add("127.0.0.1")
		add("::1")
		if name, err := os.Hostname(); err == nil {
			add(name)
		}
		own, err := net.InterfaceAddrs()
		if err != nil {
			break // the loopback names above still work
		}
		for _, a := range own {
			if n, ok := a.(*net.IPNet); ok {
				add(n.IP.String())
			}
		}
	default:
		add(host)
	}
	return hosts
}

// Unnamed has the page answer to its address alone, since another program answers to the
// names of this computer: there is no own host then.
func (g *Guard) Unnamed() {
	maps.DeleteFunc(g.hosts, func(name string, _ bool) bool { return strings.Contains(name, "localhost") })
	g.own, g.known = "", ""
}

// proofPath is where the own host, and the known one, prove to the door that they know the token, without telling
// it: by the HMAC (RFC 2104) of a nonce that the door has been given together with this HMAC.
const proofPath = "/door"

func (g *Guard) proof(nonce string) string {
	mac := hmac.New(sha256.New, []byte(g.token))
	_, _ = mac.Write([]byte(proofPath + nonce)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// ServeHTTP judges the request by its Host, its Origin, the site that makes it, and its
// token, in this order.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	host := strings.ToLower(r.Host)
	if !g.hosts[host] {
		refuse(w, http.StatusForbidden, fmt.Sprintf("The inspector does not answer to the host name %q.", r.Host))
		return
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 0 && (len(origins) > 1 || !g.trusts(origins[0])) {
		refuse(w, http.StatusForbidden, "The inspector does not answer to pages of another origin.")
		return
	}
	if r.URL.Path == proofPath && r.Method == http.MethodGet && (host == g.own || host == g.known) && len(origins) == 1 {
		w.Header().Set("Access-Control-Allow-Origin", origins[0])
		_, _ = io.WriteString(w, g.proof(r.URL.Query().Get("nonce"))) // the client may have hung up
		return
	}
	site, navigates := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode") == "navigate"
	if (site == "same-site" || site == "cross-site") && !(navigates && r.Method == http.MethodGet) {
		refuse(w, http.StatusForbidden, "Pages of another origin can only lead here.")
		return
	}
	if g.Callback != nil && r.URL.Path == signin.CallbackPath {
		g.Callback.ServeHTTP(w, r)
		return
	}
	query := r.URL.Query()
	invited, shared := g.matches(query.Get("token")), query.Has("shared")
	if invited {
		// Nothing is kept from who has the token, and this policy would cost the browser another process.
		w.Header().Del("Cross-Origin-Opener-Policy")
		if g.Opened != nil {
			g.Opened()
		}
	}
	enters := navigates && g.own != "" && r.URL.Path == "/"
	switch {
	case enters && invited && host != g.own && !shared:
		// Chromium and Firefox look for names below localhost on this computer by themselves, and past proxies;
		// others ask the system, whose answer the door does not trust.
		if strings.Contains(r.Header.Get("Sec-CH-UA"), `"Chromium"`) || strings.Contains(r.UserAgent(), " Firefox/") {
			http.Redirect(w, r, "http://"+g.own+r.URL.RequestURI(), http.StatusSeeOther)
			return
		}
		g.door(w, http.StatusOK, "http://"+g.own, "Opening the page.")
		return
	case enters && host == g.known && r.Header.Get("Sec-Fetch-Dest") == "iframe":
		g.door(w, http.StatusOK, "", "") // which keeps the own host
		return
	case invited && (host == g.own || !navigates || shared || g.own == ""):
		http.SetCookie(w, &http.Cookie{
			Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		if navigates && host != g.own && g.Shared != nil {
			g.Shared()
		}
	case invited, g.carries(r):
	case enters && site != "same-origin":
		g.door(w, http.StatusUnauthorized, "", uninvited)
		return
	default:
		refuse(w, http.StatusUnauthorized, uninvited)
		return
	}
	if at := r.URL.Path; at != r.URL.EscapedPath() || !path.IsAbs(at) || at != path.Clean(at) { // no path of the server needs escapes, or empty or dotted segments
		refuse(w, http.StatusNotFound, "There is nothing here.")
		return
	}
	g.next.ServeHTTP(w, r)
}

const uninvited = "Open the address that the inspector printed when it started: it holds the token of this run."

// door answers with a page that leads to the own host, once that has proved to be one: to that
// of the token's address, else to the one that the known host keeps in this browser, or that it led to before. On the own host, it leads to the same
// address once more: browsers send no cookie when another site leads there.
func (g *Guard) door(w http.ResponseWriter, status int, own, text string) {
	_, port, _ := strings.Cut(g.own, ":")
	port = ":" + cmp.Or(port, "80")
	// Neither has the door anything to keep, and the page that it leads to separates itself.
	w.Header().Del("Cross-Origin-Opener-Policy")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src "+static.Source(static.Door)+"; connect-src http://*"+ownDomain+port+" http://"+ownDomain[1:]+port+"; frame-ancestors http://*"+ownDomain+port)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	nonce := rand.Text()
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\" data-own=%q data-nonce=%q data-proof=%q><title>Inspector</title><p>%s</p><script>%s</script></html>\n",
		own, nonce, g.proof(nonce), text, static.Door) // the client may have hung up
}

// trusts reports whether an Origin header names this server.
func (g *Guard) trusts(origin string) bool {
	host, ok := strings.CutPrefix(strings.ToLower(origin), "http://")
	return ok && g.hosts[host]
}

func (g *Guard) matches(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
}

// carries reports whether the request has the token in its cookie or, for scripts, in
// an Authorization header (RFC 6750).
func (g *Guard) carries(r *http.Request) bool {
	for _, c := range r.CookiesNamed(g.cookie) {
		if g.matches(c.Value) {
			return true
		}
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && g.matches(token)
}

// Policy is the page's content security policy. Scripts and styles may only come from our
// files and from the script and the sheet that the page carries; data: is for the icon that
// the page draws.
var Policy = sync.OnceValue(func() string {
	return "default-src 'none'; script-src 'self' " + static.Source(static.Main) + "; style-src 'self' " + static.Source(static.Sheet) + "; img-src 'self' data:; media-src 'self'; " +
		"connect-src 'self'; frame-src http://" + ownDomain[1:] + ":*; font-src 'none'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
})

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", Policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // others get none; with no-referrer, our own forms would have no Origin
	h.Set("X-DNS-Prefetch-Control", "off")  // browsers must not resolve the host of a question's URL in advance
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, why) // the client may have hung up
}
