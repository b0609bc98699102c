package live

import (
	"maps"
	"slices"
	"sync"
)

// ChangeKind is the part of an inspection that a [Change] is about.
type ChangeKind int

// The parts of an inspection that change.
const (
	ServerChanged    ChangeKind = iota // the state, name or settings of a server
	CatalogChanged                     // the tools, prompts and resources of a server
	CallChanged                        // a call started, went on or ended
	QuestionChanged                    // a question was asked or settled
	FindingsChanged                    // the linter has new findings about a server
	RecordingChanged                   // a recording began, ended or failed
	SignInChanged                      // a sign-in to a server began, went on or ended, or its token changed
	ScriptChanged                      // another script answers questions, or none does any more
)

// Change names one changed part.
type Change struct {
	Kind   ChangeKind
	Server string // the server's id, where it is about one server
	Number int    // number of the call or question
}

// Feed passes changes on to all subscriptions. All methods are safe for concurrent use.
type Feed struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
	ties []tie // the latest
}

// tie marks the change then whenever one of on is marked.
type tie struct {
	then Change
	on   []Change
}

// tiesMost is the maximum number of ties.
const tiesMost = 20

// NewFeed returns a feed without subscriptions.
func NewFeed() *Feed { return &Feed{subs: map[*Subscription]struct{}{}} }

// Mark passes changes on to all subscriptions. It never blocks.
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

// AlsoMark makes Mark, whenever it marks one of on, also mark then. Only the latest such pairs are
// kept.
func (f *Feed) AlsoMark(then Change, on ...Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ties) == tiesMost {
		f.ties = f.ties[1:]
	}
	f.ties = append(f.ties, tie{then, on})
}

// Subscription collects changes for one reader. It holds each change once.
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

// Ready receives when Take has changes to return.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns the changes since the last Take, in the order in which they were first
// marked.
func (s *Subscription) Take() []Change {
	s.feed.mu.Lock()
	dirty := s.dirty
	s.dirty = map[Change]int{}
	s.feed.mu.Unlock()
	return slices.SortedFunc(maps.Keys(dirty), func(a, b Change) int { return dirty[a] - dirty[b] })
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subs, s)
}
