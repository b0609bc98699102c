package mcp

import (
	"strings"
	"unicode"
)

// SectionLink returns the address of a section of MCP's specification, or of the whole page
// for section "". The site makes its anchors of the words of the headings.
func SectionLink(revision, page, section string) string {
	words := strings.FieldsFunc(strings.ToLower(section), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	anchor := ""
	if len(words) > 0 {
		anchor = "#" + strings.Join(words, "-")
	}
	return "https://modelcontextprotocol.io/specification/" + revision + "/" + page + anchor
}
