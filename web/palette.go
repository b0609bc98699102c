package web

import (
	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

const paletteMost = 50

func (s *catalogs) palette(c echo.Context) error {
	return html(c, views.PaletteFound(findEntries(s.in, c.QueryParam("search"), s.readOnly)))
}

// findEntries returns the entries whose texts contain all words of a search, actions last. A
// number, with or without #, also finds the frame with that number.
func findEntries(in *bridge.Inspection, search string, readOnly bool) []views.PaletteEntry {
	f := entrySearch{words: strings.Fields(strings.ToLower(search))}
	if seq, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(search), "#"), 10, 64); err == nil && seq >= 1 && seq <= in.Log().Len() {
		f.found = append(f.found, views.PaletteEntry{Title: "#" + strconv.FormatInt(seq, 10), About: "frame", Does: templ.Attributes{"data-frame": strconv.FormatInt(seq, 10)}})
	}
	questions := func(waiting bool) {
		for _, q := range in.Questions() {
			if q.Request != nil && q.AskedSeq > 0 && waiting == (q.State == conversation.Pending) {
				f.add(q.Request.Message, "question "+strconv.Itoa(q.Number)+" · "+q.State.String(), "", templ.Attributes{"data-press": "#q" + strconv.Itoa(q.Number) + "-message"})
			}
		}
	}
	questions(true)
	for _, s := range in.Servers() {
		f.add(s.Label, "server", "", templ.Attributes{"data-press": "[popovertarget=server-" + s.ID + "-more]"})
		catalog, err := in.Catalog(s.ID)
		if err != nil {
			continue
		}
		for _, item := range catalog.Items {
			title, about := item.Name, string(item.Kind)+" · "+s.Label
			if item.Title != "" && item.Title != item.Name {
				title, about = item.Title, item.Name+" · "+about
			}
			f.add(title, about, "item", templ.Attributes{"data-server": s.ID, "data-kind": string(item.Kind), "data-key": views.Handle(item.Key)})
		}
	}
	for _, c := range in.Calls() {
		f.add(c.Request.Name, "call "+strconv.Itoa(c.Number)+" · "+c.State.String(), "", templ.Attributes{"data-show-call": strconv.Itoa(c.Number)})
	}
	questions(false)
	for _, a := range paletteActions {
		if !readOnly || !a.live {
			f.add(a.name, "action", "", templ.Attributes{"data-press": a.control})
		}
	}
	return f.found
}

type entrySearch struct {
	words []string
	found []views.PaletteEntry
}

func (f *entrySearch) add(title, about, class string, does templ.Attributes) {
	if len(f.found) == paletteMost {
		return
	}
	text := strings.ToLower(title + "\n" + about)
	for _, word := range f.words {
		if !strings.Contains(text, word) {
			return
		}
	}
	f.found = append(f.found, views.PaletteEntry{Title: markup.Brief(title), About: markup.Brief(about), Class: class, Does: does})
}

// paletteActions are the page's controls that the palette can press.
var paletteActions = []struct {
	name    string
	control string // a CSS selector
	live    bool   // not for a transcript
}{
	{"Present", "#present", false},
	{"Export", "[popovertarget=export-more]", false},
	{"Ladder of the call on show", "#ladder-button", false},
	{"All questions of this run (Ledger)", "[popovertarget=ledger]", false},
	{"Follow the wire log", "#follow", false},
	{"Record a transcript", "#recording-button", true},
	{"Answer with a script", "#script-button", true},
	{"Keys", "[popovertarget=keys]", false},
}
