package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/views"
	"elicitation-inspector/web/push"
)

// Playback serves the page of a transcript. The page shows it like any inspection, but
// nothing can be called or answered, and it can be played back.
//
// A log only grows, so going back in a transcript starts another log, and with it
// another [Server].
type Playback struct {
	config PlaybackConfig
	hub    *push.Hub
	ctx    context.Context // context of Serve
	turn   chan struct{}   // a lock, held during follow
	shown  atomic.Pointer[onShow]
}

// onShow is the server of the shown log. stop ends its pushes.
type onShow struct {
	*Server
	stop func()
}

// PlaybackConfig configures a [Playback].
type PlaybackConfig struct {
	Config
	Player   *playback.Player
	Files    []string // files of the transcript
	Problems []string // problems of the files besides damaged lines
}

// NewPlayback returns the server of the page. Serve starts it.
func NewPlayback(c PlaybackConfig) *Playback {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Playback{config: c, hub: push.NewHub(), turn: make(chan struct{}, 1)}
}

// Serve answers on l until ctx ends, then lets running requests finish.
func (p *Playback) Serve(ctx context.Context, l net.Listener) error {
	p.ctx = ctx
	p.follow()
	err := serve(ctx, l, p.config.Config, p, p.hub.Close)
	p.shown.Load().stop()
	return err
}

// ServeHTTP passes a request to the server of the shown log.
func (p *Playback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.shown.Load().ServeHTTP(w, r)
}

// follow makes the page show the player's current log.
func (p *Playback) follow() {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	log, old := p.config.Player.Shown(), p.shown.Load()
	if old != nil && old.in.Log() == log {
		return
	}
	replay := bridge.NewReplay(log, p.config.Player, p.config.Logger)
	c := p.config.Config
	c.Inspection = replay.Inspection()
	s := New(c)
	s.playback, s.replay, s.hub = p, replay, p.hub
	p.route(s.echo)
	if old != nil {
		old.stop() // the old server must not push after the new one
	}
	ctx, cancel := context.WithCancel(p.ctx)
	end := s.work(ctx)
	p.shown.Store(&onShow{s, func() { cancel(); end() }})
	if old != nil {
		p.hub.Anew()
	}
}

// route registers the endpoints of a playback. The other POST endpoints of its [Server]
// answer 409, except those of the wire log.
func (p *Playback) route(e *echo.Echo) {
	player := p.config.Player
	post := func(what string, do func(c echo.Context) error) {
		e.POST("/playback/"+what, func(c echo.Context) error {
			if err := do(c); err != nil {
				return bad("%s", sentence(err))
			}
			p.follow()
			return done(c, nil)
		})
	}
	post("play", func(echo.Context) error { return player.Play() })
	post("pause", func(echo.Context) error { return player.Pause() })
	post("step", func(echo.Context) error { return player.Step() })
	post("seek", func(c echo.Context) error { // position is a number of frames
		position, err := strconv.ParseInt(c.FormValue("position"), 10, 64)
		if err != nil || position < 0 {
			return fmt.Errorf("the position must be a number of frames, not %q", c.FormValue("position"))
		}
		return player.GoTo(position)
	})
	post("speed", func(c echo.Context) error { // speed is a factor
		speed, err := strconv.ParseFloat(c.FormValue("speed"), 64)
		if err != nil {
			return fmt.Errorf("the speed must be a number, not %q", c.FormValue("speed"))
		}
		return player.SetSpeed(speed)
	})
	post("pauses", func(c echo.Context) error { // full or short
		switch c.FormValue("pauses") {
		case "full", "":
			return player.SetGap(0)
		case "short":
			return player.SetGap(playback.ShortGap)
		}
		return fmt.Errorf("the pauses must be full or short, not %q", c.FormValue("pauses"))
	})
}

// readOnly is middleware that refuses changes while a transcript or a probe is shown.
func (s *Server) readOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path := c.Request().URL.Path
		if s.replay == nil || c.Request().Method == http.MethodGet ||
			strings.HasPrefix(path, "/playback/") || strings.HasPrefix(path, "/probe/") || strings.HasPrefix(path, "/wire/") {
			return next(c)
		}
		if s.probe != nil {
			return echo.NewHTTPError(http.StatusConflict, "This page shows what a client does: nothing can be called, answered or changed on it.")
		}
		return echo.NewHTTPError(http.StatusConflict, "This is a transcript: nothing can be called, answered or changed in it.")
	}
}

const problemsShown = 100

func (s *Server) replayView() *views.Replay {
	if s.playback == nil {
		return nil
	}
	shown := s.replay.Shown()
	source := s.playback.config.Player.Source()
	v := &views.Replay{
		Calls: shown.Calls, AllCalls: shown.AllCalls, Questions: shown.Questions, AllQuestions: shown.AllQuestions,
		Percent: 100, Playback: s.playback.config.Player.State(),
	}
	for _, name := range s.playback.config.Files {
		v.Files = append(v.Files, filepath.Base(name))
	}
	if read, size := source.Reading(); read < size {
		v.Percent = int(100 * read / size)
	}
	if shown.Err != nil {
		v.Err = sentence(shown.Err)
	}
	damage, total := source.Damage()
	v.Damaged = total + int64(len(s.playback.config.Problems))
	v.Problems = append(v.Problems, s.playback.config.Problems[:min(len(s.playback.config.Problems), problemsShown)]...)
	for _, d := range damage[:min(len(damage), problemsShown-len(v.Problems))] {
		v.Problems = append(v.Problems, fmt.Sprintf("%s, %v", filepath.Base(d.File), d.LineError.Error()))
	}
	return v
}

// barEvery is the minimum time between two drawings of the playback's controls.
const barEvery = 200 * time.Millisecond

func (s *Server) pumpPlayback(ctx context.Context) {
	player, log := s.playback.config.Player, s.in.Log()
	for more := true; more; {
		changed, grown, read, refreshed := player.Changed(), log.Grown(), player.Source().Grown(), s.replay.Refreshed()
		bar := *s.replayView()
		p := pump{Server: s, ctx: ctx}
		p.replace("replay-files", views.ReplayFiles(bar))
		p.replace("playback", views.PlaybackView(bar.Playback))
		p.replace("playback-questions", views.PlaybackQuestions(bar.Playback.Asked))
		p.replace("replay-notes", views.ReplayNotes(bar))
		p.publish()
		more = again(ctx, barEvery, changed, grown, read, refreshed)
	}
}

const callsDrawn = 30

// callMatters reports whether a changed call is drawn. After reading a long transcript,
// only its latest calls are.
func (s *Server) callMatters(number int) bool {
	if s.replay == nil {
		return true
	}
	return s.replay.CallsAfter(number, callsDrawn) < callsDrawn
}
