package script

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
)

// Writing sets how answers files and scenarios are written.
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

	contract bool // rules expect of their questions what was recorded
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

// Answers returns an answers file that repeats the answers given in calls.
func (w Writing) Answers(calls []*conversation.Call) string {
	var y yamlText
	y.line(0, "# Answers as they were given in "+wording.EscapeLine(w.From)+".")
	y.line(0, "# The first rule that matches answers; in a message * stands for any text.")
	w.rules(&y, 0, calls)
	made := 0
	for _, c := range calls {
		if c.Number != 0 {
			made++
		}
	}
	switch {
	case !w.Expect:
	case made == 1:
		for _, c := range calls {
			w.expect(&y, 0, c)
		}
	default:
		y.line(0, fmt.Sprintf("# Nothing is expected of a result, since there are %s.", wording.Plural(made, "call")))
	}
	return y.String()
}

// Scenario returns a scenario that repeats those calls that have a response. All are made
// in the revision of the last one, so a call that failed because its own revision has no
// requests from the server is left out.
func (w Writing) Scenario(calls []*conversation.Call) string {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c *conversation.Call) bool { return c.Number == 0 || calledBy[c.Method] == "" })
	w.contract = w.Expect && !w.Loose
	var y yamlText
	y.line(0, "# The calls of "+wording.EscapeLine(w.From)+", with their answers.")
	var server conversation.Server
	revision := ""
	for _, c := range calls {
		revision = c.Protocol
		for _, s := range w.Servers {
			if s.Label == c.Server {
				server = s
			}
		}
	}
	target(&y, &server)
	if slices.Contains(mcp.Revisions, revision) {
		y.entry(0, "protocol", quoted(revision))
	}
	if server.Declared != nil {
		declared := conversation.ClientSettingsOf(server.Declared)
		if usual := (conversation.ClientSettings{Protocol: revision}).Declares(); declared.Elicitation != usual {
			y.entry(0, "elicitation", quoted(string(declared.Elicitation)))
		}
		if declared.Sampling {
			y.entry(0, "sampling", "true")
		}
		if declared.Roots {
			y.entry(0, "roots", "true")
		}
	}
	y.line(0, "calls:")
	for _, c := range calls {
		left := ""
		switch {
		case c.Unsent != "" && c.Protocol != revision:
			left = "in " + c.Protocol + " the server could not ask"
		case c.Result == nil && c.Error == nil:
			left = "it has no response (" + c.State.String() + ")"
		}
		if left != "" {
			y.line(2, fmt.Sprintf("# Call %d of %s is left out: %s.", c.Number, wording.EscapeLine(wording.Quoted(c.Name)), left))
			continue
		}
		y.item(2)
		y.entry(4, calledBy[c.Method], quoted(c.Name))
		if c.Arguments != nil && c.Method != mcp.MethodReadResource {
			y.value(4, "arguments", c.Arguments, quoted)
		}
		if len(c.Questions) > 0 {
			w.rules(&y, 4, []*conversation.Call{c})
		}
		if w.Expect {
			w.expect(&y, 4, c)
		}
	}
	return y.String()
}

// target writes how a server was reached. Variables of the environment stand for the
// values that a transcript does not have.
func target(y *yamlText, s *conversation.Server) {
	variables := func(key string, names []string, variable func(string) string) {
		for i, name := range names {
			if i == 0 {
				y.line(2, key+":")
			}
			y.entry(4, name, quoted("${"+variable(name)+"}"))
		}
	}
	switch {
	case s.Transport == "memory":
		y.line(0, "target: demo")
	case s.Started != nil:
		y.line(0, "target:")
		var words []string
		for _, word := range s.Started.Command {
			words = append(words, quoted(word))
		}
		y.entry(2, "command", "["+strings.Join(words, ", ")+"]")
		if s.Started.Dir != "" {
			y.entry(2, "cwd", quoted(s.Started.Dir))
		}
		variables("env", s.Started.Env, strings.Clone)
	case s.URL != "":
		y.line(0, "target:")
		y.entry(2, "url", quoted(s.URL))
		if s.Legacy {
			y.entry(2, "transport", "sse")
		}
		variables("headers", slices.DeleteFunc(slices.Clone(s.LeftOut), func(name string) bool {
			return name == "Mcp-Session-Id" || name == "Authorization" && s.SignedIn
		}), variableOf)
	default:
		y.line(0, "# The transcript does not have the command line of its server: put it here, or a url.")
		y.line(0, "target: {command: ["+quoted(commandHere)+"]}")
	}
}

