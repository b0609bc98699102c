package web

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/web/push"
)

// panel is a part of the page.
type panel interface {
	// routes registers the endpoints of the panel. Each is behind the guard.
	routes(e *echo.Echo)
	// fill adds the panel to a page that is drawn as a whole.
	fill(p *views.Page)
	// draw draws what has changed of the panel. Only one goroutine calls it, so a later push
	// never has an older state. It may draw a part without need: the hub drops what pages
	// already have.
	draw(p *painter, c changed)
}

// follower is a panel that is drawn after changes of the inspection.
type follower interface {
	panel
	// draws returns the kinds of change after which the panel has something to draw, at once and
	// calmly; other changes do not concern it.
	draws() (atOnce, calmly changeKinds)
}

// changeKinds is a set of kinds of change.
type changeKinds uint

// everything is the set for a panel that looks by itself for what has changed, each time.
const everything = ^changeKinds(0)

func kindsOf(list ...live.ChangeKind) (k changeKinds) {
	for _, one := range list {
		k |= 1 << one
	}
	return k
}

// watcher is a panel that is not drawn with the others, but whenever one of its own channels
// is closed.
type watcher interface {
	panel
	changes() [4]<-chan struct{} // nil for those that are not needed
}

// moment says when panels draw.
type moment int

// The moments at which panels draw.
const (
	atFirst moment = iota // before the first page: panels remember what they have drawn, and nothing is pushed
	atOnce                // after a change that a person waits for: of a question, of its call, of a sign-in
	calmly                // after all changes, a few times a second
)

// changed says what has changed since panels were last drawn at this moment.
type changed struct {
	when    moment
	what    map[live.Change]bool
	kinds   changeKinds  // of what
	calls   map[int]bool // numbers of the calls that have changed, or a question of which has; true if such a question waits
	settled []int        // numbers of the changed questions that do not wait any more
	gone    []string     // ids of the servers that were removed
}

func (c changed) server(id string) bool {
	return c.what[live.Change{Kind: live.ServerChanged, Server: id}]
}

func (c changed) catalog(id string) bool {
	return c.server(id) || c.what[live.Change{Kind: live.CatalogChanged, Server: id}]
}

// changesOf returns what changes of the inspection mean for the panels.
func changesOf(in *inspection.Inspection, when moment, what map[live.Change]bool) changed {
	c := changed{when: when, what: what, calls: map[int]bool{}}
	ofCall := func(call int, waits bool) { c.calls[call] = c.calls[call] || waits }
	for one := range what {
		c.kinds |= kindsOf(one.Kind)
		switch one.Kind {
		case live.CallChanged:
			ofCall(one.Number, false)
		case live.QuestionChanged:
			call, waits := in.Standing(one.Number)
			if call > 0 {
				ofCall(call, waits)
			}
			if !waits {
				c.settled = append(c.settled, one.Number)
			}
		case live.ServerChanged:
			// Not by Inspection.Server, which has a removed server for its calls.
			if !slices.ContainsFunc(in.Servers(), func(s inspection.Server) bool { return s.ID == one.Server }) && one.Server != "" {
				c.gone = append(c.gone, one.Server)
			}
		case live.SignInChanged, live.CatalogChanged, live.FindingsChanged, live.RecordingChanged, live.ScriptChanged:
		}
	}
	return c
}

// The shortest times between two drawings of what nobody needs to see at once.
const (
	calmEvery  = 100 * time.Millisecond // panels
	watchEvery = 200 * time.Millisecond // watchers, and the number of frames
)

// pump has the panels draw what the inspection changes, and pushes it to every page.
type pump struct {
	painter
	in      *inspection.Inspection
	sub     *live.Subscription
	panels  []follower
	stirred <-chan struct{}
}

// newPump must be called before any page is drawn.
func (s *Server) newPump(ctx context.Context) *pump {
	p := &pump{painter: s.newPainter(ctx), in: s.in, sub: s.in.Subscribe(), stirred: s.stirred}
	for _, one := range s.panels {
		if f, follows := one.(follower); follows {
			p.panels = append(p.panels, f)
		}
	}
	for _, one := range p.panels {
		one.draw(&p.painter, changed{when: atFirst})
	}
	p.changes = nil
	return p
}

