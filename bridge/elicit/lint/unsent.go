package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// refusals are what the SDKs say where a server wants to send a request in a
// revision that has none, in lower case. Each names the method beside it.
var refusals = []string{
	"cannot be sent while serving a request on protocol version",      // go-sdk 1.8
	"server-initiated requests are not supported in protocol version", // mcp-go 1.2
	"server-to-client requests are not available",                     // TypeScript SDK 2.4
	"is not supported by the negotiated protocol version (wire era",   // TypeScript SDK 2.4, Server.request
	"no back-channel for server-initiated requests",                   // Python SDK 2.0
}

// refusalMost is how many bytes of a text are searched for a refusal.
const refusalMost = 16 << 10

// refusedMethod is the method of the request that could not be sent, by the
// words of an SDK; "" where the text says no such thing.
func refusedMethod(text string) string {
	text = strings.ToLower(text[:min(len(text), refusalMost)])
	if !slices.ContainsFunc(refusals, func(words string) bool { return strings.Contains(text, words) }) {
		return ""
	}
	for _, method := range inputMethods {
		if strings.Contains(text, strings.ToLower(method)) {
			return method
		}
	}
	return ""
}

// UnsentInResult reports which request of its own a server could not send while
// it worked on a call, by the text of a tool's result that says it failed. The
// pointer leads to that text. The method is "" where there is no such text, and
// in revisions in which servers send requests.
func UnsentInResult(result json.RawMessage, revision string) (method, pointer string) {
	if knownRevision(revision) != rev2026July || valid(result) != nil || typeOf(result) != typeObject || string(member(result, "isError")) != "true" {
		return "", ""
	}
	content := member(result, "content")
	if typeOf(content) != typeArray {
		return "", ""
	}
	for i, block := range elements(content) {
		if typeOf(block) != typeObject {
			continue
		}
		text, _ := unquote(member(block, "text"))
		if method = refusedMethod(text); method != "" {
			return method, fmt.Sprintf("/content/%d/text", i)
		}
	}
	return "", ""
}

// UnsentInError is [UnsentInResult] for a JSON-RPC error object.
func UnsentInError(object json.RawMessage, revision string) (method, pointer string) {
	if knownRevision(revision) != rev2026July || valid(object) != nil || typeOf(object) != typeObject {
		return "", ""
	}
	text, _ := unquote(member(object, "message"))
	if method = refusedMethod(text); method == "" {
		return "", ""
	}
	return method, "/message"
}

// RuleUnsent is the rule that [UnsentInResult] and [UnsentInError] find broken.
const RuleUnsent = "request-unsent"

// lintUnsent finds that a server still asks by requests.
func (l *linter) lintUnsent(method, ptr string) {
	if method == "" {
		return
	}
	l.find(RuleUnsent, ptr, "The server says that it could not send %s: revision 2026-07-28, which it offers, has no requests from the server to the client. In this revision it asks by returning an input-required result, with that request among its inputRequests.", method)
}
