package demo

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
)

// rules has the one tool that keeps none.
var rules = []tool{{
	name: "rule_breaker", title: "Break a rule", tell: taking(ruleBreaker),
	description: "Asks in a way that the specification forbids or advises against: one rule at a time, or as many as fit into one form. Shows what a client makes of a server that is wrong, and what a linter finds. Returns what came back.",
	input:       `"rule":` + choice("Rule", "many_at_once", breaches),
}}

// breach is one way of asking wrongly.
type breach struct {
	name          string
	what          string // completes "This breaks a rule: …"
	since, before string // the revisions in which it can be done; empty for no limit

	// One of:
	schema string // of a form that is otherwise in order
	params string // of the elicitation, whole
	do     wrong  // anything else
}

// wrong does something that is against a rule, and returns what came of it.
type wrong func(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error)

func (b breach) id() string { return b.name }

// one is the schema of a form with a single property.
func one(name, schema string) string {
	return object(`"` + name + `":` + schema)
}

var breaches = []breach{
	{name: "many_at_once", what: "as many rules as one form can break", params: manyAtOnce},
	{name: "root_is_no_object", what: "requestedSchema must have the type object", schema: `{"type":"array","items":{"type":"string"}}`},
	{name: "nested_object", what: "only primitive properties are allowed, no objects", schema: one("address", `{"type":"object","title":"Address","properties":{"street":{"type":"string"},"town":{"type":"string"}}}`)},
	{name: "array_of_objects", what: "arrays may only hold choices", schema: one("guests", `{"type":"array","title":"Guests","items":{"type":"object","properties":{"name":{"type":"string"}}}}`)},
	{name: "free_array", what: "arrays may only hold choices", schema: one("tags", `{"type":"array","title":"Tags","items":{"type":"string"}}`)},
	{name: "reference", what: "$ref is not in the allowed subset", schema: `{"type":"object","properties":{"day":{"$ref":"#/$defs/day"}},"$defs":{"day":{"type":"string","format":"date"}}}`},
	{name: "remote_reference", what: "$ref is not in the allowed subset, and this one would have to be fetched", schema: one("day", `{"$ref":"https://schemas.example/day.json"}`)},
	{name: "composition", what: "allOf, if and their kind are not in the allowed subset", schema: `{"type":"object","properties":{"age":{"type":"integer","allOf":[{"minimum":0},{"maximum":150}]}},"if":{"required":["age"]},"then":{"required":["consent"]}}`},
	{name: "unknown_type", what: "there is no such type", schema: one("paint", `{"type":"colour","title":"Paint"}`)},
	{name: "missing_type", what: "every property needs a type", schema: one("paint", `{"title":"Paint"}`)},
	{name: "type_union", what: "a property has one type, not several", schema: one("nickname", `{"type":["string","null"],"title":"Nickname"}`)},
	{name: "boolean_schema", what: "a property is a schema object, not true", schema: one("anything", `true`)},
	{name: "unknown_format", what: "only email, uri, date and date-time are allowed", schema: one("phone", `{"type":"string","title":"Phone","format":"phone"}`)},
	{name: "required_but_absent", what: "required names a property that is not there", schema: `{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name","nmae"]}`},
	{name: "duplicate_property", what: "an object has each property once", schema: `{"type":"object","properties":{"name":{"type":"string","title":"First name"},"name":{"type":"integer","title":"Number of names"}}}`},
	{name: "bad_default", what: "the default is rejected by its own schema", schema: one("share", `{"type":"number","title":"Share of traffic","minimum":0,"maximum":1,"default":5}`)},
	{name: "default_of_another_type", what: "the default is rejected by its own schema", schema: one("copies", `{"type":"integer","title":"Copies","default":"three"}`)},
	{name: "duplicate_choice", what: "choices must differ", schema: one("size", `{"type":"string","title":"Size","enum":["S","M","M","L"]}`)},
	{name: "no_choices", what: "a choice needs choices", schema: one("size", `{"type":"string","title":"Size","enum":[]}`)},
	{name: "names_of_another_length", what: "enumNames must be as long as enum", schema: one("size", `{"type":"string","title":"Size","enum":["S","M","L"],"enumNames":["Small","Medium"]}`)},
	{name: "old_names", what: "enumNames is deprecated, in favour of oneOf with titles", schema: one("size", `{"type":"string","title":"Size","enum":["S","M"],"enumNames":["Small","Medium"]}`)},
	{name: "choice_without_title", what: "entries of oneOf need const and title", schema: one("size", `{"type":"string","title":"Size","oneOf":[{"const":"S","title":"Small"},{"const":"M"},{"title":"Large"}]}`)},
	{name: "several_with_type", what: "items of titled choices have anyOf alone, without a type", schema: one("extras", `{"type":"array","title":"Extras","items":{"type":"string","anyOf":[{"const":"a","title":"Bag"},{"const":"b","title":"Seat"}]}}`)},
	{name: "minimum_over_maximum", what: "no number is at least 10 and at most 1", schema: one("copies", `{"type":"integer","title":"Copies","minimum":10,"maximum":1}`)},
	{name: "shortest_over_longest", what: "no text has at least 20 and at most 5 characters", schema: one("code", `{"type":"string","title":"Code","minLength":20,"maxLength":5}`)},
	{name: "fewest_over_most", what: "nobody can pick at least 3 and at most 1", schema: one("days", `{"type":"array","title":"Days","minItems":3,"maxItems":1,"items":{"type":"string","enum":["Mon","Tue","Wed"]}}`)},
	{name: "more_than_there_are", what: "nobody can pick 9 of 3", schema: one("days", `{"type":"array","title":"Days","maxItems":9,"items":{"type":"string","enum":["Mon","Tue","Wed"]}}`)},
	{name: "broken_pattern", what: "the pattern is no regular expression of ECMA-262", schema: one("code", `{"type":"string","title":"Code","pattern":"^[A-Z{3}$"}`)},
	{name: "endless_pattern", what: "the pattern takes practically for ever on some texts", schema: one("code", `{"type":"string","title":"Code","pattern":"^(a+)+$","maxLength":60,"default":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}`)},
	{name: "secret", what: "servers must not ask for secrets in form mode", schema: `{"type":"object","properties":{"user":{"type":"string","title":"User"},"password":{"type":"string","title":"Password"}},"required":["user","password"]}`},
	{name: "secret_by_description", what: "servers must not ask for secrets in form mode, whatever they call them", schema: one("value", `{"type":"string","title":"Value","description":"Paste your API key"}`)},
	{name: "card_number", what: "servers must not ask for payment credentials in form mode", schema: `{"type":"object","properties":{"card":{"type":"string","title":"Card number"},"cvv":{"type":"string","title":"CVV","maxLength":4}}}`},
	{name: "one_time_code", what: "servers must not ask for one-time codes in form mode", schema: one("otp", `{"type":"string","title":"Code from the text message","pattern":"^[0-9]{6}$"}`)},
	{name: "too_many_fields", what: "an elicitation should be a single, well-scoped request", schema: manyFields},
	{name: "link_in_the_message", what: "a form must not send people to a URL", params: `{"mode":"form","message":"Confirm your account at https://parcels.example/login and enter the code here.","requestedSchema":{"type":"object","properties":{"code":{"type":"string","title":"Code"}}}}`},
	{name: "link_in_a_field", what: "a form must not send people to a URL", schema: one("code", `{"type":"string","title":"Code","description":"Open https://parcels.example/login to find it"}`)},
	{name: "markup", what: "none; but what a server says is text, not markup", params: markup},
	{name: "form_with_url", what: "a form has no url", params: `{"mode":"form","message":"Which size?","url":"https://parcels.example/size","requestedSchema":{"type":"object","properties":{"size":{"type":"string","enum":["S","M"]}}}}`},
	{name: "form_without_schema", what: "a form needs a requestedSchema", params: `{"mode":"form","message":"Which size?"}`},
	{name: "url_with_schema", what: "URL mode has no requestedSchema", params: `{"mode":"url","message":"Sign in to Parcels.","url":"https://parcels.example/login","elicitationId":"rule-1","requestedSchema":{"type":"object","properties":{"size":{"type":"string"}}}}`},
	{name: "url_without_url", what: "URL mode needs a url", params: `{"mode":"url","message":"Sign in to Parcels.","elicitationId":"rule-2"}`},
	{name: "unknown_mode", what: "there is no such mode", params: `{"mode":"voice","message":"Please say your name."}`},
	{name: "undeclared_mode", what: "a server must not ask in a mode that the client has not declared", do: undeclaredMode},
	{name: "no_message", what: "every elicitation needs a message", params: `{"mode":"form","requestedSchema":{"type":"object","properties":{"size":{"type":"string","title":"Size"}}}}`},
	{name: "empty_message", what: "a message should say why", params: `{"mode":"form","message":"","requestedSchema":{"type":"object","properties":{"size":{"type":"string","title":"Size"}}}}`},
	{name: "asked_twice", what: "a server should not ask again for what was answered", do: askedTwice},
	{name: "no_elicitation_id", what: "URL mode needs an elicitationId", since: protocol.Revision20251125, before: protocol.Revision20260728, params: `{"mode":"url","message":"Sign in to Parcels.","url":"https://parcels.example/login"}`},
	{name: "reused_elicitation_id", what: "every elicitationId is used once", since: protocol.Revision20251125, before: protocol.Revision20260728, do: reusedID},
	{name: "unknown_completion", what: "only what was asked for can be completed", since: protocol.Revision20251125, before: protocol.Revision20260728, do: completes(json.RawMessage(`{"elicitationId":"nobody-asked-for-this"}`), 2)},
	{name: "malformed_required_error", what: "error -32042 needs data.elicitations, each in URL mode with an elicitationId", since: protocol.Revision20251125, before: protocol.Revision20260728, do: requires(`[{"mode":"form","message":"Which size?"},{"mode":"url","message":"Sign in to Parcels."},"and sign this",null]`)},
	{name: "left_over_elicitation_id", what: "there is no elicitationId any more", since: protocol.Revision20260728, params: `{"mode":"url","message":"Sign in to Parcels.","url":"https://parcels.example/login","elicitationId":"rule-3"}`},
	{name: "left_over_request", what: "elicitation/create is no request any more", since: protocol.Revision20260728, do: leftOverRequest},
	{name: "left_over_error", what: "there is no error -32042 any more", since: protocol.Revision20260728, do: requires(`[{"mode":"url","message":"Sign in to Parcels.","url":"https://parcels.example/login","elicitationId":"rule-6"}]`)},
	{name: "nothing_required", what: "an input-required result needs inputRequests or requestState", since: protocol.Revision20260728, do: replies(`{"resultType":"input_required"}`)},
	{name: "empty_state", what: "none; but an empty requestState is one, and goes back as it is", since: protocol.Revision20260728, do: emptyState},
	{name: "no_result_type", what: "every result needs a resultType", since: protocol.Revision20260728, do: replies(`{"content":[{"type":"text","text":"Done, but not a word on whether that is all."}]}`)},
	{name: "unknown_result_type", what: "there is no such resultType", since: protocol.Revision20260728, do: replies(`{"resultType":"perhaps","content":[{"type":"text","text":"Done, perhaps."}]}`)},
	{name: "unknown_input_request", what: "there is no such input request", since: protocol.Revision20260728, do: repliesOnce(`{"resultType":"input_required","inputRequests":{"tea":{"method":"kettle/boil","params":{"cups":2}}}`)},
	{name: "null_input_request", what: "an input request is an object", since: protocol.Revision20260728, do: repliesOnce(`{"resultType":"input_required","inputRequests":{"a":null}`)},
	{name: "input_requests_in_an_array", what: "inputRequests is an object", since: protocol.Revision20260728, do: repliesOnce(`{"resultType":"input_required","inputRequests":[{"method":"elicitation/create","params":{"message":"Which size?","requestedSchema":{"type":"object","properties":{}}}}]`)},
	{name: "message_is_a_number", what: "a message is text", params: `{"mode":"form","message":42,"requestedSchema":{"type":"object","properties":{}}}`},
	{name: "schema_is_text", what: "requestedSchema is an object", params: `{"mode":"form","message":"Which size?","requestedSchema":"a size, please"}`},
	{name: "params_in_an_array", what: "params is an object", params: `["form","Which size?"]`},
	{name: "no_params", what: "an elicitation needs params", do: noParams},
	{name: "completion_without_params", what: "a completion needs params", since: protocol.Revision20251125, before: protocol.Revision20260728, do: completes(nil, 1)},
}

