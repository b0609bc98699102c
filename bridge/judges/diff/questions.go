package diff

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
)

// asked is a question, with what it is told apart by.
type asked struct {
	*conversation.Question
	request *elicit.Request // nil if it is no elicitation, or cannot be read
	words   string          // the message without what varies
	names   string          // of the fields, sorted
	url     string          // that a person is sent to; "" for none
	host    string          // of the URL
	early   bool            // it is asked again before another one that was settled before it
}

func newAsked(q *conversation.Question) *asked {
	a := &asked{Question: q, words: masked(q.Message())}
	if q.Method == mcp.MethodElicit {
		if request, err := elicit.Parse(q.Params); err == nil {
			a.request = request
			var names []string
			for _, f := range request.Fields {
				names = append(names, f.Name)
			}
			slices.Sort(names)
			a.names = strings.Join(names, "\x00")
		}
	}
	a.url = q.URL()
	if u := address(a.url); u != nil && link.IsLoopback(u.Hostname()) { // a mock has a page of its own, and says for which one
		a.url = cmp.Or(rawjson.Text(rawjson.Member(q.Params, "_meta", mcp.MetaMock, "url")), a.url)
	}
	if u := address(a.url); u != nil {
		a.host = hostOf(u)
	}
	return a
}

// questionsOf returns the questions of two calls. They are not parsed if they are the same byte by byte,
// and so are their answers: then they are paired in their order, and nothing else is asked of them.
func questionsOf(a, b *reading) (old, now []*asked) {
	make := newAsked
	if slices.EqualFunc(a.Questions, b.Questions, func(q, twin *conversation.Question) bool {
		return q.Method == twin.Method && bytes.Equal(q.Params, twin.Params) && bytes.Equal(q.Answer, twin.Answer)
	}) {
		make = func(q *conversation.Question) *asked { return &asked{Question: q} }
	}
	for _, q := range a.Questions {
		old = append(old, make(q))
	}
	for _, q := range b.Questions {
		now = append(now, make(q))
	}
	return old, now
}

func (a *asked) title() string { return wording.Shorten(a.Title(), 200) }

func (a *asked) mode() elicit.Mode {
	if a.request == nil {
		return ""
	}
	return a.request.Mode
}

// before reports whether a question was settled before another one was asked.
func (a *asked) before(b *asked) bool {
	return a.AskedSeq < b.AskedSeq && (a.AnswerSeq != 0 && a.AnswerSeq <= b.AskedSeq || a.Round != 0 && b.Round > a.Round)
}

// repeats reports whether two questions ask the same.
func repeats(a, b *asked) bool {
	return a.Method == b.Method && a.mode() == b.mode() && a.words == b.words && a.names == b.names && a.host == b.host
}

func (a *asked) sharesField(b *asked) bool {
	if a.names == "" || b.names == "" {
		return false
	}
	list := strings.Split(b.names, "\x00")
	return slices.ContainsFunc(strings.Split(a.names, "\x00"), func(name string) bool { return slices.Contains(list, name) })
}

// likeWords reports whether two texts have half of their words in common.
func likeWords(a, b string) bool {
	x, y := words().FindAllString(strings.ToLower(a), -1), words().FindAllString(strings.ToLower(b), -1)
	common := 0
	for _, word := range x {
		if i := slices.Index(y, word); i >= 0 {
			y[i] = ""
			common++
		}
	}
	return common > 0 && 2*common >= max(len(x), len(y))
}

func address(text string) *url.URL {
	u, err := url.Parse(text)
	if text == "" || err != nil {
		return nil
	}
	return u
}

// hostOf returns the host of an address with its port, which changes from run to run on this
// machine.
func hostOf(u *url.URL) string {
	switch name := u.Hostname(); name {
	case "localhost", "127.0.0.1", "::1":
		return name
	}
	return strings.ToLower(u.Host)
}

