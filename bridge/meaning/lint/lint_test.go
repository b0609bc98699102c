package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

var both = []elicit.Mode{elicit.ModeForm, elicit.ModeURL}

// ask returns a form whose schema has these members besides its type.
func ask(schema string) string {
	return `{"message":"Which one?","requestedSchema":{"type":"object",` + schema + `}}`
}

// asking returns a form with one property called p.
func asking(property string) string { return ask(`"properties":{"p":` + property + `}`) }

func visit(members string) string {
	return `{"mode":"url","message":"Sign in.","url":"https://example.com/in","elicitationId":"e1"` + members + `}`
}

// in returns an elicitation that comes in the usual way of the revision.
func in(revision, params string) Input {
	via := elicit.ByRequest
	if revision == july {
		via = elicit.InRound
	}
	return Input{Params: []byte(params), Revision: revision, Via: via, Declared: both}
}

// found lists findings as "rule@pointer".
func found(findings []Finding) []string {
	var list []string
	for _, f := range findings {
		list = append(list, f.Rule+"@"+f.Pointer)
	}
	return list
}

const (
	p     = "/requestedSchema/properties/p"
	nov   = november
	schem = "/requestedSchema"
)

// lintTests has, for every rule of Elicitation, requests that break it and requests that
// keep it. A request breaks only the named rule, and those in also.
var lintTests = []struct {
	rule   string
	breaks []lintCase
	keeps  []Input
}{
	{"params-malformed",
		[]lintCase{{in(nov, ``), ""}, {in(nov, `null`), ""}, {in(nov, `[]`), ""}, {in(nov, `{"a"`), ""}},
		[]Input{in(nov, asking(`{"type":"string"}`))}},
	{"request-removed",
		[]lintCase{{Input{Params: []byte(asking(`{"type":"string"}`)), Revision: july, Via: elicit.ByRequest, Declared: both}, ""}},
		[]Input{in(july, asking(`{"type":"string"}`)), in(nov, asking(`{"type":"string"}`))}},
	{"mode-unknown",
		[]lintCase{
			{in(nov, `{"mode":"voice",`+asking(`{"type":"string"}`)[1:]), "/mode"},
			{in(nov, `{"mode":7,`+asking(`{"type":"string"}`)[1:]), "/mode"},
			{in(nov, `{"mode":"",`+asking(`{"type":"string"}`)[1:]), "/mode"},
			{in(june, `{"mode":"url",`+asking(`{"type":"string"}`)[1:]), "/mode"},
		},
		[]Input{in(nov, `{"mode":"form",`+asking(`{"type":"string"}`)[1:]), in(nov, visit(""))}},
	{"mode-undeclared",
		[]lintCase{
			{Input{Params: []byte(visit("")), Revision: nov, Declared: []elicit.Mode{elicit.ModeForm}}, "/mode"},
			{Input{Params: []byte(asking(`{"type":"string"}`)), Revision: nov, Declared: []elicit.Mode{elicit.ModeURL}}, ""},
			{Input{Params: []byte(asking(`{"type":"string"}`)), Revision: nov}, ""},
		},
		[]Input{{Params: []byte(asking(`{"type":"string"}`)), Revision: nov, Declared: []elicit.Mode{elicit.ModeForm}}}},
	{"message-missing",
		[]lintCase{
			{in(nov, `{"requestedSchema":{"type":"object","properties":{}}}`), ""},
			{in(nov, `{"message":null,"requestedSchema":{"type":"object","properties":{}}}`), "/message"},
		},
		[]Input{in(nov, asking(`{"type":"string"}`))}},
	{"message-empty",
		[]lintCase{{in(nov, `{"message":" ","requestedSchema":{"type":"object","properties":{}}}`), "/message"}},
		[]Input{in(nov, asking(`{"type":"string"}`))}},
	{"duplicate-member",
		[]lintCase{
			{in(nov, ask(`"properties":{"p":{"type":"string"},"p":{"type":"integer"}}`)), p},
			{in(nov, asking(`{"type":"string","title":"A","title":"B"}`)), p + "/title"},
			{in(nov, `{"message":"a",`+asking(`{"type":"string"}`)[1:]), "/message"},
		},
		[]Input{in(nov, ask(`"properties":{"p":{"type":"string"},"q":{"type":"string"}}`))}},
	{"asked-again",
		[]lintCase{{Input{Params: []byte(asking(`{"type":"string"}`)), Revision: nov, Declared: both, Answered: []string{QuestionKey([]byte(asking(`{ "type": "string" }`)))}}, ""}},
		[]Input{{Params: []byte(asking(`{"type":"string"}`)), Revision: nov, Declared: both, Answered: []string{
			QuestionKey([]byte(asking(`{"type":"integer"}`))), QuestionKey([]byte(strings.Replace(asking(`{"type":"string"}`), "Which one?", "And which one now?", 1))),
		}}}},

	{"url-missing",
		[]lintCase{
			{in(nov, `{"mode":"url","message":"Go","elicitationId":"1"}`), ""},
			{in(nov, `{"mode":"url","message":"Go","elicitationId":"1","url":null}`), "/url"},
		},
		[]Input{in(nov, visit(""))}},
	{"url-invalid",
		[]lintCase{
			{in(july, `{"mode":"url","message":"Go","url":"example.com/in"}`), "/url"},
			{in(july, `{"mode":"url","message":"Go","url":"https://exa mple.com/"}`), "/url"},
			{in(july, `{"mode":"url","message":"Go","url":"https:///in"}`), "/url"},
			{in(july, `{"mode":"url","message":"Go","url":""}`), "/url"},
			{in(july, `{"mode":"url","message":"Go","url":"https://bücher.example/ a"}`), "/url"},
		},
		[]Input{in(july, `{"mode":"url","message":"Go","url":"https://xn--bcher-kva.example/in?a=%20#x"}`)}},
	{"url-insecure",
		[]lintCase{
			{in(july, `{"mode":"url","message":"Go","url":"http://example.com/"}`), "/url"},
			{in(july, `{"mode":"url","message":"Go","url":"javascript:alert(1)"}`), "/url"},
		},
		[]Input{in(july, `{"mode":"url","message":"Go","url":"http://localhost:8080/"}`), in(july, `{"mode":"url","message":"Go","url":"http://[::1]/"}`)}},
	{"url-credentials",
		[]lintCase{{in(july, `{"mode":"url","message":"Go","url":"https://ann:pw@example.com/"}`), "/url"}},
		[]Input{in(july, `{"mode":"url","message":"Go","url":"https://example.com/@ann"}`)}},
	{"url-not-ascii",
		[]lintCase{{in(july, `{"mode":"url","message":"Go","url":"https://bücher.example/käse"}`), "/url"}},
		[]Input{in(july, `{"mode":"url","message":"Go","url":"https://xn--bcher-kva.example/k%C3%A4se"}`)}},
	{"url-too-long",
		[]lintCase{{in(july, `{"mode":"url","message":"Go","url":"https://example.com/`+strings.Repeat("a", 8<<10)+`"}`), "/url"}},
		[]Input{in(july, `{"mode":"url","message":"Go","url":"https://example.com/`+strings.Repeat("a", 8<<10-20)+`"}`)}},
	{"url-personal-data",
		[]lintCase{{in(july, `{"mode":"url","message":"Go","url":"https://example.com/in?email=ann%40example.com"}`), "/url"}},
		[]Input{in(july, `{"mode":"url","message":"Go","url":"https://example.com/in?scope=email&state=x"}`)}},
	{"url-preauthenticated",
		[]lintCase{{in(july, `{"mode":"url","message":"Go","url":"https://example.com/in?access_token=0123456789abcdef"}`), "/url"}},
		[]Input{in(july, `{"mode":"url","message":"Go","url":"https://example.com/in?elicitationId=0123456789abcdef"}`)}},
	{"url-with-schema",
		[]lintCase{{in(nov, visit(`,"requestedSchema":{"type":"object","properties":{}}`)), schem}},
		[]Input{in(nov, visit(""))}},
	{"id-missing",
		[]lintCase{
			{in(nov, `{"mode":"url","message":"Go","url":"https://example.com/"}`), ""},
			{in(nov, `{"mode":"url","message":"Go","url":"https://example.com/","elicitationId":""}`), "/elicitationId"},
			{in(nov, `{"mode":"url","message":"Go","url":"https://example.com/","elicitationId":7}`), "/elicitationId"},
		},
		[]Input{in(nov, visit("")), in(july, `{"mode":"url","message":"Go","url":"https://example.com/"}`)}},
	{"id-reused",
		[]lintCase{{Input{Params: []byte(visit("")), Revision: nov, Declared: both, Offered: "https://example.com/other"}, "/elicitationId"}},
		[]Input{
			{Params: []byte(visit("")), Revision: nov, Declared: both, Offered: "https://example.com/in"},
			{Params: []byte(visit("")), Revision: nov, Declared: both, Offered: "https://example.com/in/?nonce=2"},
		}},
	{"id-removed",
		[]lintCase{{in(july, visit("")), "/elicitationId"}},
		[]Input{in(nov, visit(""))}},

	{"form-with-url",
		[]lintCase{{in(nov, `{"url":"https://example.com",`+asking(`{"type":"string"}`)[1:]), "/url"}},
		[]Input{in(nov, visit(""))}},
	{"schema-missing",
		[]lintCase{{in(nov, `{"message":"Which one?"}`), ""}, {in(june, `{"message":"Which one?"}`), ""}},
		[]Input{in(nov, visit(""))}},
	{"secret-in-form",
		[]lintCase{{in(nov, asking(`{"type":"string","title":"Password"}`)), p}, {in(june, asking(`{"type":"string","description":"Paste your API key."}`)), p}},
		[]Input{in(nov, asking(`{"type":"boolean","title":"Reset the password"}`)), in(nov, `{"mode":"url","message":"Enter your password there.","url":"https://example.com/","elicitationId":"1"}`)}},
	{"url-in-form",
		[]lintCase{
			{in(nov, `{"message":"Visit https://example.com/terms first.","requestedSchema":{"type":"object","properties":{}}}`), "/message"},
			{in(nov, asking(`{"type":"string","title":"Open www.example.com"}`)), p + "/title"},
			{in(nov, asking(`{"type":"string","description":"Read the [terms](http://example.com/terms)"}`)), p + "/description"},
		},
		[]Input{
			in(june, `{"message":"Visit https://example.com/terms first.","requestedSchema":{"type":"object","properties":{}}}`),
			in(nov, `{"message":"Delete the repository https://example.com/ann/shop?","requestedSchema":{"type":"object","properties":{}}}`),
			in(nov, asking(`{"type":"string","title":"www.example.com"}`)),
			in(nov, asking(`{"type":"string","description":"Where it runs, e.g. https://example.com"}`)),
			in(nov, asking(`{"type":"string","format":"uri","description":"Begins with https://","default":"https://example.com"}`)),
			in(nov, asking(`{"type":"string","description":"Begins with https://"}`)),
		}},
	{"identity-in-form",
		[]lintCase{{in(nov, asking(`{"type":"string","title":"Passport number"}`)), p}, {in(june, asking(`{"type":"string","title":"IBAN"}`)), p}},
		[]Input{in(nov, asking(`{"type":"string","title":"Passport country"}`))}},
	{"too-many-fields",
		[]lintCase{{in(nov, ask(manyFields(11))), schem + "/properties"}},
		[]Input{in(nov, ask(manyFields(10)))}},

	{"schema-invalid",
		[]lintCase{
			{in(nov, asking(`{"type":"string","minLength":-1}`)), p + "/minLength"},
			{in(nov, asking(`{"type":"number","maximum":"5"}`)), p + "/maximum"},
			{in(nov, ask(`"properties":{},"required":"p"`)), schem + "/required"},
		},
		[]Input{in(nov, asking(`{"type":"string","minLength":0}`))}},
	{"root-not-object",
		[]lintCase{
			{in(nov, `{"message":"a","requestedSchema":true}`), schem},
			{in(nov, `{"message":"a","requestedSchema":{"properties":{}}}`), schem},
			{in(nov, `{"message":"a","requestedSchema":{"type":["object"],"properties":{}}}`), schem + "/type"},
		},
		[]Input{in(nov, asking(`{"type":"string"}`))}},
	{"properties-missing",
		[]lintCase{{in(nov, `{"message":"a","requestedSchema":{"type":"object"}}`), schem}, {in(nov, ask(`"properties":[]`)), schem + "/properties"}},
		[]Input{in(nov, ask(`"properties":{}`))}},
	{"required-unknown",
		[]lintCase{{in(nov, ask(`"properties":{"name":{"type":"string"}},"required":["name","nmae"]`)), schem + "/required/1"}},
		[]Input{in(nov, ask(`"properties":{"name":{"type":"string"}},"required":["name"]`))}},
	{"property-no-schema",
		[]lintCase{{in(nov, asking(`true`)), p}, {in(nov, asking(`"string"`)), p}},
		[]Input{in(nov, asking(`{"type":"string"}`))}},
	{"type-missing",
		[]lintCase{{in(nov, asking(`{"title":"Paint"}`)), p}, {in(nov, asking(`{"enum":["a"]}`)), p}, {in(nov, asking(`{"type":"array","items":{"enum":["a"]}}`)), p + "/items"}},
		[]Input{in(nov, asking(`{"type":"string","enum":["a"]}`))}},
	{"type-unknown",
		[]lintCase{{in(nov, asking(`{"type":"colour"}`)), p + "/type"}, {in(nov, asking(`{"type":"null"}`)), p + "/type"}, {in(nov, asking(`{"type":7}`)), p + "/type"}},
		[]Input{in(nov, asking(`{"type":"integer"}`))}},
	{"type-union",
		[]lintCase{{in(nov, asking(`{"type":["string","null"]}`)), p + "/type"}},
		[]Input{in(nov, asking(`{"type":"string"}`))}},
	{"nested-object",
		[]lintCase{{in(nov, asking(`{"type":"object","properties":{"a":{"type":"string"}}}`)), p}},
		[]Input{in(nov, asking(`{"type":"string"}`))}},
	{"array-of-objects",
		[]lintCase{{in(nov, asking(`{"type":"array","items":{"type":"object"}}`)), p + "/items"}},
		[]Input{in(nov, asking(`{"type":"array","items":{"type":"string","enum":["a"]}}`))}},
	{"array-without-choices",
		[]lintCase{{in(nov, asking(`{"type":"array"}`)), p}, {in(nov, asking(`{"type":"array","items":{"type":"string"}}`)), p + "/items"}},
		[]Input{in(nov, asking(`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`))}},
	{"keyword-unsupported",
		[]lintCase{
			{in(nov, asking(`{"$ref":"#/$defs/x"}`)), p + "/$ref"},
			{in(nov, asking(`{"type":"string","allOf":[{"minLength":1}]}`)), p + "/allOf"},
			{in(nov, asking(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)), p + "/anyOf"},
			{in(nov, ask(`"properties":{"p":{"type":"string"}},"if":{},"x":1`)), schem + "/if"},
			{in(nov, asking(`{"type":"array","items":{"$ref":"#"}}`)), p + "/items/$ref"},
		},
		[]Input{in(nov, ask(`"properties":{"p":{"type":"string"}},"additionalProperties":false,"$schema":"https://json-schema.org/draft/2020-12/schema"`))}},
	{"newer-than-revision",
		[]lintCase{
			{in(june, asking(`{"type":"array","items":{"type":"string","enum":["a"]}}`)), p},
			{in(june, asking(`{"type":"string","oneOf":[{"const":"a","title":"A"}]}`)), p + "/oneOf"},
		},
		[]Input{in(june, asking(`{"type":"boolean","default":true}`)), in(june, asking(`{"type":"string","default":"a"}`)), in(june, asking(`{"type":"string","enum":["a"],"enumNames":["A"]}`))}},
	{"keyword-misspelt",
		[]lintCase{
			{in(nov, asking(`{"type":"string","minLenght":3}`)), p + "/minLenght"},
			{in(nov, asking(`{"type":"string","maxlength":3}`)), p + "/maxlength"},
			{in(nov, asking(`{"type":"number","min_imum":3}`)), p + "/min_imum"},
			{in(nov, ask(`"properties":{"p":{"type":"string"}},"requried":["p"]`)), schem + "/requried"},
			{in(nov, `{"elicitationID":"e1",`+asking(`{"type":"string"}`)[1:]), "/elicitationID"},
		},
		[]Input{in(nov, asking(`{"type":"string","example":"a","examples":["b"],"x-title":"c","order":1,"placeholder":"d","widget":"e","minLength":1}`))}},
	{"file-draft",
		[]lintCase{
			{in(june, asking(`{"type":"string","format":"uri","x-mcp-file":{}}`)), p + "/x-mcp-file"},
			{in(july, asking(`{"type":"string","x-mcp-file":{}}`)), p + "/x-mcp-file"},
			{in(nov, ask(`"properties":{"p":{"type":"string","format":"uri","x-mcp-file":{"accept":["image/*"]}}},"required":["p"]`)), p + "/x-mcp-file"},
		},
		[]Input{in(nov, asking(`{"type":"string","format":"uri"}`))}},
	{"text-not-string",
		[]lintCase{
			{in(nov, asking(`{"type":"string","title":7}`)), p + "/title"},
			{in(june, asking(`{"type":"string","description":["a"]}`)), p + "/description"},
			{in(june, asking(`{"type":"string","enum":["a"],"enumNames":"A"}`)), p + "/enumNames"},
			{in(june, asking(`{"type":"string","enum":["a"],"enumNames":[null]}`)), p + "/enumNames/0"},
		},
		[]Input{in(nov, asking(`{"type":"string","title":"","description":""}`))}},
	{"format-unsupported",
		[]lintCase{{in(nov, asking(`{"type":"string","format":"phone"}`)), p + "/format"}},
		[]Input{in(nov, asking(`{"type":"string","format":"date-time"}`))}},

	{"enum-empty",
		[]lintCase{{in(nov, asking(`{"type":"string","enum":[]}`)), p + "/enum"}},
		[]Input{in(nov, asking(`{"type":"string","enum":["a"]}`))}},
	{"enum-duplicate",
		[]lintCase{
			{in(nov, asking(`{"type":"string","enum":["S","M","M"]}`)), p + "/enum/2"},
		},
		[]Input{in(nov, asking(`{"type":"string","enum":["S","M"]}`))}},
	{"choice-duplicate",
		[]lintCase{{in(nov, asking(`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"a","title":"B"}]}`)), p + "/oneOf/1"}},
		[]Input{in(nov, asking(`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"A"}]}`))}},
	{"enum-not-text",
		[]lintCase{
			{in(nov, asking(`{"type":"string","enum":["a",1]}`)), p + "/enum/1"},
			{in(nov, asking(`{"type":"integer","enum":[1,2]}`)), p + "/enum"},
			{in(nov, asking(`{"type":"string","oneOf":[{"const":1,"title":"A"}]}`)), p + "/oneOf/0/const"},
		},
		[]Input{in(nov, asking(`{"type":"string","enum":["1","2"]}`))}},
	{"enum-names-length",
		[]lintCase{{in(june, asking(`{"type":"string","enum":["S","M"],"enumNames":["Small"]}`)), p + "/enumNames"}},
		[]Input{in(june, asking(`{"type":"string","enum":["S","M"],"enumNames":["Small","Medium"]}`))}},
	{"enum-names-deprecated",
		[]lintCase{{in(nov, asking(`{"type":"string","enum":["S"],"enumNames":["Small"]}`)), p + "/enumNames"}},
		[]Input{in(june, asking(`{"type":"string","enum":["S"],"enumNames":["Small"]}`))}},
	{"choice-incomplete",
		[]lintCase{
			{in(nov, asking(`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b"}]}`)), p + "/oneOf/1"},
			{in(nov, asking(`{"type":"string","oneOf":[{"const":"a","title":"A"},{"title":"B"}]}`)), p + "/oneOf/1"},
			{in(nov, asking(`{"type":"array","items":{"anyOf":[{"title":"A"}]}}`)), p + "/items/anyOf/0"},
		},
		[]Input{in(nov, asking(`{"type":"string","oneOf":[{"const":"a","title":"A"}]}`))}},
	{"choice-keyword",
		[]lintCase{
			{in(nov, asking(`{"type":"string","anyOf":[{"const":"a","title":"A"}]}`)), p + "/anyOf"},
			{in(nov, asking(`{"type":"array","items":{"oneOf":[{"const":"a","title":"A"}]}}`)), p + "/items/oneOf"},
		},
		[]Input{in(nov, asking(`{"type":"string","oneOf":[{"const":"a","title":"A"}]}`))}},
	{"items-type-stray",
		[]lintCase{{in(nov, asking(`{"type":"array","items":{"type":"string","anyOf":[{"const":"a","title":"A"}]}}`)), p + "/items/type"}},
		[]Input{in(nov, asking(`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`))}},

	{"default-invalid",
		[]lintCase{
			{in(nov, asking(`{"type":"number","maximum":1,"default":5}`)), p + "/default"},
			{in(june, asking(`{"type":"integer","default":"three"}`)), p + "/default"},
			{in(nov, asking(`{"type":"string","enum":["a"],"default":"b"}`)), p + "/default"},
			{in(nov, asking(`{"type":"string","format":"email","default":"nobody"}`)), p + "/default"},
		},
		[]Input{in(nov, asking(`{"type":"number","maximum":1,"default":1.0}`))}},
	{"default-type",
		[]lintCase{
			{in(nov, asking(`{"type":"integer","default":"three"}`)), p + "/default"},
			{in(nov, asking(`{"type":"string","default":null}`)), p + "/default"},
			{in(july, asking(`{"type":"array","items":{"type":"string","enum":["1"]},"default":[1]}`)), p + "/default"},
			{in(june, asking(`{"type":"boolean","default":"yes"}`)), p + "/default"},
		},
		[]Input{in(nov, asking(`{"type":"integer","default":3}`)), in(nov, asking(`{"type":"array","items":{"type":"string","enum":["1"]},"default":["1"]}`))}},
	{"limits-crossed",
		[]lintCase{
			{in(nov, asking(`{"type":"integer","minimum":10,"maximum":1}`)), p + "/minimum"},
			{in(nov, asking(`{"type":"number","minimum":1,"exclusiveMaximum":1.0}`)), p + "/minimum"},
			{in(nov, asking(`{"type":"string","minLength":20,"maxLength":5,"pattern":"^a*$"}`)), p + "/minLength"},
			{in(nov, asking(`{"type":"array","minItems":2,"maxItems":1,"items":{"type":"string","enum":["a","b"]}}`)), p + "/minItems"},
		},
		[]Input{in(nov, asking(`{"type":"integer","minimum":1,"maximum":1}`)), in(nov, asking(`{"type":"string","minLength":5,"maxLength":5}`))}},
	{"limits-beyond-choices",
		[]lintCase{
			{in(nov, asking(`{"type":"array","maxItems":9,"items":{"type":"string","enum":["a","b"]}}`)), p + "/maxItems"},
			{in(nov, asking(`{"type":"array","minItems":3,"items":{"anyOf":[{"const":"a","title":"A"}]}}`)), p + "/minItems"},
		},
		[]Input{in(nov, asking(`{"type":"array","maxItems":2,"items":{"type":"string","enum":["a","b"]}}`))}},
	{"pattern-invalid",
		[]lintCase{{in(nov, asking(`{"type":"string","pattern":"^[A-Z{3}$"}`)), p + "/pattern"}, {in(nov, asking(`{"type":"string","pattern":"(?i)a"}`)), p + "/pattern"}},
		[]Input{in(nov, asking(`{"type":"string","pattern":"^[A-Z]{3}$"}`)), in(nov, asking(`{"type":"string","pattern":"^[\\w-.]+$"}`))}},
}

