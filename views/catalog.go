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

// span are questions of a list: n of them, from an index on.
type span struct{ from, n int }

// inOrder puts the questions that wait first and then those whose outcome is to
// come, oldest on top, and then the settled ones, latest on top. Those of call
// come before the others, which is 0 where no call is to be told from others;
// it also says which of them wait in other calls.
func inOrder(questions []Question, call int) (sorted []Question, others span) {
	sorted = slices.Clone(questions)
	slices.SortStableFunc(sorted, func(a, b Question) int {
		rank := a.rank(call)
		switch other := b.rank(call); {
		case rank != other:
			return rank - other
		case rank < settledRank:
			return a.Number - b.Number
		}
		return b.Number - a.Number
	})
	for _, q := range sorted {
		switch rank := q.rank(call); {
		case rank < othersRank:
			others.from++
		case rank < settledRank:
			others.n++
		}
	}
	return sorted, others
}

// The groups of the panel, from the top: for the call on show and then for the
// others those that wait for the person and those whose outcome is to come, and
// below all of them the settled ones.
const (
	othersRank  = 2
	settledRank = 4
)

// rank is the group that a question stands in.
func (q Question) rank(call int) int {
	other := call > 0 && q.Call > 0 && q.Call != call // of some it cannot be told
	switch {
	case q.State == QuestionPending && other:
		return othersRank
	case q.State == QuestionPending:
		return 0
	case q.awaits() && other:
		return othersRank + 1
	case q.awaits():
		return 1
	case other:
		return settledRank + 1
	}
	return settledRank
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
