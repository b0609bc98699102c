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
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/views"
)

// Stage serves the page of a transcript. What the page shows is an inspection
// like any other, but nothing can be called or answered in it, and it can be
// played back.
//
// Its endpoints are those of a [Server]. Each POST answers 409, but for those
// of the playback and of the wire log:
//
//	POST /playback/play, /pause, /step
//	POST /playback/seek             show this many frames: position
//	POST /playback/speed            a factor: speed
//	POST /playback/pauses           as they were, or shortened: pauses=full or short
//
// A log only grows, so that whoever goes back in a transcript begins with
// another log, and the page with another [Server].
type Stage struct {
	config StageConfig

	hub  *hub
	turn chan struct{} // with room for one: whoever follows the player has it

	mu     sync.Mutex
	server *Server
	stop   func()          // ends its pushes
	ctx    context.Context // of Serve
}

// StageConfig says what a [Stage] shows and to whom.
type StageConfig struct {
	Config
	Player   *playback.Player
	Files    []string // that the transcript was read from
	Problems []string // what was wrong with them, beyond damaged lines
}

// NewStage prepares the stage. Serve starts it.
func NewStage(c StageConfig) *Stage {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Stage{config: c, hub: newHub(), turn: make(chan struct{}, 1)}
}

// Serve answers on l until ctx ends, then lets running requests finish.
func (st *Stage) Serve(ctx context.Context, l net.Listener) error {
	st.mu.Lock()
	st.ctx = ctx
	st.mu.Unlock()
	st.follow()
	err := serve(ctx, l, st.config.Config, st, st.hub.close)
	st.mu.Lock()
	stop := st.stop
	st.mu.Unlock()
	stop()
	return err
}

// ServeHTTP passes a request to the server of what is on show.
func (st *Stage) ServeHTTP(w http.ResponseWriter, r *http.Request) { st.current().ServeHTTP(w, r) }

func (st *Stage) current() *Server {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.server
}

// follow makes the server show what the player does.
func (st *Stage) follow() {
	st.turn <- struct{}{}
	defer func() { <-st.turn }()
	shown := st.config.Player.Shown()
	st.mu.Lock()
	old, stop, serving := st.server, st.stop, st.ctx
	st.mu.Unlock()
	if old != nil && old.in.Log() == shown {
		return
	}
	replay := bridge.NewReplay(shown, st.config.Player, st.config.Logger)
	c := st.config.Config
	c.Inspection = replay.Inspection()
	s := New(c)
	s.stage, s.replay, s.hub = st, replay, st.hub
	s.routePlayback()
	if old != nil {
		stop() // nothing of it may be pushed after what the new one pushes
	}
	ctx, cancel := context.WithCancel(serving)
	var following sync.WaitGroup
	following.Go(func() { replay.Follow(ctx) })
	end := s.work(ctx)
	st.mu.Lock()
	st.server, st.stop = s, func() { cancel(); end(); following.Wait() }
	st.mu.Unlock()
	if old != nil {
		st.hub.anew()
	}
}

// act has the player do something.
func (s *Server) act(c echo.Context, do func() error) error {
	if err := do(); err != nil {
		return bad("%s", sentence(err))
	}
	s.stage.follow()
	return done(c, nil)
}

func (s *Server) routePlayback() {
	player := s.stage.config.Player
	s.echo.POST("/playback/play", func(c echo.Context) error { return s.act(c, player.Play) })
	s.echo.POST("/playback/pause", func(c echo.Context) error { return s.act(c, player.Pause) })
	s.echo.POST("/playback/step", func(c echo.Context) error { return s.act(c, player.Step) })
	s.echo.POST("/playback/seek", func(c echo.Context) error {
		position, err := strconv.ParseInt(c.FormValue("position"), 10, 64)
		if err != nil || position < 0 {
			return bad("The position must be a number of frames, not %q.", c.FormValue("position"))
		}
		return s.act(c, func() error { return player.GoTo(position) })
	})
	s.echo.POST("/playback/speed", func(c echo.Context) error {
		speed, err := strconv.ParseFloat(c.FormValue("speed"), 64)
		if err != nil {
			return bad("The speed must be a number, not %q.", c.FormValue("speed"))
		}
		return s.act(c, func() error { return player.SetSpeed(speed) })
	})
	s.echo.POST("/playback/pauses", func(c echo.Context) error {
		var longest time.Duration
		switch c.FormValue("pauses") {
		case "full":
		case "short":
			longest = playback.ShortGap
		default:
			return bad("The pauses must be full or short, not %q.", c.FormValue("pauses"))
		}
		return s.act(c, func() error { return player.SetGap(longest) })
	})
}

