package export

import (
	"encoding/json"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// block is one block of content (MCP, Tools, Tool Result; Prompts; Resources).
type block struct {
	Type, Role, About string
	Text              string
	JSON              json.RawMessage // in place of all others
}

// Plain reports whether the block is text, and nothing is said of it.
func (b block) Plain() bool { return b.Type == "text" && b.Role == "" && b.About == "" }

// Heading says what the block is.
func (b block) Heading() string {
	return strings.Trim(strings.Join([]string{b.Role, b.Type, b.About}, " · "), " ·")
}

// blocksOf reads a result as far as it is text; the rest is named.
func blocksOf(result json.RawMessage) []block {
	if result == nil {
		return nil
	}
	var out []block
	for _, name := range []string{"content", "contents", "messages"} {
		for _, raw := range rawjson.Elements(rawjson.Member(result, name)) {
			out = append(out, blockOf(raw))
		}
	}
	if structured := rawjson.Member(result, "structuredContent"); structured != nil {
		out = append(out, block{JSON: structured})
	}
	if out == nil {
		out = append(out, block{JSON: result})
	}
	return out
}

func blockOf(raw json.RawMessage) block {
	text := func(name string) string { return rawjson.Text(rawjson.Member(raw, name)) }
	if inner := rawjson.Member(raw, "content"); inner != nil && rawjson.Member(raw, "role") != nil {
		b := blockOf(inner)
		b.Role = line(text("role"), 60)
		return b
	}
	if inner := rawjson.Member(raw, "resource"); inner != nil {
		b := blockOf(inner)
		b.Type = "resource"
		return b
	}
	b := block{Type: line(text("type"), 60), Text: text("text")}
	if b.Type == "" {
		b.Type = "resource"
	}
	var about []string
	for _, name := range []string{"name", "uri", "mimeType", "description"} {
		if words := text(name); words != "" {
			about = append(about, words)
		}
	}
	for _, name := range []string{"data", "blob"} {
		if data := text(name); data != "" {
			about = append(about, wording.Plural(len(data)/4*3, "byte")+", about")
		}
	}
	if b.About = line(strings.Join(about, " · "), 400); b.Text == "" && b.About == "" {
		b.Text = rawjson.Pretty(raw)
	}
	return b
}
