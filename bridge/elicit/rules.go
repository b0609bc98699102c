package elicit

import "slices"

// Rule is one rule of the linter.
type Rule struct {
	ID       string   // never changes
	Severity Severity // in the newest revision; some are milder in the first
	Section  string   // section of the specification, in its newest revision that has it
	Breaks   string   // what breaks it
}

// rule is a Rule with what differs from revision to revision.
type rule struct {
	Rule
	page    string   // page of the specification, "" where outside names the source
	outside string   // a source other than MCP
	old     *section // in 2025-06-18, where it differs
}

// section is where a rule stands in one revision, and how binding it is there.
type section struct {
	severity Severity
	page     string
	name     string
}

const (
	elicitation = "client/elicitation"
	roundTrips  = "basic/patterns/mrtr"
	basic       = "basic"
)

// schemaRules is where the first revision restricts the schema.
var schemaRules = &section{Violation, elicitation, "Supported Schema Types"}

// requestParams is where the first revision says what a request consists of.
var requestParams = &section{Violation, elicitation, "Creating Elicitation Requests"}

var rules = []rule{
	// The request as a whole.
	{Rule: Rule{"params-malformed", Violation, "Elicitation Requests", "params that are absent or no object"}, page: elicitation, old: requestParams},
	{Rule: Rule{"request-removed", Violation, "Multi Round-Trip Requests", "elicitation/create as a request, since 2026-07-28"}, page: roundTrips},
	{Rule: Rule{"mode-unknown", Violation, "Elicitation Requests", "a mode other than form or url, or one that the revision does not have"}, page: elicitation, old: requestParams},
	{Rule: Rule{"mode-undeclared", Violation, "Capabilities", "a mode that the client has not declared"}, page: elicitation},
	{Rule: Rule{"message-missing", Violation, "Elicitation Requests", "no message, or one that is no string"}, page: elicitation, old: requestParams},
	{Rule: Rule{"message-empty", Advice, "Elicitation Requests", "an empty message"}, page: elicitation, old: &section{Advice, elicitation, "Security Considerations"}},
	{Rule: Rule{"duplicate-member", Should, "4. Objects", "a member that stands twice in one object"}, outside: "RFC 8259"},
	{Rule: Rule{"asked-again", Advice, "User Interaction Model", "a property that was already answered in the same call"}, page: elicitation},

	// URL mode.
	{Rule: Rule{"url-missing", Violation, "URL Mode Elicitation Requests", "URL mode without a URL"}, page: elicitation},
	{Rule: Rule{"url-invalid", Violation, "URL Mode Elicitation Requests", "a URL that is none"}, page: elicitation},
	{Rule: Rule{"url-insecure", Should, "Safe URL Handling", "a URL without HTTPS that does not lead to this machine"}, page: elicitation},
	{Rule: Rule{"url-credentials", Violation, "Safe URL Handling", "a user name or password in the URL"}, page: elicitation},
	{Rule: Rule{"url-with-schema", Advice, "URL Mode Elicitation Requests", "URL mode with a requestedSchema"}, page: elicitation},
	{Rule: Rule{"id-missing", Violation, "URL Mode Elicitation Requests", "URL mode without an elicitationId, in 2025-11-25"}, page: elicitation},
	{Rule: Rule{"id-reused", Violation, "URL Mode Elicitation Requests", "an elicitationId that came before in the session"}, page: elicitation},
	{Rule: Rule{"id-removed", Advice, "Key Changes, Minor changes", "an elicitationId, since 2026-07-28"}, page: "changelog"},

	// Form mode.
	{Rule: Rule{"form-with-url", Advice, "URL Mode Elicitation Requests", "form mode with a url"}, page: elicitation},
	{Rule: Rule{"schema-missing", Violation, "Form Mode Elicitation Requests", "form mode without a requestedSchema"}, page: elicitation, old: requestParams},
	{Rule: Rule{"secret-in-form", Violation, "Form Mode Security", "a field that asks for a secret"}, page: elicitation, old: &section{Violation, elicitation, "Security Considerations"}},
	{Rule: Rule{"url-in-form", Should, "Safe URL Handling", "a URL in the message or in a field's texts"}, page: elicitation, old: &section{Advice, elicitation, "Security Considerations"}},
	{Rule: Rule{"too-many-fields", Advice, "Requested Schema", "more than ten fields"}, page: elicitation, old: &section{Advice, elicitation, "Request Schema"}},

	// The schema.
	{Rule: Rule{"schema-invalid", Violation, "Schema Validation", "a schema that is not valid by its own dialect"}, page: basic, old: schemaRules},
	{Rule: Rule{"root-not-object", Violation, "Requested Schema", "a root that is not of type object"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"properties-missing", Violation, "Requested Schema", "no properties, or properties that are no object"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"required-unknown", Advice, "Requested Schema", "a required property that is not there"}, page: elicitation, old: schemaRules.as(Advice)},
	{Rule: Rule{"property-no-schema", Violation, "Requested Schema", "a property that is true, false or no object"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"type-missing", Violation, "Requested Schema", "a property without a type"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"type-unknown", Violation, "Requested Schema", "a type that JSON Schema does not have, or null"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"type-union", Violation, "Requested Schema", "several types for one property"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"nested-object", Violation, "Requested Schema", "an object inside the object"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"array-of-objects", Violation, "Requested Schema", "a list of objects"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"array-without-choices", Violation, "Requested Schema", "a list of anything but choices"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"keyword-unsupported", Violation, "Requested Schema", "$ref, allOf, if and other keywords that refer or combine"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"newer-than-revision", Violation, "Requested Schema", "what only later revisions allow"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"format-unsupported", Violation, "Requested Schema", "a format other than email, uri, date and date-time"}, page: elicitation, old: schemaRules},

	// Choices.
	{Rule: Rule{"enum-empty", Should, "6.1.2. enum", "an empty list of choices"}, outside: "JSON Schema Validation 2020-12"},
	{Rule: Rule{"enum-duplicate", Should, "6.1.2. enum", "a choice that is listed twice"}, outside: "JSON Schema Validation 2020-12"},
	{Rule: Rule{"enum-not-text", Violation, "Requested Schema", "choices that are no strings"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"enum-names-length", Advice, "Requested Schema", "enumNames of another length than enum"}, page: elicitation, old: schemaRules.as(Advice)},
	{Rule: Rule{"enum-names-deprecated", Advice, "LegacyTitledEnumSchema", "enumNames, since 2025-11-25"}, page: "schema"},
	{Rule: Rule{"choice-incomplete", Violation, "Requested Schema", "a titled choice without const or title"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"choice-keyword", Violation, "Requested Schema", "anyOf for a single choice, or oneOf for a multiple one"}, page: elicitation, old: schemaRules},
	{Rule: Rule{"items-type-stray", Advice, "Requested Schema", "a titled multiple choice whose items have a type"}, page: elicitation, old: schemaRules.as(Advice)},

	// Values and limits.
	{Rule: Rule{"default-invalid", Should, "9.2. default", "a default that the schema itself rejects"}, outside: "JSON Schema Validation 2020-12"},
	{Rule: Rule{"limits-crossed", Advice, "Requested Schema", "a lower limit above the upper one"}, page: elicitation, old: schemaRules.as(Advice)},
	{Rule: Rule{"limits-beyond-choices", Advice, "Requested Schema", "minItems or maxItems above the number of choices"}, page: elicitation, old: schemaRules.as(Advice)},
	{Rule: Rule{"pattern-invalid", Should, "6.3.3. pattern", "a pattern that is no ECMA-262 expression"}, outside: "JSON Schema Validation 2020-12"},
	{Rule: Rule{"pattern-unmatched", Advice, "6.3.3. pattern", "a pattern that no text of an allowed length is known to match"}, outside: "JSON Schema Validation 2020-12"},
	{Rule: Rule{"pattern-slow", Advice, "6.3.3. pattern", "a pattern that takes too long on some texts"}, outside: "JSON Schema Validation 2020-12"},

	// The wire.
	{Rule: Rule{"stdout-noise", Violation, "stdio", "a line on standard output that is no message"}, page: "basic/transports"},
	{Rule: Rule{"request-id-taken", Violation, "Requests", "a request under the id of one that still waits for its response"}, page: basic},

	{Rule: Rule{"sampling-undeclared", Violation, "Capabilities", "sampling/createMessage to a client that has not declared sampling"}, page: "client/sampling"},
	{Rule: Rule{"roots-undeclared", Violation, "Capabilities", "roots/list to a client that has not declared roots"}, page: "client/roots"},

	// Results and errors around elicitations.
	{Rule: Rule{"result-type-missing", Violation, "Result Responses", "a result without resultType, since 2026-07-28"}, page: basic},
	{Rule: Rule{"result-type-unknown", Advice, "ResultType", "a resultType that the protocol does not define"}, page: basic},
	{Rule: Rule{"input-required-early", Violation, "Multi Round-Trip Requests", "an input-required result before 2026-07-28"}, page: roundTrips},
	{Rule: Rule{"input-required-empty", Violation, "Server Requirements (Basic Workflow)", "an input-required result with neither inputRequests nor requestState"}, page: roundTrips},
	{Rule: Rule{"input-required-method", Violation, "Supported Requests", "an input-required result on a method that does not allow it"}, page: roundTrips},
	{Rule: Rule{"input-request-unknown", Violation, "Server Requirements (Basic Workflow)", "an input request that is none of the three there are"}, page: roundTrips},
	{Rule: Rule{"input-request-duplicate", Violation, "Server Requirements (Basic Workflow)", "two input requests of the same key"}, page: roundTrips},
	{Rule: Rule{"request-state-type", Violation, "InputRequiredResult", "a requestState that is no string"}, page: roundTrips},
	{Rule: Rule{"error-removed", Violation, "Error Codes", "error -32042, since 2026-07-28"}, page: basic, old: &section{Advice, "", "-32042 does not exist yet"}},
	{Rule: Rule{"error-malformed", Violation, "URL Elicitation Required Error", "error -32042 without a list of elicitations"}, page: elicitation},
	{Rule: Rule{"error-not-url", Violation, "URL Elicitation Required Error", "an elicitation in error -32042 that is not in URL mode"}, page: elicitation},
}

var ruleIndex = func() map[string]int {
	index := make(map[string]int, len(rules))
	for i, r := range rules {
		index[r.ID] = i
	}
	return index
}()

// Rules lists all rules of the linter, in the order in which they are documented.
func Rules() []Rule {
	list := make([]Rule, len(rules))
	for i, r := range rules {
		list[i] = r.Rule
	}
	return slices.Clip(list)
}

// as is the same section with another severity.
func (s *section) as(severity Severity) *section {
	return &section{severity, s.page, s.name}
}

// in is where the rule stands in a revision, and what the place is called in full.
func (r rule) in(revision string) (s section, reference string) {
	if r.outside != "" {
		return section{r.Severity, "", r.Section}, r.outside + ", section " + r.Section
	}
	s = section{r.Severity, r.page, r.Section}
	if revision == rev2025June && r.old != nil {
		s = *r.old
	}
	reference = "MCP " + revision + ", "
	if s.page != "" {
		reference += s.page + ", "
	}
	return s, reference + s.name
}
