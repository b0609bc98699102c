package views

import (
	"cmp"
	"fmt"
	"net/url"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views/markup"
)

// Shelf is one tab of the catalog.
type Shelf string

// Shelves are the tabs, in their order.
var Shelves = []Shelf{"tools", "prompts", "resources"}

// halves splits the name of an item, so that a narrow list cuts it in the middle: names that
// differ often do so at their end.
func (i Item) halves() (front, back string) {
	name := []rune(markup.Brief(i.Name))
	if len(name) <= 2*backMost {
		return string(name), ""
	}
	return string(name[:len(name)-backMost]), string(name[len(name)-backMost:])
}

// backMost is how many characters of a long name stand after the cut.
const backMost = 10

// named names the button of an item whose name is drawn in halves.
func (i Item) named() templ.OrderedAttributes {
	_, back := i.halves()
	return markup.When(back != "", "aria-label", markup.Brief(i.Name))
}

func (k Shelf) name() string { return wording.Capital(string(k)) }

// OffersID is the id of the element with the items of all servers.
func (k Shelf) OffersID() string { return string(k) + "-offers" }

// OfferID is the id of the element with a server's items on a shelf.
func OfferID(server string, k Shelf) string { return "offer-" + server + "-" + string(k) }

// Limits of a list of items.
const (
	WholeList  = 300     // items that the page fetches at once
	FirstItems = 60      // items that a longer list is drawn with
	ItemsMost  = 150_000 // items that can be scrolled to: more would be higher than an element can be
)

func (l List) rows() []templ.Component {
	out := make([]templ.Component, len(l.Items))
	for i, item := range l.Items {
		out[i] = itemRow(item, l.From+i, l.Total)
	}
	return out
}

// Handle identifies an item on the page: by its key, or for long keys by a substitute
// that is valid in this run.
func (i Item) Handle() string { return Handle(i.Key) }

// choices is the beginning of the URL of the choices of a field of its form.
func (i Item) choices() string {
	return "/form/choices?" + url.Values{"server": {i.Server}, "kind": {string(i.Kind)}, "key": {i.Handle()}}.Encode() + "&"
}

// Handle returns the identifier of a key on the page; see [Item.Handle].
func Handle(key string) string {
	if len(key) <= markup.NameMost {
		return key
	}
	return markup.Brief(key) + markup.Digest(key)
}

// ShelfOf returns the tab for items of a kind.
func ShelfOf(kind conversation.Kind) Shelf {
	switch kind {
	case conversation.Tool:
		return "tools"
	case conversation.Prompt:
		return "prompts"
	case conversation.Resource, conversation.Template:
	}
	return "resources"
}

func (i Item) id() string { return fmt.Sprintf("%s-%s-%d", i.Server, ShelfOf(i.Kind), i.Index) }

// AboutID is the id of the element that [ItemAbout] draws.
func (i Item) AboutID() string { return i.id() + "-about" }

// titled reports whether an item has a title for people besides its name.
func (i Item) titled() bool { return i.Title != "" && i.Title != i.Name }

// whole returns what people and programs call an item, for where not all of it may fit.
func (i Item) whole() string {
	return wording.Join(" · ", wording.Either(i.titled(), markup.Brief(i.Title), ""), markup.Brief(i.Name))
}

// about describes an item in one line, in the server's words.
func (i Item) about() string {
	key := wording.Either(i.Kind == conversation.Resource || i.Kind == conversation.Template, i.Key, "")
	title := wording.Either(i.Title != i.Name, i.Title, "")
	return cmp.Or(i.Description, title, key)
}
