package demo

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
)

// breach is one way to break a rule.
type breach struct {
	Name          string
	What          string // completes "This breaks a rule: …"
	Since, Before string // first revision, and first later one without it; empty for no limit

	// The message to send: one of these fields, unless wrongs has a function for the name.
	Schema       json.RawMessage   // schema of an otherwise valid form
	Params       json.RawMessage   // params of the elicitation; null for none
	Reply        json.RawMessage   // the result
	Asks         json.RawMessage   // inputRequests of an input-required result
	Elicitations json.RawMessage   // elicitations of an error -32042
	Completions  []json.RawMessage // params of notifications; null for none
}

func (b breach) id() string { return b.Name }

//go:embed breaches.json
var breachesJSON string

var breaches = read[[]breach](breachesJSON)

func ruleBreaker(ctx context.Context, v *visit, args struct{ Rule string }) (*mcp.CallToolResult, error) {
	b := chosen(args.Rule, breaches())
	wrong := wrongs[b.Name]
	switch {
	case v.Revision < b.Since && b.Before == "":
		return said("%s cannot be done in %s: it needs %s or later.", b.Name, v.Revision, b.Since), nil
	case v.Revision < b.Since || b.Before != "" && v.Revision >= b.Before:
		return said("%s cannot be done in %s: it needs a revision from %s to before %s.", b.Name, v.Revision, b.Since, b.Before), nil
	case wrong != nil:
		return wrong(ctx, v, b)
	case b.Reply != nil:
		return nil, exactly("%s", b.Reply)
	case b.Asks != nil && len(v.notes.Memos) > 0:
		return b.told(answer{Action: "a retry"}, nil)
	case b.Asks != nil:
		v.memo("asked", func() string { return "yes" })
		return nil, exactly(`{"resultType":"input_required","inputRequests":%s,"requestState":%q}`, b.Asks, v.state())
	case b.Elicitations != nil:
		return nil, urlRequired("This breaks a rule: "+b.What+".", b.Elicitations)
	case b.Completions != nil:
		for _, params := range b.Completions {
			v.session.Notify(v.stream(), protocol.NotificationElicitComplete, params)
		}
		return b.told(answer{Action: "not needed"}, nil)
	}
	return b.ask(ctx, v, question{key: "broken", message: "Which one would you like?", schema: string(b.Schema), params: b.paramsFor(v.Revision)})
}

// paramsFor removes the mode in revisions without modes, so that only the intended rule is broken.
func (b breach) paramsFor(revision string) json.RawMessage {
	if revision < protocol.Revision20251125 {
		return bytes.Replace(b.Params, []byte(`{"mode":"form",`), []byte(`{`), 1)
	}
	return b.Params
}

// ask asks a question regardless of the client's capabilities, and returns the result of told.
func (b breach) ask(ctx context.Context, v *visit, q question) (*mcp.CallToolResult, error) {
	q.unruly = true
	a, err := v.answer(ctx, q)
	return b.told(a, err)
}

// told returns a result that names the broken rule and the outcome.
func (b breach) told(a answer, err error) (*mcp.CallToolResult, error) {
	rule := "This breaks a rule: " + b.What + "."
	if what, none := strings.CutPrefix(b.What, "none; but "); none {
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

// sizes is a valid question.
var sizes = question{key: "size", message: "Which size?", schema: object(`"size":{"type":"string","title":"Size","enum":["S","M"]}`)}

// wrongs holds the breaches that take more than one message, by name.
var wrongs = map[string]func(context.Context, *visit, breach) (*mcp.CallToolResult, error){
	"undeclared_mode": func(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
		link := question{key: "broken", message: "Sign in to Parcels.", url: "https://parcels.example/login", id: "rule-4"}
		form := sizes
		form.key = "broken"
		switch {
		case v.missing(link) != "" && v.Revision >= protocol.Revision20251125:
			return b.ask(ctx, v, link)
		case v.missing(form) != "":
			return b.ask(ctx, v, form)
		}
		return said("This client has declared every mode of %s, so there is none left to break the rule with. Declare fewer and call again.", v.Revision), nil
	},
	"asked_twice": func(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
		q := question{key: "first", message: "Which size?", schema: object(`"size":{"type":"string","title":"Size","enum":["S","M","L"]}`, "size")}
		a, err := v.answer(ctx, q)
		if err == nil && a.accepted() {
			q.key = "second"
			a, err = v.answer(ctx, q)
		}
		return b.told(a, err)
	},
	"reused_elicitation_id": func(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
		var a answer
		var err error
		for _, town := range []string{"Amber", "Birch"} {
			if err == nil {
				a, err = v.answer(ctx, question{key: town, message: "Sign in to the archive of " + town + ".", url: "https://archive.example/" + town, id: "rule-5"})
			}
		}
		return b.told(a, err)
	},
	"left_over_request": func(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
		res, err := v.session.request(ctx, v.Out, protocol.MethodElicit, sizes.encode(v.Revision))
		if err != nil {
			return b.told(answer{}, refusal(err))
		}
		return b.told(sizes.answerOf(res))
	},
	"empty_state": func(ctx context.Context, v *visit, b breach) (*mcp.CallToolResult, error) {
		if v.Answer(sizes.key) == nil {
			return nil, exactly(`{"resultType":"input_required","inputRequests":{"size":{"method":%q,"params":%s}},"requestState":""}`, protocol.MethodElicit, sizes.encode(v.Revision))
		}
		a, err := v.answer(ctx, sizes)
		return b.told(a, err)
	},
}
