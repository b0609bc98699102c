package views

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// shelf is one tab of the catalog.
type shelf struct{ name string }

var shelves = []shelf{{"Tools"}, {"Prompts"}, {"Resources"}}

func (k shelf) lower() string { return strings.ToLower(k.name) }
func (k shelf) id() string    { return k.lower() }

func (k shelf) items(c Catalog) []Item {
	switch k.name {
	case "Prompts":
		return c.Prompts
	case "Resources":
		return c.Resources
	}
	return c.Tools
}

// about is what an item says of itself in one line.
func (i Item) about() string {
	key := ""
	if i.Kind == Resource || i.Kind == Template {
		key = i.Key
	}
	title := i.Title
	if title == i.Name {
		title = ""
	}
	return cmp.Or(i.Description, title, key)
}

// inOrder parts the questions of call from those of the others, and of these
// what waits from what is settled. Each part has what waits for the person
// first, then what waits for an outcome, both oldest first, and then what is
// settled, latest first. With call 0 all are the call's own.
func inOrder(questions []Question, call int) (own, waiting, earlier []Question) {
	sorted := slices.Clone(questions)
	slices.SortStableFunc(sorted, func(a, b Question) int {
		stage := a.stage()
		switch other := b.stage(); {
		case stage != other:
			return stage - other
		case stage < settledStage:
			return a.Number - b.Number
		}
		return b.Number - a.Number
	})
	for _, q := range sorted {
		other := call != 0 && q.Call > 0 && q.Call != call // of some it cannot be told
		switch {
		case !other:
			own = append(own, q)
		case q.stage() < settledStage:
			waiting = append(waiting, q)
		default:
			earlier = append(earlier, q)
		}
	}
	return own, waiting, earlier
}

// settledStage is the stage of a question that nothing is to come of.
const settledStage = 2

// stage says how far a question is: 0 while it waits for the person, 1 while
// its outcome is to come.
func (q Question) stage() int {
	switch {
	case q.State == QuestionPending:
		return 0
	case q.awaits():
		return 1
	}
	return settledStage
}

func (q Question) id() string { return "q" + strconv.Itoa(q.Number) }

// waiting counts the questions that wait.
func waiting(questions []Question) int {
	n := 0
	for _, q := range questions {
		if q.State == QuestionPending {
			n++
		}
	}
	return n
}
