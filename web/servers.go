package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/views"
	"elicitation-inspector/views/wirelog"
	"elicitation-inspector/web/push"
)

func serverID(c echo.Context) (string, error) { return c.Param("id"), nil }

func (s *Server) server(c echo.Context) (bridge.Server, error) { return s.in.Server(c.Param("id")) }

var errMayNotAdd = echo.NewHTTPError(http.StatusForbidden, "The page may start programs only if the inspector was started with --allow-add.")

// putServer connects to the server that a person has typed, in place of the added one with
// the id in the path if there is one.
func (s *Server) putServer(c echo.Context) error {
	if s.config.Put == nil {
		return errMayNotAdd
	}
	typed := views.NewServer{ID: c.Param("id"), Address: c.FormValue("address"), Name: c.FormValue("name"), Headers: c.FormValue("headers"), Env: c.FormValue("env"), Dir: c.FormValue("dir")}
	form, status := views.AddServer, http.StatusOK
	if typed.ID != "" {
		form = views.EditServer
	}
	ctx, cancel := leisurely(c)
	defer cancel()
	if field, err := s.config.Put(ctx, typed); err != nil {
		typed.Field, typed.Problem, status = field, sentence(err), http.StatusUnprocessableEntity
	} else if typed.ID == "" {
		typed = views.NewServer{}
	}
	return drawn(c, status, form(typed))
}

// editServer draws the form of a server that was added.
func (s *Server) editServer(c echo.Context) error {
	spec, err := s.in.Target(c.Param("id"))
	switch {
	case err != nil:
		return err
	case s.config.Put == nil || !spec.Added:
		return errMayNotAdd
	}
	typed := views.NewServer{ID: c.Param("id"), Address: cmp.Or(spec.URL, spec.Address()), Name: spec.Name, Env: strings.Join(spec.Env, "\n"), Dir: spec.Dir}
	var headers []string
	for _, h := range wirelog.FactsOf(spec.Header) {
		headers = append(headers, h.Name+": "+h.Value)
	}
	typed.Headers = strings.Join(headers, "\n")
	return html(c, views.EditServer(typed))
}

func (s *Server) removeServer(c echo.Context) error {
	if s.config.Put == nil {
		return errMayNotAdd
	}
	ctx, cancel := leisurely(c)
	defer cancel()
	return done(c, s.in.Remove(ctx, c.Param("id")))
}

// disconnectTime bounds how long the page waits for a server's orderly end.
const disconnectTime = 20 * time.Second

// leisurely returns the context of what ends a connection, and continues even if the page
// does not wait for it.
func leisurely(c echo.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.Request().Context()), disconnectTime)
}

func (s *Server) disconnect(c echo.Context) error {
	ctx, cancel := leisurely(c)
	defer cancel()
	return done(c, s.in.Disconnect(ctx, c.Param("id")))
}

// settings changes how the client presents itself to a server, and reconnects.
func (s *Server) settings(c echo.Context, before bridge.Server) error {
	settings, err := conversation.ParseClientSettings(c.FormValue("protocol"), c.FormValue("elicitation"))
	if err != nil {
		return bad("%s", sentence(err))
	}
	settings.NoTasks, settings.Apps = c.FormValue("tasks") == "", c.FormValue("apps") != ""
	settings.Sampling, settings.Roots = c.FormValue("sampling") != "", c.FormValue("roots") != ""
	if settings.Protocol == before.Settings.Protocol {
		settings.Choice = before.Settings.Choice // the protocol is unchanged
	}
	return done(c, s.in.ReconnectWith(before.ID, settings))
}

// remembered applies the revision that the browser remembers for a server, or removes
// it.
func (s *Server) remembered(c echo.Context) error {
	err := s.in.Recall(c.Param("id"), c.FormValue("protocol"))
	if errors.Is(err, live.ErrUnknownRevision) {
		return bad("%s", sentence(err))
	}
	return done(c, err)
}

