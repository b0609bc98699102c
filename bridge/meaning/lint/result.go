package lint

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Result judges a result: its resultType, a failed tool that tried to send a request, the
// members of an input-required result, a tool's content and the hints for caching.
// [Elicitation] judges the elicitations in it. Pointers are relative to the result.
func Result(result json.RawMessage, method, revision string) []Finding {
	l := newLinter(revision)
	switch {
	case !rawjson.Valid(result):
		return nil // other checks report what is not JSON
	case !isObject(result):
		l.find("result-not-object", "", "The result is %s, not an object.", wording.WithArticle(rawjson.KindOf(result)))
		return l.findings
	}
	l.lintUnsent(conversation.Unsent(result, nil, revision))
	raw := rawjson.Member(result, "resultType")
	kind := rawjson.Text(raw)
	switch t := rawjson.KindOf(raw); {
	case kind == "input_required":
		l.lintInputRequired(result, method)
		return l.findings
	case l.revision != july:
	case t == rawjson.None:
		l.find("result-type-missing", "", "Since 2026-07-28 every result says what it is; this one has no resultType.")
	case t != rawjson.String:
		l.find("result-type-missing", "/resultType", "The resultType is %s, not a string.", wording.WithArticle(t))
	case kind == "task" && method == mcp.MethodCallTool:
		return l.findings // see the extension tasks
	case kind != "complete":
		l.find("result-type-unknown", "/resultType", "The protocol has no resultType %s. Unless an extension that both sides declare brings it, clients have to take the result as invalid.", wording.Quoted(kind))
		return l.findings
	}
	content := rawjson.Member(result, "content")
	switch t := rawjson.KindOf(content); {
	case method != mcp.MethodCallTool || t == rawjson.Array || rawjson.Member(result, "task") != nil:
	case t == rawjson.None:
		l.find("content-not-list", "", "The tool's result has no content, which has to be a list, even if it is an empty one.")
	default:
		l.find("content-not-list", "/content", "The content of the tool's result is %s, not a list.", wording.WithArticle(t))
	}
	l.lintCaching(result, method)
	if method == mcp.MethodListTools {
		l.lintTools(result)
	}
	return l.findings
}

// lintCaching judges the hints for caching of the results that must have them.
func (l *linter) lintCaching(result json.RawMessage, method string) {
	if l.revision != july || !mcp.IsList(method) && method != mcp.MethodDiscover && method != mcp.MethodReadResource {
		return
	}
	ttl, scope := rawjson.Member(result, "ttlMs"), rawjson.Member(result, "cacheScope")
	_, err := strconv.ParseUint(string(ttl), 10, 64)
	switch name := rawjson.Text(scope); {
	case ttl == nil:
		l.find("cache-hint-missing", "", "The result of %s has no ttlMs, so clients cannot tell how long it stays true.", method)
	case err != nil:
		l.find("cache-hint-missing", "/ttlMs", "The ttlMs %s is not a whole number of milliseconds, 0 or more.", wording.Shorten(string(ttl), 60))
	case scope == nil:
		l.find("cache-hint-missing", "", "The result of %s has no cacheScope, so clients cannot tell whether others may see it.", method)
	case name != "public" && name != "private":
		l.find("cache-hint-missing", "/cacheScope", "The cacheScope %s is neither public nor private.", wording.Shorten(string(scope), 60))
	}
}

func (l *linter) lintInputRequired(result json.RawMessage, method string) {
	if l.revision != july {
		l.find("input-required-early", "/resultType", "Results that require input came with revision 2026-07-28; a client of %s takes this for the final result.", l.revision)
	}
	if !mcp.AsksForInput(method) {
		l.find("input-required-method", "/resultType", "The result of %s cannot require input; only those of prompts/get, resources/read and tools/call can.", wording.Quoted(method))
	}
	requests, state := rawjson.Member(result, "inputRequests"), rawjson.Member(result, "requestState")
	if requests == nil && state == nil {
		l.find("input-required-empty", "", "The result requires input and has neither inputRequests nor requestState.")
	}
	if t := rawjson.KindOf(state); t != rawjson.None && t != rawjson.String {
		l.find("request-state-type", "/requestState", "The requestState is %s, not a string.", wording.WithArticle(t))
	}
	if t := rawjson.KindOf(requests); t != rawjson.None && t != rawjson.Object {
		l.find("input-request-unknown", "/inputRequests", "The inputRequests are %s, not an object.", wording.WithArticle(t))
	}
	seen := make(map[string]bool)
	for key, request := range rawjson.Members(requests) {
		l.lintInputRequest(key, request, seen[key])
		seen[key] = true
	}
}

