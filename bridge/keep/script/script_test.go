package script

import (
	"errors"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/meaning/elicit"
)

func environment(name string) (string, bool) {
	value, set := map[string]string{"COUNT": "7", "NAME": "Ada", "YES": "true"}[name]
	return value, set
}

func parsed(t *testing.T, text string) *Script {
	t.Helper()
	s, err := Parse("answers.yaml", []byte(text), environment)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// form is a question with a field of each kind.
func form(t *testing.T) Question {
	t.Helper()
	request, err := elicit.Parse([]byte(`{"message":"Who are you?","requestedSchema":{"type":"object","properties":{
		"name":{"type":"string","title":"Name","maxLength":10},
		"count":{"type":"integer","minimum":1,"default":3},
		"share":{"type":"number"},
		"agree":{"type":"boolean"},
		"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}],"default":"l"},
		"days":{"type":"array","items":{"type":"string","enum":["mon","tue","wed"]}}},"required":["name"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return Question{Server: "demo", Tool: "onboard", Method: mcp.MethodElicit, Request: request}
}

func TestContent(t *testing.T) {
	cases := []struct{ answer, want string }{
		{`{accept: {name: Ada}}`, `{"name":"Ada"}`},
		{`{accept: {share: 0.10, name: "Ada", count: 1}}`, `{"share":0.10,"name":"Ada","count":1}`},
		{`{accept: {name: {$env: NAME}, count: {$env: COUNT}, agree: {$env: YES}}}`, `{"name":"Ada","count":7,"agree":true}`},
		{`{accept: {name: {$env: COUNT}}}`, `{"name":"7"}`},
		{`{accept: {name: A, size: {$choice: 1}, days: [{$choice: 3}, mon]}}`, `{"name":"A","size":"s","days":["wed","mon"]}`},
		{`{accept: {name: A, size: {$choice: "Lar*"}}}`, `{"name":"A","size":"l"}`},
		{`{accept: {name: A, size: {$default: true}}}`, `{"name":"A","size":"l"}`},
		{`{accept: {size: s, name: A}, rest: defaults}`, `{"name":"A","count":3,"size":"s"}`},
		{`{accept: {name: 5}, anyway: true}`, `{"name":5}`},
		{`{accept: {name: 0777}}`, `{"name":"0777"}`},
		{`{accept: {name: A, count: 0777}}`, `count: Must be a whole number. The answer has "0777".`},
		{`{accept: {name: A, extra: {a: [1, null]}}}`, `{"name":"A","extra":{"a":[1,null]}}`},
		{`{accept: {name: 5}}`, `not sent without "anyway: true": name: Must be text. The answer has 5.`},
		{`accept`, `name: Required.`},
		{`{accept: {name: A, size: {$choice: 3}}}`, `the field has 2 choices, and no number 3`},
		{`{accept: {name: A, size: {$choice: Medium}}}`, `none of the field's choices is "Medium"`},
		{`{accept: {name: {$default: true}}}`, `the field has no default`},
		{`{accept: {nickname: {$choice: 1}}}`, `the question has no such field`},
		{`{result: {}}`, `not an answer to elicitation/create`},
		{`ask`, `leaves it to you`},
	}
	for _, c := range cases {
		d := NewRun(parsed(t, "answers: [{answer: "+c.answer+"}]")).Decide(form(t))
		if got := string(d.Content) + d.Why; d.Answer != nil && got != c.want || d.Answer == nil && !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.answer, got, c.want)
		}
	}
	d := NewRun(parsed(t, "answers: [{answer: {accept: valid}}]")).Decide(form(t))
	if d.Answer == nil || !strings.Contains(string(d.Content), `"name":"`) {
		t.Errorf("something valid: %s %s", d.Content, d.Why)
	}
}

func TestMatch(t *testing.T) {
	cases := []struct {
		match string
		want  bool
	}{
		{`{}`, true},
		{`{tool: onboard}`, true}, {`{tool: on*}`, true}, {`{tool: on}`, false}, {`{tool: /^on/}`, true}, {`{tool: /oa$/}`, false},
		{`{prompt: "*"}`, false}, {`{resource: "*"}`, false},
		{`{server: demo}`, true}, {`{server: other}`, false},
		{`{message: Who*}`, true}, {`{message: "Who are you?"}`, true}, {`{message: who*}`, false}, {`{message: '/(?i)who/'}`, true}, {`{message: /WHO/i}`, true}, {`{message: /WHO/}`, false}, {`{message: 'Who\*'}`, false},
		{`{withFields: [name, size]}`, true}, {`{withFields: [name, colour]}`, false}, {`{withFields: []}`, true}, {`{fields: [name]}`, true},
		{`{key: "*"}`, false}, {`{mode: form}`, true}, {`{mode: url}`, false}, {`{round: 1}`, true}, {`{round: 2}`, false},
		{`{nth: 1}`, true}, {`{nth: 2}`, false},
		{`{tool: onboard, message: No*}`, false},
	}
	for _, c := range cases {
		run := NewRun(parsed(t, "answers: [{match: "+c.match+", answer: decline}]"))
		if d := run.Decide(form(t)); (d.Answer != nil) != c.want {
			t.Errorf("%s: %+v", c.match, d)
		}
	}
}