// manyAtOnce is one question that does nearly everything wrong that a form can do wrong.
const manyAtOnce = `{"mode":"form","url":"https://parcels.example/login","message":"Log in at https://parcels.example/login, then fill in <b>everything</b>.","requestedSchema":{"type":"object","additionalProperties":false,
	"properties":{
	"password":{"type":"string","title":"Password"},
	"address":{"type":"object","title":"Address","properties":{"street":{"type":"string"}}},
	"guests":{"type":"array","title":"Guests","items":{"type":"object","properties":{"name":{"type":"string"}}}},
	"day":{"$ref":"#/$defs/day"},
	"paint":{"type":"colour","title":"Paint"},
	"untyped":{"title":"Untyped"},
	"nickname":{"type":["string","null"],"title":"Nickname"},
	"phone":{"type":"string","title":"Phone","format":"phone"},
	"share":{"type":"number","title":"Share","minimum":0,"maximum":1,"default":5},
	"size":{"type":"string","title":"Size","enum":["S","M","M"],"enumNames":["Small","Medium"]},
	"none":{"type":"string","title":"None","enum":[]},
	"room":{"type":"string","title":"Room","oneOf":[{"const":"r1"},{"title":"Roof"}]},
	"extras":{"type":"array","title":"Extras","minItems":3,"maxItems":9,"items":{"type":"string","anyOf":[{"const":"a","title":"Bag"},{"const":"b","title":"Seat"}]}},
	"copies":{"type":"integer","title":"Copies","minimum":10,"maximum":1},
	"code":{"type":"string","title":"Code","minLength":20,"maxLength":5,"pattern":"^[A-Z{3}$"},
	"code":{"type":"string","title":"Code again","description":"Open https://parcels.example/code to get it"}
	},"$defs":{"day":{"type":"string","format":"date"}},"required":["password","nowhere"],"if":{"required":["share"]},"then":{"required":["copies"]}}}`

