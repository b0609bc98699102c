package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/check"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/playback"
	answers "elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views"
	"elicitation-inspector/web/push"
)

const checkConnects = time.Minute

// checks is the panel of the check of one item.
type checks struct {
	sharing
	hub      *push.Hub
	maxFrame int64 // see [Config]
	lab      *check.Lab
	changed  atomic.Bool // a check has changed since it was drawn

	number  int // of the check that was drawn last
	columns int // of its matrix, as drawn last
}

func newChecks(s sharing, hub *push.Hub, maxFrame int64, stir func()) *checks {
	k := &checks{sharing: s, hub: hub, maxFrame: maxFrame}
	k.lab = check.NewLab(func() {
		k.changed.Store(true)
		stir()
	})
	return k
}

// routes registers the checks of one item. The form of the item is posted to see its check.
func (s *checks) routes(e *echo.Echo) {
	latest := numbered(s.latest)
	e.GET("/check", of(itemForm(s.in), s.open))
	e.POST("/check", of(postedForm(s.in), s.open)) // the latest check; with the value anew, what another one would do
	e.POST("/check/start", of(itemForm(s.in), s.start))
	e.POST("/checks/:n/stop", act(number, s.lab.Stop))
	e.GET("/checks/:n/behaviours/:name", of(latest, s.trials))
	e.GET("/checks/:n/trials/:trial", of(latest, s.exchange))  // the frames of a trial
	e.GET("/checks/:n/report.:ending", of(latest, saveReport)) // html, json, or that of another of its formats
}

func (*checks) fill(*views.Page) {} // a page fetches its check

func subjectOf(i views.Item) report.Subject {
	return report.Subject{Server: i.Server, Kind: i.Kind, Key: i.Key}
}

// open answers with the latest check of the item in the form, or with the plan of
// a new one.
func (s *checks) open(c echo.Context, f callForm) error {
	return current(c, s.hub, func() (templ.Component, error) {
		latest, any := s.lab.Latest()
		if any && latest.Subject == subjectOf(f.item) && (c.FormValue("anew") == "" || latest.State != report.Over) {
			return views.CheckView(s.view(latest)), nil
		}
		plan, err := s.plan(f, latest)
		plan.Only, plan.Revision = c.FormValue("only"), c.FormValue("revision")
		return views.CheckPlanView(plan), err
	})
}

func (s *checks) plan(f callForm, before report.Live) (views.CheckPlan, error) {
	item := f.item
	spec, err := s.in.Target(item.Server)
	if err != nil {
		return views.CheckPlan{}, err
	}
	p := views.CheckPlan{Item: item, Key: item.Key, Where: whereOf(spec), Kinds: len(judge.Behaviours())}
	if loaded := s.in.Scripted(); loaded != nil {
		p.Answers = loaded.Name
	}
	if before.Subject == subjectOf(item) {
		p.Before = len(before.Results)
	}
	if item.Kind == conversation.Resource {
		return p, nil
	}
	arguments, problems := f.sub.Check(f.fields, f.item.Schema)
	if len(problems) > 0 || arguments == nil {
		if arguments, err = elicit.Arguments(f.item.Schema); err != nil {
			p.Problems = append([]string{"The arguments in the form are not valid, and none could be made up. Fill in the form first."}, f.sub.View(argumentsID, f.fields, problems, unwrapped).Problems...)
			return p, nil
		}
		p.MadeUp = "Those in the form are not valid."
	}
	if item.Kind == conversation.Template {
		if p.Key, err = conversation.ExpandTemplate(item.Key, arguments); err != nil {
			p.Problems = append(p.Problems, sentence(err))
		}
	} else if len(f.fields) > 0 || f.sub.JSON {
		p.Arguments = rawjson.Pretty(arguments)
	}
	return p, nil
}

func whereOf(spec target.Spec) string {
	switch {
	case spec.Command != nil:
		return "a process and a session of its own"
	case spec.URL != "":
		return "a session of its own with the same server"
	}
	return "a session of its own with the built-in server"
}

// start starts a check that a person has confirmed.
func (s *checks) start(c echo.Context, f callForm) error {
	item := f.item
	spec, err := s.in.Target(item.Server)
	if err != nil {
		return err
	}
	server, err := s.in.Server(item.Server)
	if err != nil {
		return err
	}
	wanted := check.Wanted{Kind: item.Kind, Key: item.Key}
	if item.Kind == conversation.Template {
		wanted.Kind, wanted.Key = conversation.Resource, c.FormValue("called")
	}
	if text := c.FormValue("arguments"); text != "" {
		if wanted.Arguments, err = rawjson.Compact(json.RawMessage(text)); err != nil {
			return bad("The arguments are not JSON: %v.", err)
		}
	}
	o := check.Options{
		Server: headless.Config{
			Target: spec, Settings: server.Settings, MaxFrame: s.maxFrame, Version: s.version, Timeout: checkConnects,
			Redaction: s.redaction,
		},
		Wanted: []check.Wanted{wanted}, Jobs: max(2*runtime.NumCPU(), 4),
	}
	if loaded := s.in.Scripted(); loaded != nil {
		o.Honest = []*answers.Script{loaded.Script}
	}
	if only := c.FormValue("only"); only != "" {
		o.Behaviours, o.Revisions = strings.Split(only, ","), []string{c.FormValue("revision")}
	}
	if c.FormValue("destructive") != "" {
		allowed, err := answers.ParseText(answers.Literal(item.Key))
		if err != nil {
			return fmt.Errorf("allowing a destructive tool: %w", err)
		}
		o.AllowDestructive = []*answers.Text{allowed}
	}
	switch err := s.lab.Begin(subjectOf(item), wanted.Arguments, o); {
	case errors.Is(err, check.ErrBusy):
		return judged(c, true, views.CheckProblem(sentence(err)))
	case err != nil:
		return refused(http.StatusBadRequest, err)
	}
	return nil
}

