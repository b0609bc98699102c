package script

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire/redact"
)

// Writing sets how answers files and scenarios are made from calls.
type Writing struct {
	From string // source of the calls, for the first line
	// Servers holds the servers of the calls. They tell the target of a scenario.
	Servers []conversation.Server
	// Expect adds expectations: the outcome of the call if there is only one, or of
	// each call of a scenario.
	Expect bool
	// Loose leaves out of a scenario what is expected of its questions: how often each
	// rule answers, and all fields with what they take.
	Loose bool
}

// CallsIn returns the call with this number, or for 0 all calls of a conversation,
// including the entries for questions outside of any call.
func CallsIn(ctx context.Context, talk *conversation.Conversation, number int, how conversation.Reading) ([]*conversation.Call, error) {
	var calls []*conversation.Call
	for place := 1; place <= talk.Len(); place++ {
		call, err := talk.Call(ctx, place, how)
		if err != nil {
			return nil, fmt.Errorf("reading call %d: %w", place, err)
		}
		if call.Number == number || number == 0 && (call.Number != 0 || len(call.Questions) > 0) {
			calls = append(calls, call)
		}
	}
	return calls, nil
}

// AnswersOf returns an answers file that repeats the answers given in calls. See [FromCalls] for the error.
func AnswersOf(calls []*conversation.Call, w Writing) (*Script, error) {
	r := recorder{comments: map[string][]string{}}
	r.comment("", "Answers as they were given in %s.", wording.EscapeLine(w.From))
	r.comment("", "The first rule that matches answers; in a message * stands for any text.")
	var o rawjson.ObjectWriter
	o.Add("answers", r.rules("/answers", calls))
	calls = slices.DeleteFunc(slices.Clone(calls), func(c *conversation.Call) bool { return c.Number == 0 })
	switch {
	case !w.Expect:
	case len(calls) == 1:
		o.Add("expect", expected(calls[0]))
	default:
		r.comment("/", "Nothing is expected of a result, since there are %s.", wording.Plural(len(calls), "call"))
	}
	s, err := Parse(w.From, o.JSON(), unset)
	s.Source, s.comments = o.JSON(), r.comments
	return s, err
}

// AnswerOf returns the answer that a question was given, as answers files have it; nil if it was given none.
// See [FromCalls] for the error.
func AnswerOf(q *conversation.Question) (*Answer, error) {
	if !answered(q) {
		return nil, nil
	}
	answer, _ := answerOf(q)
	var o rawjson.ObjectWriter
	o.Add("default", answer)
	s, err := Parse("the recording", o.JSON(), unset)
	return s.Default, err
}

// answered reports whether it is known what a question was answered with.
func answered(q *conversation.Question) bool {
	given := q.State == conversation.Answered || q.State == conversation.AnswerUnknown || turnedDown(q)
	return given && (q.Answer != nil || q.Error != nil || q.Fault != "")
}