// manyFields is in order but for its length.
const manyFields = `{"type":"object","properties":{
	"title":{"type":"string","title":"Title"},"first":{"type":"string","title":"First name"},"last":{"type":"string","title":"Last name"},
	"street":{"type":"string","title":"Street"},"number":{"type":"string","title":"House number"},"town":{"type":"string","title":"Town"},
	"region":{"type":"string","title":"Region"},"country":{"type":"string","title":"Country"},"floor":{"type":"integer","title":"Floor"},
	"bell":{"type":"string","title":"Name on the bell"},"dog":{"type":"boolean","title":"There is a dog"},"shoe":{"type":"number","title":"Shoe size"}
	}}`

// markup is text in every place, which only looks like something else.
const markup = `{"mode":"form","message":"<img src=x onerror=alert(1)></script><script>alert(2)</script> \u001b[31mred\u001b[0m \u202eesrever\u202c [link](javascript:alert(3)) &amp; &lt;b&gt;",` +
	`"requestedSchema":{"type":"object","properties":{` +
	`"\"><script>alert(4)</script>":{"type":"string","title":"<b>Bold</b>","description":"javascript:alert(5) https://parcels.example/\" onmouseover=\"alert(6)","default":"</textarea><script>alert(7)</script>"},` +
	`"__proto__":{"type":"string","title":"__proto__","enum":["<i>one</i>","constructor"]},` +
	`"choice":{"type":"string","title":"{{7*7}} ${7*7}","oneOf":[{"const":"'\";--","title":"<option selected>"},{"const":"b","title":"\u0000\u2028\ufeff"}]}}}}`

