package signin

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// DecodeJWT reads a signed JWT (RFC 7519). It does not verify it. It returns false for a
// token that is none.
func DecodeJWT(token string) (wire.JWT, bool) {
	signed, _, ok := cutJWT(token)
	if !ok {
		return wire.JWT{}, false
	}
	header, claims, _ := strings.Cut(signed, ".")
	var out wire.JWT
	if out.Header, ok = jwtPart(header); !ok {
		return wire.JWT{}, false
	}
	out.Claims, ok = jwtPart(claims)
	return out, ok
}

// cutJWT splits a token of three parts before its signature.
func cutJWT(token string) (signed, signature string, ok bool) {
	if strings.Count(token, ".") != 2 {
		return "", "", false
	}
	last := strings.LastIndexByte(token, '.')
	return token[:last], token[last+1:], last+1 < len(token)
}

func jwtPart(text string) (json.RawMessage, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return raw, err == nil && rawjson.KindOf(raw) == rawjson.Object && rawjson.Valid(raw)
}
