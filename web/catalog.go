package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/views"
)

// This file draws what the servers offer. However long a list is, a page gets
// how long it is and the items that are in sight.

func itemView(server views.Server, item bridge.Item) views.Item {
	return views.Item{
		Server: server.ID, ServerIndex: server.Index, Kind: views.ItemKind(item.Kind),
		Name: item.Name, Key: item.Key, Title: item.Title, Description: item.Description,
	}
}

// activity counts the calls that run and the questions that wait, in this
// order, for each item of each server.
type activity map[itemID][2]int

type itemID struct {
	server string
	kind   bridge.ItemKind
	key    string
}

func (s *Server) activity() activity {
	items := activity{}
	for _, c := range s.in.Calls() {
		if c.State == bridge.CallRunning {
			id := itemID{c.Request.Server, c.Request.Kind, itemKey(c.Request)}
			n := items[id]
			n[0]++
			n[1] += c.Waiting
			items[id] = n
		}
	}
	return items
}

// itemKey is the key of the item that a call was made of: for a resource that
// was read through a template, the template.
func itemKey(r bridge.CallRequest) string {
	if r.Kind == bridge.KindTemplate {
		return r.Name
	}
	return r.Key
}

// shelves are the tabs in which the kinds of item stand.
var shelves = map[bridge.ItemKind]string{
	bridge.KindTool: "tools", bridge.KindPrompt: "prompts", bridge.KindResource: "resources", bridge.KindTemplate: "resources",
}

// windowOf is a part of the list of all items for which keep is true: count of
// them, from the 0-based place from on.
func windowOf(server views.Server, items []bridge.Item, active activity, from, count int, keep func(bridge.Item) bool) views.List {
	l := views.List{From: from}
	for _, item := range items {
		if !keep(item) {
			continue
		}
		if l.Total >= from && len(l.Items) < count {
			v := itemView(server, item)
			n := active[itemID{server.ID, item.Kind, item.Key}]
			v.Running, v.Waiting = n[0], n[1]
			l.Items = append(l.Items, v)
		}
		l.Total++
	}
	return l
}

// firstOfList is what the page is drawn with of a list: all of it, or the first
// items of a long one.
func firstOfList(server views.Server, items []bridge.Item, active activity, shelf string) views.List {
	l := windowOf(server, items, active, 0, views.WholeList, func(i bridge.Item) bool { return shelves[i.Kind] == shelf })
	if l.Total > len(l.Items) {
		l.Items = l.Items[:views.FirstItems]
	}
	return l
}

func (s *Server) catalogViews(servers []views.Server) []views.Catalog {
	active := s.activity()
	var out []views.Catalog
	for _, server := range servers {
		catalog, err := s.in.Catalog(server.ID)
		if err != nil {
			continue // servers do not come or go during a run
		}
		out = append(out, views.Catalog{
			Server: server, Loading: catalog.Loading, Err: strings.Join(catalog.Errors, "\n"),
			Tools:     firstOfList(server, catalog.Items, active, "tools"),
			Prompts:   firstOfList(server, catalog.Items, active, "prompts"),
			Resources: firstOfList(server, catalog.Items, active, "resources"),
		})
	}
	return out
}

// items answers with a window of one server's list: count rows from the 0-based
// place from on, of those in which all words of search are found. X-Total is how
// many those are in all, X-Next the first push that may be later.
func (s *Server) items(c echo.Context) error {
	c.Response().Header().Set("X-Next", strconv.FormatInt(s.hub.Seq()+1, 10))
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", views.WholeList)
	if err := firstOf(err1, err2); err != nil {
		return err
	}
	server, err := s.in.Server(c.Param("id"))
	if err != nil {
		return err
	}
	catalog, err := s.in.Catalog(server.ID)
	if err != nil {
		return err
	}
	shelf, words := c.QueryParam("shelf"), strings.Fields(strings.ToLower(c.QueryParam("search")))
	l := windowOf(serverView(server), catalog.Items, s.activity(), int(min(from, views.ItemsMost)), int(min(count, views.WholeList)),
		func(i bridge.Item) bool { return shelves[i.Kind] == shelf && hasWords(i, words) })
	c.Response().Header().Set("X-Total", strconv.Itoa(min(l.Total, views.ItemsMost)))
	return html(c, views.ItemRows(l))
}

// hasWords reports whether all words, in lower case, stand in what a server says
// of an item.
func hasWords(i bridge.Item, words []string) bool {
	for _, word := range words {
		found := false
		for _, text := range []string{i.Name, i.Title, i.Description, i.Key} {
			if found = strings.Contains(strings.ToLower(text), word); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// item finds what a page names by the handle of its key.
func (s *Server) item(server, kind, handle string) (bridge.Item, error) {
	item, err := s.in.Item(server, bridge.ItemKind(kind), handle)
	if err == nil || len(handle) <= views.NameMost {
		return item, err
	}
	catalog, known := s.in.Catalog(server)
	if known != nil {
		return item, known
	}
	for _, item := range catalog.Items {
		if string(item.Kind) == kind && len(item.Key) > views.NameMost && views.Handle(item.Key) == handle {
			return item, nil
		}
	}
	return item, err
}

// text answers with more of a text that the page has cut: what "Show all" asks
// for, by the digest of the text and the query of the page's address. Without
// from it is all of the text, to be saved.
func (s *Server) text(c echo.Context) error {
	text, err := s.cutText(c, c.Param("digest"))
	if err != nil {
		return err
	}
	if c.QueryParam("from") == "" {
		c.Response().Header().Set("Content-Disposition", `attachment; filename="text.txt"`)
		return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
	}
	from, err := queryNumber(c, "from", 0)
	if err != nil {
		return err
	}
	return html(c, views.Piece(text, int(min(from, int64(len(text))))))
}

// found is a text that a page has asked for, by its digest.
type found struct{ digest, text string }

// cutText finds a text by drawing again what the page shows, and what it fetches
// when somebody wants to see it. The last one that was found is at hand: it comes
// piece by piece.
func (s *Server) cutText(c echo.Context, digest string) (string, error) {
	if last := s.lastFound.Load(); last != nil && last.digest == digest {
		return last.text, nil
	}
	p := s.whole()
	if err := s.choose(c, &p); err != nil {
		return "", err
	}
	ctx := c.Request().Context()
	text, ok, err := views.Find(ctx, digest, views.PageView(p))
	for _, server := range p.Servers {
		if ok || err != nil {
			break
		}
		text, ok, err = views.Find(ctx, digest, views.FindingsPanel(s.findingsView(server)))
	}
	if err == nil && !ok {
		err = echo.NewHTTPError(http.StatusNotFound, "This text is not on the page any more. The wire log has it.")
	}
	if err != nil {
		return "", err
	}
	s.lastFound.Store(&found{digest, text})
	return text, nil
}
