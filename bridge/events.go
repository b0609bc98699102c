package bridge

import "slices"

// ChangeKind tells what part of an inspection a [Change] is about.
type ChangeKind int

// The parts of an inspection that change.
const (
	ServerChanged    ChangeKind = iota // state, name, settings of a server
	CatalogChanged                     // what a server offers
	CallChanged                        // a call was made, went on or ended
	QuestionChanged                    // a question was asked or settled
	FindingsChanged                    // the linter has more to say of a server
	RecordingChanged                   // a recording was begun, ended or failed
	ScriptChanged                      // another script answers, or none
)

// Change names one thing that is no longer as it was. It carries no data: the
// reader asks for the present state, so that many changes of one thing cost one look.
type Change struct {
	Kind   ChangeKind
	Server string // its id, for ServerChanged, CatalogChanged and FindingsChanged
	Number int    // of the call or question
}

// Subscription collects changes for one reader. It never blocks the inspection
// and never grows beyond one entry for each thing that exists.
type Subscription struct {
	in     *Inspection
	ready  chan struct{}
	dirty  map[Change]int
	serial int
}

// Subscribe starts collecting changes. The caller must Close the subscription.
func (in *Inspection) Subscribe() *Subscription {
	s := &Subscription{in: in, ready: make(chan struct{}, 1), dirty: map[Change]int{}}
	in.mu.Lock()
	in.subs[s] = struct{}{}
	in.mu.Unlock()
	return s
}

// Ready receives when there is something to Take.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns what has changed since the last Take, in the order in which each
// thing first changed.
func (s *Subscription) Take() []Change {
	s.in.mu.Lock()
	dirty := s.dirty
	s.dirty = map[Change]int{}
	s.in.mu.Unlock()
	list := make([]Change, 0, len(dirty))
	for c := range dirty {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Change) int { return dirty[a] - dirty[b] })
	return list
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.in.mu.Lock()
	delete(s.in.subs, s)
	s.in.mu.Unlock()
}

// RecordingChanged tells every subscription that a recording was begun, ended or failed.
func (in *Inspection) RecordingChanged() { in.changed(Change{Kind: RecordingChanged}) }

// changed marks things as changed for every subscription.
func (in *Inspection) changed(list ...Change) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, c := range list {
		in.mark(c)
	}
}

// mark is changed for whoever has the mutex.
func (in *Inspection) mark(c Change) {
	in.alsoChanged(c)
	for s := range in.subs {
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