// FromCalls returns a scenario that repeats those calls that have a response. All are made
// in the revision of the last one, so a call that failed because its own revision has no
// requests from the server is left out. The error says what has to be filled in before the
// scenario can be used, such as what a transcript leaves out; its text is whole all the same.
func FromCalls(calls []*conversation.Call, w Writing) (*Scenario, error) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c *conversation.Call) bool { return c.Number == 0 || calledBy[c.Method] == "" })
	r := recorder{contract: w.Expect && !w.Loose, comments: map[string][]string{}}
	r.comment("", "The calls of %s, with their answers.", wording.EscapeLine(w.From))
	var server conversation.Server
	revision := ""
	for _, c := range calls {
		revision = c.Protocol
		for _, one := range w.Servers {
			if one.Label == c.Server {
				server = one
			}
		}
	}
	var o rawjson.ObjectWriter
	o.Add("target", r.target(&server))
	if slices.Contains(mcp.Revisions, revision) {
		o.Add("protocol", rawjson.Quoted(revision))
	}
	if server.Declared != nil {
		declared := conversation.ClientSettingsOf(server.Declared)
		if usual := (conversation.ClientSettings{Protocol: revision}).Declares(); declared.Elicitation != usual {
			o.Add("elicitation", rawjson.Quoted(string(declared.Elicitation)))
		}
		if declared.Sampling {
			o.Add("sampling", json.RawMessage("true"))
		}
		if declared.Roots {
			o.Add("roots", json.RawMessage("true"))
		}
	}
	var made rawjson.ArrayWriter
	n := 0
	for _, c := range calls {
		at := fmt.Sprintf("/calls/%d", n)
		switch {
		case c.Unsent != "" && c.Protocol != revision:
			r.comment(at, "Call %d of %s is left out: in %s the server could not ask.", c.Number, wording.EscapeLine(wording.Quoted(c.Name)), c.Protocol)
			continue
		case c.Result == nil && c.Error == nil:
			r.comment(at, "Call %d of %s is left out: it has no response (%s).", c.Number, wording.EscapeLine(wording.Quoted(c.Name)), c.State)
			continue
		}
		var one rawjson.ObjectWriter
		one.Add(calledBy[c.Method], rawjson.Quoted(c.Name))
		if c.Method != mcp.MethodReadResource {
			one.Add("arguments", c.Arguments)
		}
		if len(c.Questions) > 0 {
			one.Add("answers", r.rules(at+"/answers", []*conversation.Call{c}))
		}
		if w.Expect {
			one.Add("expect", expected(c))
		}
		made.Add(one.JSON())
		n++
	}
	o.Add("calls", made.JSON())
	s, err := ParseScenario(w.From, o.JSON(), unset)
	s.Source, s.comments = o.JSON(), r.comments
	return s, err
}

// unset is an environment without variables.
func unset(string) (string, bool) { return "", false }

// recorder makes files of what was recorded.
type recorder struct {
	contract bool                // rules expect of their questions what was recorded
	comments map[string][]string // see Script
}

func (r *recorder) comment(at, format string, args ...any) {
	r.comments[at] = append(r.comments[at], fmt.Sprintf(format, args...))
}

// target returns how a server was reached. Variables of the environment stand for the
// values that a transcript does not have.
func (r *recorder) target(s *conversation.Server) json.RawMessage {
	var t rawjson.ObjectWriter
	variables := func(key string, names []string, variable func(string) string) {
		var o rawjson.ObjectWriter
		for _, name := range names {
			o.Add(name, rawjson.Quoted("${"+variable(name)+"}"))
		}
		if o != nil {
			t.Add(key, o.JSON())
		}
	}
	switch {
	case s.Transport == "memory":
		return json.RawMessage(`"demo"`)
	case s.Started != nil:
		t.Add("command", texts(s.Started.Command))
		if s.Started.Dir != "" {
			t.Add("cwd", rawjson.Quoted(s.Started.Dir))
		}
		variables("env", s.Started.Env, strings.Clone)
	case s.URL != "":
		t.Add("url", rawjson.Quoted(s.URL))
		if s.Legacy {
			t.Add("transport", json.RawMessage(`"sse"`))
		}
		variables("headers", slices.DeleteFunc(slices.Clone(s.LeftOut), func(name string) bool {
			return name == "Mcp-Session-Id" || name == "Authorization" && s.SignedIn
		}), variableOf)
	default:
		r.comment("/target", "The transcript does not have the command line of its server: put it here, or a url.")
		t.Add("command", texts([]string{commandHere}))
	}
	return t.JSON()
}

// texts returns a list as JSON.
func texts(list []string) json.RawMessage {
	var a rawjson.ArrayWriter
	for _, text := range list {
		a.Add(rawjson.Quoted(text))
	}
	return a.JSON()
}

func variableOf(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return unicode.ToUpper(c)
		}
		return '_'
	}, name)
}

