package export

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// SDK is a library that servers are written with.
type SDK string

// The libraries.
const (
	GoSDK      SDK = "go-sdk"     // github.com/modelcontextprotocol/go-sdk
	MCPGo      SDK = "mcp-go"     // github.com/mark3labs/mcp-go
	TypeScript SDK = "typescript" // @modelcontextprotocol/sdk
	Python     SDK = "python"     // FastMCP in the package mcp
	CSharp     SDK = "csharp"     // ModelContextProtocol
	Java       SDK = "java"       // io.modelcontextprotocol.sdk
)

// SDKs lists the libraries.
func SDKs() []SDK { return []SDK{GoSDK, MCPGo, TypeScript, Python, CSharp, Java} }

// String names the library for people.
func (s SDK) String() string {
	names := map[SDK]string{GoSDK: "Go (go-sdk)", MCPGo: "Go (mcp-go)", TypeScript: "TypeScript SDK", Python: "Python (FastMCP)", CSharp: "C# SDK", Java: "Java SDK"}
	return cmp.Or(names[s], string(s))
}

// CodeThatAsks returns the code that asks a question by a request of revision 2025-11-25, with the
// schema as the server sent it.
func CodeThatAsks(s SDK, question *elicit.Request) (string, error) {
	switch s {
	case GoSDK:
		imports, params := goParams(question)
		return fmt.Sprintf(goSDKCode, imports, params), nil
	case MCPGo:
		imports, params := goParams(question)
		return fmt.Sprintf(mcpGoCode, imports, params), nil
	case TypeScript:
		return typeScriptCode(question), nil
	case Python:
		return pythonCode(question), nil
	case CSharp:
		return fmt.Sprintf(csharpCode, csharpParams(question)), nil
	case Java:
		return javaCode(question), nil
	}
	return "", fmt.Errorf("there is no code for %q", s)
}

const goSDKCode = `package main

import (
	"context"
%s
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ask asks the person. In a tool, session is the Session of its request.
func ask(ctx context.Context, session *mcp.ServerSession) (*mcp.ElicitResult, error) {
	return session.Elicit(ctx, &mcp.ElicitParams{
%s	})
}
`

const mcpGoCode = `package main

import (
	"context"
%s
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// ask asks the person. The server needs the option server.WithElicitation.
func ask(ctx context.Context, s *server.MCPServer) (*mcp.ElicitationResult, error) {
	return s.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
%s	}})
}
`

// goParams returns the fields of the parameters in Go, one a line, and the import that they
// need.
func goParams(q *elicit.Request) (imports, params string) {
	fields := [][2]string{{"Message", goString(q.Message)}}
	switch {
	case q.Mode == elicit.ModeURL:
		fields = append(fields, [2]string{"Mode", `"url"`}, [2]string{"URL", goString(q.URL)}, [2]string{"ElicitationID", goString(q.ElicitationID)})
	case q.Schema != nil:
		imports = "\t\"encoding/json\"\n"
		fields = append(fields, [2]string{"RequestedSchema", "json.RawMessage(" + goString(wording.Escape(rawjson.Pretty(q.Schema))) + ")"})
	}
	for len(fields) > 0 {
		// gofmt aligns the values on lines that follow each other.
		aligned := slices.IndexFunc(fields, func(f [2]string) bool { return strings.Contains(f[1], "\n") })
		if aligned < 0 {
			aligned = len(fields)
		}
		aligned = max(aligned, 1)
		width := 0
		for _, f := range fields[:aligned] {
			width = max(width, len(f[0]))
		}
		for _, f := range fields[:aligned] {
			params += fmt.Sprintf("\t\t%-*s %s,\n", width+1, f[0]+":", f[1])
		}
		fields = fields[aligned:]
	}
	return imports, params
}

func typeScriptCode(q *elicit.Request) string {
	var b strings.Builder
	member := func(name, value string) { fmt.Fprintf(&b, "    %s: %s,\n", name, value) }
	b.WriteString(`import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";

/** Asks the person. */
export function ask(server: McpServer) {
  return server.server.elicitInput({
`)
	member("message", jsString(q.Message))
	switch {
	case q.Mode == elicit.ModeURL:
		member("mode", `"url"`)
		member("url", jsString(q.URL))
		member("elicitationId", jsString(q.ElicitationID))
	case q.Schema != nil:
		member("requestedSchema", strings.ReplaceAll(wording.Escape(rawjson.Pretty(q.Schema)), "\n", "\n    "))
	}
	return b.String() + "  });\n}\n"
}

