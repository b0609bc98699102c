package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

// targetOf returns the target of links to an item. It names the server only where there
// are several.
func targetOf(in *bridge.Inspection, server views.Server, item conversation.Item) views.Link {
	t := views.Link{Kind: item.Kind, Key: item.Key}
	if len(in.Servers()) > 1 {
		t.Server = server.Label
	}
	return t
}

// addressOf returns the query of the page's address while an item is on show. A long key
// has a handle, which is valid in this run.
func addressOf(in *bridge.Inspection, server views.Server, item conversation.Item) string {
	if len(item.Key) > markup.NameMost {
		return "?" + url.Values{"server": {server.ID}, "kind": {string(item.Kind)}, "key": {views.Handle(item.Key)}}.Encode()
	}
	return targetOf(in, server, item).Query()
}

// link answers with the query of an address that leads to a form with its present
// arguments.
func (s *calls) link(c echo.Context, f callForm) error {
	arguments, problems := f.sub.Value(f.fields)
	if arguments == nil {
		return bad("There is no link to these arguments. %s", problems[0].Text)
	}
	t := targetOf(s.in, f.server, f.item)
	first := forms.Untouched(f.fields, f.trouble != "")
	if initial, _ := first.Value(f.fields); !bytes.Equal(initial, arguments) {
		t.Arguments = string(arguments)
	}
	query := t.Query()
	if len(query) > linkMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("These arguments are too long for a link: it would have %s, and at most %s are allowed.", wording.Size(int64(len(query))), wording.Size(linkMost)))
	}
	return c.String(http.StatusOK, query)
}

// reads reports whether a server with this catalog will tell soon what it offers.
func reads(server views.Server, offers conversation.Catalog) bool {
	return offers.Loading || server.State == conversation.ServerConnecting
}

// linked returns the item that a link leads to, or why there is none.
func linked(in *bridge.Inspection, t views.Link) (views.Server, conversation.Item, *views.Missing) {
	missing := &views.Missing{Title: wording.Capital(string(t.Kind)) + " " + wording.Quoted(t.Key), Awaits: true, Address: t.Query()}
	known, waits, similar := false, false, map[string]views.Item{}
	for _, one := range in.Servers() {
		server := serverView(one)
		if t.Server != "" && t.Server != server.Label {
			continue
		}
		known = true
		offers, err := in.Catalog(server.ID)
		if err != nil {
			continue
		}
		if item, err := offers.Find(t.Kind, t.Key); err == nil {
			return server, item, nil
		}
		waits = waits || reads(server, offers)
		if server.State != conversation.ServerReady {
			missing.Down = append(missing.Down, server)
		}
		for _, item := range offers.Items {
			if item.Kind == t.Kind {
				similar[item.Key] = itemView(server, item)
			}
		}
	}
	switch {
	case !known:
		missing.Text = "This link is for the server " + wording.Quoted(t.Server) + ", which is not here."
	case waits:
		missing.Text = "Reading what the servers offer…"
	default:
		missing.Text = "No server here offers a " + string(t.Kind) + " of that name."
		if meant, ok := similar[wording.Nearest(t.Key, slices.Sorted(maps.Keys(similar)))]; ok {
			missing.Meant = &meant
		}
	}
	return views.Server{}, conversation.Item{}, missing
}

// linkedForm returns the form of an item with the arguments of a link, and what is wrong
// with these.
func linkedForm(server views.Server, item conversation.Item, t views.Link) (callForm, []elicit.Problem) {
	said := func(format string, args ...any) []elicit.Problem {
		return []elicit.Problem{{Field: -1, Text: fmt.Sprintf(format, args...)}}
	}
	empty, arguments := callFormOf(server, item, nil), json.RawMessage(t.Arguments)
	switch {
	case t.Arguments == "":
		return empty, nil
	case len(t.Query()) > linkMost:
		return empty, said("The link has arguments of %s, which are left out here: a link holds at most %s.", wording.Size(int64(len(t.Arguments))), wording.Size(linkMost))
	case item.Kind == conversation.Resource:
		return empty, said("A resource takes no arguments. Those of the link are left out.")
	}
	f := callFormOf(server, item, arguments)
	f.before = empty.sub
	if err := rawjson.Check(arguments); err != nil {
		return f, said("The arguments in the link are not JSON: %v.", err)
	}
	if f.sub.JSON && f.trouble == "" {
		_, err := elicit.InputsOf(f.fields, arguments)
		return f, said("A form cannot show the arguments of the link: %v.", err)
	}
	var unknown []string
	for name := range rawjson.Members(f.sub.Inputs.Extra) {
		unknown = append(unknown, name)
	}
	if len(unknown) > 0 {
		return f, said("The link gives %s, which the %s does not list. Call will send it all the same.", wording.QuotedSeries(unknown), item.Kind)
	}
	return f, nil
}

// linkMost is the maximum length of a link in bytes: longer ones are cut by chats and mail.
const linkMost = 8 << 10
