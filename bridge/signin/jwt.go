package signin

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// DecodeJWT decodes a signed JWT (RFC 7519) without verifying its signature. It returns
// false for a token that is no JWT.
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

// cutJWT splits a JWT before its signature; ok is false for a token that has not three parts.
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
