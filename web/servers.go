package web

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/views/wirelog"
	"elicitation-inspector/web/push"
)

// servers is the panel of the servers, and what the page shows of them before the first call.
type servers struct {
	in  *inspection.Inspection
	hub *push.Hub
	put func(ctx context.Context, typed views.NewServer) (field string, err error) // see [Config]
}

func (s *servers) routes(e *echo.Echo) {
	find := serverIn(s.in)
	e.POST("/servers", s.connect)                        // connect to another server: address, name, headers, env, dir; only with --allow-add
	e.GET("/servers/:id/edit", s.edit)                   // the same fields of a server that was added
	e.POST("/servers/:id/edit", s.connect)               // change them, and reconnect
	e.POST("/servers/:id/remove", s.remove)              // remove a server that was added
	e.GET("/servers/:id/findings", of(find, s.findings)) // all findings of a server
	e.POST("/servers/:id/reconnect", act(serverID, s.in.Reconnect))
	e.POST("/servers/:id/disconnect", s.disconnect)
	e.POST("/servers/:id/settings", of(find, s.settings))                                                                        // how the client presents itself; reconnects
	e.POST("/servers/:id/remembered", func(c echo.Context) error { return s.in.Recall(c.Param("id"), c.FormValue("protocol")) }) // the revision that the browser remembers for it; empty to forget it
	e.POST("/servers/:id/policy", s.policy)                                                                                      // the policy for its questions
	e.POST("/servers/:id/held", func(c echo.Context) error { return s.in.Release(c.Param("id"), c.FormValue("choice")) })        // show or decline questions held back
	s.routeSignIns(e)
}

func (s *servers) fill(p *views.Page) {
	var cards []views.SignIn
	for _, server := range s.in.Servers() {
		p.Servers = append(p.Servers, rowOf(s.in, server))
		if card, ok := signInCard(s.in, serverView(server)); ok {
			cards = append(cards, card)
		}
	}
	p.SignIns, p.Start = views.SignIns(cards), s.start()
}

func (*servers) draws() (atOnce, calmly changeKinds) {
	return kindsOf(live.SignInChanged), kindsOf(live.ServerChanged, live.CatalogChanged, live.FindingsChanged, live.SignInChanged)
}

func (s *servers) draw(p *painter, c changed) {
	for _, id := range c.gone {
		gone := serverOf(s.in, id)
		p.remove(gone.RowID())
		p.remove(gone.HeldID())
		p.remove(views.SignIn{Server: gone}.ID())
	}
	begun := len(c.gone) > 0 // the start view depends on this change
	for _, server := range s.in.Servers() {
		begun = begun || c.catalog(server.ID)
		v := rowOf(s.in, server)
		if c.server(v.ID) || c.what[live.Change{Kind: live.FindingsChanged, Server: v.ID}] {
			p.put(v.RowID(), views.ServerRow(v), "append", "server-list")
		}
		if c.server(v.ID) && v.HoldsBack() {
			p.put(v.HeldID(), views.HeldLine(v), "append", "held")
		} else if c.server(v.ID) {
			p.remove(v.HeldID())
		}
		if !c.what[live.Change{Kind: live.SignInChanged, Server: v.ID}] {
			continue
		}
		if card, ok := signInCard(s.in, v); ok {
			p.put(card.ID(), views.SignInView(card), "append", "sign-ins")
		}
		if v.SignIn != nil {
			p.replace(views.Token{Server: v.ID}.ID(), v.SignIn)
		}
	}
	if begun {
		p.replace("start", views.StartView(s.start()))
	}
}

func serverID(c echo.Context) (string, error) { return c.Param("id"), nil }

// serverIn finds the server that a path names.
func serverIn(in *inspection.Inspection) func(echo.Context) (inspection.Server, error) {
	return func(c echo.Context) (inspection.Server, error) { return in.Server(c.Param("id")) }
}

func serverView(s inspection.Server) views.Server {
	s.Label, s.Display = markup.Brief(s.Label), markup.Brief(s.Display)
	return views.Server{ServerStatus: s.ServerStatus, QuestionCounts: s.QuestionCounts, Findings: s.Findings}
}

// serverOf returns the view of a server, or an empty one with its id if the server is
// unknown.
func serverOf(in *inspection.Inspection, id string) views.Server {
	server, err := in.Server(id)
	if err != nil {
		return views.Server{ServerStatus: conversation.ServerStatus{ID: id}}
	}
	return serverView(server)
}

var errMayNotAdd = echo.NewHTTPError(http.StatusForbidden, "The page may start programs only if the inspector was started with --allow-add.")

