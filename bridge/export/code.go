package export

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
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
	names := map[SDK]string{GoSDK: "Go (go-sdk)", MCPGo: "Go (mcp-go)", TypeScript: "TypeScript SDK", Python: "Python (FastMCP)"}
	return cmp.Or(names[s], string(s))
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

// Curlable reports whether a frame is the body of a POST from the client, or a request of
// a sign-in that is not the browser's.
func Curlable(f *wire.Frame) bool {
	return f.Dir == wire.ClientToServer && f.Stream == wire.StreamPost && !f.Truncated && !f.Lost || ofSignIn(f)
}

func ofSignIn(f *wire.Frame) bool {
	return f.Note != nil && f.Note.SignIn != nil && f.Note.SignIn.Step != wire.StepAuthorization && f.Note.SignIn.Step != wire.StepRedirect
}

// ownHeaders are the headers that curl sets itself.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "Transfer-Encoding"}

// Curl returns the command that sends the frame again. The secrets of a sign-in are
// placeholders there.
func Curl(f *wire.Frame) string {
	address, header, body := f.URL, f.Header, string(f.Raw)
	if ofSignIn(f) {
		header, body = f.Note.SignIn.Header, f.Note.SignIn.Sent
	}
	var b strings.Builder
	b.WriteString("curl -sS -g -N -X " + cmp.Or(f.HTTPMethod, http.MethodPost))
	if header.Get("Accept-Encoding") != "" {
		b.WriteString(" --compressed")
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(header)), func(name string) bool { return slices.Contains(ownHeaders, name) })
	if u, err := url.Parse(address); err == nil && header.Get("Host") != "" && header.Get("Host") != u.Host && address != "" {
		names = append(names, "Host")
	}
	for _, name := range names {
		for _, value := range header[name] {
			b.WriteString(" \\\n  -H " + wording.ShellWord(name+": "+value))
		}
	}
	if body != "" || f.HTTPMethod != http.MethodGet {
		b.WriteString(" \\\n  --data-binary " + wording.ShellWord(body))
	}
	if address == "" {
		// Transcripts of other tools and of earlier versions have no URL.
		return b.String() + " \\\n  \"$MCP_ENDPOINT\"\n"
	}
	return b.String() + " \\\n  " + wording.ShellWord(address) + "\n"
}
