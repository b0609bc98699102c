package lint

import (
	"encoding/json"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// RuleUnsent is the rule that [Unsent] finds broken.
const RuleUnsent = "request-unsent"

// refusals are what the SDKs say where a server wants to send a request in a
// revision that has none, in lower case. Each names the method beside it.
var refusals = []string{
	"cannot be sent while serving a request on protocol version",      // go-sdk 1.8
	"server-initiated requests are not supported in protocol version", // mcp-go 1.2
	"server-to-client requests are not available",                     // TypeScript SDK 2.4
	"is not supported by the negotiated protocol version (wire era",   // TypeScript SDK 2.4, Server.request
	"no back-channel for server-initiated requests",                   // Python SDK 2.0
}

const refusalMost = 16 << 10

// refusedMethod is the method of the request that could not be sent, by the
// words of an SDK; "" where the text says no such thing.
func refusedMethod(text string) string {
	text = strings.ToLower(text[:min(len(text), refusalMost)])
	for _, refusal := range refusals {
		if !strings.Contains(text, refusal) {
			continue
		}
		for _, method := range []string{mcp.MethodElicit, mcp.MethodSample, mcp.MethodListRoots} {
			if strings.Contains(text, strings.ToLower(method)) {
				return method
			}
		}
	}
	return ""
}

// Unsent reports which request of its own a server could not send while it worked on
// a call, by the text of a tool's result that says it failed, or by the message of an
// error. The pointer leads to that text in the one or the other. The method is ""
// where neither says so, and in revisions in which servers send requests.
func Unsent(result, rpcError json.RawMessage, revision string) (method, pointer string) {
	if rulesOf(revision) != july {
		return "", ""
	}
	if rawjson.Valid(rpcError) {
		text := rawjson.Text(rawjson.Member(rpcError, "message"))
		return refusedMethod(text), "/message"
	}
	if !rawjson.Valid(result) || string(rawjson.Member(result, "isError")) != "true" {
		return "", ""
	}
	for i, block := range rawjson.Elements(rawjson.Member(result, "content")) {
		text := rawjson.Text(rawjson.Member(block, "text"))
		if method := refusedMethod(text); method != "" {
			return method, fmt.Sprintf("/content/%d/text", i)
		}
	}
	return "", ""
}

func (l *linter) lintUnsent(method, ptr string) {
	if method != "" {
		l.find(RuleUnsent, ptr, "The server says that it could not send %s: revision 2026-07-28, which it offers, has no requests from the server to the client. In this revision it asks by returning an input-required result, with that request among its inputRequests.", method)
	}
}
