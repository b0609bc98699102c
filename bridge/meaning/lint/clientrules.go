package lint

import "slices"

// Party is the side of a connection that a rule judges.
type Party string

// The parties.
const (
	ServerParty Party = "server" // the MCP server, or the authorization server before it
	ClientParty Party = "client"
)

// Words says for people who broke the rule: "by the client".
func (p Party) Words() string { return "by the " + string(p) }

// Judges returns whom the rule judges.
func (r Rule) Judges() Party {
	if ofClients[r.ID] {
		return ClientParty
	}
	return ServerParty
}

// Sources that many rules about clients share.
var (
	// answers defines the result of an elicitation.
	answers = Always(must(schemaPage, "ElicitResult"))
	// actions says what an answer has besides its action.
	actions = Always(should(elicitation, "Response Actions"))
	// retries says what a client sends after an input-required result.
	retries = SinceJuly(must(roundTrips, "Client Requirements (Basic Workflow)"))
	// headers defines the header with the revision.
	headers = untilJuly(must(transports, "Protocol Version Header")).In(july, must(streamable, "Protocol Version Header"))
	// standardHeaders repeats parts of the message for those who do not read it.
	standardHeaders = SinceJuly(must(streamable, "Standard Request Headers"))
)

// clientRules are the rules that judge clients. Client-side frames that the inspector made
// wrong on purpose (wire.Frame.Fault) break none of them.
var clientRules = []Rule{
	// Answers.
	{"answer-malformed", "an answer that is not an object, or whose content is not one", answers},
	{"answer-action-unknown", "an answer whose action is not accept, decline or cancel", answers},
	{"answer-value-type", "a value in the content that is null, an object or a list of anything but strings", answers},
	{"answer-content-missing", "an accepted form without content, though a field is required", answers},
	{"answer-content-unwanted", "content with decline or cancel", actions},
	{"answer-url-content", "content with an accepted URL", sinceNovember(actions[november])},
	{"answer-invalid", "content that lacks a required field, or has a value of another type or of none of the choices", answers},
	{"answer-unchecked", "a value that breaks a limit, a pattern or a format of its field", Always(should(elicitation, "Form Mode Security")).In(june, should(elicitation, "Security Considerations"))},
	{"answer-field-unknown", "content with a field that the question does not have", actions},
	{"answer-undeclared", "an answer to a mode that the client has not declared, in place of error -32602", Sources{june: must(lifecycle, "Operation"), november: must(elicitation, "Error Handling"), july: advice(elicitation, "Capabilities")}},
	{"refused-undeclared", "another error than -32602 for a mode that the client has not declared", Sources{november: must(elicitation, "Error Handling")}},
	{"refused-declared", "error -32601, or to a valid question -32602, for a request that the client has declared to support", untilJuly(must(lifecycle, "Operation"))},
	{"answer-after-cancellation", "a response to a request that the server had taken back long before", untilJuly(should(cancellation, "Behavior Requirements"))},

	// Rounds.
	{"state-missing", "a retry without the requestState that the server gave", retries},
	{"state-changed", "a retry with another requestState than the server gave", retries},
	{"state-unasked", "a retry with a requestState, though the server gave none", retries},
	{"state-elsewhere", "the requestState of one request in another request", retries},
	{"retry-id-same", "a retry under the id of the request that it repeats", retries},
	{"retry-changed", "a retry with other arguments than the request that it repeats", retries},
	{"input-missing", "a retry that lacks a requested input", retries},
	{"input-unknown", "a retry with an input that was not requested", SinceJuly(must(roundTrips, "InputResponses"))},
	{"input-unasked", "inputs or a requestState before anything asked for them", retries},
	{"input-duplicate", "two inputs of the same key", SinceJuly(elsewhere(rfc8259, "4. Objects"))},

	// The wire.
	{"stdin-noise", "a line on the server's standard input that is not a message", Always(must(transports, "stdio")).In(july, must(stdio, introduction))},
	{"client-response-unasked", "a response of the client's whose id no request of the server's has", Always(must(basic, "Responses"))},
	{"client-answered-twice", "a second response of the client's to the same request", Always(must(basic, "Responses"))},
	{"client-id-taken", "a request of the client's under the id of one that still waits for its response", Always(must(basic, "Requests"))},
	{"client-id-again", "a request of the client's under the id of an earlier one of the session, which has its response", untilJuly(must(basic, "Requests"))},
	{"client-request-early", "a request other than ping before the server has answered initialize", untilJuly(should(lifecycle, "Initialization"))},
	{"initialized-missing", "a request other than ping before notifications/initialized, once the server has answered initialize", untilJuly(must(lifecycle, "Initialization"))},
	{"initialize-cancelled", "a cancellation of initialize", untilJuly(must(cancellation, "Behavior Requirements"))},
	{"client-cancelled-unknown", "a cancellation of a request that the client has not sent", untilJuly(must(cancellation, "Behavior Requirements")).In(july, must("basic/patterns/cancellation", "Behavior Requirements"))},
	{"client-ping-late", "a ping of the server's that waits for the client's answer to something else", untilJuly(must(pinging, "Behavior Requirements"))},
	{"meta-missing", "a request without its revision or its capabilities in _meta, since 2026-07-28", SinceJuly(must(basic, "_meta"))},
	{"version-header-missing", "an HTTP request without MCP-Protocol-Version after the handshake", headers},
	{"version-header-wrong", "an HTTP request whose MCP-Protocol-Version is not the revision of its session or of its _meta", headers},
	{"standard-header-missing", "an HTTP request without Mcp-Method, or without Mcp-Name where a tool, a prompt or a resource is asked for, since 2026-07-28", standardHeaders},
	{"standard-header-wrong", "an HTTP request whose Mcp-Method or Mcp-Name is not what its message has, since 2026-07-28", standardHeaders},
}

// probeRules are rules about clients that only a probe can judge, because it knows what the person
// was asked to do.
var probeRules = []Rule{
	{"answer-altered", "a value that is not the one that was entered, or that nobody touched", answers},
	{"answer-unattended", "an accept sooner than any person answers, of a question that says to decline", Always(must(elicitation, "User Interaction Model")).In(june, should(elicitation, "User Interaction Model"))},
	{"url-prefetched", "a URL that is fetched, though it is declined", sinceNovember(must(elicitation, safeURLs))},
}

var ofClients = func() map[string]bool {
	of := make(map[string]bool, len(clientRules)+len(clientTaskRules))
	for _, r := range slices.Concat(clientRules, clientTaskRules) {
		of[r.ID] = true
	}
	return of
}()
