package web

import (
	"errors"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	answers "elicitation-inspector/bridge/script"
	"elicitation-inspector/views"
)

// scriptView describes the loaded script.
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

func (s *Server) unloadScript(c echo.Context) error {
	s.in.AnswerBy(nil)
	return done(c, nil)
}

// answersFile answers with the answers given so far, as a script.
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
		c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="answers.yaml"`)
	}
	w := answers.Writing{From: "this session", Expect: true}
	return c.Blob(http.StatusOK, "application/yaml; charset=utf-8", []byte(w.Answers(calls)))
}