// question compares what the same question asks.
func (c *comparison) question(a, b *asked) {
	if bytes.Equal(a.Params, b.Params) {
		return
	}
	if a.Method != mcp.MethodElicit {
		c.values(params, "params", orEmpty(a.Params), orEmpty(b.Params), "the request "+a.Method)
		return
	}
	c.part(message, "message", "", rawjson.Member(a.Params, "message"), rawjson.Member(b.Params, "message"), "the message %s", Became(rawjson.Member(a.Params, "message"), rawjson.Member(b.Params, "message")))
	if a.request == nil || b.request == nil {
		c.values(params, "params", a.Params, b.Params, "the request")
		return
	}
	if a.mode() != b.mode() {
		c.found(questionMode, rawjson.Quoted(string(a.mode())), rawjson.Quoted(string(b.mode())), "the mode is %s, not %s", b.mode(), a.mode())
		return
	}
	if c.address(a.url, b.url); a.url == b.url {
		c.value(a.URL(), b.URL())
	}
	c.schemas("schema", a.request.Schema, b.request.Schema, "the schema")
	c.values(params, "params", rawjson.Without(a.Params, "message", "mode", "url", "requestedSchema", "elicitationId", "task", "_meta"),
		rawjson.Without(b.Params, "message", "mode", "url", "requestedSchema", "elicitationId", "task", "_meta"), "the request")
}

func (c *comparison) address(old, now string) {
	before, after := rawjson.Quoted(old), rawjson.Quoted(now)
	a, b := address(old), address(now)
	switch {
	case old == now:
	case a == nil || b == nil:
		c.found(urlHost, before, after, "the address %s", Became(before, after))
	case hostOf(a) != hostOf(b):
		c.found(urlHost, before, after, "the address leads to %s, not to %s", wording.Quoted(b.Host), wording.Quoted(a.Host))
	case a.Scheme != b.Scheme:
		c.found(urlHost, before, after, "the address has the scheme %s, not %s", wording.Quoted(b.Scheme), wording.Quoted(a.Scheme))
	default:
		c.part(urlRest, "url", "", before, after, "the address %s", Became(before, after))
	}
}

// schemas compares two schemas: their fields, and the rest. If one of them has more fields than are read
// of a form, both are compared as JSON.
func (c *comparison) schemas(part string, old, now json.RawMessage, what string) {
	if bytes.Equal(old, now) {
		return
	}
	a, all := elicit.FieldsIn(old)
	b, both := elicit.FieldsIn(now)
	var fields []string
	if all && both {
		at := c.at
		c.fields(a, b)
		c.at, fields = at, []string{"properties", "required"}
	}
	c.values(schema, part, rawjson.Without(orEmpty(old), fields...), rawjson.Without(orEmpty(now), fields...), what)
}

// fields compares the fields of two schemas, in any order.
func (c *comparison) fields(old, now []elicit.Field) {
	before, after := byName(old), byName(now)
	renamed := map[string]bool{}
	for i := range old {
		a := &old[i]
		if b := after[a.Name]; b != nil {
			c.field(a, b)
			continue
		}
		heir := heirOf(a, before, now, renamed)
		c.at.Pointer = rawjson.PointerTo("/properties", a.Name)
		if heir == nil {
			c.found(fieldGone, a.Schema, nil, "the field %s is gone", wording.Quoted(a.Name))
			continue
		}
		renamed[heir.Name] = true
		c.found(fieldRenamed, rawjson.Quoted(a.Name), rawjson.Quoted(heir.Name), "the field %s is called %s now", wording.Quoted(a.Name), wording.Quoted(heir.Name))
		c.field(a, heir)
	}
	for i := range now {
		if b := &now[i]; before[b.Name] == nil && !renamed[b.Name] {
			c.at.Pointer = rawjson.PointerTo("/properties", b.Name)
			required := ""
			if b.Required {
				required = ", and required"
			}
			c.found(fieldNew, nil, b.Schema, "the field %s is new%s", wording.Quoted(b.Name), required)
		}
	}
}

