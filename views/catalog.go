package views

import (
	"cmp"
	"fmt"

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

// about is what an item says of itself in one line.
func (i Item) about() string {
	key := either(i.Kind == catalog.Resource || i.Kind == catalog.Template, i.Key, "")
	title := either(i.Title != i.Name, i.Title, "")
	return cmp.Or(i.Description, title, key)
}