// run pushes the changes of the inspection until the pump's context ends.
func (p *pump) run() {
	defer p.sub.Close()
	calm := map[live.Change]bool{}
	var timer <-chan time.Time
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-timer:
			p.redraw(calmly, calm)
			calm, timer = map[live.Change]bool{}, nil
			continue
		case <-p.stirred:
		case <-p.sub.Ready():
			now := p.take(calm)
			if len(now) > 0 {
				p.redraw(atOnce, now)
			}
		}
		if timer == nil {
			timer = time.After(calmEvery)
		}
	}
}

// take takes the changes, and returns those that are drawn at once. It adds all of them to calm.
func (p *pump) take(calm map[live.Change]bool) map[live.Change]bool {
	p.in.CatchUp() // before they are taken: what reading marks is drawn with them, and not once more
	now := map[live.Change]bool{}
	for _, c := range p.sub.Take() {
		calm[c] = true
		if c.Kind == live.QuestionChanged || c.Kind == live.SignInChanged {
			now[c] = true
		}
	}
	return now
}

func (p *pump) redraw(when moment, what map[live.Change]bool) {
	c := changesOf(p.in, when, what)
	for _, one := range p.panels {
		wanted, calm := one.draws()
		if when == calmly {
			wanted = calm
		}
		if wanted == everything || wanted&c.kinds != 0 {
			one.draw(&p.painter, c)
		}
	}
	p.publish()
}

// watch draws a watcher at once, and after each of its changes, until ctx ends.
func (s *Server) watch(ctx context.Context, w watcher) {
	p := s.newPainter(ctx)
	for more := true; more; {
		changes := w.changes()
		w.draw(&p, changed{when: calmly})
		p.publish()
		more = again(ctx, watchEvery, changes)
	}
}

// again waits for a change, and then until it is time to draw again. It reports false when ctx
// has ended.
func again(ctx context.Context, every time.Duration, changes [4]<-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-changes[0]:
	case <-changes[1]:
	case <-changes[2]:
	case <-changes[3]:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(every):
		return true
	}
}

// painter draws elements of the page, and pushes them to every page.
type painter struct {
	ctx     context.Context
	hub     *push.Hub
	logger  *slog.Logger
	time    func() time.Time // the time in a transcript; nil if none is shown
	changes []push.Change
	lists   map[string]map[string]string // markup by id, by the element where a list begins
}

func (s *Server) newPainter(ctx context.Context) painter {
	p := painter{ctx: ctx, hub: s.hub, logger: s.config.Logger, lists: map[string]map[string]string{}}
	if s.player != nil {
		p.time = s.in.Now
	}
	return p
}

// draw draws an element. It reports a failure to the log.
func (p *painter) draw(id string, c templ.Component) (html string, ok bool) {
	html, err := draw(p.ctx, markup.Within(markup.PartMost, id, c))
	if err != nil && p.ctx.Err() == nil {
		p.logger.Error("drawing a change", "element", id, "error", err)
	}
	return html, err == nil
}

// put draws an element for the next push. op and at say where a page that lacks the
// element inserts it.
func (p *painter) put(id string, c templ.Component, op, at string) {
	if html, ok := p.draw(id, c); ok {
		p.changes = append(p.changes, push.Change{ID: id, HTML: html, Op: op, At: at})
	}
}

// putList draws the elements of a list that have changed, and removes those that are gone.
// op and at say where the first one stands; each other one follows the one before it.
func putList[T any](p *painter, list []T, id func(T) string, look func(T) templ.Component, op, at string) {
	before, now := p.lists[at], map[string]string{}
	p.lists[at] = now
	for _, one := range list {
		id := id(one)
		html, ok := p.draw(id, look(one))
		if !ok {
			html = before[id]
		} else if html != before[id] {
			p.changes = append(p.changes, push.Change{ID: id, HTML: html, Op: op, At: at})
		}
		now[id] = html
		op, at = "after", id
	}
	for id := range before {
		if _, stays := now[id]; !stays {
			p.remove(id)
		}
	}
}

func (p *painter) replace(id string, c templ.Component) { p.put(id, c, "", "") }

func (p *painter) remove(id string) { p.changes = append(p.changes, push.Change{ID: id}) }

func (p *painter) publish() {
	var at time.Time
	if p.time != nil {
		at = p.time()
	}
	p.hub.Publish(p.changes, at)
	p.changes = nil
}
