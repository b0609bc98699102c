package views

import (
	"encoding/json"
	"net/url"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views/markup"
)

// pretty formats JSON for reading. It returns long JSON unchanged: formatting would be
// slow, and drawing cuts it anyway.
func pretty(raw json.RawMessage) string {
	const most = 96 << 10 // bytes
	if len(raw) > most {
		return string(raw)
	}
	return rawjson.Pretty(raw)
}

// empty reports whether only Raw can be shown.
func (r Result) empty() bool {
	if r.Error != nil && (messageOf(*r.Error) != "" || r.Error.Data != nil) {
		return false
	}
	return r.Failure == "" && len(r.Content) == 0 && r.Structured == nil
}

func messageOf(e conversation.RPCError) string {
	if e.Problem == "" {
		return e.Message
	}
	return strings.TrimSpace(e.Message + " (" + e.Problem + ")")
}

// partKind returns how to draw a block of content.
func partKind(p conversation.Content) string {
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

func partFacts(p conversation.Content) string {
	return wording.Join(" · ", markup.Brief(p.MIME), wording.Either(len(p.Bytes) > 0, wording.Grouped(int64(len(p.Bytes)))+" bytes", ""))
}

// webURL reports whether a person may open a URI: only http and https URIs become links.
func webURL(uri string) bool {
	if len(uri) > elicit.FormatCheckedMost {
		return false
	}
	u, err := url.Parse(uri)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
