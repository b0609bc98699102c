package export

import (
	"encoding/json"
	"strings"

	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/wording"
)

// block is one block of content (MCP, Tools, Tool Result; Prompts; Resources).
type block struct {
	Type, Role, About string
	Text              string
	JSON              json.RawMessage // shown instead of the other fields, if set
}

// Plain reports whether the block is text without a role or details.
func (b block) Plain() bool { return b.Type == "text" && b.Role == "" && b.About == "" }

// Heading returns the block's role, type and details in one line.
func (b block) Heading() string {
	return strings.Trim(strings.Join([]string{b.Role, b.Type, b.About}, " · "), " ·")
}

// blocksOf returns the blocks of a result. Blocks without text are described by name,
// URI, type and size.
func blocksOf(result json.RawMessage) (out []block) {
	if result == nil {
		return nil
	}
	read, _ := response.ReadResult(result) // an unreadable result is shown as JSON below
	for _, c := range read.Content {
		out = append(out, blockOf(c))
	}
	if read.Structured != nil {
		out = append(out, block{JSON: read.Structured})
	}
	if out == nil {
		out = append(out, block{JSON: result})
	}
	return out
}

func blockOf(c response.Content) block {
	var about []string
	for _, words := range []string{c.Name, c.URI, c.MIME, c.Description, c.Problem} {
		if words != "" {
			about = append(about, words)
		}
	}
	if c.Bytes != nil {
		about = append(about, wording.Plural(len(c.Bytes), "byte"))
	}
	b := block{Type: paper.Line(c.Type, 60), Role: paper.Line(c.Role, 60), Text: c.Text, About: paper.Line(strings.Join(about, " · "), 400)}
	if b.Text == "" && b.About == "" {
		b.Text = rawjson.Pretty(c.Raw)
	}
	return b
}
