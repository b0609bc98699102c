// Package links makes and reads the addresses that lead to a tool, prompt or resource
// with its arguments. They hold names only, so that they work in any run.
package links

import (
	"net/url"

	"elicitation-inspector/bridge/catalog"
)

// Most is the maximum length of a link in bytes: longer ones are cut by chats and mail.
const Most = 8 << 10

// kinds are the parameters that hold the key of an item: one per kind.
var kinds = []catalog.Kind{catalog.Tool, catalog.Prompt, catalog.Resource, catalog.Template}

// Target is the item that a link leads to.
type Target struct {
	Kind      catalog.Kind
	Key       string // name of a tool or prompt, URI, or URI template
	Server    string // label of its server; "" for the first server that has the item
	Arguments string // arguments as the link holds them, which may be invalid JSON; "" for none
}

// Read returns the target in the query of an address; false if it has none.
func Read(query url.Values) (Target, bool) {
	for _, kind := range kinds {
		if key := query.Get(string(kind)); key != "" {
			return Target{kind, key, query.Get("server"), query.Get("args")}, true
		}
	}
	return Target{}, false
}

// Query returns the query of an address that leads to the target.
func (t Target) Query() string {
	// The parameters are not sorted as in url.Values: people read and edit links.
	query := "?" + string(t.Kind) + "=" + url.QueryEscape(t.Key)
	if t.Server != "" {
		query += "&server=" + url.QueryEscape(t.Server)
	}
	if t.Arguments != "" {
		query += "&args=" + url.QueryEscape(t.Arguments)
	}
	return query
}