// rules returns one rule for each answer. Equal consecutive rules become one with a higher "times".
func (r *recorder) rules(at string, calls []*conversation.Call) json.RawMessage {
	type rule struct {
		match, answer, fields string // fields is what is expected of them; "" for nothing
		comment               string // on the answer; "" for none
		repeated              bool   // the server asks again until the page of its URL has been visited
	}
	var rules []rule
	var times []int
	var unanswered []string
	for _, c := range calls {
		for _, q := range c.Questions {
			here := fmt.Sprintf("%s/%d", at, len(rules))
			if !answered(q) {
				comment := fmt.Sprintf("Not answered (%s): %s", q.State, wording.Shorten(strings.Join(strings.Fields(q.Title()), " "), 80))
				if !slices.Contains(unanswered, comment) {
					unanswered = append(unanswered, comment)
					r.comment(here, "%s", comment)
				}
				continue
			}
			answer, comment := answerOf(q)
			one := rule{match: string(matchOf(c, q)), answer: string(answer), comment: comment, repeated: q.URL() != ""}
			if r.contract {
				one.fields = string(contractOf(q))
			}
			switch last := len(rules) - 1; {
			case last >= 0 && r.comments[here] == nil && rules[last] == one:
				times[last]++
			case !one.repeated || !slices.Contains(rules, one):
				rules, times = append(rules, one), append(times, 1)
			}
		}
	}
	var list rawjson.ArrayWriter
	for i, one := range rules {
		var o, expect rawjson.ObjectWriter
		if o.Add("match", json.RawMessage(one.match)); one.comment != "" {
			r.comment(fmt.Sprintf("%s/%d/answer", at, i), "%s", one.comment)
		}
		o.Add("answer", json.RawMessage(one.answer))
		asked := json.RawMessage(`{"minimum":1}`)
		if !one.repeated {
			asked = fmt.Append(nil, times[i])
			o.Add("times", asked)
		}
		if expect.Add("asked", asked); one.fields != "" {
			expect.Add("allFields", json.RawMessage(one.fields))
		}
		if r.contract {
			o.Add("expect", expect.JSON())
		}
		list.Add(o.JSON())
	}
	return list.JSON()
}

// contractOf returns the expectation that a form has the fields that it had, with their types,
// whether they are required, and their choices; nil for other questions, and where the transcript
// leaves out the name of a field.
func contractOf(q *conversation.Question) json.RawMessage {
	request, err := elicit.Parse(q.Params)
	if q.Method != mcp.MethodElicit || err != nil || request.Mode != elicit.ModeForm {
		return nil
	}
	if request.Fields == nil {
		return json.RawMessage("[]")
	}
	var fields rawjson.ObjectWriter
	for i := range request.Fields {
		f := &request.Fields[i]
		if strings.Contains(f.Name, redact.Placeholder) {
			return nil
		}
		whole, kept := contract(f), rawjson.ObjectWriter(nil)
		for _, name := range []string{"type", "required", "choices"} {
			kept.Add(name, rawjson.Member(whole, name))
		}
		fields.Add(f.Name, patterns(kept.JSON()))
	}
	return fields.JSON()
}

// matchOf returns the match that distinguishes a question from others.
func matchOf(c *conversation.Call, q *conversation.Question) json.RawMessage {
	var m rawjson.ObjectWriter
	if kind := calledBy[c.Method]; kind != "" {
		m.Add(kind, pattern(c.Name))
	}
	same := 0
	for i := range c.Questions {
		if other := c.Questions[i]; other.Round == q.Round && other.Title() == q.Title() {
			same++
		}
	}
	if q.Key != "" && same > 1 {
		m.Add("key", pattern(q.Key))
	}
	request, err := elicit.Parse(q.Params)
	switch {
	case q.Method != mcp.MethodElicit:
		m.Add("mode", rawjson.Quoted(modes[q.Method]))
	case err != nil:
	default:
		m.Add("mode", rawjson.Quoted(string(request.Mode)))
		m.Add("message", pattern(request.Message))
		var names []string
		for _, f := range request.Fields {
			if !strings.Contains(f.Name, redact.Placeholder) {
				names = append(names, f.Name)
			}
		}
		if names != nil {
			m.Add("withFields", texts(names))
		}
	}
	return m.JSON()
}

