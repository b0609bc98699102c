package conversation

import (
	"encoding/json"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// UnsentBefore and UnsentAfter are what people are told around the method of a request
// that [Unsent] finds.
const (
	UnsentBefore = "The server tried a request of its own here, "
	UnsentAfter  = ". That works in 2025-11-25. Revision 2026-07-28 has no such requests, so it could not ask."
)

// refusals lists texts, in lower case, with which the SDKs reject a server's request in a
// revision without such requests. The method follows or precedes them.
var refusals = []string{
	"cannot be sent while serving a request on protocol version",      // go-sdk 1.8
	"server-initiated requests are not supported in protocol version", // mcp-go 1.2
	"server-to-client requests are not available",                     // TypeScript SDK 2.4
	"is not supported by the negotiated protocol version (wire era",   // TypeScript SDK 2.4, Server.request
	"no back-channel for server-initiated requests",                   // Python SDK 2.0
}

const refusalMost = 16 << 10

// refusedMethod returns the method of the rejected request in an SDK's text; "" if the
// text is not about one.
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

// ofCapability matches the capabilities of which a server may miss one, and missing what it
// says of that.
var (
	ofCapability = lazy.Regexp(`(?i)\b(sampling|roots)\b`)
	missing      = lazy.Regexp(`(?i)support|capabilit|declare|method not found`)
)

// UndeclaredIn returns the capability, "sampling" or "roots", of which a failure of a call
// says that the client lacks it: a result with isError, or an error. It is "" if the failure
// speaks of none, or of one that the settings declare.
func UndeclaredIn(failure json.RawMessage, s ClientSettings) string {
	text := failure[:min(len(failure), refusalMost)]
	capability := strings.ToLower(string(ofCapability().Find(text)))
	if !missing().Match(text) || capability == "sampling" && s.Sampling || capability == "roots" && s.Roots {
		return ""
	}
	return capability
}

// Unsent returns the method of a request that the server tried to send during a call, from
// the texts of a result with isError or from the message of an error, and the pointer to
// that text. The method is "" if no text says so, and in revisions that have such
// requests.
func Unsent(result, rpcError json.RawMessage, revision string) (method, pointer string) {
	if revision < mcp.Revision20260728 {
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
