package web

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/views/wirelog"
	"elicitation-inspector/web/push"
)

// The shortest times between two pushes of changes that nobody needs to see at once.
const (
	calmEvery  = 100 * time.Millisecond // calls, servers, lists
	countEvery = 200 * time.Millisecond // the number of frames
)

// pump draws each changed part of the page and pushes it to every page. Its one
// goroutine draws all of them, so a later push never has an older state. It may draw a
// part without need: the hub drops what pages already have.
type pump struct {
	*Server
	ctx     context.Context
	sub     *live.Subscription
	changes []push.Change

	// The state of the page after the last push.
	settled int // number of settled questions on the page
	cards   []int
	active  activity
	marked  int64                        // version of the marks when the pins were drawn
	lists   map[string]map[string]string // markup by id, by the element where a list begins
	newest  int                          // the call that a playback shows
	check   int
	columns int // of the matrix of the check
}

func (s *Server) newPump(ctx context.Context) *pump {
	p := &pump{Server: s, ctx: ctx, sub: s.in.Subscribe(), settled: s.settledShown(), lists: map[string]map[string]string{}}
	p.drawCards(nil, nil)
	p.drawTabs()
	p.drawActivity()
	p.drawPins()
	p.changes = nil
	if calls := p.in.Calls(); len(calls) > 0 {
		p.newest = calls[len(calls)-1].Number
	}
	return p
}

// run pushes the changes of the inspection until the pump's context ends: questions,
// their calls and sign-ins at once, everything else a few times a second.
func (p *pump) run() {
	defer p.sub.Close()
	calm := changed{}
	var timer <-chan time.Time
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-timer:
			p.drawCalm(calm)
			calm, timer = changed{}, nil
			continue
		case <-p.stirred:
		case <-p.sub.Ready():
			now := changed{}
			for _, c := range p.sub.Take() {
				calm[c] = true
				if c.Kind == live.QuestionChanged || c.Kind == live.SignInChanged {
					now[c] = true
				}
			}
			p.drawQuestions(now)
			p.drawSignIns(now)
		}
		if timer == nil {
			timer = time.After(calmEvery)
		}
	}
}

// stir wakes the pump for changes that no subscription reports: new frames and marks.
func (s *Server) stir() {
	select {
	case s.stirred <- struct{}{}:
	default:
	}
}

// again waits for a change, and then until it is time to draw again. It reports false when ctx
// has ended.
func again(ctx context.Context, every time.Duration, changes ...<-chan struct{}) bool {
	var change [4]<-chan struct{} // a channel that is nil never has anything
	copy(change[:], changes)
	select {
	case <-ctx.Done():
		return false
	case <-change[0]:
	case <-change[1]:
	case <-change[2]:
	case <-change[3]:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(every):
		return true
	}
}

// pumpFrames pushes the length and the place of the wire log to the pages.
func (s *Server) pumpFrames(ctx context.Context) {
	log := s.in.Log()
	for more := true; more; {
		grown := log.Grown()
		s.hub.Count(log.Len(), s.keptWords())
		s.stir()
		more = again(ctx, countEvery, grown)
	}
}

type changed map[live.Change]bool

func (c changed) server(id string) bool {
	return c[live.Change{Kind: live.ServerChanged, Server: id}]
}

func (c changed) catalog(id string) bool {
	return c.server(id) || c[live.Change{Kind: live.CatalogChanged, Server: id}]
}

// callsOf returns the numbers of the calls that have changed, or whose questions have.
func (p *pump) callsOf(c changed) map[int]bool {
	calls := map[int]bool{}
	for one := range c {
		switch one.Kind {
		case live.CallChanged:
			calls[one.Number] = true
		case live.QuestionChanged:
			if call, _ := p.in.Standing(one.Number); call > 0 {
				calls[call] = true
			}
		case live.ServerChanged, live.CatalogChanged, live.FindingsChanged, live.RecordingChanged, live.ScriptChanged:
		}
	}
	return calls
}

// draw draws an element. It reports a failure to the log.
func (p *pump) draw(id string, c templ.Component) (html string, ok bool) {
	html, err := draw(p.ctx, markup.Within(markup.PartMost, id, c))
	if err != nil && p.ctx.Err() == nil {
		p.logger.Error("drawing a change", "element", id, "error", err)
	}
	return html, err == nil
}