func (s *Server) policy(c echo.Context) error {
	policy, err := conversation.ParsePolicy(c.FormValue("policy"))
	if err != nil {
		return bad("%s", sentence(err))
	}
	return done(c, s.in.SetPolicy(c.Param("id"), policy))
}

func (s *Server) held(c echo.Context) error {
	return done(c, s.in.Release(c.Param("id"), c.FormValue("choice")))
}

// compare pushes the differences of a server's catalog with the present settings and
// without the elicitation capability.
func (s *Server) compare(c echo.Context, server bridge.Server) error {
	with, without := server.Settings, server.Settings
	if with.Declares() == conversation.DeclareNone {
		with.Elicitation = conversation.DeclareBoth
	}
	without.Elicitation = conversation.DeclareNone
	view := views.Comparison{Server: server.ID}
	if err := s.pushComparison(c, view); err != nil {
		return err
	}
	view.With, view.Without = with.Declared(), "nothing"
	result, err := s.in.Compare(c.Request().Context(), server.ID, with, without)
	if err != nil {
		view.Err = sentence(err)
	}
	view.OnlyWith, view.OnlyWithout = result.OnlyWith, result.OnlyWithout
	view.Both, view.Problems = result.Both, result.Problems
	return done(c, s.pushComparison(c, view))
}

func (s *Server) pushComparison(c echo.Context, view views.Comparison) error {
	html, err := draw(c.Request().Context(), views.ComparisonView(view))
	if err == nil {
		s.publish([]push.Change{{ID: "comparison-" + view.Server, HTML: html}})
	}
	return err
}

func (s *Server) findings(c echo.Context, server bridge.Server) error {
	return html(c, s.findingsView(server.ID))
}

func (s *Server) findingsView(server string) templ.Component {
	calls := map[int]string{}
	for _, c := range s.in.Calls() {
		calls[c.Number] = c.Request.Name
	}
	var list []wirelog.FoundIn
	for _, f := range s.in.Findings(server) {
		list = append(list, wirelog.FoundIn{Found: f.Found, Call: calls[f.Call]})
	}
	return wirelog.FindingsView(server, list)
}

type exported struct {
	Server string `json:"server"` // label of the server
	lint.Finding
	Frame    int64 `json:"frame"` // number in the wire log of the frame that Pointer leads into
	Question int   `json:"question,omitempty"`
	Call     int   `json:"call,omitempty"`
}

func (s *Server) findingsJSON(c echo.Context) error {
	labels := map[string]string{}
	for _, server := range s.in.Servers() {
		labels[server.ID] = server.Label
	}
	log, redaction := s.in.Log(), s.config.Redaction
	if err := redaction.Learn(c.Request().Context(), log); err != nil {
		return err
	}
	out := []exported{}
	for _, f := range s.in.Findings(c.QueryParam("server")) {
		shown, err := lint.Shared(f.Finding, f.Seq, log, redaction)
		if err != nil {
			return err
		}
		out = append(out, exported{labels[f.Server], shown, f.Seq, f.Question, f.Call})
	}
	title, err := s.titleOf(c.Request().Context(), 1, nil)
	if err != nil {
		return err
	}
	attach(c, export.FileName("findings of "+title, ".json"))
	return c.JSONPretty(http.StatusOK, out, "  ")
}

// startView returns the data of the start panel, which the page shows before the first
// call.
func (s *Server) startView() views.Start {
	start := views.Start{MayAdd: s.config.Put != nil}
	for _, server := range s.in.Servers() {
		start.Servers = append(start.Servers, s.foundView(serverView(server)))
	}
	return start
}

func (s *Server) foundView(server views.Server) views.Found {
	found := views.Found{Server: server, Counts: map[views.Shelf]int{}}
	offers, err := s.in.Catalog(server.ID)
	if err != nil {
		return found
	}
	found.Loading = offers.Loading
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