func pythonCode(q *elicit.Request) string {
	var b strings.Builder
	argument := func(name, value string) { fmt.Fprintf(&b, "        %s=%s,\n", name, value) }
	isURL := q.Mode == elicit.ModeURL
	if q.Schema != nil && !isURL {
		b.WriteString("import json\n\n")
	}
	fmt.Fprintf(&b, `from mcp.server.fastmcp import Context


async def ask(ctx: Context):
    """Asks the person. A tool gets ctx as a parameter of this type."""
    return await ctx.session.%s(
`, wording.Either(isURL, "elicit_url", "elicit"))
	argument("message", strconv.QuoteToASCII(q.Message)) // its escapes are Python's, too
	switch {
	case isURL:
		argument("url", strconv.QuoteToASCII(q.URL))
		argument("elicitation_id", strconv.QuoteToASCII(q.ElicitationID))
	case q.Schema != nil:
		argument("requestedSchema", `json.loads(r"""`+wording.Escape(rawjson.Pretty(q.Schema))+`""")`)
	default:
		argument("requestedSchema", "{}")
	}
	argument("related_request_id", "ctx.request_id")
	return b.String() + "    )\n"
}

const csharpCode = `using System.Text.Json;
using ModelContextProtocol;
using ModelContextProtocol.Protocol;
using ModelContextProtocol.Server;

static class Question
{
    // Asks the person. A tool gets the server as a parameter of this type. The SDK leaves out the
    // keywords that its schema types do not have, such as pattern.
    public static ValueTask<ElicitResult> AskAsync(McpServer server, CancellationToken cancellationToken)
    {
        return server.ElicitAsync(new ElicitRequestParams
        {
%s        }, cancellationToken);
    }
}
`

func csharpParams(q *elicit.Request) string {
	var b strings.Builder
	property := func(name, value string) { fmt.Fprintf(&b, "            %s = %s,\n", name, value) }
	property("Message", jsString(q.Message)) // C# has all escapes of JSON but one for /, which is never written
	switch {
	case q.Mode == elicit.ModeURL:
		property("Mode", `"url"`)
		property("Url", jsString(q.URL))
		property("ElicitationId", jsString(q.ElicitationID))
	default:
		property("RequestedSchema", "JsonSerializer.Deserialize<ElicitRequestParams.RequestSchema>(\"\"\""+indentedSchema(q)+"\"\"\", McpJsonUtilities.DefaultOptions)")
	}
	return b.String()
}

func javaCode(q *elicit.Request) string {
	imports, request := "", fmt.Sprintf("McpSchema.ElicitUrlRequest.builder(%s, %s, %s)", jsString(q.Message), jsString(q.URL), jsString(q.ElicitationID))
	if q.Mode != elicit.ModeURL {
		imports = "import io.modelcontextprotocol.json.McpJsonDefaults;\nimport io.modelcontextprotocol.json.TypeRef;\n"
		schema := strings.ReplaceAll(indentedSchema(q), `\`, `\\`) // a text block has escapes of its own
		request = fmt.Sprintf(`McpSchema.ElicitFormRequest.builder(%s, McpJsonDefaults.getMapper().readValue("""%s""", new TypeRef<Map<String, Object>>() {}))`, jsString(q.Message), schema)
	}
	return imports + `import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.spec.McpSchema;
import java.io.IOException;
import java.util.Map;

class Question {
    /** Asks the person. The handler of a tool gets the exchange. */
    static McpSchema.ElicitResult ask(McpSyncServerExchange exchange) throws IOException {
        return exchange.createElicitation(` + request + `.build());
    }
}
`
}

// indentedSchema returns the schema on lines of its own, for literals of several lines. JSON never has three quotes in a row.
func indentedSchema(q *elicit.Request) string {
	const line = "\n                "
	return line + strings.ReplaceAll(wording.Escape(rawjson.Pretty([]byte(cmp.Or(string(q.Schema), "{}")))), "\n", line) + line
}

// jsString returns a JavaScript string literal. JavaScript has all escapes of JSON.
func jsString(s string) string { return wording.Escape(string(rawjson.Quoted(s))) }

// goString returns a Go string literal, raw if the text has line breaks and allows it. Hidden
// characters are escaped, so that a reader sees all that the literal has.
func goString(s string) string {
	if wording.Escape(s) != s {
		return strconv.QuoteToASCII(s)
	}
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
	if rawjson.Valid([]byte(body)) {
		body = wording.Escape(body) // the value stays the same
	}
	address = wording.ReplaceHidden(address, func(c wording.HiddenChar) string { return url.PathEscape(address[c.At:c.End]) })
	if body != "" || f.HTTPMethod != http.MethodGet {
		b.WriteString(" \\\n  --data-binary " + wording.ShellWord(body))
	}
	if address == "" {
		// Transcripts of other tools and of earlier versions have no URL.
		return b.String() + " \\\n  \"$MCP_ENDPOINT\"\n"
	}
	return b.String() + " \\\n  " + wording.ShellWord(address) + "\n"
}
