// Package catalog is what a server offers: tools, prompts, resources and resource
// templates, as its lists say on the wire.
package catalog

import (
	"encoding/json"
	"slices"

	"elicitation-inspector/bridge/mcp"
)

// Kind tells what can be called.
type Kind string

// The kinds of item.
const (
	Tool     Kind = "tool"
	Prompt   Kind = "prompt"
	Resource Kind = "resource"
	Template Kind = "template"
)

// Item is one thing that a server offers, as its list said.
type Item struct {
	Kind        Kind
	Key         string // name, or URI, or URI template
	Name        string
	Title       string
	Description string
	MIME        string
	// Schema describes the arguments: a tool's inputSchema as it was on the
	// wire, or one drawn up from a prompt's arguments or a template's variables.
	Schema json.RawMessage
	// OnlyAsTask says that a tool can be called as a task alone (specification
	// 2025-11-25, Tasks, Tool-Level Negotiation).
	OnlyAsTask bool
}

// Catalog is all that a server offers.
type Catalog struct {
	Server  string // id
	Loading bool
	Items   []Item   // tools, prompts, resources, templates; each in the server's order
	Errors  []string // lists that could not be read, and why
}

// Part is what is known of one list.
type Part struct {
	Items  []Item
	Errors []string
}

// Join makes a catalog of the parts that are known, by method.
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
	member string // of the result
	kind   Kind
}

// Lists are all lists, in the order of a catalog.
var Lists = []List{
	{mcp.MethodListTools, "tools", Tool},
	{mcp.MethodListPrompts, "prompts", Prompt},
	{mcp.MethodListResources, "resources", Resource},
	{mcp.MethodListTemplates, "resourceTemplates", Template},
}

// ListOf finds a list by its method.
func ListOf(method string) (List, bool) {
	i := slices.IndexFunc(Lists, func(l List) bool { return l.Method == method })
	if i < 0 {
		return List{}, false
	}
	return Lists[i], true
}

// Bounds on what the lists of one server take together: a page can be as large as
// a message, and a list can have very many.
const (
	MostBytes = 64 << 20
	MostItems = 150_000
)

// Room is what of those bounds is left, or taken.
type Room struct{ Bytes, Items int }

// take takes the room of one entry, and reports whether there was so much.
func (r *Room) take(size int) bool {
	if r.Items == 0 || size > r.Bytes {
		return false
	}
	r.Items--
	r.Bytes -= size
	return true
}
