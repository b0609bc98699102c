package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/headless"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/rawjson"
	answers "elicitation-inspector/bridge/script"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/views"
)

// checkConnects bounds the time to connect for a trial.
const checkConnects = time.Minute

// subjectOf returns the item whose checks a page asks for.
func subjectOf(i views.Item) check.Subject {
	return check.Subject{Server: i.Server, Kind: i.Kind, Key: i.Key}
}

// openCheck answers with the latest check of the item in the form, or with the plan of
// a new one.
func (s *Server) openCheck(c echo.Context, f callForm) error {
	return s.current(c, func() (templ.Component, error) {
		item := itemView(f.server, f.item)
		latest, any := s.lab.Latest()
		if any && latest.Subject == subjectOf(item) && (c.FormValue("anew") == "" || latest.State != check.Over) {
			return views.CheckView(s.checkView(latest)), nil
		}
		plan, err := s.checkPlan(item, f, latest)
		return views.CheckPlanView(plan), err
	})
}

// checkPlan returns what a check of the item would do, for the person to confirm.
func (s *Server) checkPlan(item views.Item, f callForm, before check.Live) (views.CheckPlan, error) {
	spec, err := s.in.Target(item.Server)
	if err != nil {
		return views.CheckPlan{}, err
	}
	p := views.CheckPlan{Item: item, Key: item.Key, Where: whereOf(spec), Kinds: len(check.Behaviours())}
	if loaded := s.in.Scripted(); loaded != nil {
		p.Answers = loaded.Name
	}
	if before.Subject == subjectOf(item) {
		p.Before = len(before.Results)
	}
	if item.Kind == conversation.Resource {
		return p, nil
	}
	arguments, problems := f.sub.check(f.fields, f.item.Schema)
	if len(problems) > 0 || arguments == nil {
		if arguments, err = elicit.Arguments(f.item.Schema); err != nil {
			p.Problems = append([]string{"The arguments in the form are not valid, and none could be made up. Fill in the form first."}, f.sub.view(argumentsID, f.fields, problems, unwrapped).Problems...)
			return p, nil
		}
		p.MadeUp = "Those in the form are not valid."
	}
	if item.Kind == conversation.Template {
		if p.Key, err = conversation.ExpandTemplate(item.Key, arguments); err != nil {
			p.Problems = append(p.Problems, sentence(err))
		}
	} else if len(f.fields) > 0 || f.sub.json {
		p.Arguments = rawjson.Pretty(arguments)
	}
	return p, nil
}

// whereOf describes the target that a trial connects to.
func whereOf(spec transport.Spec) string {
	switch {
	case spec.Command != nil:
		return "a process and a session of its own"
	case spec.URL != "":
		return "a session of its own with the same server"
	}
	return "a session of its own with the built-in server"
}

// startCheck starts a check that a person has confirmed.
func (s *Server) startCheck(c echo.Context, f callForm) error {
	item := itemView(f.server, f.item)
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
			Target: spec, Settings: server.Settings, MaxFrame: s.config.MaxFrame, Version: s.config.Version, Timeout: checkConnects,
			Redaction: s.config.Redaction,
		},
		Wanted: []check.Wanted{wanted}, Jobs: max(2*runtime.NumCPU(), 4),
	}
	if loaded := s.in.Scripted(); loaded != nil {
		o.Honest = []*answers.Script{loaded.Script}
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
		return drawn(c, http.StatusUnprocessableEntity, views.CheckProblem(sentence(err)))
	case err != nil:
		return bad("%s", sentence(err))
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) stopCheck(n int) error { return checkError(s.lab.Stop(n)) }

// checkError turns an error about a check that is no longer kept into one for the page.
func checkError(err error) error {
	if errors.Is(err, check.ErrUnknown) {
		return echo.NewHTTPError(http.StatusNotFound, sentence(err))
	}
	return err
}

// checkOf returns the check whose number is in the path.
func (s *Server) checkOf(c echo.Context) (check.Live, error) {
	n, err := number(c)
	if err != nil {
		return check.Live{}, err
	}
	latest, _ := s.lab.Latest()
	if latest.Number != n {
		return check.Live{}, checkError(check.ErrUnknown)
	}
	return latest, nil
}

// checkTrials answers with the trials of one behaviour.
func (s *Server) checkTrials(c echo.Context, of check.Live) error {
	name := c.Param("name")
	for _, b := range check.Behaviours() {
		if b.Name != name {
			continue
		}
		var trials []views.CheckTrial
		for i, t := range of.Results {
			if t.Behaviour == name {
				trials = append(trials, trialView(of.Number, i+1, t, b.Title))
			}
		}
		slices.SortStableFunc(trials, inRow)
		return html(c, views.CheckTrials(b.Does, b.Good, trials))
	}
	return echo.ErrNotFound
}

// checkExchange answers with an HTML page that shows the frames of a trial.
func (s *Server) checkExchange(c echo.Context, of check.Live) error {
	i, err := strconv.Atoi(c.Param("trial"))
	if err != nil || i < 1 || i > len(of.Results) || of.Results[i-1].Transcript == "" {
		return echo.ErrNotFound
	}
	t := of.Results[i-1]
	folder, err := s.lab.Folder(of.Number)
	if err != nil {
		return checkError(err)
	}
	opened, err := playback.Open(filepath.Join(folder, t.Transcript))
	if err != nil {
		return fmt.Errorf("opening the exchange of a trial: %w", err)
	}
	title := fmt.Sprintf("%s: %s, %s: %s", of.Key, t.Behaviour, t.Revision, t.Verdict)
	d := export.Document{Log: opened.Log, Redact: s.config.Redaction, Title: title, Tool: "elicitation-inspector", Version: s.config.Version}
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

// saveReport returns a handler that saves the report of a check in a format.
func saveReport(format, kind string) func(echo.Context, check.Live) error {
	return func(c echo.Context, of check.Live) error {
		if of.Report == nil {
			return echo.NewHTTPError(http.StatusNotFound, "There is no report yet.")
		}
		var text bytes.Buffer
		if err := report.Write(&text, format, of.Report); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		c.Response().Header().Set("Content-Disposition", `attachment; filename="check.`+format+`"`)
		return compressed(c, http.StatusOK, kind, text.Bytes())
	}
}
