package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
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
	Tasks  TaskSupport // of a tool
	// ReadOnly and Destructive are a tool's annotations readOnlyHint and
	// destructiveHint where they say true.
	ReadOnly, Destructive bool
	// MayAsk is set if the name, the title or the description speaks of asking a person, or the
	// tool is annotated as destructive.
	MayAsk bool
}

// Catalog holds all items of a server.
type Catalog struct {
	Server  string // id
	Loading bool
	Waits   string   // the requests for a list that have no response after a moment, in words; "" for none
	Items   []Item   // tools, prompts, resources, templates; each in the server's order
	Errors  []string // one text for each problem of a list
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
	Taken  Room // part of the catalog's room that the items take
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
	Member string // member of the result that holds the entries
	Kind   Kind
}

// Key is the member of an entry by which it is known to clients.
func (l List) Key() string {
	switch l.Kind {
	case Resource:
		return "uri"
	case Template:
		return "uriTemplate"
	}
	return "name"
}

// Lists holds all lists, in the order of a catalog.
var Lists = []List{
	{mcp.MethodListTools, "tools", Tool},
	{mcp.MethodListPrompts, "prompts", Prompt},
	{mcp.MethodListResources, "resources", Resource},
	{mcp.MethodListTemplates, "resourceTemplates", Template},
}

// CatalogMost bounds all lists of one server together, because a page can be as large as a
// message, and a list can have any number of pages.
var CatalogMost = Room{Bytes: 64 << 20, Items: 150_000}

// Room is the unused or the used part of such a bound.
type Room struct{ Bytes, Items int }

type entry struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// asksTheModel matches texts about requests that no person answers.
var asksTheModel = lazy.Regexp(`(?i)\b(sampling|asks? (the |a )?(model|LLM)|lists? (the )?roots)\b`)

// wordBreaks makes words of the parts of a name.
var wordBreaks = strings.NewReplacer("_", " ", "-", " ", ".", " ", "/", " ")

var speaksOfAsking = lazy.Regexp(`(?i)\b(ask(s|ed|ing)?|question(s)?|confirm(s|ed|ation)?|elicit(s|ation|ations)?|approv(e|es|al)|sign(s)? in)\b`)

func (l List) item(raw json.RawMessage) (Item, error) {
	var e struct {
		entry
		MIME        string          `json:"mimeType"`
		URI         string          `json:"uri"`
		Template    string          `json:"uriTemplate"`
		Schema      json.RawMessage `json:"inputSchema"`
		Annotations json.RawMessage `json:"annotations"`
		Execution   json.RawMessage `json:"execution"`
	}
	if err := DecodeResult(raw, &e); err != nil {
		return Item{}, err
	}
	i := Item{Kind: l.Kind, Key: e.Name, Title: e.Title, Description: e.Description, MIME: e.MIME}
	var err error
	switch l.Kind {
	case Tool:
		i.Schema = e.Schema
		i.Title = cmp.Or(e.Title, rawjson.Text(rawjson.Member(e.Annotations, "title")))
		i.Tasks = map[string]TaskSupport{"optional": TaskOptional, "required": TaskRequired}[rawjson.Text(rawjson.Member(e.Execution, "taskSupport"))]
		i.ReadOnly = string(rawjson.Member(e.Annotations, "readOnlyHint")) == "true"
		i.Destructive = string(rawjson.Member(e.Annotations, "destructiveHint")) == "true"
	case Prompt:
		i.Schema, err = argumentsOf(raw)
	case Resource:
		i.Key = e.URI
	case Template:
		i.Key = e.Template
		i.Schema, err = variablesOf(e.Template)
	}
	i.Name = cmp.Or(e.Name, i.Key)
	words := wordBreaks.Replace(wording.Head(i.Name, wording.TextMost)) + "\n" + wording.Head(i.Title, wording.TextMost) + "\n" + wording.Head(i.Description, wording.TextMost)
	i.MayAsk = i.Destructive || speaksOfAsking().MatchString(words) && !asksTheModel().MatchString(words)
	if i.Key == "" {
		err = errors.New("it has no name to call it by")
	}
	return i, err
}

func argumentsOf(prompt json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Arguments []struct {
			entry
			Required bool `json:"required"`
		} `json:"arguments"`
	}
	err := DecodeResult(prompt, &p)
	var s schema
	for _, a := range p.Arguments {
		s.add(a.entry, a.Required)
	}
	return s.json(), err
}

func variablesOf(template string) (json.RawMessage, error) {
	t, err := uritemplate.New(template)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URI template: %w", template, err)
	}
	var s schema
	for _, name := range t.Varnames() {
		s.add(entry{Name: name}, true)
	}
	return s.json(), nil
}

// ExpandTemplate expands a resource template (RFC 6570). arguments is a JSON object of strings.
func ExpandTemplate(template string, arguments json.RawMessage) (string, error) {
	t, err := uritemplate.New(template)
	if err != nil {
		return "", fmt.Errorf("%q is not a URI template: %w", template, err)
	}
	values := map[string]string{}
	if len(arguments) > 0 {
		if err := DecodeResult(arguments, &values); err != nil {
			return "", fmt.Errorf("the variables of %q must be strings: %w", template, err)
		}
	}
	filled := uritemplate.Values{}
	for name, value := range values {
		filled.Set(name, uritemplate.String(value))
	}
	uri, err := t.Expand(filled)
	if err != nil {
		return "", fmt.Errorf("expanding %q: %w", template, err)
	}
	return uri, nil
}

