package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/probe"
	"elicitation-inspector/bridge/probe/report"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// NewProbe returns the server of a probe's page: a checklist of what the probes show, beside
// the log that they fill.
func NewProbe(c Config, p *probe.Server, log *wire.Log) *Server {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	replay := bridge.NewWatch(log, c.Logger)
	c.Inspection = replay.Inspection()
	s := New(c)
	s.replay, s.probe = replay, p
	s.echo.POST("/probe/say", s.sayProbe)              // what a person has seen: client, probe, look, yes ("" takes it back)
	s.echo.GET("/probe/report.:ending", s.probeReport) // json, md, html or xml
	return s
}

// clientsShown is how many clients have a checklist on the page. The reports have all.
const clientsShown = 4

func (s *Server) probeView() *views.Probe {
	if s.probe == nil {
		return nil
	}
	r := s.probe.Report()
	return &views.Probe{Clients: r.Clients[:min(len(r.Clients), clientsShown)], More: max(len(r.Clients)-clientsShown, 0)}
}

// sayProbe records the word of a person.
func (s *Server) sayProbe(c echo.Context) error {
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
	if err := s.probe.Say(client, c.FormValue("probe"), look, yes); err != nil {
		return echo.NewHTTPError(http.StatusNotFound, sentence(err))
	}
	return done(c, nil)
}

// probeReport sends the report as a file.
func (s *Server) probeReport(c echo.Context) error {
	name := "probe." + c.Param("ending")
	format := report.FormatOf(name)
	if format == "" {
		return echo.ErrNotFound
	}
	r := s.probe.Report()
	if err := r.AddEvidence(s.in.Log(), s.config.Redaction); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := report.Write(&text, format, r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	c.Response().Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	kind := map[string]string{"json": "application/json", "junit": "application/xml", "markdown": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8"}[format]
	return compressed(c, http.StatusOK, kind, text.Bytes())
}

// probeEvery is the shortest time between two drawings of the checklist.
const probeEvery = 200 * time.Millisecond

// pumpProbe draws the checklist whenever a probe shows something new. A client that is new, or
// comes back after others, has the whole panel drawn anew, and else only what changed is pushed.
func (s *Server) pumpProbe(ctx context.Context) {
	order := ""
	for more := true; more; {
		changed := s.probe.Changed()
		p, v := pump{Server: s, ctx: ctx}, s.probeView()
		now := ""
		for _, c := range v.Clients {
			now += strconv.Itoa(c.Number) + " "
		}
		if now != order {
			order = now
			p.replace("probe", views.ProbePanel(*v))
		}
		for _, c := range v.Clients {
			p.replace(views.ProbeHeadID(c), views.ProbeHead(c))
			for _, r := range c.Results {
				p.replace(views.ProbeRowID(c, r), views.ProbeRow(c, r))
			}
		}
		p.publish()
		more = again(ctx, probeEvery, changed)
	}
}
