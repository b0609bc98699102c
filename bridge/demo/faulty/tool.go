package faulty

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// tool asks one thing after another and then says what it has done. It is right in
// everything but one.
type tool struct {
	name, title string
	does        string // what it does wrong, in a sentence
	since       string // the first revision that it is offered in; "" for all
	before      string // the first that it is not offered in; "" for none

	asks []question
	says string // the result, with the names of fields in braces for what was answered

	// What it does wrong, which is one of these.
	slips          []slip
	kind           string           // is its resultType
	may            func(*call) bool // tells whether the client may be asked; nil goes by what it has declared
	begins         func(*call)      // comes before its questions
	breaksOn       fate             // it crashes when a message comes for a question of which this became
	patience       time.Duration    // it waits no longer for an answer
	inOrder        bool             // it takes answers in the order of its questions, whatever their ids
	deaf           bool             // it lets nothing else be served while it waits
	alone          bool             // it crashes when it is called while it waits
	remembers      bool             // it takes the first answer of a session for all of its calls
	spoiltByCancel bool             // a cancelled call leaves it of no use
	lost           bool             // it never answers when it is of no use; others say so
	takes          error            // it takes a requestState that has this wrong
	wanders        bool             // its requestState is taken for that of any tool
	needsKey       bool             // it crashes when an answer is not among inputResponses
	needsNoOther   bool             // it crashes when something else is

	plants []Plant
}

// question is one thing to ask.
type question struct {
	message  string
	fields   string   // the properties of a form's schema
	required []string // of them; nil for all
	url      string   // of URL mode
	noID     bool     // leaves the elicitationId of 2025-11-25 out
}

func (q question) mode() string {
	if q.url != "" {
		return "url"
	}
	return "form"
}

func (q question) schema() json.RawMessage {
	required := q.required
	if required == nil {
		for name := range rawjson.Members([]byte("{" + q.fields + "}")) {
			required = append(required, name)
		}
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s}`, q.fields, encode(required))
}

// params are those of elicitation/create.
func (q question) params(revision string) json.RawMessage {
	var members []string
	if revision >= mcp.Revision20251125 {
		members = append(members, fmt.Sprintf(`"mode":%q`, q.mode()))
	}
	if q.message != "" {
		members = append(members, fmt.Sprintf(`"message":%s`, encode(q.message)))
	}
	switch {
	case q.url == "":
		members = append(members, fmt.Sprintf(`"requestedSchema":%s`, q.schema()))
	case revision == mcp.Revision20251125 && !q.noID:
		members = append(members, fmt.Sprintf(`"url":%q,"elicitationId":%q`, q.url, q.url))
	default:
		members = append(members, fmt.Sprintf(`"url":%q`, q.url))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// slip is a way of taking some answers wrongly.
type slip struct {
	when func(a answer, problems []elicit.Problem) bool
	// then goes on with content, or ends the call. errAgain asks once more.
	then func(c *call, a answer) (content json.RawMessage, err error)
}

var errAgain = errors.New("the question is asked again")

// tell tells the tool, and returns what the call is answered with.
func (c *call) tell() *reply {
	t := c.tool
	if r := c.enter(); r != nil {
		return r
	}
	if t.begins != nil {
		t.begins(c)
	}
	values := map[string]string{}
	for _, q := range t.asks {
		content, err := c.settled(q)
		var r *reply
		switch {
		case errors.As(err, &r):
			return r
		case err != nil:
			return c.failed(err.Error())
		}
		for name, value := range rawjson.Members(content) {
			values["{"+name+"}"] = plain(value)
		}
	}
	text := t.says
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text = strings.ReplaceAll(text, name, values[name])
	}
	if t.kind != "" {
		return c.result(t.kind, fmt.Sprintf(`"content":[{"type":"text","text":%s}]`, encode(text)))
	}
	return c.said(text)
}

// plain is a value as it stands in a sentence.
func plain(value json.RawMessage) string {
	if text, ok := rawjson.Unquote(value); ok {
		return text
	}
	return string(value)
}

// enter is what tools do that cannot be used by two, or not any more.
func (c *call) enter() *reply {
	c.mu.Lock()
	spoilt, busy := c.spoilt[c.tool.name], false
	for _, p := range c.pending {
		busy = busy || p.call.tool == c.tool && p.call.ctx.Err() == nil
	}
	c.mu.Unlock()
	switch {
	case spoilt && c.tool.lost:
		return c.hang()
	case spoilt:
		return c.failed("The form is still open in another window.")
	case busy && c.tool.alone:
		c.crash("fatal error: concurrent map writes", 2)
		return silence
	}
	return nil
}

// hang never answers.
func (c *call) hang() *reply {
	<-c.ctx.Done()
	return silence
}

// settled asks until there is an answer to go on with.
func (c *call) settled(q question) (json.RawMessage, error) {
	for {
		if !c.mayAsk(q) {
			return nil, c.cannotAsk(q)
		}
		a, err := c.ask(q)
		if err != nil {
			return nil, err
		}
		if content, err := c.taken(q, a); err != errAgain {
			return c.remembered(content), err
		}
	}
}

func (c *call) mayAsk(q question) bool {
	if c.tool.may != nil {
		return c.tool.may(c)
	}
	return c.declared(q.mode())
}

func (c *call) cannotAsk(q question) *reply {
	if c.revision < mcp.Revision20260728 {
		return c.failed("This client has not declared that it can ask its user in " + q.mode() + " mode.")
	}
	data := fmt.Sprintf(`{"requiredCapabilities":{"elicitation":{%q:{}}}}`, q.mode())
	return rpcError(mcp.CodeMissingCapability, "This client cannot ask its user in "+q.mode()+" mode", []byte(data))
}

// taken is the content to go on with, if the answer is one to go on with.
func (c *call) taken(q question, a answer) (json.RawMessage, error) {
	var problems []elicit.Problem
	if a.action == "accept" && q.url == "" {
		content := a.content
		if content == nil {
			content = []byte("null")
		}
		var err error
		if problems, err = elicit.Check(q.schema(), content); err != nil && elicit.Unchecked(err) {
			return nil, err
		}
	}
	for _, s := range c.tool.slips {
		if s.when(a, problems) {
			return s.then(c, a)
		}
	}
	switch {
	case a.failure != "":
		return nil, c.failed("You could not be asked; " + a.failure)
	case a.action == "decline":
		return nil, c.said("You said no, so nothing was done.")
	case a.action == "cancel":
		return nil, c.said("You closed the question, so nothing was done.")
	case a.action != "accept":
		return nil, c.failed("The client answered neither accept, decline nor cancel, so nothing was done.")
	case len(problems) > 0:
		return nil, c.failed("Nothing was done, because the answer does not fit the question: " + problems[0].Text)
	}
	return a.content, nil
}

// remembered is the content that the tool goes on with: its own, unless the tool takes
// that of its first call for all of them.
func (c *call) remembered(content json.RawMessage) json.RawMessage {
	if !c.tool.remembers || content == nil {
		return content
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[c.tool.name]; !ok {
		c.kept[c.tool.name] = content
	}
	return c.kept[c.tool.name]
}
