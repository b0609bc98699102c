package lint

import (
	"encoding/json"
	"testing"
)

// unsentAnswers holds the recorded response of each SDK to a tool that sends a request in
// a revision without such requests.
var unsentAnswers = map[string]string{
	"go-sdk 1.8.0":                     `{"result":{"content":[{"type":"text","text":"elicitation failed: \"elicitation/create\" cannot be sent while serving a request on protocol version 2026-07-28: return an InputRequests map instead (multi round-trip requests, SEP-2322)"}],"isError":true,"resultType":"complete"}}`,
	"go-sdk 1.8.0, sampling":           `{"result":{"content":[{"type":"image"},{"type":"text","text":"sampling failed: \"sampling/createMessage\" cannot be sent while serving a request on protocol version 2026-07-28: return an InputRequests map instead (multi round-trip requests, SEP-2322)"}],"isError":true,"resultType":"complete"}}`,
	"mcp-go 1.2.1":                     `{"error":{"code":-32603,"message":"failed to request elicitation: \"elicitation/create\": server-initiated requests are not supported in protocol version 2026-07-28 or later: return an InputRequests map from the handler instead (multi round-trip requests, SEP-2322)"}}`,
	"TypeScript 2.4.0, elicitInput":    `{"result":{"content":[{"type":"text","text":"Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create' cannot be sent while serving a request on that revision. Return inputRequired({ ... }) from the handler instead \u2014 the client fulfils the embedded requests and retries the original request (multi round-trip requests)."}],"isError":true,"resultType":"complete"}}`,
	"TypeScript 2.4.0, Server.request": `{"result":{"content":[{"type":"text","text":"Method 'elicitation\/create' is not supported by the negotiated protocol version (wire era 2026-07-28)"}],"isError":true,"resultType":"complete"}}`,
	"TypeScript 2.4.0, a prompt":       `{"error":{"code":-32603,"message":"Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create' cannot be sent while serving a request on that revision.","data":{"method":"elicitation/create","era":"2026-07-28"}}}`,
	"Python 2.0":                       `{"error":{"code":-32600,"message":"Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests."}}`,
}

func TestUnsent(t *testing.T) {
	for name, answer := range unsentAnswers {
		var m struct{ Result, Error json.RawMessage }
		if err := json.Unmarshal([]byte(answer), &m); err != nil {
			t.Fatal(err)
		}
		lint := func(revision string) []Finding {
			if m.Error != nil {
				return Error(m.Error, revision)
			}
			return Result(m.Result, "tools/call", revision)
		}
		findings := lint(july)
		if len(findings) != 1 || findings[0].Rule != "request-unsent" || findings[0].Reference != "MCP 2026-07-28, basic/patterns/mrtr, introduction" {
			t.Errorf("%s: %+v", name, findings)
		}
		if findings := lint(nov); len(findings) > 0 {
			t.Errorf("%s: in a revision that has requests: %+v", name, findings)
		}
	}
}
