package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/mcp"
)

// Kind is the kind of an item.
type Kind string

// The kinds of item.
const (
	Tool     Kind = "tool"
	Prompt   Kind = "prompt"
	Resource Kind = "resource"
	Template Kind = "template"
)

// KindOf returns the kind of the items that requests of a method use.
func KindOf(method string) Kind {
	switch method {
	case mcp.MethodGetPrompt:
		return Prompt
	case mcp.MethodReadResource:
		return Resource
	}
	return Tool
}

// Item is one entry of a server's lists.
type Item struct {
	Kind        Kind
	Key         string // name of a tool or prompt, URI, or URI template
	Name        string
	Title       string
	Description string
	MIME        string
	// Schema describes the arguments: the exact inputSchema of a tool, or a schema made
	// from a prompt's arguments or a template's variables.
	Schema json.RawMessage
	// OnlyAsTask is set for a tool that can only be called as a task (specification
	// 2025-11-25, Tasks, Tool-Level Negotiation).
	OnlyAsTask bool
	// ReadOnly and Destructive are a tool's annotations readOnlyHint and
	// destructiveHint where they say true.
	ReadOnly, Destructive bool
	// MayAsk is set if the title or the description speaks of asking the user.
	MayAsk bool
}

// Catalog holds all items of a server.
type Catalog struct {
	Server  string // id
	Loading bool
	Items   []Item   // tools, prompts, resources, templates; each in the server's order
	Errors  []string // one text for each list with problems
}

// Errors of [Catalog.Find].
var (
	ErrUnknownItem = errors.New("the server has listed no such item")
	ErrLoading     = errors.New("the server's lists are still being read")
)

// Find returns the item with this kind and key.
func (c Catalog) Find(kind Kind, key string) (Item, error) {
	i := slices.IndexFunc(c.Items, func(item Item) bool { return item.Kind == kind && item.Key == key })
	switch {
	case i >= 0:
		return c.Items[i], nil
	case c.Loading:
		return Item{}, ErrLoading
	}
	return Item{}, fmt.Errorf("%w: %s %q", ErrUnknownItem, kind, key)
}

// Part holds the items of one list.
type Part struct {
	Items  []Item
	Errors []string
}

// Join returns the catalog with the given parts, which are keyed by list method.
func Join(server string, parts map[string]Part) Catalog {
	all := Catalog{Server: server}
	for _, l := range Lists {
		all.Items = append(all.Items, parts[l.Method].Items...)
		all.Errors = append(all.Errors, parts[l.Method].Errors...)
	}
	return all
}

// List is one of the lists that a server can have.
type List struct {
	Method string
	member string // member of the result that holds the entries
	kind   Kind
}

// Lists holds all lists, in the order of a catalog.
var Lists = []List{
	{mcp.MethodListTools, "tools", Tool},
	{mcp.MethodListPrompts, "prompts", Prompt},
	{mcp.MethodListResources, "resources", Resource},
	{mcp.MethodListTemplates, "resourceTemplates", Template},
}

// ListOf returns the list with this method.
func ListOf(method string) (List, bool) {
	i := slices.IndexFunc(Lists, func(l List) bool { return l.Method == method })
	if i < 0 {
		return List{}, false
	}
	return Lists[i], true
}

// Bounds on all lists of one server together, because a page can be as large as a
// message, and a list can have any number of pages.
const (
	CatalogMost = 64 << 20
	MostItems   = 150_000
)

// Room is the unused or the used part of these bounds.
type Room struct{ Bytes, Items int }

// take subtracts one entry of size bytes. It returns false if there is not enough room.
func (r *Room) take(size int) bool {
	if r.Items == 0 || size > r.Bytes {
		return false
	}
	r.Items--
	r.Bytes -= size
	return true
}