func byName(list []elicit.Field) map[string]*elicit.Field {
	fields := make(map[string]*elicit.Field, len(list))
	for i := range list {
		fields[list[i].Name] = &list[i]
	}
	return fields
}

// heirOf returns the field that a field which is gone was renamed to: a new one of the same kind with
// the same title, or the same schema but for the title. nil if there is none that is not taken.
func heirOf(gone *elicit.Field, old map[string]*elicit.Field, now []elicit.Field, taken map[string]bool) *elicit.Field {
	for i := range now {
		b := &now[i]
		if old[b.Name] == nil && !taken[b.Name] && gone.Kind == b.Kind && (gone.Label == b.Label || rawjson.Same(titled(gone), titled(b))) {
			return b
		}
	}
	return nil
}

// titled returns the schema of a field without its title.
func titled(f *elicit.Field) json.RawMessage { return rawjson.Without(orEmpty(f.Schema), "title") }

// field compares the same field of two schemas.
func (c *comparison) field(a, b *elicit.Field) {
	pointer := rawjson.PointerTo("/properties", b.Name)
	name := "the field " + wording.Quoted(b.Name)
	c.at.Pointer = pointer
	if a.Required != b.Required {
		words := map[bool]string{true: "became required", false: "is not required any more"}[b.Required]
		c.found(fieldRequired, nil, nil, "%s %s", name, words)
	}
	if a.Kind != b.Kind {
		c.found(fieldType, a.Schema, b.Schema, "%s has the type %s, not %s", name, b.Kind, a.Kind)
		return
	}
	c.choices(name, a, b)
	old, now := a.Keywords(), b.Keywords()
	var keywords []string
	for keyword := range old {
		keywords = append(keywords, keyword)
	}
	for keyword := range now {
		if _, both := old[keyword]; !both {
			keywords = append(keywords, keyword)
		}
	}
	slices.Sort(keywords)
	for _, keyword := range keywords {
		kind := constraint
		switch keyword {
		case "title", "description":
			kind = fieldWords
		case "default":
			kind = defaultValue
		case "enum", "oneOf", "anyOf", "items", "enumNames":
			if len(a.Choices)+len(b.Choices) > 0 {
				continue
			}
			kind = schema
		case "_meta", "$comment", "examples":
			continue
		default:
			if keyword == "type" || strings.HasPrefix(keyword, "$") { // $ref, $defs, $anchor
				kind = schema
			}
		}
		c.part(kind, "schema", rawjson.PointerTo(pointer, keyword), old[keyword], now[keyword], "%s: %s %s", name, keyword, Became(old[keyword], now[keyword]))
	}
}

func (c *comparison) choices(name string, a, b *elicit.Field) {
	if slices.Equal(a.Choices, b.Choices) { // even if two have the same value
		return
	}
	find := func(list []elicit.Choice, value string) int {
		return slices.IndexFunc(list, func(one elicit.Choice) bool { return one.Value == value })
	}
	var says []string
	for _, one := range a.Choices {
		switch i := find(b.Choices, one.Value); {
		case i < 0:
			says = append(says, wording.Quoted(one.Value)+" is gone")
		case b.Choices[i].Title != one.Title:
			says = append(says, wording.Quoted(one.Value)+" is called "+wording.Quoted(b.Choices[i].Title)+", not "+wording.Quoted(one.Title))
		}
	}
	for _, one := range b.Choices {
		if find(a.Choices, one.Value) < 0 {
			says = append(says, wording.Quoted(one.Value)+" is new")
		}
	}
	if says == nil {
		says = []string{"they are in another order"}
	}
	if says != nil {
		if more := len(says) - 5; more > 0 {
			says = append(says[:5], wording.Count(more, "other", "others"))
		}
		c.found(choices, a.Schema, b.Schema, "%s: of the choices, %s", name, strings.Join(says, "; "))
	}
}
