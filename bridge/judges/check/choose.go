package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Wanted names a call that the user asked to check.
type Wanted struct {
	Kind      conversation.Kind // "" takes the first tool, else prompt, else resource with this key
	Key       string
	Arguments json.RawMessage // nil lets the check make them up
	Timeout   time.Duration   // 0 takes the timeout of all calls
	Honest    []*script.Script
	Witness   *script.Witness // nil for that of all calls
}

// ErrNotOffered is the error for a wanted call that the server does not offer.
var ErrNotOffered = errors.New("does not offer")

// chosen is a call that the check makes, with its honest answers.
type chosen struct {
	report.Call
	other   json.RawMessage // other arguments that are valid, too; nil if there are none
	honest  honest
	timeout time.Duration
	asTask  bool            // it can be called as a task only, where there are tasks
	witness *script.Witness // nil for none
	watcher *watcher        // of witness
}

// choose returns the calls to make, and the offered ones to skip with their reasons.
func (o *Options) choose(offered []conversation.Item) (calls []chosen, skipped []report.NotMade, err error) {
	items, wanted := offered, make([]Wanted, len(offered)) // all that is offered, unless some of it is named
	if len(o.Wanted) > 0 {
		wanted, items = o.Wanted, make([]conversation.Item, len(o.Wanted))
		for i, w := range wanted {
			if items[i], err = find(offered, w); err != nil {
				return nil, nil, err
			}
		}
	}
	for i, w := range wanted {
		item := items[i]
		c := chosen{
			Call:   report.Call{Kind: item.Kind, Key: item.Key, Title: item.Title, Arguments: w.Arguments, Destructive: item.Destructive},
			honest: honestOf(append(slices.Clone(w.Honest), o.Honest...)), timeout: w.Timeout, asTask: item.Tasks == conversation.TaskRequired, witness: w.Witness,
		}
		if c.witness == nil {
			c.witness = o.Witness
		}
		why := o.forbids(item)
		if why == "" && w.Arguments == nil {
			why = c.makeUp(item)
		}
		c.other = otherArguments(item.Schema, c.Arguments)
		if why != "" {
			skipped = append(skipped, report.NotMade{Call: c.Call, Why: why})
		} else {
			calls = append(calls, c)
		}
	}
	return calls, skipped, nil
}

// Calls returns the calls that a check makes of what a server offers, and those that it does not make.
func Calls(offered []conversation.Item, o Options) (calls []report.Call, skipped []report.NotMade, err error) {
	list, skipped, err := o.choose(offered)
	for _, c := range list {
		calls = append(calls, c.Call)
	}
	return calls, skipped, err
}

func find(items []conversation.Item, w Wanted) (conversation.Item, error) {
	var names []string
	for _, kind := range []conversation.Kind{conversation.Tool, conversation.Prompt, conversation.Resource, conversation.Template} {
		if w.Kind != "" && w.Kind != kind {
			continue
		}
		for _, item := range items {
			if item.Kind == kind && item.Key == w.Key {
				return item, nil
			}
			if item.Kind == kind {
				names = append(names, item.Key)
			}
		}
	}
	if w.Kind == conversation.Resource { // the list has templates, but not the resources that they stand for
		return conversation.Item{Kind: w.Kind, Key: w.Key}, nil
	}
	return conversation.Item{}, fmt.Errorf("%w %q%s", ErrNotOffered, w.Key, conversation.Instead(w.Key, names))
}

const skippedByPlan = "The plan skips it."

// forbids returns the reason why the options forbid a call; "" if they allow it.
func (o *Options) forbids(item conversation.Item) string {
	matches := func(t *script.Text) bool { return t.Matches(item.Key) }
	switch {
	case slices.ContainsFunc(o.Skip, matches):
		return skippedByPlan
	case item.Destructive && !slices.ContainsFunc(o.AllowDestructive, matches):
		return "It is annotated with destructiveHint. --allow-destructive " + wording.ShellWord(script.Literal(item.Key)) + " calls it all the same."
	case o.ReadOnly && item.Kind == conversation.Tool && !item.ReadOnly:
		return "It is not annotated with readOnlyHint, and only what is so is to be called."
	case item.Kind == conversation.Template:
		return "Nothing says what its variables can be. Name a resource in a plan."
	}
	return ""
}

// makeUp sets made-up arguments. It returns the reason if that fails, or else "".
func (c *chosen) makeUp(item conversation.Item) (why string) {
	arguments, err := elicit.Arguments(item.Schema)
	if err != nil {
		return fmt.Sprintf("No arguments could be made up: %v. Give them with --args or in a plan.", err)
	}
	c.Arguments, c.MadeUp = arguments, arguments != nil
	if arguments == nil && item.Kind == conversation.Tool { // many servers refuse a tool call without arguments
		c.Arguments = json.RawMessage(`{}`)
	}
	return ""
}