func variableOf(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return unicode.ToUpper(c)
		}
		return '_'
	}, name)
}

// calledBy maps the methods of calls to the keys of a match or a call.
var calledBy = map[string]string{mcp.MethodCallTool: "tool", mcp.MethodGetPrompt: "prompt", mcp.MethodReadResource: "resource"}

// rules writes one rule for each answer. Equal consecutive rules become one with a
// higher "times".
func (w Writing) rules(y *yamlText, indent int, calls []*conversation.Call) {
	type rule struct {
		text     string // without times and expect
		contract string // what is expected of the fields
		times    int
		answers  bool // it is not only a comment
		repeated bool // the server asks again until the page of its URL has been visited
	}
	var rules []rule
	for _, c := range calls {
		for _, q := range c.Questions {
			one := rule{text: w.rule(indent+2, c, q), times: 1, answers: answered(q), repeated: q.URL() != ""}
			if w.contract {
				one.contract = contractOf(indent+6, q)
			}
			same := func(r rule) bool { return r.text == one.text && r.contract == one.contract }
			switch last := len(rules) - 1; {
			case last >= 0 && same(rules[last]):
				rules[last].times++
			case !slices.ContainsFunc(rules, same) || one.answers && !one.repeated:
				rules = append(rules, one)
			}
		}
	}
	if slices.ContainsFunc(rules, func(r rule) bool { return r.answers }) {
		y.line(indent, "answers:")
	} else {
		y.line(indent, "answers: []")
	}
	for _, r := range rules {
		y.text.WriteString(r.text)
		if !r.answers {
			continue
		}
		asked := "{minimum: 1}"
		if !r.repeated {
			asked = strconv.Itoa(r.times)
			y.line(indent+4, "times: "+asked)
		}
		if w.contract {
			y.line(indent+4, "expect:")
			y.line(indent+6, "asked: "+asked)
			y.text.WriteString(r.contract)
		}
	}
}

// contractOf returns the expectation that a form has the fields that it had, with their types,
// whether they are required, and their choices; "" for other questions, and where the transcript
// leaves out the name of a field.
func contractOf(indent int, q *conversation.Question) string {
	request, err := elicit.Parse(q.Params)
	if q.Method != mcp.MethodElicit || err != nil || request.Mode != elicit.ModeForm {
		return ""
	}
	var y yamlText
	y.line(indent, "allFields:"+wording.Either(request.Fields == nil, " []", ""))
	for i := range request.Fields {
		f := &request.Fields[i]
		if strings.Contains(f.Name, redact.Placeholder) {
			return ""
		}
		whole, kept := contract(f), rawjson.ObjectWriter(nil)
		for _, name := range []string{"type", "required", "choices"} {
			kept.Add(name, rawjson.Member(whole, name))
		}
		y.entry(indent+2, f.Name, flow(kept.JSON(), pattern))
	}
	return y.String()
}

// answered reports whether a question has an answer that can be given again.
func answered(q *conversation.Question) bool {
	given := q.State == conversation.Answered || q.State == conversation.AnswerUnknown || turnedDown(q)
	return given && (q.Answer != nil || q.Error != nil)
}

// rule returns the rule for one question, or a comment if it was not answered.
func (w Writing) rule(indent int, c *conversation.Call, q *conversation.Question) string {
	var y yamlText
	if !answered(q) {
		y.line(indent, fmt.Sprintf("# Not answered (%s): %s", q.State, wording.Shorten(strings.Join(strings.Fields(q.Title()), " "), 80)))
		return y.String()
	}
	y.item(indent)
	y.line(indent+2, "match:")
	if kind := calledBy[c.Method]; kind != "" {
		y.entry(indent+4, kind, pattern(c.Name))
	}
	w.about(&y, indent+4, c, q)
	w.answer(&y, indent+2, q)
	return y.String()
}

