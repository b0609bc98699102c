package web

import (
	"context"
	"slices"
	"time"

	"elicitation-inspector/bridge"
	"elicitation-inspector/views"
)

// How often at most the page is told of what people do not react to at once.
const (
	calmEvery  = 100 * time.Millisecond // calls, servers, lists
	countEvery = 200 * time.Millisecond // the number of frames
)

// pumpChanges pushes what changes in the inspection: questions at once,
// everything else a few times a second.
func (s *Server) pumpChanges(ctx context.Context) {
	sub := s.in.Subscribe()
	defer sub.Close()
	calm := map[bridge.Change]bool{}
	var order []bridge.Change
	var timer <-chan time.Time
	onPage := &cards{shown: map[int]bool{}, most: s.settledShown()}
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Ready():
			var urgent []bridge.Change
			for _, c := range sub.Take() {
				if c.Kind == bridge.QuestionChanged {
					urgent = append(urgent, c)
				}
				if !calm[c] {
					calm[c] = true
					order = append(order, c)
				}
			}
			s.pushQuestions(ctx, urgent, onPage)
			if timer == nil && len(order) > 0 {
				timer = time.After(calmEvery)
			}
		case <-timer:
			s.pushCalm(ctx, order)
			clear(calm)
			order, timer = nil, nil
		}
	}
}

// cards are the questions that pages have been sent.
type cards struct {
	shown   map[int]bool
	settled []int // in the order of their end
	most    int   // of them are kept
	gone    []int // the last that were taken off
}

// goneMost is how many cards that were taken off are remembered: more than the
// inspection knows of, so that none comes back.
const goneMost = 1000

// settle notes that a question is settled, and takes those off the page that
// are settled too long, but for those that stay.
func (c *cards) settle(question int, stays func(question int) bool) []change {
	if slices.Contains(c.settled, question) {
		return nil
	}
	c.settled = append(c.settled, question)
	var gone []change
	for len(c.settled) > c.most {
		i := slices.IndexFunc(c.settled, func(n int) bool { return !stays(n) })
		if i < 0 {
			break
		}
		gone = append(gone, change{Op: "remove", Target: formID(c.settled[i])})
		delete(c.shown, c.settled[i])
		c.gone = append(c.gone, c.settled[i])
		c.gone = c.gone[max(0, len(c.gone)-goneMost):]
		c.settled = slices.Delete(c.settled, i, i+1)
	}
	return gone
}

// awaited reports whether the outcome of a question's URL can still come.
func (s *Server) awaited(question int) bool {
	q, err := s.in.Question(question)
	return err == nil && q.Awaited
}

// alsoAwaited draws the other URLs whose outcome a question's call waits for:
// the first of them says what can be done about the call.
func (s *Server) alsoAwaited(ctx context.Context, q bridge.Question) []change {
	var changes []change
	for _, other := range s.in.OnShow(1) { // and all that are awaited
		if !other.Awaited || other.Call != q.Call || other.Number == q.Number {
			continue
		}
		if ch, err := replace(ctx, formID(other.Number), views.QuestionCard(s.questionView(other, nil, nil))); err == nil {
			changes = append(changes, ch)
		}
	}
	return changes
}

// worthDrawing are the questions that have changed, without those that are held
// back, and without those that a page would drop at once because later ones are
// settled too: a flood of them is no flood of cards.
func (s *Server) worthDrawing(changed []bridge.Change, onPage *cards) []bridge.Question {
	var out []bridge.Question
	settled := 0
	for _, c := range slices.Backward(changed) {
		q, err := s.in.Question(c.Number)
		if err != nil {
			continue
		}
		if q.State != bridge.Pending {
			s.drafts.drop(q.Number)
			if !onPage.shown[q.Number] && !q.Awaited {
				settled++
			}
		}
		if !q.Held && !slices.Contains(onPage.gone, q.Number) && (settled <= onPage.most || q.State == bridge.Pending || q.Awaited || onPage.shown[q.Number]) {
			out = append(out, q)
		}
	}
	slices.Reverse(out)
	return out
}

// pushQuestions draws each question once, for every page.
func (s *Server) pushQuestions(ctx context.Context, changed []bridge.Change, onPage *cards) {
	var changes, above []change
	calls := map[int]bool{}
	for _, q := range s.worthDrawing(changed, onPage) {
		// The call stands above its questions and says that they wait: it comes
		// right after them, lest it grow later and move them from under the pointer.
		if call, err := s.in.Call(q.Call); err == nil && !calls[q.Call] {
			calls[q.Call] = true
			if ch, err := replace(ctx, callID(q.Call), views.CallView(s.callView(call))); err == nil {
				above = append(above, ch)
			}
		}
		ch, err := replace(ctx, formID(q.Number), views.QuestionCard(s.questionView(q, nil, nil)))
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.logger.Error("drawing a question", "question", q.Number, "error", err)
			continue
		}
		if !onPage.shown[q.Number] {
			onPage.shown[q.Number] = true
			ch.Op, ch.Target = "append", "questions"
		}
		changes = append(changes, ch)
		if q.State != bridge.Pending {
			changes = append(changes, onPage.settle(q.Number, s.awaited)...)
		}
		if q.Completion != bridge.CompletionNone {
			changes = append(changes, s.alsoAwaited(ctx, q)...)
		}
	}
	s.hub.publish(changes)
	s.hub.publish(above)
}

