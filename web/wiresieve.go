package web

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
)

const (
	sievesKept = 8                      // each takes a bit for each frame of the log
	patience   = 80 * time.Millisecond  // how long a request waits for frames to be judged before it is answered with what there is
	grace      = 400 * time.Millisecond // how long frames go on being judged when nobody asks any more
)

// sieves are the views of the log that pages look through, one for each filter
// line. A few are kept, so that going back to a filter costs nothing.
type sieves struct {
	in       *bridge.Inspection
	marks    func() *wire.Log // knows what was noted of frames
	findings func() []bridge.Found

	mu      sync.Mutex
	kept    []*sieve // the one asked for last in front
	made    int64
	closed  bool
	judging sync.WaitGroup
}

// sieve is the view through one filter line. It is judged in the background
// while somebody asks for it, and no longer.
type sieve struct {
	line   string
	number int64 // tells it from earlier sieves of the same line, in which frames had other places
	view   *query.View
	state  sieveState

	// Below, guarded by sieves.mu.
	asking int                // requests that wait for it
	asked  time.Time          // when the last one ended
	stop   context.CancelFunc // of the goroutine that judges; nil when there is none
	done   chan struct{}      // closed when that goroutine ends
	err    error              // why it ended, but for being stopped
}

// sieveState is what a filter that is not lasting was judged by.
type sieveState struct {
	findings int
	marks    int64
}

// look returns the view through a filter line, as far as it is judged: after a
// short while all of the log, or else as much as there was time for. Asking
// again goes on from there. The error is a *query.Error where the line has
// a mistake.
//
// When ctx ends and nobody else asks, judging stops at once: whoever types does
// not wait for the filters that they typed before.
func (v *sieves) look(ctx context.Context, line string) (*sieve, error) {
	one, err := v.find(line)
	if err != nil {
		return nil, err
	}
	done := v.ask(one)
	if done != nil {
		timer := time.NewTimer(patience)
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	v.leave(one, ctx.Err() != nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return one, one.err
}

// find returns the sieve of a line, a new one if there is none.
func (v *sieves) find(line string) (*sieve, error) {
	filter, err := query.Parse(line)
	if err != nil {
		return nil, err
	}
	line = strings.TrimSpace(line)
	log := v.in.Log()
	var state sieveState
	var found []bridge.Found
	if filter.UsesFindings() {
		found = v.findings()
		state.findings = len(found)
	}
	if filter.UsesMarks() {
		_, state.marks = v.marks().Marked()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.kept, func(s *sieve) bool { return s.line == line })
	if i >= 0 && v.kept[i].state == state {
		one := v.kept[i]
		v.kept = slices.Insert(slices.Delete(v.kept, i, i+1), 0, one)
		return one, nil
	}
	if i >= 0 {
		v.drop(i)
	}
	if len(v.kept) == sievesKept {
		v.drop(sievesKept - 1)
	}
	v.made++
	one := &sieve{line: line, number: v.made, state: state, view: query.NewView(log, filter, bridge.Rules(found))}
	v.kept = slices.Insert(v.kept, 0, one)
	return one, nil
}

// drop forgets a sieve. Whoever waits for it is given what it has.
func (v *sieves) drop(i int) {
	if stop := v.kept[i].stop; stop != nil {
		stop()
	}
	v.kept = slices.Delete(v.kept, i, i+1)
}

// ask notes that a request waits for a sieve, and has it judged. The channel is
// closed when all frames of the log are; it is nil if they are already.
func (v *sieves) ask(s *sieve) <-chan struct{} {
	judged := s.view.Judged() == v.in.Log().Len()
	v.mu.Lock()
	defer v.mu.Unlock()
	s.asking++
	if v.closed || judged {
		return nil
	}
	if s.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		s.stop, s.done, s.err = stop, make(chan struct{}), nil
		done := s.done
		v.judging.Go(func() {
			defer stop()
			err := s.view.Update(ctx)
			v.mu.Lock()
			defer v.mu.Unlock()
			s.stop = nil
			if !errors.Is(err, context.Canceled) {
				s.err = err
			}
			close(done)
		})
	}
	return s.done
}

// leave notes that a request does not wait any more. Judging goes on for a
// moment, because a page asks again and again, but not where the page has given
// up.
func (v *sieves) leave(s *sieve, givenUp bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s.asking--
	s.asked = time.Now()
	if s.asking > 0 || s.stop == nil {
		return
	}
	if givenUp {
		s.stop()
		return
	}
	asked := s.asked
	time.AfterFunc(grace, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if s.asking == 0 && s.asked.Equal(asked) && s.stop != nil {
			s.stop()
		}
	})
}

// close stops all judging and waits for its end.
func (v *sieves) close() {
	v.mu.Lock()
	v.closed = true
	for _, s := range v.kept {
		if s.stop != nil {
			s.stop()
		}
	}
	v.mu.Unlock()
	v.judging.Wait()
}

// mistake is what is wrong in a filter line, for the page: places are counted as
// JavaScript counts, in UTF-16 code units.
type mistake struct {
	Pos  int    `json:"pos"`
	End  int    `json:"end"`
	Text string `json:"text"`
}

func mistakeIn(line string, err error) *mistake {
	var wrong *query.Error
	if !errors.As(err, &wrong) {
		return nil
	}
	text := strings.ToUpper(wrong.Text[:1]) + wrong.Text[1:]
	return &mistake{utf16Offset(line, wrong.Pos), utf16Offset(line, wrong.End), strings.TrimRight(text, ".") + "."}
}

// utf16Offset turns a byte offset into one in UTF-16 code units.
func utf16Offset(s string, at int) int {
	n := 0
	for _, r := range s[:min(at, len(s))] {
		n += utf16.RuneLen(r)
	}
	return n
}

// byteOffset is the inverse of utf16Offset. A place inside a character is that
// in front of it.
func byteOffset(s string, at int) int {
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > at {
			return i
		}
	}
	return len(s)
}