// answerOf returns the answer that a question was given, and a comment on it.
func answerOf(q *conversation.Question) (answer json.RawMessage, comment string) {
	var a rawjson.ObjectWriter
	content := rawjson.Member(q.Answer, "content")
	switch {
	case q.Fault != "":
		a.Add("fault", rawjson.Quoted(q.Fault))
		for name, value := range rawjson.Members(q.FaultParams) {
			a.Add(name, value)
		}
	case turnedDown(q):
		return json.RawMessage(`"decline"`), ""
	case q.Method != mcp.MethodElicit:
		a.Add("result", q.Answer)
	case q.Error != nil:
		a.Add("fault", json.RawMessage(`"any-error"`))
		for _, name := range []string{"code", "message", "data"} {
			a.Add(name, rawjson.Member(q.Error, name))
		}
	case q.Action != string(Accept) || content == nil:
		return rawjson.Quoted(q.Action), ""
	default:
		content, variables := filledIn(content)
		if len(variables) > 0 {
			comment = "The transcript leaves values out. Set " + wording.Series(variables) + ", or put the values here."
		}
		a.Add("accept", content)
		if len(variables) == 0 && q.SchemaProblems() != nil || unchecked(q, content) {
			a.Add("anyway", json.RawMessage("true"))
		}
	}
	return a.JSON(), comment
}

// filledIn returns an accepted content with environment variables, which it lists, in
// place of values that the transcript leaves out. What is left out further inside stays,
// and is a mistake in the file that is written.
func filledIn(content json.RawMessage) (json.RawMessage, []string) {
	var filled rawjson.ObjectWriter
	var variables []string
	for name, value := range rawjson.Members(content) {
		if rawjson.KindOf(value) == rawjson.String && strings.Contains(rawjson.Text(value), redact.Placeholder) {
			variable := variableOf(name)
			variables = append(variables, variable)
			value = fmt.Appendf(nil, `{%q:%q}`, fromEnv, variable)
		}
		filled.Add(name, value)
	}
	return filled.JSON(), variables
}

// turnedDown reports whether a request other than an elicitation was answered with an
// error, which is how a person declines it.
func turnedDown(q *conversation.Question) bool { return q.Error != nil && q.Method != mcp.MethodElicit }

// unchecked reports whether an answer cannot be checked, so that it would not be sent
// without "anyway: true".
func unchecked(q *conversation.Question, content json.RawMessage) bool {
	request, err := elicit.Parse(q.Params)
	if err != nil || request.Schema == nil {
		return false
	}
	_, err = elicit.Check(request.Schema, content)
	return err != nil
}

// pattern returns the pattern for a text, with * for what the transcript leaves out.
func pattern(text string) json.RawMessage {
	return rawjson.Quoted(strings.ReplaceAll(Literal(text), redact.Placeholder, "*"))
}

// patterns returns a JSON value with patterns in place of its texts.
func patterns(raw json.RawMessage) json.RawMessage {
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		var o rawjson.ObjectWriter
		for name, value := range rawjson.Members(raw) {
			o.Add(name, patterns(value))
		}
		return o.JSON()
	case rawjson.Array:
		var a rawjson.ArrayWriter
		for _, value := range rawjson.Elements(raw) {
			a.Add(patterns(value))
		}
		return a.JSON()
	case rawjson.String:
		return pattern(rawjson.Text(raw))
	}
	return rawjson.Trim(raw)
}

// expected returns the outcome of a call as its expectation, without members that change
// from run to run, such as _meta; nil if there is none.
func expected(c *conversation.Call) json.RawMessage {
	kind := rawjson.Text(rawjson.Member(c.Result, "resultType"))
	var expect, kept rawjson.ObjectWriter
	switch {
	case kind != "" && kind != "complete": // an incomplete result is not the call's outcome
	case c.Result != nil:
		for name, value := range rawjson.Members(c.Result) {
			if !strings.Contains(name, redact.Placeholder) && name != "_meta" && name != "resultType" && name != "ttlMs" && name != "cacheScope" {
				kept.Add(name, patterns(value))
			}
		}
		if kept != nil {
			expect.Add("result", kept.JSON())
		}
	case c.Error != nil:
		kept.Add("code", patterns(rawjson.Member(c.Error, "code")))
		kept.Add("message", patterns(rawjson.Member(c.Error, "message")))
		expect.Add("error", kept.JSON())
	}
	if expect == nil {
		return nil
	}
	return expect.JSON()
}

// calledBy maps the methods of calls to the keys of a match or a call.
var calledBy = map[string]string{mcp.MethodCallTool: "tool", mcp.MethodGetPrompt: "prompt", mcp.MethodReadResource: "resource"}
