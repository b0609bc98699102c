package views

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/catalog"
)

// Shelf is one tab of the catalog.
type Shelf string

// Shelves are the tabs, in their order.
var Shelves = []Shelf{"tools", "prompts", "resources"}

func (k Shelf) name() string { return capital(string(k)) }

// OffersID is the id of the element in which the servers' offers stand.
func (k Shelf) OffersID() string { return string(k) + "-offers" }

// OfferID is the id of the element of what a server has on a shelf.
func OfferID(server string, k Shelf) string { return "offer-" + server + "-" + string(k) }

// Bounds on a list of what can be called.
const (
	WholeList  = 300     // items that the page fetches at once
	FirstItems = 60      // of a longer list, that it is drawn with
	ItemsMost  = 150_000 // that can be scrolled to: more are higher than an element can be
)

// rows are the items of a list, each as a component.
func (l List) rows() []templ.Component {
	out := make([]templ.Component, len(l.Items))
	for i, item := range l.Items {
		out[i] = itemRow(item, l.From+i, l.Total)
	}
	return out
}

func nothing(int) templ.Component { return templ.NopComponent }

// Handle names an item on the page: its key, or where that is long what stands
// for it in this run.
func (i Item) Handle() string { return Handle(i.Key) }

// Handle is what stands for a key on the page; see [Item.Handle].
func Handle(key string) string {
	if len(key) <= NameMost {
		return key
	}
	return Brief(key) + digest(key)
}

// ShelfOf is the tab that items of a kind stand in.
func ShelfOf(kind catalog.Kind) Shelf {
	switch kind {
	case catalog.Tool:
		return "tools"
	case catalog.Prompt:
		return "prompts"
	case catalog.Resource, catalog.Template:
	}
	return "resources"
}

func (i Item) id() string { return fmt.Sprintf("%s-%s-%d", i.Server, ShelfOf(i.Kind), i.Index) }

// AboutID is the id of the element that [ItemAbout] draws.
func (i Item) AboutID() string { return i.id() + "-about" }

// RowID and HeldID are the ids of the elements that [ServerRow] and [HeldLine] draw.
func (s Server) RowID() string  { return "server-" + s.ID }
func (s Server) HeldID() string { return "held-" + s.ID }

// about is what an item says of itself in one line.
func (i Item) about() string {
	key := ""
	if i.Kind == catalog.Resource || i.Kind == catalog.Template {
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
