package faulty

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

// reaction is a tool's wrong reaction to an answer.
type reaction = func(*call, answer) (json.RawMessage, error)

// on returns the slip of a tool that reacts wrongly to one kind of answer.
func on(when func(answer, []elicit.Problem) bool, then reaction) []slip {
	return []slip{{when, then}}
}

// Conditions on answers.

func declined(a answer, _ []elicit.Problem) bool  { return a.action == "decline" }
func cancelled(a answer, _ []elicit.Problem) bool { return a.action == "cancel" }
func anError(a answer, _ []elicit.Problem) bool   { return a.failure != "" }

func unaccepted(a answer, _ []elicit.Problem) bool { return a.action != "accept" }

func declinedWithContent(a answer, _ []elicit.Problem) bool {
	return a.action == "decline" && a.content != nil
}

func cancelledWithContent(a answer, _ []elicit.Problem) bool {
	return a.action == "cancel" && a.content != nil
}

func unknownAction(a answer, _ []elicit.Problem) bool {
	return a.action != "" && !slices.Contains([]string{"accept", "decline", "cancel"}, a.action)
}

func noAction(a answer, _ []elicit.Problem) bool {
	return a.failure == "" && a.action == "" && a.content != nil
}

// noObject is the condition for a result that is not an object.
func noObject(a answer, _ []elicit.Problem) bool { return a.odd }

func saysNo(a answer, problems []elicit.Problem) bool {
	return a.action == "accept" && len(problems) == 0 && string(rawjson.Member(a.content, "confirm")) == "false"
}

func withContent(a answer, _ []elicit.Problem) bool {
	return a.action == "accept" && a.content != nil
}

func withoutContent(a answer, _ []elicit.Problem) bool {
	return a.action == "accept" && a.content == nil
}

func withNull(a answer, _ []elicit.Problem) bool {
	return a.action == "accept" && rawjson.KindOf(a.content) == rawjson.Null
}

func withList(a answer, _ []elicit.Problem) bool {
	return a.action == "accept" && rawjson.KindOf(a.content) == rawjson.Array
}

// breaking returns a condition for content that is an object and breaks only these
// keywords of its schema.
func breaking(keywords ...string) func(answer, []elicit.Problem) bool {
	return func(a answer, problems []elicit.Problem) bool {
		return rawjson.KindOf(a.content) == rawjson.Object && len(problems) > 0 &&
			!slices.ContainsFunc(problems, func(p elicit.Problem) bool { return !slices.Contains(keywords, p.Keyword) })
	}
}

// fractional is the condition for content with a fraction in place of a whole number, and
// no other problem.
func fractional(a answer, problems []elicit.Problem) bool {
	return breaking("type")(a, problems) &&
		!slices.ContainsFunc(problems, func(p elicit.Problem) bool {
			return rawjson.KindOf(rawjson.At(a.content, p.Pointer)) != rawjson.Number
		})
}

// numberAsText is the condition for content with digits in a text in place of a number, and no
// other problem.
func numberAsText(a answer, problems []elicit.Problem) bool {
	return breaking("type")(a, problems) && !slices.ContainsFunc(problems, func(p elicit.Problem) bool {
		text := rawjson.Text(rawjson.At(a.content, p.Pointer))
		return text == "" || strings.Trim(text, "0123456789") != ""
	})
}

// Reactions.

// recall continues with the last content of the session.
func recall(c *call, _ answer) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if content, ok := c.kept[c.tool.name]; ok {
		return content, nil
	}
	return nil, c.failed("Nothing was done, because there is no answer.")
}

func hang(c *call, _ answer) (json.RawMessage, error) { return nil, c.hang() }

// act uses the content of the answer.
func act(_ *call, a answer) (json.RawMessage, error) { return a.content, nil }

func askAgain(*call, answer) (json.RawMessage, error) { return nil, errAgain }

// crash ends the process with this error message; without a message, with exit code 0.
func crash(words string) reaction {
	return func(c *call, _ answer) (json.RawMessage, error) {
		code := 1
		if words == "" {
			code = 0
		}
		c.crash(words, code)
		return nil, silence
	}
}

// crashLater ends the process at the second answer of a call.
func crashLater(c *call, a answer) (json.RawMessage, error) {
	if c.asked > 1 {
		return crash("panic: assignment to entry in nil map")(c, a)
	}
	return nil, c.said("You do not move.")
}

// spoil makes the tool unusable, and ends this call.
func spoil(c *call, _ answer) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spoilt[c.tool.name] = true
	return nil, c.said("Nothing was done.")
}

// fail ends the call with a result that has isError.
func fail(text string) reaction {
	return func(c *call, _ answer) (json.RawMessage, error) { return nil, c.failed(text) }
}

// say ends the call with a result.
func say(text string) reaction {
	return func(c *call, _ answer) (json.RawMessage, error) { return nil, c.said(text) }
}

// refuse ends the call with a JSON-RPC error.
func refuse(message string, data any) reaction {
	return func(*call, answer) (json.RawMessage, error) {
		var more json.RawMessage
		if data != nil {
			more = encode(data)
		}
		return nil, rpcError(mcp.CodeInternalError, message, more)
	}
}