type lintCase struct {
	in      Input
	pointer string
}

func manyFields(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	return `"properties":{` + strings.Join(list, ",") + `}`
}

func TestEveryRule(t *testing.T) {
	tested := make(map[string]bool)
	for _, tt := range lintTests {
		tested[tt.rule] = true
		for _, c := range tt.breaks {
			findings := Elicitation(c.in)
			if want := []string{tt.rule + "@" + c.pointer}; !slices.Equal(found(findings), want) {
				t.Errorf("%s in %s\n got %q\nwant %q", c.in.Params, c.in.Revision, found(findings), want)
			}
			for _, f := range findings {
				if f.Text == "" || !strings.HasSuffix(f.Text, ".") || f.Reference == "" || !strings.Contains(f.Reference, f.Section) {
					t.Errorf("%+v", f)
				}
				if f.Pointer != "" && rawjson.At(c.in.Params, f.Pointer) == nil {
					t.Errorf("%s leads nowhere in %s", f.Pointer, c.in.Params)
				}
			}
		}
		for _, in := range tt.keeps {
			if findings := Elicitation(in); len(findings) > 0 {
				t.Errorf("%s: %s in %s\n got %q %s, want none", tt.rule, in.Params, in.Revision, found(findings), findings[0].Text)
			}
		}
	}
	for _, tt := range envelopeTests {
		tested[tt.rule] = true
	}
	for _, r := range Rules() {
		if !tested[r.ID] && !slices.Contains(ofSequences, r.ID) && !strings.Contains(r.ID, "task") && r.Judges() == ServerParty { // see TestEveryRuleOfClients and TestEveryRuleOfSequences

			t.Errorf("rule %s has no test", r.ID)
		}
	}
}

