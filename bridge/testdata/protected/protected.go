// Package protected serves the demo server behind OAuth, with a small authorization server of its own: once as the
// specification requires, and once for each of the Variants, which differ at one step of the sign-in.
package protected

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/servers/demo"
)

// Clients that every authorization server knows without registration.
const (
	// ClientID is a public client for people. Its redirect URI is any http URL on a loopback address.
	ClientID = "demo-client"

	// ServiceID is a confidential client for the client credentials grant, and ServiceSecret is its secret.
	ServiceID     = "demo-service"
	ServiceSecret = "demo-service-not-a-secret"
)

// Options adapt the servers to the program that they run in.
type Options struct {
	// BaseURL is the base URL of Handler, such as "http://127.0.0.1:8080". Requests for another host are refused.
	BaseURL string

	// Fetcher fetches client ID metadata documents; nil is a client that uses the system's certificates.
	Fetcher *http.Client

	// Now returns the time; nil is time.Now.
	Now func() time.Time
}

// Handler serves d behind OAuth: at /mcp as the specification requires, and at the path of each of the Variants. Tokens, clients and
// signing keys live in the handler only, so a restart makes every token invalid.
//
// Each protected server has an authorization server of its own, whose issuer is /auth in place of /mcp.
func Handler(d *demo.Server, o Options) http.Handler {
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fetcher == nil {
		o.Fetcher = &http.Client{Timeout: 5 * time.Second}
	}
	fetcher := *o.Fetcher
	o.Fetcher = &fetcher
	o.Fetcher.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	mux := http.NewServeMux()
	tools := d.Handler()
	mux.Handle("/sign-in/", tools) // the pages that the tools' questions open
	for _, v := range append([]Variant{{}}, Variants()...) {
		_, key, _ := ed25519.GenerateKey(rand.Reader) // never fails, like the reader
		r := &realm{Options: o, variant: v, resource: o.BaseURL + v.Path(), key: key}
		r.issuer = strings.TrimSuffix(r.resource, mcpPath) + authPath
		r.register(mux, tools)
	}
	_, host, _ := strings.Cut(o.BaseURL, "://")
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != host { // perhaps the name of a site that was rebound to this address
			http.Error(w, "This server is only at "+o.BaseURL+"/.", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// realm is one protected server and its authorization server.
type realm struct {
	Options
	variant  Variant
	resource string // URL of the protected server
	issuer   string
	key      ed25519.PrivateKey

	mu       sync.Mutex // guards the fields below
	clients  shelf[*client]
	requests shelf[*request] // shown on a consent page, by id
	codes    shelf[*grant]   // by authorization code
	refresh  shelf[*grant]   // by refresh token
}

const (
	mcpPath  = "/mcp"
	authPath = "/auth"

	resourceMetadataPath = "/.well-known/oauth-protected-resource"
	serverMetadataPath   = "/.well-known/oauth-authorization-server"
	openIDPath           = "/.well-known/openid-configuration"
)

// register adds the paths of the realm to a mux.
//
// The endpoints do not have the names that clients of 2025-03-26 assume when there is no metadata (/authorize, /token,
// /register), so a sign-in that works has read the metadata.
func (r *realm) register(mux *http.ServeMux, tools http.Handler) {
	path := func(url string) string { return strings.TrimPrefix(url, r.BaseURL) }
	replaced := func(s Step, h http.HandlerFunc) http.Handler {
		if r.variant.instead != nil && r.variant.Step == s {
			return r.variant.instead(r)
		}
		return h
	}
	resourceMetadata, serverMetadata := path(r.metadataURL()), serverMetadataPath+path(r.issuer)
	if r.variant.resourceMetadataAt != "" {
		resourceMetadata = r.variant.Path() + r.variant.resourceMetadataAt
	}
	if r.variant.serverMetadataAt != "" {
		serverMetadata = path(r.issuer) + r.variant.serverMetadataAt
	}
	mux.Handle(path(r.resource), r.protect(tools))
	mux.Handle(resourceMetadata, replaced(StepResourceMetadata, r.serveResourceMetadata))
	mux.Handle("GET "+serverMetadata, replaced(StepServerMetadata, r.serveServerMetadata))
	mux.HandleFunc("GET "+path(r.keysURL()), r.serveKeys)
	mux.Handle("POST "+path(r.registrationURL()), replaced(StepRegistration, r.serveRegistration))
	mux.Handle("GET "+path(r.authorizationURL()), page(r.showConsent))
	mux.Handle("POST "+path(r.authorizationURL()), page(r.takeConsent))
	mux.Handle("POST "+path(r.tokenURL()), replaced(StepToken, r.serveToken))
}

func (r *realm) keysURL() string          { return r.issuer + "/keys" }
func (r *realm) registrationURL() string  { return r.issuer + "/clients" }
func (r *realm) authorizationURL() string { return r.issuer + "/consent" }
func (r *realm) tokenURL() string         { return r.issuer + "/tokens" }

// Every request needs ScopeUse, and a call of StepUpTool needs ScopeTransfer, too.
const (
	ScopeUse      = "demo.use"
	ScopeTransfer = "demo.transfer"

	StepUpTool = "transfer_money"
)

// maxBody limits the bodies of requests and of metadata documents, in bytes.
const maxBody = 1 << 20

// challenge is the content of a WWW-Authenticate header. The zero challenge sends no header.
type challenge struct{ scheme, err, metadata, scope string }

func (c challenge) set(w http.ResponseWriter) {
	w.Header().Del("WWW-Authenticate")
	var params []string
	for _, p := range [][2]string{{"error", c.err}, {"resource_metadata", c.metadata}, {"scope", c.scope}} {
		if p[1] != "" {
			params = append(params, fmt.Sprintf("%s=%q", p[0], p[1]))
		}
	}
	if text := strings.TrimSpace(c.scheme + " " + strings.Join(params, ", ")); text != "" {
		w.Header().Set("WWW-Authenticate", text)
	}
}

// protect passes requests on to next if they have a valid token with the scopes that they need.
func (r *realm) protect(next http.Handler) http.Handler {
	tokenInfo := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		c, err := r.verify(token)
		if err != nil {
			return nil, err
		}
		return &auth.TokenInfo{Scopes: strings.Fields(c.Scope), Expiration: time.Unix(c.Expires, 0), UserID: c.Subject}, nil
	}
	checked := auth.RequireBearerToken(tokenInfo, nil)(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Del("WWW-Authenticate")
		need, err := needed(w, req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if hasAll(auth.TokenInfoFromContext(req.Context()).Scopes, need) {
			next.ServeHTTP(w, req)
			return
		}
		c := challenge{"Bearer", "insufficient_scope", r.metadataURL(), strings.Join(need, " ")}
		if r.variant.stepUp != nil {
			r.variant.stepUp(&c)
		}
		c.set(w)
		http.Error(w, "The token lacks a scope.", http.StatusForbidden)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c := challenge{"Bearer", "", r.metadataURL(), ScopeUse}
		if req.Header.Get("Authorization") != "" {
			c.err = "invalid_token"
		}
		if r.variant.challenge != nil {
			r.variant.challenge(&c)
		}
		c.set(w) // RequireBearerToken sends it with a refusal, but cannot name the error itself
		checked.ServeHTTP(w, req)
	})
}

// needed returns the scopes that a request needs, and restores its body.
func needed(w http.ResponseWriter, req *http.Request) ([]string, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("reading the message: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &m) // the MCP server answers what is not a message
	if m.Method == mcp.MethodCallTool && m.Params.Name == StepUpTool {
		return []string{ScopeUse, ScopeTransfer}, nil
	}
	return []string{ScopeUse}, nil
}

func hasAll(have, need []string) bool {
	return !slices.ContainsFunc(need, func(s string) bool { return !slices.Contains(have, s) })
}

// metadataURL returns the URL of the metadata of the protected server (RFC 9728, section 3.1).
func (r *realm) metadataURL() string {
	return r.BaseURL + resourceMetadataPath + strings.TrimPrefix(r.resource, r.BaseURL)
}

func (r *realm) serveResourceMetadata(w http.ResponseWriter, req *http.Request) {
	m := &oauthex.ProtectedResourceMetadata{
		Resource:               r.resource,
		AuthorizationServers:   []string{r.issuer},
		ScopesSupported:        []string{ScopeUse},
		BearerMethodsSupported: []string{"header"},
		ResourceName:           "Demo server",
	}
	if r.variant.resourceMetadata != nil {
		r.variant.resourceMetadata(r, m)
	}
	auth.ProtectedResourceMetadataHandler(m).ServeHTTP(w, req)
}
