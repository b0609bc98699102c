package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/keep/playback"
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
	runs   atomic.Pointer[[]*run] // see replays
	live   atomic.Bool            // the session of the latest replay is on show, in place of the transcript
}

// transcriptRefusal says why a page without connections of its own takes no actions.
const transcriptRefusal = "This is a transcript: nothing can be called, answered or changed in it."

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
	// Live configures the sessions of replays. Its Targets are what can be replayed on.
	Live inspection.Config
}

// NewPlayback returns the server of the page. Serve starts it.
func NewPlayback(c PlaybackConfig) *Playback {
	c.Config = c.complete()
	return &Playback{config: c, hub: push.NewHub(), turn: make(chan struct{}, 1)}
}

// Serve answers on l until ctx ends, then lets running requests finish.
func (p *Playback) Serve(ctx context.Context, l net.Listener) error {
	p.ctx = ctx
	p.follow()
	err := serve(ctx, l, p.config.Config, p, p.hub.Close)
	p.shown.Load().stop()
	return errors.Join(err, p.end())
}

// ServeHTTP passes a request to the server of the shown log. An address says by the query of whether that
// is the transcript or the session of its replay.
func (p *Playback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if query := r.URL.Query(); r.URL.Path == "/" && query.Has("of") {
		p.live.Store(query.Get("of") == "replay")
		p.follow()
		query.Del("of")
		http.Redirect(w, r, "/?"+query.Encode(), http.StatusSeeOther)
		return
	}
	p.shown.Load().ServeHTTP(w, r)
}

// follow makes the page show the player's current log, or that of the replay.
func (p *Playback) follow() {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	log, old := p.config.Player.Shown(), p.shown.Load()
	var run *run
	if list := p.replays(); p.live.Load() && len(list) > 0 {
		run = list[0]
		log = run.log
	}
	if old != nil && old.in.Log() == log {
		return
	}
	config, from := p.config.Config, source{play: p}
	if run != nil {
		config.Inspection, from.panel = run.in, replaying{run}
	} else {
		from.replay = inspection.NewReplay(log, p.config.Player, p.config.Logger)
		from.player, from.panel, from.refusal = p.config.Player, player{p, from.replay}, transcriptRefusal
	}
	s := newServer(config, from, p.hub)
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

// player is the panel of a transcript and its playback.
type player struct {
	*Playback
	replay *inspection.Replay
}

// routes registers the endpoints of a playback. The other POST endpoints of its [Server]
// answer 409, except those of the wire log.
func (p player) routes(e *echo.Echo) {
	player := p.config.Player
	post := func(what string, do func(c echo.Context) error) {
		e.POST("/playback/"+what, func(c echo.Context) error {
			err := do(c)
			if err == nil {
				p.follow()
			}
			return refused(http.StatusBadRequest, err)
		})
	}
	e.POST("/playback/replay", p.Playback.replay)
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

const problemsShown = 100

func (p player) fill(page *views.Page) {
	shown, player := p.replay.Shown(), p.config.Player
	v := &views.Replay{
		Calls: shown.Calls, AllCalls: shown.AllCalls, Questions: shown.Questions, AllQuestions: shown.AllQuestions,
		Percent: 100, Playback: player.State(),
	}
	for _, name := range p.config.Files {
		v.Files = append(v.Files, filepath.Base(name))
	}
	for _, spec := range p.config.Live.Targets {
		v.Targets = append(v.Targets, spec.Name+" ("+spec.Address()+")")
	}
	v.Session = len(p.replays()) > 0
	if read, size := player.Source().Reading(); read < size {
		v.Percent = int(100 * read / size)
	}
	if shown.Err != nil {
		v.Err = sentence(shown.Err)
	}
	damage, total := player.Source().Damage()
	v.Damaged = total + int64(len(p.config.Problems))
	v.Problems = append(v.Problems, p.config.Problems[:min(len(p.config.Problems), problemsShown)]...)
	for _, d := range damage[:min(len(damage), problemsShown-len(v.Problems))] {
		v.Problems = append(v.Problems, fmt.Sprintf("%s, %v", filepath.Base(d.File), d.LineError.Error()))
	}
	page.Replay = v
}

func (p player) changes() [4]<-chan struct{} {
	player := p.config.Player
	return [4]<-chan struct{}{player.Changed(), p.replay.Inspection().Log().Grown(), player.Source().Grown(), p.replay.Refreshed()}
}

func (p player) draw(paint *painter, _ changed) {
	var page views.Page
	p.fill(&page)
	bar := *page.Replay
	paint.replace("replay-files", views.ReplayFiles(bar))
	paint.replace("playback", views.PlaybackView(bar.Playback))
	paint.replace("playback-questions", views.PlaybackQuestions(bar.Playback.Asked))
	paint.replace("replay-notes", views.ReplayNotes(bar))
}