// ofSequences lists the rules on sequences of messages, which TestEveryRuleOfSequences
// breaks.
var ofSequences = []string{
	"completion-malformed", "completion-unknown", "completion-of-form", "completion-repeated", "completion-declined", "completion-early", "completion-removed",
	"stdout-noise", "byte-order-mark", "request-id-taken", "request-without-id", "response-unasked", "error-without-id", "server-request-removed", "cancelled-by-server",
	"sampling-undeclared", "roots-undeclared", "id-used-again", "request-early", "answered-twice", "cancelled-unknown", "cancelled-goes-on", "question-left-open", "ping-unanswered",
	"progress-unknown", "progress-after-result", "progress-not-rising", "log-undeclared", "log-unasked", "secret-in-log", "personal-in-log", "change-undeclared",
	"reads-declined-content", "undefined-after-decline", "declined-as-accepted",
	"effect-before-answer", "effect-after-refusal", "effect-before-question", "effect-repeated", "effect-after-result", // see TestEffects
	"challenge-missing", "challenge-scope-missing", "scope-unnamed", "resource-metadata-missing", "resource-metadata-invalid", "server-metadata-invalid", "resource-mismatch", "authorization-server-missing",
	"server-metadata-missing", "issuer-mismatch", "s256-missing", "endpoint-insecure", "iss-mismatch", "redirect-elsewhere", "token-in-url",
}

