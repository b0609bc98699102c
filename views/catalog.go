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

// inOrder puts the questions that wait first, oldest on top, and then the
// settled ones, latest on top.
func inOrder(questions []Question) []Question {
	out := slices.Clone(questions)
	slices.SortStableFunc(out, func(a, b Question) int {
		pa, pb := a.State == QuestionPending, b.State == QuestionPending
		switch {
		case pa && !pb:
			return -1
		case pb && !pa:
			return 1
		case pa:
			return a.Number - b.Number
		}
		return b.Number - a.Number
	})
	return out
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
