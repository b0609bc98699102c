package web

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/web/push"
)

// catalogs is the panel of what the servers offer. A page gets the length of each list and
// only the visible items.
type catalogs struct {
	in       *inspection.Inspection
	hub      *push.Hub
	readOnly bool
	active   activity // as drawn last
}

func (s *catalogs) routes(e *echo.Echo) {
	e.GET("/servers/:id/items", of(serverIn(s.in), s.items)) // a window of its catalog; query shelf, search, from, count
	e.GET("/palette", s.palette)                             // what the command palette leads to; query search
}

func (s *catalogs) fill(p *views.Page) {
	active := activityOf(s.in)
	for _, server := range s.in.Servers() {
		p.Catalogs = append(p.Catalogs, s.view(serverView(server), active))
	}
}

func (*catalogs) draws() (atOnce, calmly changeKinds) {
	return 0, kindsOf(live.ServerChanged, live.CatalogChanged, live.CallChanged, live.QuestionChanged)
}

func (s *catalogs) draw(p *painter, c changed) {
	if c.when == atOnce {
		return
	}
	for _, id := range c.gone {
		for _, shelf := range views.Shelves {
			p.remove(views.OfferID(id, shelf))
		}
	}
	for _, server := range s.in.Servers() {
		if !c.catalog(server.ID) {
			continue
		}
		catalog := s.view(serverView(server), nil)
		for _, shelf := range views.Shelves {
			p.put(views.OfferID(server.ID, shelf), views.Offer(catalog, shelf, 0), "append", shelf.OffersID())
		}
	}
	if c.when == calmly && len(c.calls) == 0 {
		return
	}
	before, now := s.active, activityOf(s.in)
	s.active = now
	items := maps.Clone(now)
	maps.Copy(items, before)
	for id := range items {
		if before[id] != now[id] { // its running calls, or their waiting questions
			s.drawItem(p, id)
		}
	}
}

func (s *catalogs) drawItem(p *painter, id itemID) {
	catalog, err := s.in.Catalog(id.server)
	if err != nil {
		return
	}
	places := map[views.Shelf]int{}
	for _, item := range catalog.Items {
		shelf := views.ShelfOf(item.Kind)
		if item.Kind == id.kind && item.Key == id.key {
			v := activeView(serverOf(s.in, id.server), item, places[shelf], s.active)
			p.replace(v.AboutID(), views.ItemAbout(v))
			return
		}
		places[shelf]++
	}
}

func itemView(server views.Server, item conversation.Item) views.Item {
	return views.Item{Item: item, Server: server.ID, ServerIndex: server.Index}
}

type activity map[itemID]counts

type itemID struct {
	server string
	kind   conversation.Kind
	key    string
}

type counts struct{ running, waiting int }

func activityOf(in *inspection.Inspection) activity {
	items := activity{}
	for _, c := range in.Calls() {
		if !c.State.Over() {
			id := itemID{c.Request.Server, c.Request.Kind, itemKey(c.Request)}
			n := items[id]
			n.running++
			n.waiting += c.Waiting
			items[id] = n
		}
	}
	return items
}

// itemKey returns the key of the item that a call uses: for a resource read through a
// template, that of the template.
func itemKey(r live.Request) string {
	if r.Kind == conversation.Template {
		return r.Name
	}
	return r.Key
}

func activeView(server views.Server, item conversation.Item, place int, active activity) views.Item {
	v := itemView(server, item)
	n := active[itemID{server.ID, item.Kind, item.Key}]
	v.Index, v.Running, v.Waiting = place, n.running, n.waiting
	return v
}

// windowOf returns a window of the items on a shelf that contain all words, which must be in
// lower case: count items from the 0-based position from on.
func windowOf(server views.Server, items []conversation.Item, shelf views.Shelf, words []string, active activity, from, count int) views.List {
	l := views.List{From: from}
	place := -1
	for _, item := range items {
		if views.ShelfOf(item.Kind) != shelf {
			continue
		}
		place++
		text := strings.ToLower(strings.Join([]string{item.Name, item.Title, wording.Head(item.Description, wording.TextMost), item.Key}, "\n"))
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			continue
		}
		if l.Total >= from && len(l.Items) < count {
			l.Items = append(l.Items, activeView(server, item, place, active))
		}
		l.Total++
	}
	return l
}

var versionSeed = maphash.MakeSeed()

// view returns a server's catalog with the items that are drawn with the page:
// each list in full, or the first items of a long list.
func (s *catalogs) view(server views.Server, active activity) views.Catalog {
	v := views.Catalog{Server: server, Lists: map[views.Shelf]views.List{}}
	catalog, err := s.in.Catalog(server.ID)
	if err != nil {
		return v // a server of a playback that has gone back
	}
	v.Loading, v.Waits, v.Err = catalog.Loading, catalog.Waits, strings.Join(catalog.Errors, "\n")
	versions := map[views.Shelf]uint64{} // by which a changed list is recognized
	for _, item := range catalog.Items {
		shelf := views.ShelfOf(item.Kind)
		versions[shelf] = versions[shelf]*31 + maphash.Comparable(versionSeed, [4]string{item.Name, item.Key, item.Title, item.Description})
	}
	for _, shelf := range views.Shelves {
		l := windowOf(server, catalog.Items, shelf, nil, active, 0, views.WholeList)
		if l.Total > len(l.Items) {
			l.Items = l.Items[:views.FirstItems]
		}
		l.Version = versions[shelf]
		v.Lists[shelf] = l
	}
	return v
}