func (l *linter) lintInputRequest(key string, request json.RawMessage, again bool) {
	at := rawjson.PointerTo("/inputRequests", key)
	if again {
		l.find("input-request-duplicate", at, "The key %s stands twice among the inputRequests; one of the two is lost.", wording.Quoted(key))
	}
	if t := rawjson.KindOf(request); t != rawjson.Object {
		l.find("input-request-unknown", at, "The input request %s is %s, not a request.", wording.Quoted(key), wording.WithArticle(t))
		return
	}
	method := rawjson.Member(request, "method")
	if name := rawjson.Text(method); mcp.IsInput(name) {
		return
	}
	what := "has no method"
	if method != nil {
		what = "has the method " + wording.Shorten(string(method), 60)
	}
	l.find("input-request-unknown", at+"/method", "The input request %s %s; it can be elicitation/create, sampling/createMessage or roots/list.", wording.Quoted(key), what)
}

// firstReserved is the least of the error codes that the protocol reserves for itself since
// 2026-07-28; those up to CodeUnsupportedVersion have no meaning yet.
const firstReserved = -32099

// Error judges the error object of a response: a server that tried to send a request,
// whether the revision has its code, and whether the data of errors -32021 and -32042 is
// complete. [Elicitation] judges the elicitations in it. Pointers are relative to the
// error object.
func Error(object json.RawMessage, revision string) []Finding {
	l := newLinter(revision)
	if !isObject(object) {
		return nil
	}
	l.lintUnsent(conversation.Unsent(nil, object, revision))
	raw := rawjson.Member(object, "code")
	digits := string(raw)
	if text := rawjson.Text(raw); text != "" {
		digits = text
	}
	code, err := strconv.ParseFloat(digits, 64)
	if raw != nil && (rawjson.KindOf(raw) != rawjson.Number || err == nil && code != math.Trunc(code)) {
		l.find("error-code-type", "/code", "The error code %s is not an integer, so clients will not know it.", wording.Shorten(string(raw), 60))
	}
	switch {
	case err != nil:
	case code == mcp.CodeURLElicitationRequired:
		l.lintURLRequired(object)
	case code == mcp.CodeMissingCapability && !isObject(rawjson.Member(rawjson.Member(object, "data"), "requiredCapabilities")):
		l.find("error-data-missing", "", "Error -32021 has to list the capabilities that the client lacks, in data.requiredCapabilities.")
	case code == mcp.CodeResourceNotFound || code >= firstReserved && code < mcp.CodeUnsupportedVersion:
		l.find("error-undefined", "/code", "The code %s is reserved for the protocol, and the revision does not define it.", digits)
	}
	return l.findings
}

func (l *linter) lintURLRequired(object json.RawMessage) {
	switch l.revision {
	case july:
		l.find("error-removed", "/code", "Error -32042 is gone since 2026-07-28; the server asks inside an input-required result.")
	case june:
		l.find("error-removed", "/code", "Revision 2025-06-18 does not know error -32042, so clients will not see more in it than a failure.")
	}
	list := rawjson.Member(rawjson.Member(object, "data"), "elicitations")
	switch t := rawjson.KindOf(list); t {
	case rawjson.Array:
	case rawjson.None:
		l.find("error-malformed", "/data", "Error -32042 has to list the elicitations that are required, in data.elicitations.")
		return
	default:
		l.find("error-malformed", "/data/elicitations", "The elicitations of error -32042 are %s, not a list.", wording.WithArticle(t))
		return
	}
	n := 0
	for i, e := range rawjson.Elements(list) {
		n++
		at := fmt.Sprintf("/data/elicitations/%d", i)
		mode := rawjson.Text(rawjson.Member(e, "mode"))
		switch {
		case rawjson.KindOf(e) != rawjson.Object:
			l.find("error-malformed", at, "An elicitation of error -32042 is %s, not an object.", wording.WithArticle(rawjson.KindOf(e)))
		case mode != string(elicit.ModeURL):
			l.find("error-not-url", at, `The elicitations of error -32042 are in URL mode; this one has to say "mode": "url".`)
		}
	}
	if n == 0 {
		l.find("error-malformed", "/data/elicitations", "Error -32042 lists no elicitation, so there is nothing to complete before trying again.")
	}
}

// RuleUnsent is the ID of the rule on the findings of [conversation.Unsent].
const RuleUnsent = "request-unsent"

func (l *linter) lintUnsent(method, ptr string) {
	if method != "" {
		l.find(RuleUnsent, ptr, "The server says that it could not send %s: revision 2026-07-28, which it offers, has no requests from the server to the client. In this revision it asks by returning an input-required result, with that request among its inputRequests.", method)
	}
}