// TestOrder checks that the first matching rule answers, as often as its times allow.
func TestOrder(t *testing.T) {
	run := NewRun(parsed(t, `
answers:
  - {answer: {accept: {name: A}}, times: 2}
  - {match: {nth: 4}, answer: cancel}
default: decline
`))
	var got []string
	for range 5 {
		d := run.Decide(form(t))
		got = append(got, string(d.Answer.Action))
	}
	if all := strings.Join(got, " "); all != "accept accept decline cancel decline" {
		t.Error(all)
	}
}

func TestMistakes(t *testing.T) {
	cases := []struct{ text, want string }{
		{"answers: [", "1:10: this is not valid YAML"},
		{"", "1:1: the file is empty"},
		{`{"answers": [}`, "this is not JSON"},
		{"- a\n- b", "1:1: an answers file is an array, not a mapping"},
		{"answer: []", `1:1: an answers file has no key "answer"; did you mean "answers"?`},
		{"x: 1", `1:1: an answers file has no key "x"; it takes answers, default and expect`},
		{"answers:\n  - match: {tool: x}\n", "2:5: a rule needs an answer"},
		{"answers:\n  - answer: acept\n", `2:13: answer cannot be "acept"; did you mean "accept"?`},
		{"answers:\n  - answer: {acept: {}}\n", `2:14: answer has no key "acept"; did you mean "accept"?`},
		{"answers:\n  - answer: {accept: {}, fault: never}\n", "answer can only say one of accept and fault"},
		{"answers:\n  - answer: {accept: defaults, rest: valid}\n", "rest goes with an accept that names values"},
		{"answers:\n  - answer: {accept: {a: {$env: HOPE}}}\n", "2:33: the environment has no variable HOPE"},
		{"answers:\n  - answer: {accept: {a: {$choise: 1}}}\n", `there is no $choise; did you mean "$choice"?`},
		{"answers:\n  - answer: {fault: wrong-di}\n", `there is no fault "wrong-di"; did you mean "wrong-id"?`},
		{"answers:\n  - {match: {message: '/(/'}, answer: decline}\n", "not a regular expression"},
		{"answers:\n  - {match: {mode: from}, answer: decline}\n", `mode cannot be "from"; did you mean "form"?`},
		{"answers:\n  - {match: {round: 0}, answer: decline}\n", "round is 0, not a whole number from 1 on"},
		{"answers:\n  - {delay: 5, answer: decline}\n", "delay is not a duration such as 500ms"},
		{"answers:\n  - {answer: decline, times: many}\n", "times is a string, not a number"},
		{"expect: {result: {}, error: {}}", "a result or an error, not both"},
		{"expect: {findings: some}", `findings cannot be "some"`},
		{"a: 1\na: 2\n", "2:1:"},
		{`{"default": "cancel", "default": "cancel"}`, `1:23: "default" stands there twice`},
		{"{\n  // a comment\n  \"default\": \"cancle\",\n}", `3:14: answer cannot be "cancle"; did you mean "cancel"?`},
		{"default: cancel\n---\ndefault: ask\n", "a second document"},
		{"default: *x", "no anchor"},
	}
	for _, c := range cases {
		_, err := Parse("answers.yaml", []byte(c.text), environment)
		var all *Mistakes
		if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestYAML checks the values that YAML writes differently from JSON.
func TestYAML(t *testing.T) {
	n, err := written.Parse([]byte(`
a: &base {x: 1.50, y: 0x1F, z: 1e3}
b: {<<: *base, y: "2"}
c: [yes, ~, null, true, .5, 12345678901234567890123, 0777, -0017, 0o17, 010.50]
d: |
  two
  lines
e: !!str 12
7: seven
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"x":1.50,"y":31,"z":1e3},"b":{"x":1.50,"y":31,"z":1e3},"c":["yes",null,null,true,0.5,12345678901234567890123,"0777","-0017",15,"010.50"],"d":"two\nlines\n","e":"12","7":"seven"}`
	want = strings.Replace(want, `"b":{"x":1.50,"y":31,"z":1e3}`, `"b":{"x":1.50,"y":"2","z":1e3}`, 1)
	if got := string(n.JSON()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestByteOrderMark reads files as editors on Windows write them.
func TestByteOrderMark(t *testing.T) {
	for _, text := range []string{"default: cancel\n", `{"default": "cancel"}`, `{default: cancel}`} {
		if s := parsed(t, "\ufeff"+text); s.Default == nil || s.Default.Action != Cancel {
			t.Errorf("%q: %+v", text, s.Default)
		}
	}
}

func TestExpect(t *testing.T) {
	came := Came{Result: []byte(`{"content":[{"type":"text","text":"Deployed 2291\nin staging"}],"n":1.0,"list":[1,"b"]}`), Findings: []string{"rule-a"}}
	cases := []struct{ expect, want string }{
		{`{result: "Deployed*staging"}`, ""},
		{`{result: Deployed}`, "result: its text\n    want: Deployed\n    got:  Deployed 2291\n          in staging"},
		{`{result: {n: 1, list: [1, b]}}`, ""},
		{`{result: {content: [{text: "/staging$/"}]}}`, ""},
		{`{result: {n: 2}}`, "result.n\n    want: 2\n    got:  1.0"},
		{`{result: {list: [1, c]}}`, "result.list[1]\n    want: \"c\"\n    got:  \"b\""},
		{`{result: {list: [1]}}`, "result.list (2 elements, not 1)"},
		{`{result: {more: true}}`, "result.more\n    want: true\n    got:  nothing"},
		{`{error: {code: -32602}}`, "error: there is none, but the result {"},
		{`{findings: none}`, "findings: rule-a is broken"},
		{`{findings: [rule-a]}`, ""},
		{`{findings: [rule-b, rule-a]}`, "findings: rule-b is not broken"},
		{`{result: "*", findings: [rule-a]}`, ""},
	}
	for _, c := range cases {
		s := parsed(t, "expect: "+c.expect)
		got := strings.Join(s.Expect.Check(came), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.expect, got, c.want)
		}
	}
}

func TestExpectOfQuestions(t *testing.T) {
	cases := []struct{ expect, want string }{
		{`{message: Who*, allFields: [name, count, share, agree, size, days]}`, ""},
		{`{message: What*}`, "message\n    want: What*\n    got:  Who are you?"},
		{`{allFields: [name]}`, "fields\n    want: name\n    got:  name, count"},
		{`{allFields: {name: {}, count: {type: integer}, share: {}, agree: {}, size: {choices: [s, l]}, days: {type: array, choices: [mon, tue, wed]}}}`, ""},
		{`{allFields: {name: {}, count: {}, share: {}, agree: {}, size: {}}}`, "fields: there is days, which is not expected"},
		{`{fields: {size: {choices: [s, m, l]}}}`, "fields.size.choices (2 elements, not 3)"},
		{`{fields: {name: {required: true, maxLength: 10}, count: {required: false, default: 3}}}`, ""},
		{`{fields: {name: {maxLength: 12}, colour: {}}}`, "fields.name.maxLength\n    want: 12\n    got:  10"},
		{`{fields: {colour: {}}}`, "fields: there is no colour; there are name, count"},
		{`{asked: 2}`, "was to answer 2 questions, and answered 1"},
		{`{asked: 1}`, ""}, {`{asked: {minimum: 1}}`, ""},
		{`{asked: {minimum: 2}}`, "was to answer at least 2 questions, and answered 1"},
	}
	for _, c := range cases {
		run := NewRun(parsed(t, "answers: [{answer: decline, expect: "+c.expect+"}]"))
		run.Decide(form(t))
		got := strings.Join(run.Unmet(true), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.expect, got, c.want)
		}
	}
}

// TestNearest checks that a question which no rule matches is told with the rule that is nearest,
// and what does not fit, and that a rule which is to answer says so, too.
func TestNearest(t *testing.T) {
	cases := []struct{ match, want string }{
		{`match: {tool: other, message: Who*}`, "line 2 wants the tool other; it has onboard"},
		{`match: {withFields: [name, reason]}`, "line 2 wants the fields reason; the form has name, count, share, agree, size, days"},
		{`match: {message: What*, round: 2}`, "line 2 wants the message What*; it has Who are you?, and wants the round 2; it has 1"},
		{`match: {mode: url}`, "line 2 wants the mode url; it has form"},
		{`match: {nth: 2}`, "line 2 is for question 2 of its kind, and this is question 1"},
		{`times: 1`, "line 2 has answered 1 question, as its times say"},
	}
	for _, c := range cases {
		run := NewRun(parsed(t, "answers:\n  - {"+c.match+", answer: decline, expect: {asked: 3}}\n  - {match: {tool: else, mode: url}, answer: cancel}\n"))
		d := run.Decide(form(t))
		if d.Answer != nil {
			d = run.Decide(form(t))
		}
		if d.Why != "no rule matches it; "+c.want {
			t.Errorf("%s: %s", c.match, d.Why)
		}
		unmet := strings.Join(run.Unmet(true), "\n")
		if _, why, is := strings.Cut(c.want, "wants the "); is && !strings.Contains(unmet, `and answered 0; it did not match "Who are you?", since it wants the `+why) {
			t.Errorf("%s: %s", c.match, unmet)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, text := range []string{"plain", "a*b", `c:\d`, "/x/", "/x/i", "/", "", "two\nlines *", `\*`} {
		pattern, err := ParseText(Literal(text))
		if err != nil || !pattern.Matches(text) || pattern.Matches(text+"x") || pattern.Matches("x"+text) {
			t.Errorf("%q as %q: %v", text, Literal(text), err)
		}
	}
}
