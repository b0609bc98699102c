package web

import (
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/judges/probe/report"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/views"
	"elicitation-inspector/web/push"
)

// NewProbe returns the server of a probe's page: a checklist of what the probes show, beside
// the log that they fill.
func NewProbe(c Config, p *probe.Server, log *wire.Log) *Server {
	c = c.complete()
	replay := inspection.NewWatch(log, c.Logger)
	return newServer(c, source{
		replay: replay, panel: &probes{probe: p, log: log, redaction: c.Redaction},
		refusal: "This page shows what a client does: nothing can be called, answered or changed on it.",
	}, push.NewHub())
}

// probes is the checklist of what the probes show.
type probes struct {
	probe     *probe.Server
	log       *wire.Log
	redaction *redact.Redaction
	order     string // the numbers of the clients that were drawn last
}

func (s *probes) routes(e *echo.Echo) {
	e.POST("/probe/say", s.say)              // what a person has seen: client, probe, look, yes ("" takes it back)
	e.GET("/probe/report.:ending", s.report) // json, md, html or xml
}

// clientsShown is how many clients have a checklist on the page. The reports have all.
const clientsShown = 4

func (s *probes) fill(p *views.Page) {
	r := s.probe.Report()
	p.Probe = &views.Probe{Clients: r.Clients[:min(len(r.Clients), clientsShown)], More: max(len(r.Clients)-clientsShown, 0)}
}

// say records what a person says that they have seen.
func (s *probes) say(c echo.Context) error {
	client, err := strconv.Atoi(c.FormValue("client"))
	look, err2 := strconv.Atoi(c.FormValue("look"))
	if err != nil || err2 != nil {
		return bad("The client and the question must be numbers.")
	}
	var yes *bool
	switch c.FormValue("yes") {
	case "true", "false":
		yes = new(c.FormValue("yes") == "true")
	case "":
	default:
		return bad("The answer must be true, false or empty.")
	}
	return refused(http.StatusNotFound, s.probe.Say(client, c.FormValue("probe"), look, yes))
}

// report sends the report as a file.
func (s *probes) report(c echo.Context) error {
	name := "probe." + c.Param("ending")
	format := report.Formats.Of(name)
	if format == nil {
		return echo.ErrNotFound
	}
	r := s.probe.Report()
	if err := r.AddEvidence(s.log, s.redaction); err != nil {
		return err
	}
	return saved(c, name, format.Media, func(w io.Writer) error { return format.Write(w, r) })
}

func (s *probes) changes() [4]<-chan struct{} { return [4]<-chan struct{}{s.probe.Changed()} }

// draw draws the panel anew if its list of clients has changed, and the head and the rows of each
// client.
func (s *probes) draw(p *painter, _ changed) {
	var page views.Page
	s.fill(&page)
	now := ""
	for _, c := range page.Probe.Clients {
		now += strconv.Itoa(c.Number) + " "
	}
	if now != s.order {
		s.order = now
		p.replace("probe", views.ProbePanel(*page.Probe))
	}
	for _, c := range page.Probe.Clients {
		p.replace(views.ProbeHeadID(c), views.ProbeHead(c))
		for _, r := range c.Results {
			p.replace(views.ProbeRowID(c, r), views.ProbeRow(c, r))
		}
	}
}