func ruleBreaker(ctx context.Context, v *visit, args struct{ Rule string }) (*mcp.CallToolResult, error) {
	b := chosen(args.Rule, breaches)
	if v.revision < b.since || b.before != "" && v.revision >= b.before {
		span := b.since + " or later"
		if b.before != "" {
			span = "a revision from " + b.since + " to before " + b.before
		}
		return said("%s cannot be done in %s: it needs %s.", b.name, v.revision, span), nil
	}
	if b.do != nil {
		return b.do(ctx, v, b)
	}
	q := question{key: "broken", message: "Which one would you like?", schema: b.schema}
	if b.params != "" {
		q.params = b.paramsFor(v.revision)
	}
	return b.ask(ctx, v, q)
}

// paramsFor leaves out the mode where there are none, so that only the rule in question is broken.
func (b breach) paramsFor(revision string) json.RawMessage {
	p := b.params
	if revision < protocol.Revision20251125 {
		p = strings.Replace(p, `{"mode":"form",`, `{`, 1)
	}
	return json.RawMessage(p)
}

// ask asks whatever the client has declared, and says what came of it.
func (b breach) ask(ctx context.Context, v *visit, q question) (*mcp.CallToolResult, error) {
	q.unruly = true
	a, err := v.answer(ctx, q)
	return b.told(a, err)
}

