package web

import (
	"errors"
	"net/http"
	"path/filepath"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/views"
)

// recordingView returns the state of the recording, and where frames are kept.
func (s *Server) recordingView() views.Recording {
	kept := s.in.Log().Stats()
	v := views.Recording{
		Lost: kept.Lost, Where: kept.Where,
		Folder: s.config.RecordFolder, Typed: "session-" + time.Now().Format("20060102-150405") + ".jsonl",
	}
	state := s.config.Recording.State()
	v.File, v.Name, v.Since, v.Lines, v.Missed = state.File, filepath.Base(state.File), state.Since, state.Lines, state.Missed
	v.Remains = state.Remains
	if state.Err != nil {
		v.Err = sentence(state.Err)
	}
	return v
}

func (s *Server) startRecording(c echo.Context) error {
	name, fresh := c.FormValue("name"), c.FormValue("fresh") != ""
	err := s.config.Recording.BeginNamed(s.config.RecordFolder, name, fresh)
	switch {
	case err == nil:
		return done(c, nil)
	case errors.Is(err, playback.ErrUnderWay):
		return echo.NewHTTPError(http.StatusConflict, sentence(err))
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

// recordingTrouble returns why the recording has stopped, in words; "" if it has not
// failed.
func (s *Server) recordingTrouble() string {
	if err := s.config.Recording.State().Err; err != nil {
		return "The recording has stopped. " + sentence(err)
	}
	return ""
}
