package protected

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

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

// sign returns an access token.
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