// schema builds a JSON Schema of string properties in a given order.
type schema struct {
	properties rawjson.ObjectWriter
	required   rawjson.ArrayWriter
}

func (s *schema) add(e entry, required bool) {
	property := rawjson.ObjectWriter(`{"type":"string"`)
	if e.Title != "" {
		property.Add("title", rawjson.Quoted(e.Title))
	}
	if e.Description != "" {
		property.Add("description", rawjson.Quoted(e.Description))
	}
	s.properties.Add(e.Name, property.JSON())
	if required {
		s.required.Add(rawjson.Quoted(e.Name))
	}
}

// json returns the schema; nil if it has no properties.
func (s *schema) json() json.RawMessage {
	if s.properties == nil {
		return nil
	}
	out := rawjson.ObjectWriter(`{"type":"object"`)
	out.Add("properties", s.properties.JSON())
	if s.required != nil {
		out.Add("required", s.required.JSON())
	}
	return out.JSON()
}

// Reader reads the pages of one list, within Room. Entries that cannot be read or are
// forbidden are skipped, and named in Part.
type Reader struct {
	List      List
	Room      Room
	Revision  string           // since 2026-07-28 an empty nextCursor is a cursor; before, it ends the list
	Forbidden func(Item) error // returns why an item must not be used; a nil function allows all
	Items     []Item

	leftOut []error
	more    int
	cursors []string        // that pages have named
	latest  json.RawMessage // the entries of the latest page
}

// leftOutShown is how many skipped entries are named.
const leftOutShown = 20

var errFull = errors.New("the rest of the list is left out, because it is more than is kept of one server")

// Page reads one page and returns the cursor of the next, nil for none. The error says
// why the list ends here.
func (r *Reader) Page(result json.RawMessage) (next *string, err error) {
	var page map[string]json.RawMessage
	if err := DecodeResult(result, &page); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	var entries []json.RawMessage
	member := r.List.Member
	if page[member] == nil {
		return nil, fmt.Errorf("the result has no %q", member)
	}
	if err := DecodeResult(page[member], &entries); err != nil {
		return nil, fmt.Errorf("the result's %q cannot be read: %w", member, err)
	}
	if len(entries) > 0 && bytes.Equal(page[member], r.latest) {
		return nil, errors.New("nextCursor leads to the same page again, though only a result without one ends the list")
	}
	r.latest = page[member]
	for i, raw := range entries {
		if r.Room.Items == 0 || len(raw) > r.Room.Bytes {
			return nil, errFull
		}
		r.Room.Items--
		r.Room.Bytes -= len(raw)
		item, err := r.List.item(raw)
		if err == nil && r.Forbidden != nil {
			err = r.Forbidden(item)
		}
		switch {
		case err == nil:
			r.Items = append(r.Items, item)
		case len(r.leftOut) == leftOutShown:
			r.more++
		default:
			r.leftOut = append(r.leftOut, fmt.Errorf("%s[%d]: %w", member, i, err))
		}
	}
	cursor := page["nextCursor"]
	if cursor == nil {
		return nil, nil
	}
	if json.Unmarshal(cursor, &next) != nil {
		return nil, fmt.Errorf("nextCursor is %s, not a string", ContentKind(cursor))
	}
	if next == nil || *next == "" && r.Revision < mcp.Revision20260728 {
		return nil, nil
	}
	if r.Room.Bytes -= len(cursor); r.Room.Bytes < 0 {
		return nil, errFull
	}
	if slices.Contains(r.cursors, *next) {
		return nil, fmt.Errorf("the cursor %q came twice", ShortError(*next))
	}
	r.cursors = append(r.cursors, *next)
	return next, nil
}

// Part returns the items and problems of the list. err is why the list ended early, nil
// if it did not.
func (r *Reader) Part(err error) Part {
	problems := r.leftOut
	if r.more > 0 {
		problems = append(problems, fmt.Errorf("and %d more entries", r.more))
	}
	if err != nil {
		problems = append(problems, err)
	}
	part := Part{Items: r.Items}
	for _, problem := range problems {
		part.Errors = append(part.Errors, r.List.Method+": "+ShortError(problem.Error()))
	}
	return part
}

// insteadMost is the number of names that Instead lists.
const insteadMost = 30

// Instead returns which of the names of a server's items is most like one that it does not
// have, and lists them, to follow a sentence that says so.
func Instead(name string, names []string) string {
	if len(names) == 0 {
		return "; it offers none"
	}
	text := "; it offers "
	if hint := wording.DidYouMean(name, names); hint != "" {
		text = hint + " It offers "
	}
	var list []string
	for _, n := range names[:min(len(names), insteadMost)] {
		list = append(list, wording.Quoted(n))
	}
	text += strings.Join(list, ", ")
	if more := len(names) - insteadMost; more > 0 {
		text += " and " + wording.Plural(more, "other")
	}
	return text
}