// pushCalm draws what may wait for a moment, each thing once.
func (s *Server) pushCalm(ctx context.Context, changed []bridge.Change) {
	var changes []change
	add := func(ch change, err error) {
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.logger.Error("drawing a change", "target", ch.Target, "error", err)
			return
		}
		changes = append(changes, ch)
	}
	var servers, catalog, calls, held, recording bool
	moved := map[bridge.Change]bool{} // the calls and servers that an accepted URL may wait for
	for _, c := range changed {
		switch c.Kind {
		case bridge.ServerChanged:
			servers, catalog, held = true, true, true
			moved[c] = true
		case bridge.FindingsChanged:
			servers = true
		case bridge.RecordingChanged:
			recording = true
		case bridge.CatalogChanged:
			catalog = true
		case bridge.QuestionChanged:
			catalog, calls = true, true
		case bridge.CallChanged:
			catalog, calls = true, true
			moved[c] = true
			if call, err := s.in.Call(c.Number); err == nil && s.callMatters(call.Number) {
				view := s.callView(call)
				if s.stage != nil && call.Number > s.newest {
					s.newest = call.Number
					add(replace(ctx, "call", views.CallPanel(nil, &view)))
				} else {
					add(replace(ctx, callID(call.Number), views.CallView(view)))
				}
			}
		}
	}
	if len(moved) > 0 {
		for _, q := range s.in.OnShow(s.settledShown()) {
			if q.Completion == bridge.CompletionAwaited && (moved[bridge.Change{Kind: bridge.CallChanged, Number: q.Call}] ||
				moved[bridge.Change{Kind: bridge.ServerChanged, Server: q.Server}]) {
				add(replace(ctx, formID(q.Number), views.QuestionCard(s.questionView(q, nil, nil))))
			}
		}
	}
	all, _ := s.serverViews()
	if servers {
		add(replace(ctx, "servers", views.ServersBar(all)))
	}
	if held {
		add(replace(ctx, "held", views.HeldLines(all)))
	}
	if catalog {
		add(replace(ctx, "catalog", views.CatalogPanel(s.catalogViews(all))))
	}
	if calls {
		add(replace(ctx, "calls", views.CallStrip(s.callStrip())))
	}
	if recording || s.isRecording() {
		add(replace(ctx, "recording", views.RecordingView(s.recordingView())))
	}
	add(replace(ctx, "log-status", views.LogStatusView(s.logStatus())))
	s.hub.publish(changes)
}

// pumpFrames tells the page how long the wire log is, and where it is kept.
func (s *Server) pumpFrames(ctx context.Context) {
	log, told := s.in.Log(), ""
	for {
		grown := log.Grown()
		s.hub.count(log.Len(), s.keptWords())
		if where := log.Stats().Where; where != told {
			told = where
			if ch, err := replace(ctx, "where", views.Where(where)); err == nil {
				s.hub.publish([]change{ch})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-grown:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(countEvery):
		}
	}
}

// snapshot draws everything anew, for a page that has missed too much. Only the
// last of the pushes has the number up to which the page is then up to date.
func (s *Server) snapshot(ctx context.Context) ([]push, error) {
	last := push{Seq: s.hub.Seq(), Time: s.hub.now(), Frames: s.in.Log().Len(), Kept: s.keptWords()}
	page := s.whole()
	var changes []change
	for _, part := range []struct {
		target string
		draw   func() (change, error)
	}{
		{"servers", func() (change, error) { return replace(ctx, "servers", views.ServersBar(page.Servers)) }},
		{"catalog", func() (change, error) { return replace(ctx, "catalog", views.CatalogPanel(page.Catalogs)) }},
		{"calls", func() (change, error) { return replace(ctx, "calls", views.CallStrip(page.Calls, page.Earlier)) }},
		{"held", func() (change, error) { return replace(ctx, "held", views.HeldLines(page.Servers)) }},
		{"questions", func() (change, error) {
			return replace(ctx, "questions", views.QuestionsPanel(page.Questions, page.More, 0))
		}},
		{"pins", func() (change, error) { return replace(ctx, "pins", views.Pins(page.Log.Pins)) }},
		{"log-status", func() (change, error) { return replace(ctx, "log-status", views.LogStatusView(page.Log)) }},
		{"recording", func() (change, error) {
			return replace(ctx, "recording", views.RecordingView(page.Recording))
		}},
		{"replay", func() (change, error) { return s.replaySnapshot(ctx, page) }},
		{"call", func() (change, error) { return s.callSnapshot(ctx, page) }},
	} {
		ch, err := part.draw()
		if ch == (change{}) && err == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		changes = append(changes, ch)
	}
	var out []push
	for _, part := range parted(changes) {
		out = append(out, push{Changes: part, Time: last.Time})
	}
	return append(out, last), nil
}