// told says which rule was broken, and what came of it.
func (b breach) told(a answer, err error) (*mcp.CallToolResult, error) {
	rule := "This breaks a rule: " + b.what + "."
	if what, none := strings.CutPrefix(b.what, "none; but "); none {
		rule = "This breaks no rule, but " + what + "."
	}
	var why *ending
	switch {
	case errors.As(err, &why):
		return said("%s %s", rule, why.text), nil
	case err != nil:
		return nil, err
	case a.accepted() && a.Content != nil:
		return said("%s It was accepted all the same: %s", rule, a.Content), nil
	}
	return said("%s The answer was %s.", rule, a.Action), nil
}

// sizes is a question that is in order.
var sizes = question{key: "size", message: "Which size?", schema: one("size", `{"type":"string","title":"Size","enum":["S","M"]}`)}

func undeclaredMode(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
	link := question{key: "broken", message: "Sign in to Parcels.", url: "https://parcels.example/login", id: "rule-4"}
	form := sizes
	form.key = "broken"
	switch {
	case v.missing(link) != "" && v.revision >= protocol.Revision20251125:
		return b.ask(ctx, v, link)
	case v.missing(form) != "":
		return b.ask(ctx, v, form)
	}
	return said("This client has declared every mode of %s, so there is none left to break the rule with. Declare fewer and call again.", v.revision), nil
}

func askedTwice(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
	q := question{key: "first", message: "Which size?", schema: object(`"size":{"type":"string","title":"Size","enum":["S","M","L"]}`, "size")}
	a, err := v.answer(ctx, q)
	if err == nil && a.accepted() {
		q.key = "second"
		a, err = v.answer(ctx, q)
	}
	return b.told(a, err)
}

func reusedID(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
	var a answer
	var err error
	for _, town := range []string{"Amber", "Birch"} {
		if err == nil {
			a, err = v.answer(ctx, question{key: town, message: "Sign in to the archive of " + town + ".", url: "https://archive.example/" + town, id: "rule-5"})
		}
	}
	return b.told(a, err)
}

// completes completes sign-ins that nobody has begun.
func completes(params json.RawMessage, times int) wrong {
	return func(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
		for range times {
			if _, err := v.server.sendRaw(ctx, v.session, protocol.NotificationElicitComplete, params); err != nil {
				return nil, err
			}
		}
		return b.told(answer{Action: "not needed"}, nil)
	}
}

// requires fails with an error -32042.
func requires(elicitations string) wrong {
	return func(_ context.Context, _ *visit, b breach) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{
			Code: protocol.CodeURLElicitationRequired, Message: "This breaks a rule: " + b.what + ".",
			Data: json.RawMessage(`{"elicitations":` + elicitations + `}`),
		}
	}
}

func leftOverRequest(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
	res, err := v.server.sendRaw(ctx, v.session, protocol.MethodElicit, sizes.encode(v.revision))
	if err != nil {
		if err = refusal(err); !errors.As(err, new(*ending)) {
			err = problem("It did not get through: %v", err)
		}
	}
	return b.told(answerOf(res), err)
}

func noParams(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
	return b.ask(ctx, v, question{key: "broken", bare: true})
}

// replies answers with a result that is written out as it is.
func replies(result string) wrong {
	return func(context.Context, *visit, breach) (*mcp.CallToolResult, error) { return nil, rawf("%s", result) }
}

// repliesOnce answers with a result that lacks its last brace, and a requestState. The retry that brings it back gets a proper result.
func repliesOnce(result string) wrong {
	return func(_ context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
		if len(v.notes.Memos) > 0 {
			return b.told(answer{Action: "a retry"}, nil)
		}
		v.memo("sent", func() string { return "yes" })
		return nil, rawf("%s,%s}", result, v.state())
	}
}

func emptyState(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
	if _, answered := v.replies[sizes.key]; answered {
		a, err := v.answer(ctx, sizes)
		return b.told(a, err)
	}
	return nil, rawf(`{"resultType":"input_required","inputRequests":{"size":{"method":%q,"params":%s}},"requestState":""}`, protocol.MethodElicit, sizes.encode(v.revision))
}
