package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/judges/replay"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// run is a replay of the transcript on a server: a live inspection with a log of its own, which stays
// on the page until the next one.
type run struct {
	number  int
	on      string // what people read for the server
	in      *inspection.Inspection
	log     *wire.Log
	calls   int
	made    atomic.Int64
	played  atomic.Pointer[replay.Played] // nil while it goes on
	err     atomic.Pointer[error]
	changed chan struct{} // receives after a change; capacity 1
	stop    context.CancelFunc
	done    chan struct{}
}

// replaysMost is how many replays are kept, to be compared.
const replaysMost = 20

func (r *run) name() string { return fmt.Sprintf("replay %d, on %s", r.number, r.on) }

// replays lists the replays, the latest first.
func (p *Playback) replays() []*run {
	if list := p.runs.Load(); list != nil {
		return *list
	}
	return nil
}

func (p *Playback) name() string {
	if len(p.config.Files) > 1 {
		return "the transcripts"
	}
	return filepath.Base(strings.Join(p.config.Files, ""))
}

// carried returns the values that a replay with this log has carried.
func (p *Playback) carried(log *wire.Log) []diff.Carried {
	if p != nil {
		for _, r := range p.replays() {
			if played := r.played.Load(); r.log == log && played != nil {
				return played.Carried
			}
		}
	}
	return nil
}

// replay begins to make the calls of the transcript again: form values server, the place of the target
// in the list, and unknown.
func (p *Playback) replay(c echo.Context) error {
	place, err := strconv.Atoi(c.FormValue("server"))
	if err != nil || place < 0 || place >= len(p.config.Live.Targets) {
		return bad("There is no such server to replay on.")
	}
	unknown := c.FormValue("unknown")
	if !slices.Contains(diff.Unknowns, unknown) {
		return bad("What happens to an unknown question must be %s.", wording.Alternatives(diff.Unknowns))
	}
	source := p.config.Player.Source()
	if err := source.Wait(c.Request().Context()); err != nil {
		return err
	}
	recorded, err := replay.Read(c.Request().Context(), source, p.name())
	if err != nil {
		return refused(http.StatusUnprocessableEntity, err)
	}
	if err := p.begin(p.config.Live.Targets[place], recorded, diff.Unknown(unknown)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/?of=replay")
}

func (p *Playback) begin(spec target.Spec, recorded *replay.Recorded, unknown diff.Unknown) (err error) {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	config := p.config.Live
	config.Targets = []target.Spec{spec}
	if config.Settings, err = recorded.Settings("", ""); err != nil {
		return err
	}
	if config.Log, err = wire.NewLog(wire.Options{MaxFrame: config.MaxFrame}); err != nil {
		return err
	}
	before := p.replays()
	if len(before) > 0 {
		before[0].close()
	}
	for ; len(before) >= replaysMost; before = before[:len(before)-1] {
		if err := before[len(before)-1].log.Close(); err != nil {
			return errors.Join(err, config.Log.Close())
		}
	}
	ctx, stop := context.WithCancel(p.ctx)
	r := &run{number: 1, on: spec.Name, in: inspection.New(config), log: config.Log, calls: len(recorded.Calls), changed: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
	if len(before) > 0 {
		r.number = before[0].number + 1
	}
	r.in.Start()
	p.runs.Store(new(append([]*run{r}, before...)))
	go r.play(ctx, recorded, unknown)
	return nil
}

// play makes the calls. Questions that the recording does not have stay on the page, if they are to be
// asked.
func (r *run) play(ctx context.Context, recorded *replay.Recorded, unknown diff.Unknown) {
	defer close(r.done)
	config := headless.Config{}
	if unknown == diff.UnknownAsk {
		config.Ask = func(ctx context.Context, _ inspection.Question) (live.Answer, error) { // the page asks
			<-ctx.Done()
			return live.Answer{}, ctx.Err()
		}
	}
	session := headless.Over(r.in, r.in.Servers()[0].ID, config)
	defer session.Leave()
	played := new(replay.Played)
	err := session.Connected(ctx)
	if err == nil {
		played, err = replay.Run(ctx, session, recorded.Calls, replay.Options{Unknown: unknown, Before: func(n int) {
			r.made.Store(int64(n + 1))
			r.change()
		}})
	}
	if err != nil && ctx.Err() == nil {
		r.err.Store(&err)
	}
	r.played.Store(played)
	r.change()
}

func (r *run) change() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// close ends the replay and its connections. Its log stays, to be compared.
func (r *run) close() {
	r.stop()
	<-r.done
	ctx, cancel := context.WithTimeout(context.Background(), inspection.CloseTime)
	defer cancel()
	_ = r.in.Close(ctx) // it logs what cannot be closed
}

// end ends all replays.
func (p *Playback) end() error {
	var errs []error
	for i, r := range p.replays() {
		if i == 0 {
			r.close()
		}
		errs = append(errs, r.log.Close())
	}
	return errors.Join(errs...)
}

// replaying is the panel of a replay on the page of its session.
type replaying struct{ *run }

func (r replaying) routes(e *echo.Echo) {
	e.POST("/replay/stop", func(echo.Context) error { r.stop(); return nil })
}

func (r replaying) fill(p *views.Page) {
	v := &views.Replaying{On: r.on, Made: int(r.made.Load()), Calls: r.calls, Number: r.number}
	if played := r.played.Load(); played != nil {
		v.Over, v.Made, v.Notes = true, played.Made, played.Notes
		for _, u := range played.Unanswered {
			v.Notes = append(v.Notes, fmt.Sprintf("A question was cancelled, %s: %s", u.Question.Message(), u.Why))
		}
		if err := r.err.Load(); err != nil {
			v.Err = sentence(*err)
		}
	}
	p.Replaying = v
}

func (r replaying) changes() [4]<-chan struct{} { return [4]<-chan struct{}{r.changed} }

func (r replaying) draw(paint *painter, _ changed) {
	var page views.Page
	r.fill(&page)
	paint.replace("replaying", views.ReplayingView(*page.Replaying))
}
