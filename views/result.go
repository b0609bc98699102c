package views

import (
	"encoding/json"
	"net/url"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/response"
)

// pretty is JSON laid out for reading. What is long stays as it came: to lay it
// out would take long, and what is drawn of it is cut anyway.
func pretty(raw json.RawMessage) string {
	const most = 96 << 10 // bytes
	if len(raw) > most {
		return string(raw)
	}
	return rawjson.Pretty(raw)
}

// empty reports whether there is nothing to show but Raw.
func (r Result) empty() bool {
	if r.Error != nil && (messageOf(*r.Error) != "" || r.Error.Data != nil) {
		return false
	}
	return r.Failure == "" && len(r.Content) == 0 && r.Structured == nil
}

// messageOf is what an error says, and what is wrong with it.
func messageOf(e response.RPCError) string {
	if e.Problem == "" {
		return e.Message
	}
	return strings.TrimSpace(e.Message + " (" + e.Problem + ")")
}

// partKind says what a block of content is drawn as.
func partKind(p response.Content) string {
	bytes := p.Bytes != nil && (p.Type == "resource" || strings.HasPrefix(p.MIME, p.Type+"/"))
	switch {
	case p.Problem != "":
		return "other"
	case p.Type == "text":
		if text := strings.TrimSpace(p.Text); (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text)) {
			return "json"
		}
		return "text"
	case bytes && strings.HasPrefix(p.MIME, "image/"):
		return "image"
	case bytes && strings.HasPrefix(p.MIME, "audio/"):
		return "audio"
	case p.Type == "resource_link":
		return "link"
	case p.Type == "resource":
		return "resource"
	}
	return "other"
}

// partFacts says what kind of content a block is, and how big.
func partFacts(p response.Content) string {
	return join(" · ", Brief(p.MIME), either(len(p.Bytes) > 0, grouped(int64(len(p.Bytes)))+" bytes", ""))
}

// webURL tells whether a URI may be opened by the person. Anything but the web's
// own schemes is text.
func webURL(uri string) bool {
	if len(uri) > followMost {
		return false
	}
	u, err := url.Parse(uri)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