// about writes the match that distinguishes a question from others.
func (w Writing) about(y *yamlText, indent int, c *conversation.Call, q *conversation.Question) {
	same := 0
	for i := range c.Questions {
		if other := c.Questions[i]; other.Round == q.Round && other.Title() == q.Title() {
			same++
		}
	}
	if q.Key != "" && same > 1 {
		y.entry(indent, "key", pattern(q.Key))
	}
	request, err := elicit.Parse(q.Params)
	switch {
	case q.Method != mcp.MethodElicit:
		y.entry(indent, "mode", modes[q.Method])
	case err != nil:
	default:
		y.entry(indent, "mode", quoted(string(request.Mode)))
		y.entry(indent, "message", pattern(request.Message))
		var names []string
		for _, f := range request.Fields {
			if !strings.Contains(f.Name, redact.Placeholder) {
				names = append(names, quoted(f.Name))
			}
		}
		if names != nil {
			y.entry(indent, "withFields", "["+strings.Join(names, ", ")+"]")
		}
	}
}

func (w Writing) answer(y *yamlText, indent int, q *conversation.Question) {
	if q.Fault != "" {
		y.line(indent, "answer:")
		y.entry(indent+2, "fault", q.Fault)
		for name, value := range rawjson.Members(q.FaultParams) {
			y.entry(indent+2, name, string(rawjson.AppendCompact(nil, value)))
		}
		return
	}
	content := rawjson.Member(q.Answer, "content")
	switch {
	case turnedDown(q):
		y.entry(indent, "answer", "decline")
	case q.Method != mcp.MethodElicit:
		y.line(indent, "answer:")
		y.value(indent+2, "result", q.Answer, quoted)
	case q.Error != nil:
		y.line(indent, "answer:")
		y.entry(indent+2, "fault", "any-error")
		for _, name := range []string{"code", "message", "data"} {
			if v := rawjson.Member(q.Error, name); v != nil {
				y.entry(indent+2, name, string(rawjson.AppendCompact(nil, v)))
			}
		}
	case q.Action != string(Accept) || content == nil:
		y.entry(indent, "answer", q.Action)
	default:
		content, variables := filledIn(content)
		if len(variables) > 0 {
			y.line(indent, "# The transcript leaves values out. Set "+wording.Series(variables)+", or put the values here.")
		}
		y.line(indent, "answer:")
		y.value(indent+2, "accept", content, quoted)
		if len(variables) == 0 && q.SchemaProblems() != nil || unchecked(q, content) {
			y.entry(indent+2, "anyway", "true")
		}
	}
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
func pattern(text string) string {
	return quoted(strings.ReplaceAll(Literal(text), redact.Placeholder, "*"))
}

// expect writes the outcome of a call as its expectation, without members that change
// from run to run, such as _meta.
func (w Writing) expect(y *yamlText, indent int, c *conversation.Call) {
	kind := rawjson.Text(rawjson.Member(c.Result, "resultType"))
	switch {
	case c.Number == 0, kind != "" && kind != "complete": // an incomplete result is not the call's outcome
	case c.Result != nil:
		var kept rawjson.ObjectWriter
		for name, value := range rawjson.Members(c.Result) {
			if !strings.Contains(name, redact.Placeholder) && name != "_meta" && name != "resultType" && name != "ttlMs" && name != "cacheScope" {
				kept.Add(name, value)
			}
		}
		if kept != nil {
			y.line(indent, "expect:")
			y.value(indent+2, "result", kept.JSON(), pattern)
		}
	case c.Error != nil:
		y.line(indent, "expect:")
		y.line(indent+2, "error:")
		y.value(indent+4, "code", rawjson.Member(c.Error, "code"), pattern)
		y.value(indent+4, "message", rawjson.Member(c.Error, "message"), pattern)
	}
}