// items answers with a window of one server's list: count rows from the 0-based
// position from on, of the items that contain all words of search. X-Total is the
// number of all these items.
func (s *catalogs) items(c echo.Context, server inspection.Server) error {
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", views.WholeList)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	shelf, words := views.Shelf(c.QueryParam("shelf")), strings.Fields(strings.ToLower(c.QueryParam("search")))
	return current(c, s.hub, func() (templ.Component, error) {
		catalog, err := s.in.Catalog(server.ID)
		l := windowOf(serverView(server), catalog.Items, shelf, words, activityOf(s.in), int(min(from, views.ItemsMost)), int(min(count, views.WholeList)))
		c.Response().Header().Set("X-Total", strconv.Itoa(min(l.Total, views.ItemsMost)))
		return views.ItemRows(l), err
	})
}

// itemIn finds the item that a page names by its key, or by the handle of a long key.
func itemIn(in *inspection.Inspection, server, kind, handle string) (conversation.Item, error) {
	item, err := in.Item(server, conversation.Kind(kind), handle)
	if err == nil || len(handle) <= markup.NameMost {
		return item, err
	}
	catalog, _ := in.Catalog(server) // its error is that of Item
	for _, item := range catalog.Items {
		if string(item.Kind) == kind && len(item.Key) > markup.NameMost && views.Handle(item.Key) == handle {
			return item, nil
		}
	}
	return item, err
}

const paletteMost = 50

func (s *catalogs) palette(c echo.Context) error {
	return html(c, views.PaletteFound(findEntries(s.in, c.QueryParam("search"), s.readOnly)))
}

// findEntries returns the entries whose texts contain all words of a search, actions last. A
// number, with or without #, also finds the frame with that number.
func findEntries(in *inspection.Inspection, search string, readOnly bool) []views.PaletteEntry {
	var found []views.PaletteEntry
	words := strings.Fields(strings.ToLower(search))
	add := func(title, about, class string, does templ.Attributes) {
		if len(found) == paletteMost {
			return
		}
		text := strings.ToLower(title + "\n" + about)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			found = append(found, views.PaletteEntry{Title: markup.Brief(title), About: markup.Brief(about), Class: class, Does: does})
		}
	}
	if seq, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(search), "#"), 10, 64); err == nil && seq >= 1 && seq <= in.Log().Len() {
		found = append(found, views.PaletteEntry{Title: "#" + strconv.FormatInt(seq, 10), About: "frame", Does: templ.Attributes{"data-frame": strconv.FormatInt(seq, 10)}})
	}
	questions := func(waiting bool) {
		for _, q := range in.Questions() {
			if q.Request != nil && q.AskedSeq > 0 && waiting == (q.State == conversation.Pending) {
				add(q.Request.Message, "question "+strconv.Itoa(q.Number)+" · "+q.State.String(), "", templ.Attributes{"data-press": "#q" + strconv.Itoa(q.Number) + "-message"})
			}
		}
	}
	questions(true)
	for _, s := range in.Servers() {
		add(s.DisplayName(), wording.Join(" · ", "server", wording.Either(s.Display != "", s.Label, "")), "", templ.Attributes{"data-press": "[popovertarget=server-" + s.ID + "-more]"})
		catalog, err := in.Catalog(s.ID)
		if err != nil {
			continue
		}
		for _, item := range catalog.Items {
			title, about := item.Name, string(item.Kind)+" · "+s.DisplayName()
			if item.Title != "" && item.Title != item.Name {
				title, about = item.Title, item.Name+" · "+about
			}
			add(title, about, "item", templ.Attributes{"data-server": s.ID, "data-kind": string(item.Kind), "data-key": views.Handle(item.Key)})
		}
	}
	for _, c := range in.Calls() {
		add(c.Request.Name, "call "+strconv.Itoa(c.Number)+" · "+c.State.String(), "", templ.Attributes{"data-show-call": strconv.Itoa(c.Number)})
	}
	questions(false)
	for _, a := range paletteActions {
		if !readOnly || !a.live {
			add(a.name, "action", "", templ.Attributes{"data-press": a.control})
		}
	}
	return found
}

// paletteActions are the page's controls that the palette can press.
var paletteActions = []struct {
	name    string
	control string // a CSS selector
	live    bool   // not for a transcript
}{
	{"Present", "#present", false},
	{"Save", "[popovertarget=save-more]", false},
	{"Sequence of the call on show", "#ladder-button", false},
	{"Questions asked in this run", "[popovertarget=ledger]", false},
	{"Follow the wire log", "#follow", false},
	{"Record a transcript", "[popovertarget=save-more]", true},
	{"Open an answers file", "#script-button", true},
	{"Keys", "[popovertarget=keys]", false},
}
