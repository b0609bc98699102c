package web

import (
	answers "elicitation-inspector/bridge/script"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/views"
	"errors"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
)

// scripts is the panel of the script that answers questions before the person does.
type scripts struct{ in *bridge.Inspection }

func (s scripts) routes(e *echo.Echo) {
	e.POST("/script/load", s.load) // load a script that answers further questions: text
	e.POST("/script/unload", func(c echo.Context) error { s.in.AnswerBy(nil); return done(c, nil) })
}

func (s scripts) fill(p *views.Page) {
	if loaded := s.in.Scripted(); loaded != nil {
		p.Script = views.Script{Name: loaded.Name, Rules: len(loaded.Script.Rules)}
	}
}

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
		s.in.AnswerBy(bridge.NewScriptSource("a script", rules))
		return done(c, nil)
	case errors.As(err, &wrong):
		err = wrong.List[0]
	}
	return drawn(c, http.StatusUnprocessableEntity, views.ScriptView(views.Script{Typed: text, Problem: "Line " + sentence(err)}))
}
