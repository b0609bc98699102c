package faulty

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// Reasons why a requestState is rejected.
var (
	errNoState  = errors.New("there is none")
	errInvented = errors.New("it is none of this server's")
	errChanged  = errors.New("it was changed")
)

// progress is the content of a requestState.
type progress struct {
	Tool    string            `json:"tool"`
	Answers []json.RawMessage `json:"answers"`          // answers to the first questions of the call
	Agreed  *bool             `json:"agreed,omitempty"` // for tools that believe it
	Once    string            `json:"once,omitempty"`   // makes the requestStates of tools with effects differ
}

func (s *server) sum(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// seal returns a signed requestState, which the client can read but not change.
func (s *server) seal(p progress) string {
	text := base64.RawURLEncoding.EncodeToString(encode(p))
	return text + "." + base64.RawURLEncoding.EncodeToString(s.sum(text))
}

func (c *call) unseal(state json.RawMessage) (p progress, err error) {
	if state == nil {
		return p, errNoState
	}
	if c.tool.plain {
		return c.written(rawjson.Text(state)), nil
	}
	text, seal, ok := strings.Cut(rawjson.Text(state), ".")
	if !ok {
		return p, errInvented
	}
	sum, err := base64.RawURLEncoding.DecodeString(seal)
	if err != nil || !hmac.Equal(sum, c.sum(text)) && !c.tool.unsigned {
		return p, errChanged
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(plain, &p)
	}
	return p, err
}

// written returns the progress of a tool whose requestState is plain text.
func (c *call) written(text string) progress {
	if text == "" {
		return progress{Tool: c.tool.name}
	}
	for name := range rawjson.Members([]byte("{" + c.tool.asks[0].fields + "}")) {
		answer := fmt.Appendf(nil, `{"action":"accept","content":{%q:%s}}`, name, encode(text))
		return progress{Tool: c.tool.name, Answers: []json.RawMessage{answer}}
	}
	return progress{Tool: c.tool.name}
}

// state returns the requestState after the answers so far.
func (c *call) state() string {
	if !c.tool.plain {
		p := progress{Tool: c.tool.name, Answers: c.answers}
		if c.tool.believes {
			p.Agreed = new(bool)
		}
		if c.tool.effect {
			p.Once = rand.Text()
		}
		return c.seal(p)
	}
	for _, answer := range c.answers {
		for _, value := range rawjson.Members(rawjson.Member(answer, "content")) {
			return plain(value)
		}
	}
	return ""
}

// resume reads the answers of earlier rounds from the requestState, and the answer of this
// round. It returns a reply if the call cannot continue.
func (c *call) resume(params json.RawMessage) *reply {
	responses, state := rawjson.Member(params, "inputResponses"), rawjson.Member(params, "requestState")
	if c.revision < mcp.Revision20260728 || responses == nil && state == nil {
		return nil
	}
	c.echoed = rawjson.Text(state)
	p, err := c.unseal(state)
	sender := find(p.Tool, c.revision)
	switch {
	case err != nil && err == c.tool.takes: // the tool accepts it
		c.answers = c.unknown(responses)
		return c.collect(responses)
	case err == errNoState:
		return nil // the call begins anew
	case err != nil:
		return rpcError(mcp.CodeInvalidParams, "requestState is not taken: "+err.Error(), nil)
	case sender != nil && sender.wanders:
		c.mu.Lock()
		c.tool = sender
		c.mu.Unlock()
	case sender != c.tool:
		return rpcError(mcp.CodeInvalidParams, "requestState belongs to another request", nil)
	}
	if c.tool.believes && p.Agreed != nil && *p.Agreed {
		return c.said(c.tool.says)
	}
	c.answers = p.Answers
	return c.collect(responses)
}

// unknown makes up answers to the questions before the one that the round answers, for a
// requestState that does not have them.
func (c *call) unknown(responses json.RawMessage) (list []json.RawMessage) {
	for n, q := range c.tool.asks[:len(c.tool.asks)-1] {
		if rawjson.Member(responses, keyOf(n)) != nil {
			break
		}
		content := map[string]string{}
		for name := range rawjson.Members([]byte("{" + q.fields + "}")) {
			content[name] = "somebody@example.com"
		}
		list = append(list, fmt.Appendf(nil, `{"action":"accept","content":%s}`, encode(content)))
	}
	return list
}

// collect adds the answer of this round, if there is one.
func (c *call) collect(responses json.RawMessage) *reply {
	key := keyOf(len(c.answers))
	for name := range rawjson.Members(responses) {
		if name != key && c.tool.needsNoOther {
			c.crash("KeyError: '"+name+"'", 1)
			return silence
		}
	}
	response := rawjson.Member(responses, key)
	switch {
	case response != nil:
		c.answers = append(c.answers, response)
	case c.tool.lax:
		c.answers = append(c.answers, []byte(`{"action":"accept","content":{}}`))
	case c.tool.scolds:
		return rpcError(mcp.CodeInvalidParams, "inputResponses lacks "+key, nil)
	case c.tool.needsKey:
		c.crash("KeyError: '"+key+"'", 1)
		return silence
	}
	return nil
}

func keyOf(question int) string { return fmt.Sprintf("question %d", question+1) }

// askInRound returns the answer if an earlier round or this one has it. Otherwise it ends
// the round with the question.
func (c *call) askInRound(params json.RawMessage) (answer, error) {
	n := c.asked - 1
	if n < len(c.answers) {
		return answerOf(c.answers[n], nil), nil
	}
	c.mu.Lock()
	c.last = c.tool
	c.mu.Unlock()
	return answer{}, c.result("input_required", fmt.Sprintf(`"inputRequests":{%q:{"method":%q,"params":%s}},"requestState":%q`,
		keyOf(n), mcp.MethodElicit, params, c.state()))
}
