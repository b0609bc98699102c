package web

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/keep/playback"
	answers "elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// recordings is the panel of the transcript that is being written.
type recordings struct {
	log       *wire.Log
	recording *playback.Recording
	folder    string
	logger    *slog.Logger
}

func (r recordings) routes(e *echo.Echo) {
	e.POST("/recording/start", r.start) // start a recording: name, fresh
	e.POST("/recording/stop", r.stop)
}

func (r recordings) fill(p *views.Page) { p.Recording = r.view() }

func (recordings) draws() (atOnce, calmly changeKinds) { return 0, everything }

func (r recordings) draw(p *painter, c changed) {
	if c.when != calmly {
		return
	}
	v := r.view()
	if c.what[live.Change{Kind: live.RecordingChanged}] {
		p.replace("recording", views.RecordingView(v))
	}
	if v.File != "" {
		p.replace("recording-lines", views.RecordingLines(v.Lines))
	}
	p.replace("where", views.Where(v.Where))
}

func (r recordings) view() views.Recording {
	kept := r.log.Stats()
	return views.Recording{
		RecordingState: r.recording.State(), Lost: kept.Lost, Where: kept.Where,
		Folder: r.folder, Typed: "session-" + time.Now().Format("20060102-150405") + ".jsonl",
	}
}

func (r recordings) start(c echo.Context) error {
	name, fresh := c.FormValue("name"), c.FormValue("fresh") != ""
	err := r.recording.BeginNamed(r.folder, name, fresh)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, playback.ErrUnderWay):
		return refused(http.StatusConflict, err)
	}
	v := r.view()
	v.Typed, v.Fresh, v.Problem = name, fresh, sentence(err)
	return judged(c, true, views.RecordingView(v))
}

func (r recordings) stop(c echo.Context) error {
	if err := r.recording.End(); err != nil {
		r.logger.Error("ending the recording", "error", err) // the page shows it already
	}
	return nil
}

// scripts is the panel of the script that answers questions before the person does.
type scripts struct{ in *inspection.Inspection }

func (s scripts) routes(e *echo.Echo) {
	e.POST("/script/load", s.load) // load a script that answers further questions: text
	e.POST("/script/unload", func(c echo.Context) error { s.in.AnswerBy(nil); return nil })
}

func (s scripts) fill(p *views.Page) {
	if loaded := s.in.Scripted(); loaded != nil {
		p.Script = views.Script{Name: loaded.Name, Rules: len(loaded.Script.Rules)}
	}
}

func (scripts) draws() (atOnce, calmly changeKinds) { return 0, kindsOf(live.ScriptChanged) }

func (s scripts) draw(p *painter, c changed) {
	if c.what[live.Change{Kind: live.ScriptChanged}] {
		var page views.Page
		s.fill(&page)
		p.replace("script", views.ScriptView(page.Script))
	}
}

// load loads a script from the form value text. It answers further questions.
func (s scripts) load(c echo.Context) error {
	text := c.FormValue("text")
	rules, err := answers.Parse("line", []byte(text), os.LookupEnv)
	var wrong *answers.Mistakes
	switch {
	case err == nil:
		s.in.AnswerBy(inspection.NewScriptSource("an answers file", rules))
		return nil
	case errors.As(err, &wrong):
		err = wrong.List[0]
	}
	return judged(c, true, views.ScriptView(views.Script{Typed: text, Problem: "Line " + sentence(err)}))
}
