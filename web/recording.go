package web

import (
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/playback"
	answers "elicitation-inspector/bridge/script"
	"elicitation-inspector/views"
)

func (s *Server) scriptView() views.Script {
	loaded := s.in.Scripted()
	if loaded == nil {
		return views.Script{}
	}
	return views.Script{Name: loaded.Name, Rules: len(loaded.Script.Rules)}
}

// loadScript loads a script from the form value text. It answers further questions.
func (s *Server) loadScript(c echo.Context) error {
	text := c.FormValue("text")
	rules, err := answers.Parse("line", []byte(text), os.LookupEnv)
	var wrong *answers.Mistakes
	switch {
	case err == nil:
		s.in.AnswerBy(bridge.NewScriptSource("a script", rules))
		return done(c, nil)
	case errors.As(err, &wrong):
		err = wrong.List[0]
	}
	return drawn(c, http.StatusUnprocessableEntity, views.ScriptView(views.Script{Typed: text, Problem: "Line " + sentence(err)}))
}

func (s *Server) answersFile(c echo.Context) error {
	ctx := c.Request().Context()
	redaction, err := s.redaction(c)
	if err != nil {
		return err
	}
	if err := s.in.Conversation().Update(ctx); err != nil {
		return err
	}
	calls, err := answers.CallsIn(ctx, s.in.Conversation(), 0, conversation.Reading{Redact: redaction})
	if err != nil {
		return err
	}
	if c.QueryParam("download") != "" {
		title, err := s.titleOf(ctx, 1, nil)
		if err != nil {
			return err
		}
		attach(c, export.FileName("answers of "+title, ".yaml"))
	}
	w := answers.Writing{From: "this session", Expect: true}
	return c.Blob(http.StatusOK, "application/yaml; charset=utf-8", []byte(w.Answers(calls)))
}

func (s *Server) recordingView() views.Recording {
	kept := s.in.Log().Stats()
	return views.Recording{
		RecordingState: s.config.Recording.State(), Lost: kept.Lost, Where: kept.Where,
		Folder: s.config.RecordFolder, Typed: "session-" + time.Now().Format("20060102-150405") + ".jsonl",
	}
}

func (s *Server) startRecording(c echo.Context) error {
	name, fresh := c.FormValue("name"), c.FormValue("fresh") != ""
	err := s.config.Recording.BeginNamed(s.config.RecordFolder, name, fresh)
	switch {
	case err == nil:
		return done(c, nil)
	case errors.Is(err, playback.ErrUnderWay):
		return conflict(err)
	}
	v := s.recordingView()
	v.Typed, v.Fresh, v.Problem = name, fresh, sentence(err)
	return drawn(c, http.StatusUnprocessableEntity, views.RecordingView(v))
}

func (s *Server) stopRecording(c echo.Context) error {
	if err := s.config.Recording.End(); err != nil {
		s.logger.Error("ending the recording", "error", err) // the page shows it already
	}
	return done(c, nil)
}
