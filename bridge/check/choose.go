package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/script"
	"elicitation-inspector/bridge/spelling"
)

// Wanted is a call that is to be put on trial.
type Wanted struct {
	Kind      catalog.Kind // "" for any: a tool, or else a prompt, or else a resource
	Key       string
	Arguments json.RawMessage // nil to make them up
	Timeout   time.Duration   // 0 for that of all calls
	Honest    []*script.Script
}

// ErrNotOffered is for a call that is wanted and that the server does not offer.
var ErrNotOffered = errors.New("the server does not offer")

// chosen is a call with how it is answered honestly.
type chosen struct {
	Call
	honest  honest
	timeout time.Duration
}

// choose says which calls are made, and which are not.
func (o *Options) choose(items []catalog.Item) (calls []chosen, skipped []Skipped, err error) {
	wanted := o.Wanted
	for _, item := range items {
		if len(o.Wanted) == 0 {
			wanted = append(wanted, Wanted{Kind: item.Kind, Key: item.Key})
		}
	}
	for _, w := range wanted {
		item, err := find(items, w)
		if err != nil {
			return nil, nil, err
		}
		c := chosen{
			Call:   Call{Kind: item.Kind, Key: item.Key, Title: item.Title, Arguments: w.Arguments},
			honest: honestOf(append(slices.Clone(w.Honest), o.Honest...)), timeout: w.Timeout,
		}
		why := o.forbids(item)
		if why == "" && w.Arguments == nil {
			why = c.makeUp(item)
		}
		if why != "" {
			skipped = append(skipped, Skipped{c.Call, why})
		} else {
			calls = append(calls, c)
		}
	}
	return calls, skipped, nil
}

// find finds what is wanted among what is offered.
func find(items []catalog.Item, w Wanted) (catalog.Item, error) {
	var names []string
	for _, kind := range []catalog.Kind{catalog.Tool, catalog.Prompt, catalog.Resource, catalog.Template} {
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
	if w.Kind == catalog.Resource { // one that a template stands for is in no list
		return catalog.Item{Kind: w.Kind, Key: w.Key}, nil
	}
	hint := ""
	if meant := spelling.Nearest(w.Key, names); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return catalog.Item{}, fmt.Errorf("%w %q%s", ErrNotOffered, w.Key, hint)
}

// forbids says why something must not be called; "" if it may.
func (o *Options) forbids(item catalog.Item) string {
	skips := func(t *script.Text) bool { return t.Matches(item.Key) }
	switch {
	case slices.ContainsFunc(o.Skip, skips):
		return "The plan skips it."
	case item.Destructive && !slices.Contains(o.AllowDestructive, item.Key):
		return "It is annotated with destructiveHint. --allow-destructive " + item.Key + " calls it all the same."
	case o.ReadOnly && item.Kind == catalog.Tool && !item.ReadOnly:
		return "It is not annotated with readOnlyHint, and only what is so is to be called."
	case item.OnlyAsTask:
		return "It can be called as a task alone."
	case item.Kind == catalog.Template:
		return "Nothing says what its variables can be. Name a resource in a plan."
	}
	return ""
}

// makeUp makes up the arguments of a call. It returns why that failed, or "".
func (c *chosen) makeUp(item catalog.Item) (why string) {
	arguments, err := MadeUp(item.Schema)
	if err != nil {
		return fmt.Sprintf("No arguments could be made up: %v. Give them with --args or in a plan.", err)
	}
	c.Arguments, c.MadeUp = arguments, arguments != nil
	if arguments == nil && item.Kind == catalog.Tool { // many servers refuse a call without the member
		c.Arguments = json.RawMessage(`{}`)
	}
	return ""
}