// latest returns the latest check, the only one that is kept.
func (s *checks) latest(n int) (report.Live, error) {
	latest, _ := s.lab.Latest()
	if latest.Number != n {
		return report.Live{}, check.ErrUnknown
	}
	return latest, nil
}

func (s *checks) trials(c echo.Context, of report.Live) error {
	for _, g := range s.view(of).Groups {
		for _, row := range g.Rows {
			if row.Name == c.Param("name") {
				return html(c, views.CheckTrials(row))
			}
		}
	}
	return echo.ErrNotFound
}

// exchange answers with an HTML page that shows the frames of a trial.
func (s *checks) exchange(c echo.Context, of report.Live) error {
	i, err := strconv.Atoi(c.Param("trial"))
	if err != nil || i < 1 || i > len(of.Results) || of.Results[i-1].Transcript == "" {
		return echo.ErrNotFound
	}
	t := of.Results[i-1]
	folder, err := s.lab.Folder(of.Number)
	if err != nil {
		return err
	}
	opened, err := playback.Open(filepath.Join(folder, t.Transcript))
	if err != nil {
		return fmt.Errorf("opening the exchange of a trial: %w", err)
	}
	title := fmt.Sprintf("%s: %s, %s: %s", of.Key, t.Behaviour, t.Revision, t.Verdict)
	d := export.Document{Log: opened.Log, Redact: s.redaction, Title: title, Version: s.version}
	var page strings.Builder
	if err = opened.Wait(c.Request().Context()); err == nil {
		err = d.Write(c.Request().Context(), &page, export.HTML)
	}
	if err = errors.Join(err, opened.Close()); err != nil {
		return fmt.Errorf("drawing the exchange of a trial: %w", err)
	}
	// The exported page has its own policy for scripts and styles in a meta element.
	c.Response().Header().Set("Content-Security-Policy", "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	return compressed(c, http.StatusOK, "text/html; charset=utf-8", []byte(page.String()))
}

func saveReport(c echo.Context, of report.Live) error {
	format := report.Formats.Of("." + c.Param("ending"))
	if of.Report == nil || format == nil {
		return echo.NewHTTPError(http.StatusNotFound, "There is no such report yet.")
	}
	name := export.FileName(export.Heading("check of "+of.Key, nil, 0, of.Report.Began), format.Ending)
	return saved(c, name, format.Media, func(w io.Writer) error { return format.Write(w, of.Report) })
}

func (*checks) draws() (atOnce, calmly changeKinds) { return 0, everything }

// draw draws the parts of the latest check that have changed: rows, findings and
// progress.
func (s *checks) draw(p *painter, c changed) {
	if c.when != calmly || !s.changed.Swap(false) {
		return
	}
	latest, _ := s.lab.Latest()
	v := s.view(latest)
	if s.number != v.Number {
		s.number, s.columns = v.Number, 0
		p.replace(v.ID(), views.CheckView(views.Check{Live: report.Live{Number: v.Number, State: v.State, Arguments: v.Arguments}, Item: v.Item}))
	}
	p.replace(v.PartID("head"), views.CheckHead(v))
	p.replace(v.PartID("progress"), views.CheckProgress(v))
	if s.columns != len(v.Revisions) {
		s.columns = len(v.Revisions)
		maps.DeleteFunc(p.lists, func(at string, _ map[string]string) bool { return strings.HasPrefix(at, v.PartID("")) })
		empty := v
		empty.Groups = nil
		p.replace(v.PartID("body"), views.CheckBody(empty))
	}
	group := func(g views.CheckGroup) templ.Component {
		g.Rows = nil
		return views.CheckGroupView(g, len(v.Revisions))
	}
	putList(p, v.Groups, views.CheckGroup.ID, group, "after", v.PartID("columns"))
	for _, g := range v.Groups {
		putList(p, g.Rows, views.CheckRow.ID, views.CheckRowView, "after", g.TitleID())
	}
	p.replace(v.PartID("found"), views.CheckFound(v))
	putList(p, v.Findings, views.CheckFinding.ID, views.CheckFindingView, "prepend", v.PartID("findings"))
}

func (s *checks) view(c report.Live) views.Check {
	v := views.Check{Live: c}
	v.Item = views.Item{Server: c.Subject.Server}
	v.Item.Kind, v.Item.Key, v.Item.Name = c.Kind, c.Key, c.Key
	if item, err := s.in.Item(c.Subject.Server, c.Kind, c.Key); err == nil {
		v.Item = itemView(serverOf(s.in, c.Subject.Server), item)
	}
	matrix := report.NewView(&report.Report{Revisions: c.Revisions, Behaviours: judge.Behaviours(), Calls: make([]report.Call, 1), Results: c.Results}).Calls[0]
	v.Counts = matrix.Counts
	for _, one := range matrix.Rows {
		row := views.CheckRow{Row: one, Check: c.Number, Revisions: c.Revisions}
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Title != row.Group {
			v.Groups = append(v.Groups, views.CheckGroup{Check: c.Number, Title: row.Group})
		}
		group := &v.Groups[len(v.Groups)-1]
		group.Rows = append(group.Rows, row)
		for _, trial := range row.Trials() {
			for place, f := range trial.Findings {
				if f.Verdict.Defect() {
					v.Findings = append(v.Findings, views.CheckFinding{Finding: f, Trial: trial, Place: place})
				}
			}
		}
	}
	slices.SortStableFunc(v.Findings, func(a, b views.CheckFinding) int { return a.Verdict.Rank() - b.Verdict.Rank() })
	return v
}