// put draws an element for the next push. op and at say where a page that lacks the
// element inserts it.
func (p *pump) put(id string, c templ.Component, op, at string) {
	if html, ok := p.draw(id, c); ok {
		p.changes = append(p.changes, push.Change{ID: id, HTML: html, Op: op, At: at})
	}
}

// element is an element of a list.
type element struct {
	id string
	templ.Component
}

// putList draws the elements of a list that have changed, and removes those that are gone.
// op and at say where the first one stands; each other one follows the one before it.
func (p *pump) putList(list []element, op, at string) {
	before, now := p.lists[at], map[string]string{}
	p.lists[at] = now
	for _, e := range list {
		html, ok := p.draw(e.id, e)
		if !ok {
			html = before[e.id]
		} else if html != before[e.id] {
			p.changes = append(p.changes, push.Change{ID: e.id, HTML: html, Op: op, At: at})
		}
		now[e.id] = html
		op, at = "after", e.id
	}
	for id := range before {
		if _, stays := now[id]; !stays {
			p.remove(id)
		}
	}
}

func (p *pump) replace(id string, c templ.Component) { p.put(id, c, "", "") }

func (p *pump) remove(id string) { p.changes = append(p.changes, push.Change{ID: id}) }

func (p *pump) publish() {
	p.Server.publish(p.changes)
	p.changes = nil
}

