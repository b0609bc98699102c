package export

import (
	"embed"
	"encoding/json"
	"fmt"
	"go/format"
	"strconv"
	"strings"
	"text/template"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
)

// SDK is a library that servers are written with.
type SDK string

// The libraries.
const (
	GoSDK      SDK = "go-sdk"     // github.com/modelcontextprotocol/go-sdk
	MCPGo      SDK = "mcp-go"     // github.com/mark3labs/mcp-go
	TypeScript SDK = "typescript" // @modelcontextprotocol/sdk
	Python     SDK = "python"     // FastMCP in the package mcp
)

// SDKs lists the libraries.
func SDKs() []SDK { return []SDK{GoSDK, MCPGo, TypeScript, Python} }

// String names the library for people.
func (s SDK) String() string {
	switch s {
	case GoSDK:
		return "Go (go-sdk)"
	case MCPGo:
		return "Go (mcp-go)"
	case TypeScript:
		return "TypeScript SDK"
	case Python:
		return "Python (FastMCP)"
	}
	return string(s)
}

//go:embed code/*.tmpl
var codeFiles embed.FS

var codeTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"go":     goString,
	"js":     func(s string) string { return string(rawjson.Quoted(s)) },
	"python": strconv.QuoteToASCII, // its escapes are Python's, too
	"indent": func(tabs int, raw json.RawMessage) string {
		return strings.ReplaceAll(rawjson.Pretty(raw), "\n", "\n"+strings.Repeat("  ", tabs))
	},
	"text": func(raw json.RawMessage) string { return rawjson.Pretty(raw) },
}).ParseFS(codeFiles, "code/*.tmpl"))

// CodeThatAsks returns the code that asks a question by a request of revision 2025-11-25, with the
// schema as the server sent it.
func CodeThatAsks(s SDK, question *elicit.Request) (string, error) {
	t := codeTemplates.Lookup(string(s) + ".tmpl")
	if t == nil {
		return "", fmt.Errorf("there is no code for %q", s)
	}
	var b strings.Builder
	err := t.Execute(&b, struct {
		*elicit.Request
		URLMode bool
	}{question, question.Mode == elicit.ModeURL})
	if err != nil || s != GoSDK && s != MCPGo {
		return b.String(), err
	}
	code, err := format.Source([]byte(b.String()))
	return string(code), err
}

// goString returns a Go string literal, raw if the text has line breaks and allows it.
func goString(s string) string {
	if strings.Contains(s, "\n") && strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}
