package protected

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

const (
	codeLife  = time.Minute
	tokenLife = time.Minute // short, so that a client's refresh can be watched
)

type failure struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (f *failure) write(w http.ResponseWriter) {
	status := http.StatusBadRequest
	if f.Code == "invalid_client" {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="clients"`)
	}
	writeJSON(w, status, f)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client is gone
}

// grant is the permission that a person gave a client. It outlives its code, because its refresh tokens belong to it, too.
type grant struct {
	client    *client
	user      string
	scopes    []string
	redirect  string
	challenge string
	expires   time.Time // of the code
	used      bool      // the code was redeemed
	refresh   string    // the valid refresh token; "" if there is none
	revoked   bool
}

// issue describes the tokens that the token endpoint is about to issue. Variants may change it.
type issue struct {
	by       string // the grant type
	audience string
	subject  string
	client   string
	scopes   []string
	life     time.Duration
	kind     string // token_type
	refresh  string // the refresh token; "" for none
}

func (r *realm) serveToken(w http.ResponseWriter, req *http.Request) {
	req.Body = http.MaxBytesReader(w, req.Body, maxBody)
	if err := req.ParseForm(); err != nil {
		(&failure{"invalid_request", err.Error()}).write(w)
		return
	}
	i, f := r.exchange(req)
	if f == nil && r.variant.issue != nil {
		f = r.variant.issue(r, i)
	}
	if f != nil {
		f.write(w)
		return
	}
	now := r.Now()
	scope := strings.Join(i.scopes, " ")
	writeJSON(w, http.StatusOK, struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int64  `json:"expires_in"`
		Refresh string `json:"refresh_token,omitempty"`
		Scope   string `json:"scope"`
	}{
		r.sign(claims{r.issuer, i.audience, i.subject, i.client, scope, now.Unix(), now.Add(i.life).Unix(), rand.Text()}),
		i.kind, int64(i.life / time.Second), i.refresh, scope,
	})
}

// exchange checks a token request, and returns the tokens to issue.
func (r *realm) exchange(req *http.Request) (*issue, *failure) {
	form := req.PostForm
	c := r.authenticate(req)
	by := form.Get("grant_type")
	switch {
	case c == nil:
		return nil, &failure{"invalid_client", "the client is unknown here, or its secret is wrong"}
	case !slices.Contains([]string{grantCode, grantRefresh, grantClient}, by):
		return nil, &failure{"unsupported_grant_type", "grant_type: " + by}
	case !slices.Contains(c.grants, by):
		return nil, &failure{"unauthorized_client", "the client must not use the grant type " + by}
	case form.Has("resource") && form.Get("resource") != r.resource:
		return nil, &failure{"invalid_target", "resource must be " + r.resource}
	}
	i := &issue{by: by, audience: r.resource, client: c.id, life: tokenLife, kind: "Bearer"}
	if by == grantClient {
		return i, i.restrict(c.id, []string{ScopeUse, ScopeTransfer}, cmp.Or(form.Get("scope"), ScopeUse))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var g *grant
	var f *failure
	if by == grantCode {
		g, f = r.redeem(c, form)
	} else {
		token := form.Get("refresh_token")
		if g = r.refresh.get(token); g == nil || g.client.id != c.id || g.revoked {
			f = &failure{"invalid_grant", "the refresh token is unknown here"}
		} else if subtle.ConstantTimeCompare([]byte(g.refresh), []byte(token)) == 0 {
			g.revoked = true // a token that was replaced may have been stolen
			f = &failure{"invalid_grant", "the refresh token was used before"}
		}
	}
	if f == nil {
		f = i.restrict(g.user, g.scopes, form.Get("scope"))
	}
	if f == nil && slices.Contains(c.grants, grantRefresh) {
		g.refresh = rand.Text()
		r.refresh.put(g.refresh, g)
		i.refresh = g.refresh
	}
	return i, f
}

// restrict sets the subject of the token, and its scopes: those asked for, which must be allowed, or all that are allowed.
func (i *issue) restrict(subject string, allowed []string, asked string) *failure {
	i.subject, i.scopes = subject, allowed
	if asked != "" {
		i.scopes = strings.Fields(asked)
	}
	if !hasAll(allowed, i.scopes) {
		return &failure{"invalid_scope", "not granted: " + asked}
	}
	return nil
}

// authenticate returns the client of a token request, or nil if it is unknown or its secret is wrong.
func (r *realm) authenticate(req *http.Request) *client {
	id, secret, basic := req.BasicAuth()
	if basic { // RFC 6749, section 2.3.1: both are form-encoded first
		var err, err2 error
		id, err = url.QueryUnescape(id)
		secret, err2 = url.QueryUnescape(secret)
		if err != nil || err2 != nil {
			return nil
		}
	} else {
		id, secret = req.PostForm.Get("client_id"), req.PostForm.Get("client_secret")
	}
	c := r.known(id)
	if c == nil || subtle.ConstantTimeCompare([]byte(c.secret), []byte(secret)) == 0 {
		return nil
	}
	return c
}

// redeem returns the grant of a code. A second use of the code revokes the grant, because the code may have been stolen.
// The caller holds the mutex.
func (r *realm) redeem(c *client, form url.Values) (*grant, *failure) {
	g := r.codes.get(form.Get("code"))
	if g == nil || g.client.id != c.id {
		return nil, &failure{"invalid_grant", "the code is unknown here"}
	}
	if g.used {
		g.revoked = true
		return nil, &failure{"invalid_grant", "the code was used before"}
	}
	g.used = true
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	proof := []byte(encoding.EncodeToString(sum[:]))
	switch {
	case r.Now().After(g.expires):
		return nil, &failure{"invalid_grant", "the code has expired"}
	case form.Get("redirect_uri") != g.redirect:
		return nil, &failure{"invalid_grant", "redirect_uri is not that of the authorization request"}
	case subtle.ConstantTimeCompare(proof, []byte(g.challenge)) == 0:
		return nil, &failure{"invalid_grant", "code_verifier does not fit the code_challenge"}
	}
	return g, nil
}

// claims are the claims of an access token (RFC 9068).
type claims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	Subject  string `json:"sub"`
	Client   string `json:"client_id"`
	Scope    string `json:"scope"`
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
}

var (
	encoding  = base64.RawURLEncoding
	jwtHeader = encoding.EncodeToString([]byte(`{"typ":"at+jwt","alg":"EdDSA","kid":"demo"}`)) + "."
)

func (r *realm) sign(c claims) string {
	payload, _ := json.Marshal(c) // strings and numbers are always valid JSON
	signed := jwtHeader + encoding.EncodeToString(payload)
	return signed + "." + encoding.EncodeToString(ed25519.Sign(r.key, []byte(signed)))
}

// verify returns the claims of an access token, or an error unless this realm issued it for its protected server and it
// has not expired.
func (r *realm) verify(token string) (claims, error) {
	refused := func(why string) (claims, error) { return claims{}, fmt.Errorf("%w: %s", auth.ErrInvalidToken, why) }
	var c claims
	i := strings.LastIndexByte(token, '.')
	if i < 0 || !strings.HasPrefix(token, jwtHeader) || i < len(jwtHeader) {
		return refused("it is not a JWT of this authorization server")
	}
	signature, err := encoding.Strict().DecodeString(token[i+1:])
	if err != nil || !ed25519.Verify(r.key.Public().(ed25519.PublicKey), []byte(token[:i]), signature) {
		return refused("its signature is wrong")
	}
	payload, err := encoding.DecodeString(token[len(jwtHeader):i])
	if err != nil || json.Unmarshal(payload, &c) != nil {
		return refused("its claims cannot be read")
	}
	switch {
	case c.Issuer != r.issuer:
		return refused("its issuer is " + c.Issuer)
	case c.Audience != r.resource:
		return refused("its audience is " + c.Audience + ", not " + r.resource)
	case r.Now().Unix() >= c.Expires:
		return refused("it has expired")
	}
	return c, nil
}

// serveKeys serves the public key that access tokens are signed with (RFC 7517).
func (r *realm) serveKeys(w http.ResponseWriter, _ *http.Request) {
	type key struct {
		Type  string `json:"kty"`
		Curve string `json:"crv"`
		X     string `json:"x"`
		Use   string `json:"use"`
		Alg   string `json:"alg"`
		ID    string `json:"kid"`
	}
	public := encoding.EncodeToString(r.key.Public().(ed25519.PublicKey))
	writeJSON(w, http.StatusOK, map[string][]key{"keys": {{"OKP", "Ed25519", public, "sig", "EdDSA", "demo"}}})
}

// maxKept is how many values a shelf holds. A further one replaces the oldest, so that nobody can fill the memory.
const maxKept = 1024

// shelf maps secret keys to values. It stores hashes of the keys, so that the duration of a look-up reveals nothing about
// them.
// The zero value is ready for use.
type shelf[T any] struct {
	values map[[sha256.Size]byte]T
	order  [][sha256.Size]byte // the newest last
}

func (s *shelf[T]) put(key string, v T) {
	h := sha256.Sum256([]byte(key))
	if s.values == nil {
		s.values = map[[sha256.Size]byte]T{}
	}
	if _, known := s.values[h]; !known {
		s.order = append(s.order, h)
	}
	s.values[h] = v
	if len(s.order) > maxKept {
		delete(s.values, s.order[0])
		s.order = s.order[1:]
	}
}

// get returns the zero value for an unknown key.
func (s *shelf[T]) get(key string) T { return s.values[sha256.Sum256([]byte(key))] }

// take returns a value like get, and forgets it.
func (s *shelf[T]) take(key string) T {
	v := s.get(key)
	delete(s.values, sha256.Sum256([]byte(key)))
	return v
}