// readOnly refuses what would change something, where a transcript is on show.
func (s *Server) readOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path := c.Request().URL.Path
		if s.stage == nil || c.Request().Method == http.MethodGet ||
			strings.HasPrefix(path, "/playback/") || strings.HasPrefix(path, "/wire/") {
			return next(c)
		}
		return echo.NewHTTPError(http.StatusConflict, "This is a transcript: nothing can be called, answered or changed in it.")
	}
}

func (s *Server) playbackView() views.Playback {
	p := s.stage.config.Player.State()
	v := views.Playback{
		Playing: p.Playing, Position: p.Position, Frames: p.Frames, Speed: p.Speed, Short: p.Gap > 0,
		At: p.At, Length: p.Length, Now: p.Now,
	}
	if p.Err != nil {
		v.Err = sentence(p.Err)
	}
	return v
}

// problemsShown bounds how many damaged lines the page names.
const problemsShown = 100

// replayView says which transcript is on show; nil in a live inspection.
func (s *Server) replayView() *views.Replay {
	if s.stage == nil {
		return nil
	}
	shown := s.replay.Shown()
	source := s.stage.config.Player.Source()
	v := &views.Replay{
		Calls: shown.Calls, AllCalls: shown.AllCalls, Questions: shown.Questions, AllQuestions: shown.AllQuestions,
		Percent: 100, Playback: s.playbackView(),
	}
	for _, name := range s.stage.config.Files {
		v.Files = append(v.Files, filepath.Base(name))
	}
	if read, size := source.Reading(); read < size {
		v.Percent = int(100 * read / size)
	}
	if shown.Err != nil {
		v.Err = sentence(shown.Err)
	}
	damage, total := source.Damage()
	v.Damaged = total + int64(len(s.stage.config.Problems))
	v.Problems = append(v.Problems, s.stage.config.Problems[:min(len(s.stage.config.Problems), problemsShown)]...)
	for _, d := range damage[:min(len(damage), problemsShown-len(v.Problems))] {
		v.Problems = append(v.Problems, fmt.Sprintf("%s, %v", filepath.Base(d.File), d.LineError.Error()))
	}
	return v
}

// barEvery is how often at most the controls of the playback are drawn.
const barEvery = 200 * time.Millisecond

// pumpPlayback pushes where the playback is, and what is known of the transcript.
func (s *Server) pumpPlayback(ctx context.Context) {
	player, log := s.stage.config.Player, s.in.Log()
	for {
		changed, grown, read, refreshed := player.Changed(), log.Grown(), player.Source().Grown(), s.replay.Refreshed()
		bar := *s.replayView()
		p := pump{Server: s, ctx: ctx}
		p.replace("replay-files", views.ReplayFiles(bar))
		p.replace("playback", views.PlaybackView(bar.Playback))
		p.replace("replay-notes", views.ReplayNotes(bar))
		p.publish()
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-grown:
		case <-read:
		case <-refreshed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(barEvery):
		}
	}
}

// callsDrawn is how many of a transcript's latest calls are drawn when they change.
const callsDrawn = 30

// callMatters reports whether a call that has changed is worth being drawn: of
// all those that come up when a long transcript has been read, only the last are.
func (s *Server) callMatters(number int) bool {
	if s.stage == nil {
		return true
	}
	return s.replay.CallsAfter(number, callsDrawn) < callsDrawn
}

// ago is a time of the inspection as far back from the present as it is from
// the inspection's own, which for a transcript lies in the past.
func (s *Server) ago(t time.Time) time.Time {
	if s.stage == nil || t.IsZero() {
		return t
	}
	return time.Now().Add(-s.in.Now().Sub(t))
}