// tools lists a good tool, and one with these members.
func tools(members string) func() []Finding {
	return result(`{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"b",`+members+`}]}`, "tools/list", nov)
}

// envelopeTests has the tests of the rules on messages around elicitations.
var envelopeTests = []struct {
	rule, pointer string
	breaks        func() []Finding
	keeps         func() []Finding
}{
	{"request-unsent", "/content/0/text", result(`{"resultType":"complete","isError":true,"content":[{"type":"text","text":"\"roots/list\" cannot be sent while serving a request on protocol version 2026-07-28"}]}`, "tools/call", july),
		result(`{"resultType":"complete","content":[{"type":"text","text":"'elicitation/create': server-to-client requests are not available"}]}`, "tools/call", july)},
	{"request-unsent", "/message", failure(`{"code":-32603,"message":"Cannot send 'elicitation/create': no back-channel for server-initiated requests"}`, july),
		failure(`{"code":-32603,"message":"elicitation/create failed: the connection is closed"}`, july)},
	{"result-type-missing", "", result(`{"content":[]}`, "tools/call", july), result(`{"content":[]}`, "tools/call", nov)},
	{"result-type-missing", "/resultType", result(`{"resultType":null}`, "prompts/get", july), result(`{"resultType":"complete"}`, "prompts/get", july)},
	{"result-not-object", "", result(`"done"`, "tools/call", nov), result(`{"content":[]}`, "tools/call", nov)},
	{"content-not-list", "/content", result(`{"content":{"type":"text","text":"done"}}`, "tools/call", nov), result(`{"content":"done"}`, "prompts/get", nov)},
	{"content-not-list", "", result(`{"structuredContent":{}}`, "tools/call", june), result(`{"task":{"taskId":"1"}}`, "tools/call", nov)},
	{"cache-hint-missing", "", result(`{"resultType":"complete","tools":[]}`, "tools/list", july), result(`{"tools":[]}`, "tools/list", nov)},
	{"cache-hint-missing", "", result(`{"resultType":"complete","ttlMs":5,"tools":[]}`, "tools/list", july), result(`{"resultType":"input_required","requestState":"x"}`, "resources/read", july)},
	{"cache-hint-missing", "/ttlMs", result(`{"resultType":"complete","ttlMs":-1,"cacheScope":"public"}`, "server/discover", july), result(`{"resultType":"complete","ttlMs":0,"cacheScope":"public"}`, "server/discover", july)},
	{"cache-hint-missing", "/cacheScope", result(`{"resultType":"complete","ttlMs":0,"cacheScope":"shared"}`, "resources/read", july), result(`{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`, "resources/read", july)},
	{"tool-schema-not-object", "/tools/1/inputSchema", tools(`"title":"B"`), tools(`"inputSchema":{"type":"object"}`)},
	{"tool-schema-not-object", "/tools/1/inputSchema", tools(`"inputSchema":true`), tools(`"inputSchema":{"type":"object","properties":{},"required":[]}`)},
	{"tool-schema-not-object", "/tools/1/inputSchema", tools(`"inputSchema":{"properties":{}}`), nil},
	{"tool-schema-not-object", "/tools/1/inputSchema", tools(`"inputSchema":{"type":["object","null"]}`), nil},
	{"tool-schema-invalid", "/tools/1/inputSchema/properties", tools(`"inputSchema":{"type":"object","properties":[]}`), nil},
	{"tool-schema-invalid", "/tools/1/inputSchema/required", tools(`"inputSchema":{"type":"object","required":"a"}`), nil},
	{"tool-schema-not-object", "/tools/1/outputSchema", tools(`"inputSchema":{"type":"object"},"outputSchema":{"type":"array"}`),
		result(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}]}`, "tools/list", july)},
	{"tool-schema-invalid", "/tools/1/inputSchema/properties/a/type", tools(`"inputSchema":{"type":"object","properties":{"a":{"type":"strin"}}}`),
		result(`{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"a":{"type":"strin"}}}}]}`, "tools/list", june)},
	{"error-undefined", "/code", failure(`{"code":-32050,"message":"x"}`, july), failure(`{"code":-32050,"message":"x"}`, nov)},
	{"error-undefined", "/code", failure(`{"code":-32002,"message":"x"}`, july), failure(`{"code":-32000,"message":"x"}`, july)},
	{"error-data-missing", "", failure(`{"code":-32021,"message":"x"}`, july), failure(`{"code":-32021,"message":"x","data":{"requiredCapabilities":{"elicitation":{}}}}`, july)},
	{"error-data-missing", "", failure(`{"code":-32021,"message":"x","data":{}}`, july), failure(`{"code":-32022,"message":"x"}`, july)},
	{"result-type-unknown", "/resultType", result(`{"resultType":"perhaps"}`, "tools/call", july), result(`{"resultType":"perhaps","content":[]}`, "tools/call", nov)},
	{"input-required-early", "/resultType", result(`{"resultType":"input_required","requestState":"x"}`, "tools/call", nov), result(`{"resultType":"input_required","requestState":"x"}`, "tools/call", july)},
	{"input-required-empty", "", result(`{"resultType":"input_required"}`, "tools/call", july), result(`{"resultType":"input_required","inputRequests":{}}`, "prompts/get", july)},
	{"input-required-method", "/resultType", result(`{"resultType":"input_required","requestState":""}`, "tools/list", july), result(`{"resultType":"input_required","requestState":""}`, "resources/read", july)},
	{"input-request-unknown", "/inputRequests/a~1b/method", result(`{"resultType":"input_required","inputRequests":{"a/b":{"method":"ping"}}}`, "tools/call", july),
		result(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"sampling/createMessage"},"c":{"method":"elicitation/create","params":{}}}}`, "tools/call", july)},
	{"input-request-unknown", "/inputRequests/a", result(`{"resultType":"input_required","inputRequests":{"a":null}}`, "tools/call", july), nil},
	{"input-request-unknown", "/inputRequests", result(`{"resultType":"input_required","inputRequests":[]}`, "tools/call", july), nil},
	{"input-request-duplicate", "/inputRequests/a", result(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"a":{"method":"roots/list"}}}`, "tools/call", july),
		result(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}}`, "tools/call", july)},
	{"request-state-type", "/requestState", result(`{"resultType":"input_required","requestState":{}}`, "tools/call", july), nil},
	{"error-removed", "/code", failure(`{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url"}]}}`, july), failure(`{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url"}]}}`, nov)},
	{"error-removed", "/code", failure(`{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url"}]}}`, june), failure(`{"code":-32602,"message":"m"}`, june)},
	{"error-code-type", "/code", failure(`{"code":"oops","message":"m"}`, june), failure(`{"code":-32042.0,"message":"m","data":{"elicitations":[{"mode":"url"}]}}`, nov)},
	{"error-code-type", "/code", failure(`{"code":"-32042","message":"m","data":{"elicitations":[{"mode":"url"}]}}`, nov), failure(`{"message":"m"}`, nov)},
	{"error-malformed", "/data", failure(`{"code":-32042,"message":"m"}`, nov), failure(`{"code":-32000,"message":"m"}`, nov)},
	{"error-malformed", "/data/elicitations", failure(`{"code":-32042,"message":"m","data":{"elicitations":{}}}`, nov), nil},
	{"error-malformed", "/data/elicitations", failure(`{"code":-32042,"message":"m","data":{"elicitations":[]}}`, nov), nil},
	{"error-malformed", "/data/elicitations/0", failure(`{"code":-32042,"message":"m","data":{"elicitations":[null]}}`, nov), nil},
	{"error-not-url", "/data/elicitations/1", failure(`{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url"},{"mode":"form"}]}}`, nov), nil},
}

