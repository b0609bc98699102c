package faulty

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

// tool asks its questions one after another and then reports what it did. It has exactly
// one defect.
type tool struct {
	name, title string
	does        string // its defect, in a sentence
	since       string // the first revision that has it; "" for all
	before      string // the first revision that no longer has it; "" for none

	asks     []question
	argument string // name of a required text in its arguments; "" for none
	says     string // text of the result, with names of fields in braces for their values

	// The defect: exactly one of these is set, apart from lost, patience and effect.
	slips          []slip
	kind           string           // resultType of its result
	may            func(*call) bool // reports whether the tool asks the client; nil asks if the client has declared the mode
	begins         func(*call)      // runs before its questions
	breaksOn       fate             // it crashes on a message for a question with this fate
	patience       time.Duration    // how long it waits for an answer; 0 for no limit
	hasty          bool             // it goes on when its patience ends
	lax            bool             // it goes on if inputResponses lacks the answer
	presumes       bool             // it goes on if the client cannot be asked
	inOrder        bool             // it takes answers in the order of its questions, whatever their ids
	deaf           bool             // the server handles no other request while the tool waits
	alone          bool             // it crashes if it is called while it waits
	remembers      bool             // it uses the first answer of a session for all calls
	recalls        bool             // it keeps the last content of a session
	spoiltByCancel bool             // it is unusable after a call was cancelled
	lost           bool             // it never answers when it is unusable; other tools report an error
	takes          error            // it accepts a requestState with this error
	plain          bool             // its requestState is the last answer's first value as plain text
	unsigned       bool             // it accepts a requestState with any signature
	believes       bool             // its requestState says whether it was agreed to
	forgets        bool             // it asks no more, and does it, in a session in which it was refused
	wanders        bool             // every tool accepts its requestState
	needsKey       bool             // it crashes if inputResponses lacks the answer
	scolds         bool             // it fails with a JSON-RPC error if inputResponses lacks the answer
	mute           bool             // it never answers when its patience has ended
	shouts         bool             // it says what it says in capitals
	terse          bool             // it refuses a client that cannot be asked with another error
	needsNoOther   bool             // it crashes if inputResponses has another member
	early          bool             // it does what it does before its question
	repeats        bool             // it does what it does for every answer to its question
	rerunsState    bool             // it does what it does again for a requestState of a call that is over
	belated        bool             // it does what it does for an answer after its patience has ended
	stubborn       bool             // it does what it does when its call is cancelled
	inherits       bool             // it uses the answer of the first session
	task           taskDefect       // what is wrong with its tasks

	effect bool // it writes what it does into the ledger

	plants []Plant
}

// question is one question of a tool.
type question struct {
	message  string
	fields   string   // properties of a form's schema
	required []string // names of required fields; nil for all
	url      string   // URL to visit; "" for a form
	noID     bool     // leaves out the elicitationId of 2025-11-25
}

func (q question) mode() string {
	if q.url != "" {
		return "url"
	}
	return "form"
}

func (q question) schema() json.RawMessage {
	required := append([]string{}, q.required...)
	if q.required == nil {
		for name := range rawjson.Members([]byte("{" + q.fields + "}")) {
			required = append(required, name)
		}
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s}`, q.fields, encode(required))
}

// params returns the params of elicitation/create.
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

// slip is a wrong reaction to some answers.
type slip struct {
	when func(a answer, problems []elicit.Problem) bool
	// then returns the content to continue with, or the reply that ends the call. With
	// errAgain the tool asks the question again.
	then func(c *call, a answer) (content json.RawMessage, err error)
}

var errAgain = errors.New("the question is asked again")

// run runs the tool and returns the reply to the call.
func (c *call) run() *reply {
	t := c.tool
	if r := c.enter(); r != nil {
		return r
	}
	if t.begins != nil {
		t.begins(c)
	}
	if t.early && len(c.answers) == 0 && c.mayAsk(t.asks[0]) {
		c.do(nil)
	}
	values := map[string]string{"{" + t.argument + "}": c.argument}
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
	if t.effect && !t.early && (len(c.given) > 0 || len(c.answers) > 0) {
		c.do(c.given)
	}
	text := t.says
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if t.shouts {
			values[name] = strings.ToUpper(values[name])
		}
		text = strings.ReplaceAll(text, name, values[name])
	}
	if t.kind != "" {
		return c.result(t.kind, fmt.Sprintf(`"content":[{"type":"text","text":%s}]`, encode(text)))
	}
	return c.said(text)
}

// plain returns a value for use in a sentence.
func plain(value json.RawMessage) string {
	if text, ok := rawjson.Unquote(value); ok {
		return text
	}
	return string(value)
}

// enter returns the reply to a call that cannot begin: the tool is unusable, or crashes
// because another call waits. It returns nil if the call can begin.
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

// hang waits for the end of the call and sends no response.
func (c *call) hang() *reply {
	<-c.ctx.Done()
	return silence
}

// settled asks a question until an answer lets the tool continue.
func (c *call) settled(q question) (json.RawMessage, error) {
	for {
		if c.tool.forgets && c.refusedBefore(false) {
			return nil, nil
		}
		if !c.mayAsk(q) {
			if c.tool.presumes {
				return nil, nil
			}
			return nil, c.cannotAsk(q)
		}
		a, err := c.ask(q)
		if err != nil {
			return nil, err
		}
		if content, err := c.taken(q, a); err != errAgain {
			c.given = content
			return c.remembered(content), err
		}
	}
}

// refusedBefore reports whether a tool that forgets to ask was refused in this session; now says
// that it is being refused.
func (c *call) refusedBefore(now bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[c.tool.name] = c.refused[c.tool.name] || now
	return c.refused[c.tool.name]
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
	if c.tool.terse {
		return rpcError(mcp.CodeInvalidParams, "You cannot be asked, so nothing was done", nil)
	}
	data := fmt.Sprintf(`{"requiredCapabilities":{"elicitation":{%q:{}}}}`, q.mode())
	return rpcError(mcp.CodeMissingCapability, "This client cannot ask its user in "+q.mode()+" mode", []byte(data))
}

// taken returns the content to continue with. The error is the reply if the answer ends
// the call.
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
	c.refusedBefore(a.action == "decline" || a.action == "cancel")
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
	case saysNo(a, problems):
		return nil, c.said("You did not tick it, so nothing was done.")
	case len(problems) > 0:
		return nil, c.failed("Nothing was done, because the answer does not fit the question: " + problems[0].Text)
	}
	return a.content, nil
}

// remembered returns the content that the tool uses: that of the answer, for a tool that
// remembers that of the session's first answer, and for one that inherits that of the
// first session.
func (c *call) remembered(content json.RawMessage) json.RawMessage {
	if !c.tool.remembers && !c.tool.inherits && !c.tool.recalls || content == nil {
		return content
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tool.recalls {
		c.kept[c.tool.name] = content
	}
	if _, ok := c.kept[c.tool.name]; !ok && c.tool.inherits {
		return content
	} else if !ok {
		c.kept[c.tool.name] = content
	}
	return c.kept[c.tool.name]
}
