package servers

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"elicitation-inspector/e2e/servers/oauth"
)

// OAuth is an authorization server of another author, npm's oidc-provider, for
// protected MCP servers. It registers clients, requires PKCE and resource indicators,
// and shows a page with the buttons Allow and Deny. It grants the scopes use and
// transfer.
type OAuth struct {
	Issuer string

	t     testing.TB
	start func() (stop func())
	stop  func()
}

// The client that the provider knows without registration, for the client credentials
// grant.
const (
	ServiceID     = "service"
	ServiceSecret = "service-not-a-secret"
)

// NewOAuth starts the authorization server. Its access tokens expire after tokenLife.
func NewOAuth(t testing.TB, tokenLife time.Duration) *OAuth {
	t.Helper()
	port := FreePort(t)
	o := &OAuth{Issuer: "http://127.0.0.1:" + port, t: t}
	command := nodeScript(t, oauth.Provider)
	env := []string{"PORT=" + port, fmt.Sprintf("TOKEN_SECONDS=%d", int(tokenLife.Seconds()))}
	o.start = func() func() { return listen(t, "ready at", env, command...) }
	o.stop = o.start()
	return o
}

// Restart restarts the authorization server, which forgets all clients, tokens and
// keys.
func (o *OAuth) Restart() {
	o.stop()
	o.stop = o.start()
}

// Protected is an MCP server that requires a token from an [OAuth] with the scope use.
// Its tool greet asks for a name. Its tool transfer also requires the scope transfer.
type Protected struct {
	URL string

	start func() (stop func())
	stop  func()
}

// Restart restarts the server, which forgets all sessions. Tokens stay valid.
func (p *Protected) Restart() {
	p.stop()
	p.stop = p.start()
}

// TypeScript starts a protected server written with the TypeScript SDK.
func (o *OAuth) TypeScript() *Protected {
	o.t.Helper()
	port := FreePort(o.t)
	command := nodeScript(o.t, oauth.Server)
	p := &Protected{URL: "http://127.0.0.1:" + port + "/mcp"}
	p.start = func() func() {
		return listen(o.t, "ready at", []string{"PORT=" + port, "ISSUER=" + o.Issuer}, command...)
	}
	p.stop = p.start()
	return p
}

// GoSDK starts a protected server written with go-sdk, in the test's process.
func (o *OAuth) GoSDK() *Protected {
	o.t.Helper()
	address := "127.0.0.1:" + FreePort(o.t)
	p := &Protected{URL: "http://" + address + "/mcp"}
	p.start = func() func() {
		l, err := net.Listen("tcp", address)
		if err != nil {
			o.t.Fatal(err)
		}
		web := &http.Server{Handler: o.protect(p.URL)}
		go func() { _ = web.Serve(l) }()
		return func() { _ = web.Close() }
	}
	p.stop = p.start()
	o.t.Cleanup(func() { p.stop() })
	return p
}

func (o *OAuth) protect(resource string) http.Handler {
	const metadataPath = "/.well-known/oauth-protected-resource/mcp"
	metadata := strings.TrimSuffix(resource, "/mcp") + metadataPath
	server := greeter()
	verify := func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return o.verify(ctx, token, resource)
	}
	guard := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: metadata, Scopes: []string{"use"}})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	mux := http.NewServeMux()
	mux.Handle(metadataPath, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: resource, AuthorizationServers: []string{o.Issuer}, ScopesSupported: []string{"use"}, ResourceName: "OAuth with go-sdk",
	}))
	mux.Handle("/mcp", guard(stepUp(metadata, handler)))
	return mux
}

// stepUp refuses calls of transfer without its scope. The SDK's own refusal lacks the
// error code that makes clients ask for more scopes.
func stepUp(metadata string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct {
			Params struct{ Name string }
		}
		_ = json.Unmarshal(body, &m)
		if scopes := strings.Join(auth.TokenInfoFromContext(r.Context()).Scopes, " "); m.Params.Name == "transfer" && !strings.Contains(scopes, "transfer") {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope="use transfer", resource_metadata=%q`, metadata))
			http.Error(w, "insufficient scope", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func greeter() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "oauth-gosdk", Version: "1.0.0"}, nil)
	said := func(text string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "greet", Description: "Asks for a name."}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{
			Message:         "What is your name?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`),
		})
		if err != nil {
			return nil, nil, err
		}
		if res.Action != "accept" {
			return said("Hello, stranger.")
		}
		return said(fmt.Sprintf("Hello, %v.", res.Content["name"]))
	})
	mcp.AddTool(s, &mcp.Tool{Name: "transfer", Description: "Needs the scope transfer."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return said("Transferred.")
	})
	return s
}

// verify checks a JWT of the authorization server with its current key.
func (o *OAuth) verify(ctx context.Context, token, resource string) (*auth.TokenInfo, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w: not a JWT", auth.ErrInvalidToken)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	payload, err2 := base64.RawURLEncoding.DecodeString(parts[1])
	key, err3 := o.key(ctx)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, fmt.Errorf("%w: %v", auth.ErrInvalidToken, err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature); err != nil {
		return nil, fmt.Errorf("%w: %v", auth.ErrInvalidToken, err)
	}
	var claims struct {
		Iss, Aud, Sub, Scope string
		Exp                  int64
	}
	if err := json.Unmarshal(payload, &claims); err != nil || claims.Iss != o.Issuer || claims.Aud != resource {
		return nil, fmt.Errorf("%w: issued by %s for %s", auth.ErrInvalidToken, claims.Iss, claims.Aud)
	}
	return &auth.TokenInfo{Scopes: strings.Fields(claims.Scope), Expiration: time.Unix(claims.Exp, 0), UserID: claims.Sub}, nil
}

func (o *OAuth) key(ctx context.Context) (*rsa.PublicKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Issuer+"/jwks", nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var set struct {
		Keys []struct{ N, E string }
	}
	if err := json.NewDecoder(res.Body).Decode(&set); err != nil || len(set.Keys) != 1 {
		return nil, fmt.Errorf("the keys of the authorization server: %d, %w", len(set.Keys), err)
	}
	n, err := base64.RawURLEncoding.DecodeString(set.Keys[0].N)
	e, err2 := base64.RawURLEncoding.DecodeString(set.Keys[0].E)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, nil
}