func result(raw, method, revision string) func() []Finding {
	return func() []Finding { return Result([]byte(raw), method, revision) }
}

func failure(raw, revision string) func() []Finding {
	return func() []Finding { return Error([]byte(raw), revision) }
}

func TestEnvelopeRules(t *testing.T) {
	for i, tt := range envelopeTests {
		if got, want := found(tt.breaks()), []string{tt.rule + "@" + tt.pointer}; !slices.Equal(got, want) {
			t.Errorf("%d: got %q, want %q", i, got, want)
		}
		if tt.keeps == nil {
			continue
		}
		if got := found(tt.keeps()); len(got) > 0 {
			t.Errorf("%d: got %q, want none", i, got)
		}
	}
	for _, raw := range []string{``, `null`, `{`, `[]`} {
		if got := Result([]byte(raw), "tools/call", july); got != nil && json.Valid([]byte(raw)) != (found(got)[0] == "result-not-object@") {
			t.Errorf("%s: %q", raw, found(got))
		}
		if got := Error([]byte(raw), july); got != nil {
			t.Errorf("%s: %q", raw, found(got))
		}
	}
}

func TestDeclaredModes(t *testing.T) {
	for _, tt := range []struct {
		capability, revision string
		want                 []elicit.Mode
	}{
		{``, nov, nil}, {`null`, nov, nil}, {`{}`, nov, []elicit.Mode{elicit.ModeForm}}, {`{"form":{}}`, july, []elicit.Mode{elicit.ModeForm}}, {`{"url":{}}`, nov, []elicit.Mode{elicit.ModeURL}},
		{`{"form":{},"url":{}}`, nov, both}, {`{"form":{},"url":{}}`, june, []elicit.Mode{elicit.ModeForm}}, {`{"url":{}}`, june, []elicit.Mode{elicit.ModeForm}},
	} {
		if got := DeclaredModes([]byte(tt.capability), tt.revision); !slices.Equal(got, tt.want) {
			t.Errorf("%s in %s: %v, want %v", tt.capability, tt.revision, got, tt.want)
		}
	}
}

