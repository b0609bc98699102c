// Package changes tells subscribers which parts of an inspection are no longer as they
// were. A change carries no data: the subscriber reads the present state, so many
// changes of one thing cost one look.
package changes

import (
	"slices"
	"sync"
)

// Kind tells what part of an inspection a [Change] is about.
type Kind int

// The parts of an inspection that change.
const (
	Server    Kind = iota // its state, name or settings
	Catalog               // what a server offers
	Call                  // a call was made, went on or ended
	Question              // a question was asked or settled
	Findings              // the linter found more in what a server sends
	Recording             // a recording began, ended or failed
	Script                // another script answers, or none
)

// Change names one thing that changed.
type Change struct {
	Kind   Kind
	Server string // its id, for Server, Catalog and Findings
	Number int    // of the call or question
}

// Feed passes changes on to all subscriptions. All methods are safe for concurrent use.
type Feed struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
	ties []tie // the latest
}

// tie makes one change follow from others.
type tie struct {
	then Change
	on   []Change
}

// tiesMost bounds how many ties are kept.
const tiesMost = 20

// NewFeed makes a feed that nobody has subscribed to.
func NewFeed() *Feed { return &Feed{subs: map[*Subscription]struct{}{}} }

// Mark passes changes on. It never blocks.
func (f *Feed) Mark(list ...Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range list {
		f.mark(c)
		for _, t := range f.ties {
			if slices.Contains(t.on, c) {
				f.mark(t.then)
			}
		}
	}
}

func (f *Feed) mark(c Change) {
	for s := range f.subs {
		if _, ok := s.dirty[c]; !ok {
			s.serial++
			s.dirty[c] = s.serial
		}
		select {
		case s.ready <- struct{}{}:
		default:
		}
	}
}

// Tie marks then, too, whenever one of on is marked. Only the latest ties are kept.
func (f *Feed) Tie(then Change, on ...Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ties) == tiesMost {
		f.ties = f.ties[1:]
	}
	f.ties = append(f.ties, tie{then, on})
}

// Subscription collects changes for one reader. It holds at most one entry for each
// thing that exists.
type Subscription struct {
	feed   *Feed
	ready  chan struct{}
	dirty  map[Change]int
	serial int
}

// Subscribe starts collecting changes. The caller must Close the subscription.
func (f *Feed) Subscribe() *Subscription {
	s := &Subscription{feed: f, ready: make(chan struct{}, 1), dirty: map[Change]int{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs[s] = struct{}{}
	return s
}

// Ready receives when there is something to Take.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns what has changed since the last Take, in the order in which each
// thing first changed.
func (s *Subscription) Take() []Change {
	s.feed.mu.Lock()
	dirty := s.dirty
	s.dirty = map[Change]int{}
	s.feed.mu.Unlock()
	list := make([]Change, 0, len(dirty))
	for c := range dirty {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Change) int { return dirty[a] - dirty[b] })
	return list
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subs, s)
}
