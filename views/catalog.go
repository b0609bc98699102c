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

// inOrder puts the questions that wait first and then those whose outcome is to
// come, oldest on top, and then the settled ones, latest on top.
func inOrder(questions []Question) []Question {
	out := slices.Clone(questions)
	slices.SortStableFunc(out, func(a, b Question) int {
		rank := a.rank()
		switch other := b.rank(); {
		case rank != other:
			return rank - other
		case rank < 2:
			return a.Number - b.Number
		}
		return b.Number - a.Number
	})
	return out
}

// rank is the group of the panel that a question stands in, from the top: those
// that wait for the person, those whose outcome is to come, and the settled ones.
func (q Question) rank() int {
	switch {
	case q.State == QuestionPending:
		return 0
	case q.awaits():
		return 1
	}
	return 2
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
