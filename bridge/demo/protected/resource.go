package protected

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"elicitation-inspector/bridge/mcp"
)

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

func (c challenge) String() string {
	var params []string
	for _, p := range [][2]string{{"error", c.err}, {"resource_metadata", c.metadata}, {"scope", c.scope}} {
		if p[1] != "" {
			params = append(params, fmt.Sprintf("%s=%q", p[0], p[1]))
		}
	}
	return strings.TrimSpace(c.scheme + " " + strings.Join(params, ", "))
}

func (c challenge) set(w http.ResponseWriter) {
	w.Header().Del("WWW-Authenticate")
	if text := c.String(); text != "" {
		w.Header().Set("WWW-Authenticate", text)
	}
}

// protect passes requests on to next if they have a valid token with the scopes that they need.
func (r *realm) protect(next http.Handler) http.Handler {
	checked := auth.RequireBearerToken(r.tokenInfo, nil)(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
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

func (r *realm) tokenInfo(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	c, err := r.verify(token)
	if err != nil {
		return nil, err
	}
	return &auth.TokenInfo{Scopes: strings.Fields(c.Scope), Expiration: time.Unix(c.Expires, 0), UserID: c.Subject}, nil
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

// hasAll reports whether have contains all scopes of need.
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