// connect connects to the server that a person has typed, in place of the added one with
// the id in the path if there is one.
func (s *servers) connect(c echo.Context) error {
	if s.put == nil {
		return errMayNotAdd
	}
	typed := views.NewServer{ID: c.Param("id"), Address: c.FormValue("address"), Name: c.FormValue("name"), Headers: c.FormValue("headers"), Env: c.FormValue("env"), Dir: c.FormValue("dir")}
	form := views.AddServer
	if typed.ID != "" {
		form = views.EditServer
	}
	ctx, cancel := leisurely(c)
	defer cancel()
	field, err := s.put(ctx, typed)
	if err != nil {
		typed.Field, typed.Problem = field, sentence(err)
	} else if typed.ID == "" {
		typed = views.NewServer{}
	}
	return judged(c, err != nil, form(typed))
}

// edit draws the form of a server that was added.
func (s *servers) edit(c echo.Context) error {
	spec, err := s.in.Target(c.Param("id"))
	switch {
	case err != nil:
		return err
	case s.put == nil || !spec.Added:
		return errMayNotAdd
	}
	typed := views.NewServer{ID: c.Param("id"), Address: cmp.Or(spec.URL, spec.Address()), Name: wording.Either(spec.Derived, "", spec.Name), Env: strings.Join(spec.Env, "\n"), Dir: spec.Dir}
	var headers []string
	for _, h := range wirelog.FactsOf(spec.Header) {
		headers = append(headers, h.Name+": "+h.Value)
	}
	typed.Headers = strings.Join(headers, "\n")
	return html(c, views.EditServer(typed))
}

func (s *servers) remove(c echo.Context) error {
	if s.put == nil {
		return errMayNotAdd
	}
	ctx, cancel := leisurely(c)
	defer cancel()
	return s.in.Remove(ctx, c.Param("id"))
}

// disconnectTime bounds how long the page waits for a server's orderly end.
const disconnectTime = 20 * time.Second

// leisurely returns the context of what ends a connection, and continues even if the page
// does not wait for it.
func leisurely(c echo.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.Request().Context()), disconnectTime)
}

func (s *servers) disconnect(c echo.Context) error {
	ctx, cancel := leisurely(c)
	defer cancel()
	return s.in.Disconnect(ctx, c.Param("id"))
}

// settings changes how the client presents itself to a server, and reconnects.
func (s *servers) settings(c echo.Context, before inspection.Server) error {
	settings, err := conversation.ParseClientSettings(c.FormValue("protocol"), c.FormValue("elicitation"))
	if err != nil {
		return refused(http.StatusBadRequest, err)
	}
	settings.NoTasks, settings.Apps = c.FormValue("tasks") == "", c.FormValue("apps") != ""
	settings.Sampling, settings.Roots = c.FormValue("sampling") != "", c.FormValue("roots") != ""
	settings.Traces = c.FormValue("traces") != ""
	if settings.Protocol == before.Settings.Protocol {
		settings.Choice = before.Settings.Choice // the protocol is unchanged
	}
	return s.in.ReconnectWith(before.ID, settings)
}

func (s *servers) policy(c echo.Context) error {
	policy, err := conversation.ParsePolicy(c.FormValue("policy"))
	if err != nil {
		return refused(http.StatusBadRequest, err)
	}
	return s.in.SetPolicy(c.Param("id"), policy)
}

func (s *servers) findings(c echo.Context, server inspection.Server) error {
	return html(c, findingsView(s.in, server.ID))
}

func findingsView(in *inspection.Inspection, server string) templ.Component {
	calls := map[int]string{}
	for _, c := range in.Calls() {
		calls[c.Number] = c.Request.Name
	}
	var list []wirelog.FoundIn
	for _, f := range in.Findings(server) {
		list = append(list, wirelog.FoundIn{Found: f.Found, Call: calls[f.Call]})
	}
	return wirelog.FindingsView(server, list)
}

// start returns the data of the start panel, which the page shows before the first
// call.
func (s *servers) start() views.Start {
	start := views.Start{MayAdd: s.put != nil}
	for _, server := range s.in.Servers() {
		start.Servers = append(start.Servers, s.foundView(serverView(server)))
	}
	return start
}

func (s *servers) foundView(server views.Server) views.Found {
	found := views.Found{Server: server, Counts: map[views.Shelf]int{}}
	offers, err := s.in.Catalog(server.ID)
	if err != nil {
		return found
	}
	found.Loading, found.Waits = offers.Loading, offers.Waits
	if len(offers.Errors) > 0 {
		found.Err = offers.Errors[0]
	}
	for _, item := range offers.Items {
		found.Counts[views.ShelfOf(item.Kind)]++
		if len(found.Asking) < views.AskingMost && item.MayAsk {
			found.Asking = append(found.Asking, itemView(server, item))
		}
	}
	if server.Info.Name != demo.Name {
		return found
	}
	for _, story := range views.Stories {
		if item, err := s.in.Item(server.ID, conversation.Tool, story.Tool); err == nil {
			story.Item = itemView(server, item)
			found.Stories = append(found.Stories, story)
		}
	}
	return found
}
