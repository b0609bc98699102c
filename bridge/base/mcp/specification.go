package mcp

import (
	"strings"
	"unicode"
)

// SectionLink returns the address of a section of MCP's specification, or of the whole page
// for section "". The site makes its anchors of the words of the headings.
func SectionLink(revision, page, section string) string {
	return "https://modelcontextprotocol.io/specification/" + revision + "/" + page + anchor(section)
}

// TasksLink returns the address of a section of the extension [TasksExtension].
func TasksLink(section string) string {
	return "https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html" + anchor(section)
}

func anchor(section string) string {
	words := strings.FieldsFunc(strings.ToLower(section), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return ""
	}
	return "#" + strings.Join(words, "-")
}
