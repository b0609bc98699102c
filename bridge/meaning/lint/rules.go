package lint

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/base/mcp"
)

// Rule is one rule of the linter.
type Rule struct {
	ID     string // ID of the rule, which never changes
	Breaks string // what breaks the rule

	// Sources holds the section that the rule is based on, by revision. In a revision
	// without an entry the rule does not exist.
	Sources Sources
}

// Source is a section of a specification and how binding it is. Without a document and a
// page it is the linter's own advice.
type Source struct {
	Severity Severity
	Document string // document other than MCP's specification; "" for MCP's
	Page     string // page of MCP's specification, as in its address: "client/elicitation"
	Section  string // title of the section; "" for the text before a page's first heading
}

// The pages that rules cite.
const (
	elicitation  = "client/elicitation"
	roundTrips   = "basic/patterns/mrtr"
	basic        = "basic"
	lifecycle    = "basic/lifecycle"
	schemaPage   = "schema"
	transports   = "basic/transports"
	stdio        = "basic/transports/stdio"
	streamable   = "basic/transports/streamable-http"
	cancellation = "basic/utilities/cancellation"
	pinging      = "basic/utilities/ping"
	progress     = "basic/utilities/progress"
	taskPage     = "basic/utilities/tasks"
	logging      = "server/utilities/logging"
	caching      = "server/utilities/caching"
	access       = "basic/authorization"
	discovery    = access + "/authorization-server-discovery"
	security     = access + "/security-considerations"
	introduction = "" // the text before a page's first heading
)

// The documents besides MCP's specification that rules cite.
const (
	taskExtension    = "MCP extension " + mcp.TasksExtension + " 2026-07-28"
	rfc6750          = "RFC 6750"
	rfc8259          = "RFC 8259"
	rfc8414          = "RFC 8414"
	rfc9207          = "RFC 9207"
	rfc9728          = "RFC 9728"
	schemaValidation = "JSON Schema Validation 2020-12"
	sep2356          = "SEP-2356 (a draft)"
)

// At returns a source in MCP's specification: a Violation is for a MUST and for the shape of
// a message in the protocol's schema, Should for a SHOULD, and Advice for texts that bind
// nobody.
func (s Severity) At(page, section string) Source { return Source{s, "", page, section} }

func must(page, section string) Source   { return Violation.At(page, section) }
func should(page, section string) Source { return Should.At(page, section) }
func advice(page, section string) Source { return Advice.At(page, section) }

// elsewhere returns a source in another document than MCP's specification.
func elsewhere(document, section string) Source { return Source{Should, document, "", section} }

// inExtension returns a source in the extension tasks.
func inExtension(severity Severity, section string) Source {
	return Source{severity, taskExtension, "", section}
}

// unsourced is advice without a source.
var unsourced = Source{Severity: Advice}

// Sources holds the source of a rule by revision.
type Sources map[string]Source

// Always is for a rule that all revisions have.
func Always(s Source) Sources { return Sources{june: s, november: s, july: s} }

// SinceJuly is for a rule that came with 2026-07-28.
func SinceJuly(s Source) Sources { return Sources{july: s} }

func sinceNovember(s Source) Sources { return Sources{november: s, july: s} }
func untilJuly(s Source) Sources     { return Sources{june: s, november: s} }

// In returns a copy with another source for one revision.
func (m Sources) In(revision string, s Source) Sources {
	m = maps.Clone(m)
	m[revision] = s
	return m
}