// TestFindingsAsJSON expects the same members of a finding in every export.
func TestFindingsAsJSON(t *testing.T) {
	findings := Elicitation(in(nov, asking(`{"type":"string","title":"<Password>"}`)))
	want := `[
  {
    "rule": "secret-in-form",
    "judges": "server",
    "severity": "violation",
    "text": "\"<Password>\" looks like a request for a secret: a password. Secrets belong in URL mode, where they do not pass through the client.",
    "pointer": "/requestedSchema/properties/p",
    "section": "Form Mode Security",
    "reference": "MCP 2025-11-25, client/elicitation, Form Mode Security",
    "link": "https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-security"
  }
]
`
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(findings); err != nil || got.String() != want {
		t.Errorf("got %s, %v", &got, err)
	}
	var back []Finding
	if err := json.Unmarshal(got.Bytes(), &back); err != nil || !slices.Equal(back, findings) {
		t.Errorf("comes back as %+v, %v", back, err)
	}
}

func FuzzLint(f *testing.F) {
	for _, tt := range lintTests {
		for _, c := range tt.breaks {
			f.Add([]byte(c.in.Params), c.in.Revision)
		}
	}
	f.Fuzz(func(t *testing.T, params []byte, revision string) {
		for _, finding := range Elicitation(Input{Params: params, Revision: revision, Via: elicit.InRound, Declared: both}) {
			if finding.Pointer != "" && rawjson.At(params, finding.Pointer) == nil {
				t.Fatalf("%+v leads nowhere in %q", finding, params)
			}
		}
		Result(params, "tools/call", revision)
		Error(params, revision)
	})
}