// drawQuestions draws changed questions and first the calls of the pending ones. The
// panel of a call stands above its questions: if it grew later, it would move them from
// under the pointer.
func (p *pump) drawQuestions(c changed) {
	if len(c) == 0 {
		return
	}
	asking := changed{}
	for one := range c {
		if _, waits := p.in.Standing(one.Number); waits {
			asking[one] = true
		} else {
			p.drafts.drop(one.Number)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(p.callsOf(asking))) {
		p.drawCall(n)
	}
	p.drawCards(c, p.callsOf(c)) // last, because a card does not contain what is typed while it is drawn
	p.publish()
}

func (p *pump) drawCalm(c changed) {
	calls := p.callsOf(c)
	for _, n := range slices.Sorted(maps.Keys(calls)) {
		p.drawCall(n)
	}
	moved := maps.Clone(c)
	maps.DeleteFunc(moved, func(one live.Change, _ bool) bool { return one.Kind == live.QuestionChanged }) // drawQuestions has drawn them
	p.drawCards(moved, calls)
	if len(calls) > 0 {
		p.drawTabs()
		p.drawActivity()
	}
	p.drawServers(c)
	p.drawLog(c[live.Change{Kind: live.RecordingChanged}])
	p.drawCheck()
	if c[live.Change{Kind: live.ScriptChanged}] {
		p.replace("script", views.ScriptView(p.scriptView()))
	}
	p.publish()
}

// drawCards draws changed questions, and questions whose accepted URL depends on a
// changed call or server. It removes those that pages no longer show.
func (p *pump) drawCards(c changed, calls map[int]bool) {
	var cards []int
	for _, q := range p.in.OnShow(p.settled) {
		cards = append(cards, q.Number)
		awaits := q.Completion == conversation.CompletionAwaited && (calls[q.Call] || c.server(q.Server))
		if c[live.Change{Kind: live.QuestionChanged, Number: q.Number}] || awaits {
			p.put(formID(q.Number), views.QuestionCard(p.questionView(q, nil, nil)), "append", "questions")
		}
	}
	for _, n := range p.cards {
		if _, stays := slices.BinarySearch(cards, n); !stays {
			p.remove(formID(n))
		}
	}
	p.cards = cards
}

// drawCall draws the parts of a call's panel that change. A playback shows the whole
// panel of the latest call.
func (p *pump) drawCall(n int) {
	call, err := p.in.Call(n)
	if err != nil || !p.callMatters(n) {
		return
	}
	v := p.callView(call)
	if p.replay != nil && n > p.newest {
		p.newest = n
		p.replace("call", views.CallPanel(nil, &v))
		return
	}
	p.replace(v.ID()+"-head", views.CallHead(v))
	p.replace(v.ID()+"-now", views.CallNow(v))
	p.replace(v.ResultID(), views.ResultView(v))
}

func (p *pump) drawTabs() {
	tabs, earlier := p.callStrip()
	var list []element
	for _, tab := range slices.Backward(tabs) {
		list = append(list, element{tab.ID(), views.CallTabView(tab)})
	}
	p.putList(list, "prepend", "call-tabs")
	if earlier.Count > 0 {
		p.put("call-tabs-earlier", views.EarlierCallsView(earlier), "append", "call-tabs")
	} else {
		p.remove("call-tabs-earlier")
	}
}

// drawActivity draws the items whose numbers of running calls or waiting questions have
// changed.
func (p *pump) drawActivity() {
	now := p.activity()
	for id, counts := range now {
		if p.active[id] != counts {
			p.drawItem(id, now)
		}
	}
	for id := range p.active {
		if _, still := now[id]; !still {
			p.drawItem(id, now)
		}
	}
	p.active = now
}

func (p *pump) drawItem(id itemID, active activity) {
	server, err := p.in.Server(id.server)
	if err != nil {
		return
	}
	if item, ok := p.placed(serverView(server), id, active); ok {
		p.replace(item.AboutID(), views.ItemAbout(item))
	}
}

func (p *pump) drawSignIns(c changed) {
	for _, server := range p.in.Servers() {
		if !c[live.Change{Kind: live.SignInChanged, Server: server.ID}] {
			continue
		}
		if card, ok := signInCard(p.in, serverView(server)); ok {
			p.put(card.ID(), views.SignInView(card), "append", "sign-ins")
		}
		if token, ok := tokenOf(p.in, server.ID); ok {
			p.replace(token.ID(), views.TokenView(token))
		}
	}
	p.publish()
}

func (p *pump) drawServers(c changed) {
	begun := false // the start view depends on this change
	all := p.serverViews()
	for one := range c {
		if one.Kind != live.ServerChanged || one.Server == "" || slices.ContainsFunc(all, func(v views.Server) bool { return v.ID == one.Server }) {
			continue
		}
		begun = true // by the removal of the server
		gone := views.Server{ServerStatus: conversation.ServerStatus{ID: one.Server}}
		for _, shelf := range views.Shelves {
			p.remove(views.OfferID(one.Server, shelf))
		}
		p.remove(gone.RowID())
		p.remove(gone.HeldID())
		p.remove(views.SignIn{Server: gone}.ID())
	}
	for _, v := range all {
		begun = begun || c.catalog(v.ID)
		if c.server(v.ID) || c[live.Change{Kind: live.FindingsChanged, Server: v.ID}] {
			p.put(v.RowID(), views.ServerRow(v), "append", "server-list")
		}
		if c.server(v.ID) && v.HoldsBack() {
			p.put(v.HeldID(), views.HeldLine(v), "append", "held")
		} else if c.server(v.ID) {
			p.remove(v.HeldID())
		}
		if !c.catalog(v.ID) {
			continue
		}
		catalog := p.catalogView(v, nil)
		for _, shelf := range views.Shelves {
			p.put(views.OfferID(v.ID, shelf), views.Offer(catalog, shelf, 0), "append", shelf.OffersID())
		}
	}
	if begun {
		p.replace("start", views.StartView(p.startView()))
	}
}

func (p *pump) drawLog(recording bool) {
	if recording {
		p.replace("recording", views.RecordingView(p.recordingView()))
	}
	if state := p.config.Recording.State(); state.File != "" {
		p.replace("recording-lines", views.RecordingLines(state.Lines))
	}
	p.replace("where", views.Where(p.in.Log().Stats().Where))
	p.replace("log-state", wirelog.State(p.logStatus()))
	if _, marked := p.marks().Marked(); marked != p.marked {
		p.drawPins()
	}
}

func (p *pump) drawPins() {
	_, p.marked = p.marks().Marked() // read before the pins, so that a later mark is drawn again
	rows, err := p.Server.pins()
	if err != nil {
		p.logger.Error("drawing the pinned frames", "error", err)
		return
	}
	var list []element
	for _, row := range rows {
		list = append(list, element{wirelog.PinID(row.Seq), wirelog.PinRow(row)})
	}
	p.putList(list, "prepend", "pin-list")
}