// Sources that many rules share.
var (
	// restricted limits a form's schema to a subset of JSON Schema.
	restricted = Always(must(elicitation, "Requested Schema")).In(june, must(elicitation, "Supported Schema Types"))
	// flat requires a form's schema to be an object with properties.
	flat = Always(must(elicitation, "Requested Schema")).In(june, must(elicitation, "Request Schema"))
	// parameters defines the params of every elicitation.
	parameters = Always(must(elicitation, "Elicitation Requests")).In(june, must(schemaPage, "ElicitRequest"))
	urlMode    = must(elicitation, "URL Mode Elicitation Requests")
	safeURLs   = "Safe URL Handling"
	// completions defines the notification of a URL's outcome.
	completions = Sources{november: must(elicitation, "Completion Notifications for URL Mode Elicitation")}
	// afterwards is the source of rules about what a server does after a decline or a cancel.
	afterwards = Always(advice(elicitation, "Response Actions"))
	inputs     = must(roundTrips, "Server Requirements (Basic Workflow)")
	// located requires a protected server to name its authorization server.
	located = Always(must(access, "Authorization Server Location")).In(july, must(discovery, "Authorization Server Location"))
)

// rules are the rules that judge servers; clientRules has those that judge clients.
var rules = []Rule{
	// The request as a whole.
	{"params-malformed", "params that are absent or not an object", parameters},
	{"request-removed", "elicitation/create, sampling/createMessage or roots/list as a request, since 2026-07-28", SinceJuly(must(roundTrips, introduction))},
	{RuleUnsent, "a tool that fails because it asks by a request, since 2026-07-28", SinceJuly(advice(roundTrips, introduction))},
	{"mode-unknown", "a mode other than form or url, or one that the revision does not have", parameters.In(june, unsourced)},
	{"mode-undeclared", "a mode that the client has not declared", Always(must(elicitation, "Capabilities")).In(june, must(lifecycle, "Operation"))},
	{"message-missing", "no message, or one that is not a string", parameters},
	{"message-empty", "an empty message", Always(advice(elicitation, "Elicitation Requests")).In(june, advice(schemaPage, "ElicitRequest"))},
	{"duplicate-member", "a member that stands twice in one object", Always(elsewhere(rfc8259, "4. Objects"))},
	{"asked-again", "a question that was already answered, word for word, in the same call", Always(unsourced)},

	// URL mode.
	{"url-missing", "URL mode without a URL", sinceNovember(urlMode)},
	{"url-invalid", "an invalid URL", sinceNovember(urlMode)},
	{"url-not-ascii", "a URL with letters that a URI has to encode", sinceNovember(advice(schemaPage, "ElicitRequestURLParams"))},
	{"url-too-long", "a URL of more than 8 KiB", sinceNovember(advice(schemaPage, "ElicitRequestURLParams"))},
	{"url-insecure", "a URL without HTTPS that does not lead to this machine", sinceNovember(should(elicitation, safeURLs))},
	{"url-credentials", "a password or a key in the URL", sinceNovember(must(elicitation, safeURLs))},
	{"url-personal-data", "personal data in the URL", sinceNovember(must(elicitation, safeURLs))},
	{"url-preauthenticated", "a URL that is signed in already", sinceNovember(must(elicitation, safeURLs))},
	{"url-with-schema", "URL mode with a requestedSchema", sinceNovember(advice(elicitation, "URL Mode Elicitation Requests"))},
	{"id-missing", "URL mode without an elicitationId, in 2025-11-25", Sources{november: urlMode}},
	{"id-reused", "an elicitationId that belongs to another elicitation", Sources{november: urlMode}},
	{"id-removed", "an elicitationId, since 2026-07-28", SinceJuly(advice(elicitation, "URL Mode Elicitation Requests"))},

	{"completion-malformed", "notifications/elicitation/complete without an elicitationId", completions},
	{"completion-unknown", "a completion of an elicitation that was not asked for in the session", completions},
	{"completion-of-form", "a completion of an elicitation that is not in URL mode", completions},
	{"completion-repeated", "a second completion of the same elicitation", Sources{november: unsourced}},
	{"completion-declined", "a completion of an elicitation that was declined or cancelled", Sources{november: unsourced}},
	{"completion-early", "notifications/elicitation/complete before 2025-11-25", Sources{june: must(lifecycle, "Operation")}},
	{"completion-removed", "notifications/elicitation/complete, since 2026-07-28", SinceJuly(must("changelog", "Minor changes"))},

	// Form mode.
	{"form-with-url", "form mode with a url", Always(advice(elicitation, "URL Mode Elicitation Requests")).In(june, unsourced)},
	{"schema-missing", "form mode without a requestedSchema", Always(must(elicitation, "Form Mode Elicitation Requests")).In(june, must(schemaPage, "ElicitRequest"))},
	{"secret-in-form", "a field or a message that asks for a secret", Always(must(elicitation, "Form Mode Security")).In(june, must(elicitation, "Security Considerations"))},
	{"identity-in-form", "a field that asks for the number of an identity document or a bank account", Always(advice(elicitation, "User Interaction Model"))},
	{"url-in-form", "a URL to be followed, in the message or in a field's texts", sinceNovember(should(elicitation, safeURLs))},
	{"too-many-fields", "more than ten fields", Always(unsourced)},

	// The schema.
	{"schema-invalid", "a schema that is not valid by its own dialect", Always(must(basic, "Schema Validation")).In(june, must(elicitation, "Request Schema"))},
	{"root-not-object", "a root that is not of type object", flat},
	{"properties-missing", "no properties, or properties that are not an object", Always(must(schemaPage, "ElicitRequestFormParams")).In(june, must(schemaPage, "ElicitRequest"))},
	{"required-unknown", "a required property that no field gives", Always(unsourced)},
	{"property-no-schema", "a property that is true, false or no object", restricted},
	{"type-missing", "a property without a type", restricted},
	{"type-unknown", "a type that JSON Schema does not have, or null", restricted},
	{"type-union", "several types for one property", restricted},
	{"nested-object", "an object inside the object", flat},
	{"array-of-objects", "a list of objects", restricted},
	{"array-without-choices", "a list of anything but choices", restricted},
	{"keyword-unsupported", "$ref, allOf, if and other keywords that refer or combine", restricted},
	{"keyword-misspelt", "a keyword that looks misspelt", Always(unsourced)},
	{"newer-than-revision", "what only later revisions allow", Sources{june: restricted[june]}},
	{"format-unsupported", "a format other than email, uri, date and date-time", restricted},
	{"file-draft", "x-mcp-file, which is a draft", Always(Source{Advice, sep2356, "", "Backward Compatibility"})},
	{"text-not-string", "a title, description or display name that is not a string", Always(must(schemaPage, "PrimitiveSchemaDefinition"))},

	// Choices.
	{"enum-empty", "an empty list of choices", Always(elsewhere(schemaValidation, "6.1.2. enum"))},
	{"enum-duplicate", "a choice that is listed twice", Always(elsewhere(schemaValidation, "6.1.2. enum"))},
	{"enum-not-text", "choices that are not strings", restricted},
	{"enum-names-length", "enumNames of another length than enum", Always(advice(schemaPage, "LegacyTitledEnumSchema")).In(june, advice(schemaPage, "EnumSchema"))},
	{"enum-names-deprecated", "enumNames, since 2025-11-25", sinceNovember(advice(schemaPage, "LegacyTitledEnumSchema"))},
	{"choice-incomplete", "a titled choice without const or title", sinceNovember(restricted[november])},
	{"choice-duplicate", "a titled choice that is listed twice", sinceNovember(unsourced)},
	{"choice-keyword", "anyOf for a single choice, or oneOf for a multiple one", sinceNovember(restricted[november])},
	{"items-type-stray", "a titled multiple choice whose items have a type", sinceNovember(advice(schemaPage, "TitledMultiSelectEnumSchema"))},

	// Values and limits.
	{"default-type", "a default of another type than its property", Always(must(schemaPage, "PrimitiveSchemaDefinition"))},
	{"default-invalid", "a default that the schema itself rejects", Always(elsewhere(schemaValidation, "9.2. default"))},
	{"limits-crossed", "a lower limit above the upper one", Always(unsourced)},
	{"limits-beyond-choices", "minItems or maxItems above the number of choices", sinceNovember(unsourced)},
	{"pattern-invalid", "a pattern that is not an ECMA-262 regular expression", Always(elsewhere(schemaValidation, "6.3.3. pattern"))},

	// Tools.
	{"tool-schema-not-object", "a tool whose inputSchema or outputSchema is absent or not that of an object", Always(must(schemaPage, "Tool"))},
	{"tool-schema-invalid", "a tool with a schema that is not valid by its own dialect", sinceNovember(must("server/tools", "Tool"))},

	// The wire.
	{"stdout-noise", "a line on standard output that is not a message", Always(must(transports, "stdio")).In(july, must(stdio, introduction))},
	{"byte-order-mark", "a byte order mark before a message", Always(elsewhere(rfc8259, "8.1. Character Encoding"))},
	{"request-id-taken", "a request under the id of one that still waits for its response", Always(must(basic, "Requests"))},
	{"id-used-again", "a request under the id of an earlier one of the session, which has its response", untilJuly(must(basic, "Requests"))},
	{"request-early", "a request other than ping before notifications/initialized", untilJuly(should(lifecycle, "Initialization"))},
	{"request-without-id", "a request such as elicitation/create without an id, as a notification", Always(must(basic, "Requests"))},
	{"response-unasked", "a response whose id no request of the client's has", Always(must(basic, "Responses"))},
	{"answered-twice", "a second response to the same request", Always(must(basic, "Responses"))},
	{"error-without-id", "an error without an id", Always(advice(basic, "Error Responses")).In(june, must(basic, "Responses"))},
	{"server-request-removed", "ping and other requests of the server's, since 2026-07-28", SinceJuly(must("basic/patterns", introduction))},
	{"cancelled-by-server", "notifications/cancelled for anything but a subscription, since 2026-07-28", SinceJuly(must("basic/patterns/cancellation", "Behavior Requirements"))},
	{"cancelled-unknown", "notifications/cancelled for a request that the server has not sent", untilJuly(must(cancellation, "Behavior Requirements"))},
	{"cancelled-goes-on", "a result of a call that was cancelled while its question waited", untilJuly(advice(cancellation, "Behavior Requirements"))},
	{"question-left-open", "a question that is still open after its call got a response", untilJuly(should(lifecycle, "Timeouts"))},
	{"ping-unanswered", "a ping without a response while a question waits", untilJuly(must(pinging, "Behavior Requirements"))},
	{"sampling-undeclared", "sampling/createMessage to a client that has not declared sampling", Always(must(lifecycle, "Operation")).In(july, inputs)},
	{"roots-undeclared", "roots/list to a client that has not declared roots", Always(must(lifecycle, "Operation")).In(july, inputs)},

	// What the server's own spans say that it did; see docs/traces.md.
	{"effect-before-answer", "a span that says that the server wrote, sent, deleted or called out while its question waited", Always(should(elicitation, "Response Actions"))},
	{"effect-after-refusal", "a span that says so after the question was declined or cancelled", Always(should(elicitation, "Response Actions"))},
	{"effect-before-question", "a span that says so before the question was asked, which may be a log or a session", afterwards},
	{"effect-repeated", "two spans in one call that say the same was done, though one question was accepted", afterwards},
	{"effect-after-result", "a span that says so after the call had its result", afterwards},

	// Notifications.
	{"progress-unknown", "progress under a token that no request has given", Always(must(progress, "Behavior Requirements")).In(july, must("basic/patterns/progress", "Behavior Requirements"))},
	{"progress-after-result", "progress of a request that has its response", Always(must(progress, "Implementation Notes")).In(july, must("basic/patterns/progress", "Implementation Notes"))},
	{"progress-not-rising", "progress that does not increase", Always(must(progress, "Progress Flow")).In(july, must("basic/patterns/progress", "Progress Flow"))},
	{"log-undeclared", "a log message of a server that has not declared logging", Always(must(logging, "Capabilities"))},
	{"log-unasked", "a log message while no request asks for one, since 2026-07-28", SinceJuly(must(logging, "Per-request log level"))},
	{"secret-in-log", "a log message with a secret that the user was asked for", Always(must(logging, "Security"))},
	{"personal-in-log", "a log message with personal data that the user was asked for", Always(must(logging, "Security"))},
	{"change-undeclared", "a notification about a changed list of a server that has not declared listChanged", untilJuly(must(lifecycle, "Operation"))},

	// Results and errors around elicitations.
	{"result-not-object", "a result that is not an object", Always(must(basic, "Result Responses")).In(june, must(basic, "Responses"))},
	{"content-not-list", "a tool's result without a list as its content", Always(must(schemaPage, "CallToolResult"))},
	{"cache-hint-missing", "a list, a resource or a discovery without ttlMs and cacheScope, since 2026-07-28", SinceJuly(must(caching, "Cacheable Results"))},
	{"result-type-missing", "a result without resultType, since 2026-07-28", SinceJuly(must(basic, "Result Responses"))},
	{"result-type-unknown", "a resultType that the protocol does not define", SinceJuly(must(basic, "ResultType"))},
	{"input-required-early", "an input-required result before 2026-07-28", Sources{june: unsourced, november: unsourced}},
	{"input-required-empty", "an input-required result with neither inputRequests nor requestState", SinceJuly(inputs)},
	{"input-required-method", "an input-required result on a method that does not allow it", SinceJuly(must(roundTrips, "Supported Requests"))},
	{"input-request-unknown", "an input request of an unknown kind", SinceJuly(inputs)},
	{"input-request-duplicate", "two input requests of the same key", SinceJuly(inputs)},
	{"request-state-type", "a requestState that is not a string", SinceJuly(must(roundTrips, "InputRequiredResult"))},
	{"error-code-type", "an error code that is not an integer", Always(must(basic, "Error Responses")).In(june, must(basic, "Responses"))},
	{"error-undefined", "an error code that is reserved for the protocol and that it does not define, since 2026-07-28", SinceJuly(must(basic, "Error Codes"))},
	{"error-data-missing", "error -32021 that does not name the missing capabilities", SinceJuly(must(basic, "_meta"))},
	{"error-removed", "error -32042 in a revision that does not have it", SinceJuly(must(basic, "Error Codes")).In(june, unsourced)},
	{"error-malformed", "error -32042 without a list of elicitations", Sources{november: must(elicitation, "URL Elicitation Required Error")}},
	{"error-not-url", "an elicitation in error -32042 that is not in URL mode", Sources{november: must(elicitation, "URL Elicitation Required Error")}},
	{"reads-declined-content", "a call that fails with the words of a runtime after its question was declined or cancelled", afterwards},
	{"undefined-after-decline", "a result with undefined or the like in it after a decline or a cancel", afterwards},
	{"declined-as-accepted", "the same result for a decline or a cancel as for an accept, of a form with a required field", afterwards},

	// Signing in.
	{"challenge-missing", "a 401 without a challenge for a Bearer token", Always(elsewhere(rfc6750, "3. The WWW-Authenticate Response Header Field")).In(june, located[june])},
	{"challenge-scope-missing", "a 401 whose challenge names no scope", Sources{november: should(access, "Protected Resource Metadata Discovery Requirements"), july: advice(access, "Scope Selection Strategy")}},
	{"scope-unnamed", "a 403 for want of a scope that it does not name", sinceNovember(should(access, "Runtime Insufficient Scope Errors"))},
	{"resource-metadata-missing", "no metadata of the protected server where it belongs", located},
	{"resource-metadata-invalid", "metadata of the protected server that is not a JSON object", Always(elsewhere(rfc9728, "3.2. Protected Resource Metadata Response"))},
	{"resource-mismatch", "metadata of another resource", Always(elsewhere(rfc9728, "3.3. Protected Resource Metadata Validation"))},
	{"authorization-server-missing", "metadata that names no authorization server", located},
	{"server-metadata-missing", "an authorization server without metadata", Always(must(access, "Overview"))},
	{"server-metadata-invalid", "metadata of the authorization server that is not a JSON object", Always(elsewhere(rfc8414, "3.2. Authorization Server Metadata Response"))},
	{"issuer-mismatch", "metadata of another issuer", Always(elsewhere(rfc8414, "3.3. Authorization Server Metadata Validation")).In(july, must(discovery, "Authorization Server Metadata Discovery"))},
	{"s256-missing", "an authorization server that does not offer PKCE with S256", Always(must(access, "Authorization Code Protection")).In(june, advice(access, "Authorization Code Protection")).In(july, must(security, "Authorization Code Protection"))},
	{"endpoint-insecure", "an authorization server or an endpoint of it without HTTPS that is not on this machine", Always(must(access, "Communication Security")).In(july, must(security, "Communication Security"))},
	{"iss-mismatch", "a redirect with another issuer, or without the one that the metadata promises", Always(elsewhere(rfc9207, "2.4. Validating the Issuer Identifier"))},
	{"redirect-elsewhere", "a request of a sign-in that is redirected to another origin", Always(unsourced)},
	{"token-in-url", "a token in a URL", Always(must(access, "Token Requirements"))},
}

var ruleByID = sync.OnceValue(func() map[string]Rule {
	byID := make(map[string]Rule, len(allRules))
	for _, r := range slices.Concat(allRules, probeRules) {
		byID[r.ID] = r
	}
	return byID
})

// RuleOf returns the rule of the linter, or of the probe alone, with an ID; the zero Rule for none.
func RuleOf(id string) Rule { return ruleByID()[id] }

// Rules lists all rules of the linter, in the order in which they are documented: those that
// judge servers, and then those that judge clients.
func Rules() []Rule { return slices.Clone(allRules) }

// Reference returns the citation of the source in a revision: "MCP 2025-11-25,
// client/elicitation, Response Actions".
func (s Source) Reference(revision string) string {
	switch {
	case s.Document != "":
		return s.Document + ", section " + s.Section
	case s.Page == "":
		return "advice, not a rule of the specification"
	case s.Section == introduction:
		return "MCP " + revision + ", " + s.Page + ", introduction"
	}
	return "MCP " + revision + ", " + s.Page + ", " + s.Section
}

// documentAddresses holds the address of a section of a document, up to the section's number.
var documentAddresses = map[string]string{
	rfc6750:          "https://www.rfc-editor.org/rfc/rfc6750#section-",
	rfc8259:          "https://www.rfc-editor.org/rfc/rfc8259#section-",
	rfc8414:          "https://www.rfc-editor.org/rfc/rfc8414#section-",
	rfc9207:          "https://www.rfc-editor.org/rfc/rfc9207#section-",
	rfc9728:          "https://www.rfc-editor.org/rfc/rfc9728#section-",
	sep2356:          "https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2356#",
	schemaValidation: "https://json-schema.org/draft/2020-12/json-schema-validation#section-",
}

// Link returns the address of the source in a revision, with its section; "" for advice
// without a source.
func (s Source) Link(revision string) string {
	switch {
	case s.Document == taskExtension:
		return mcp.TasksLink(s.Section)
	case s.Document != "":
		number, _, _ := strings.Cut(s.Section, " ")
		return documentAddresses[s.Document] + strings.TrimSuffix(number, ".")
	case s.Page == "":
		return ""
	}
	return mcp.SectionLink(revision, s.Page, s.Section)
}
