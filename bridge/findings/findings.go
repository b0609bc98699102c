// Package findings judges the frames of a log in order, and finds where a server
// breaks the protocol. A live log, an opened transcript and an export are judged
// by the same code, from nothing but the frames, so that they have the same
// findings.
package findings

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

// Found is a finding with the place that it was found in.
type Found struct {
	lint.Finding       // its pointer leads into the frame
	Seq          int64 // the frame
	// Place is that of a request for input among those of the frame, from 1; 0
	// where the finding is about the frame as a whole.
	Place int
}

// Most is how many findings are kept: a server that breaks a rule with every
// request would fill the memory with the same few words.
const Most = 5000

// Linter keeps the findings of a log. All methods are safe for concurrent use.
type Linter struct {
	log  *wire.Log
	view *query.View   // of the frames that are judged
	busy chan struct{} // held by the one that judges

	// What stands below is the business of the one that holds busy.
	read     int64 // frames of the view that were judged
	sessions map[connection]*session
	done     bool // no more findings are kept

	mu      sync.Mutex
	found   []Found // by frame
	judged  int64   // all frames up to this one were judged
	changed chan struct{}
}

// connection names the session that a frame belongs to.
type connection struct{ server, session string }

// judgedFrames picks the frames that matter to the linter.
var judgedFrames = query.MustParse("kind:request,result,rpc-error or (kind:noise dir:s2c) or fault:* or " +
	"(kind:notification method:notifications/cancelled,notifications/elicitation/complete,elicitation/create,sampling/createMessage,roots/list,ping)")

// New makes a linter that has not judged anything yet: see Update and Follow.
func New(l *wire.Log) *Linter {
	return &Linter{
		log: l, view: query.NewView(l, judgedFrames, nil), busy: make(chan struct{}, 1),
		sessions: make(map[connection]*session), changed: make(chan struct{}),
	}
}

const window = 256

// Update judges the frames that were added to the log since the last Update. If
// ctx ends, the frame that is being judged may lack some of its findings; the next
// Update goes on behind it.
func (l *Linter) Update(ctx context.Context) error {
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := l.view.Update(ctx); err != nil {
		return fmt.Errorf("looking for findings: %w", err)
	}
	for !l.done {
		seqs := l.view.Seqs(l.read, window)
		if len(seqs) == 0 {
			break
		}
		for _, seq := range seqs {
			if err := ctx.Err(); err != nil {
				return err
			}
			f, err := l.log.Frame(seq)
			if err != nil {
				return fmt.Errorf("looking for findings: %w", err)
			}
			fresh := l.judge(ctx, &f)
			l.read++
			if len(fresh) > 0 {
				l.publish(fresh, seq)
			}
		}
	}
	l.publish(nil, l.view.Judged())
	return nil
}

// publish makes findings known, and that all frames up to judged were judged.
func (l *Linter) publish(fresh []Found, judged int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := Most - len(l.found); len(fresh) >= room {
		fresh, l.done = fresh[:room], true
	}
	if len(fresh) == 0 && judged <= l.judged {
		return
	}
	l.found = append(l.found, fresh...)
	l.judged = max(l.judged, judged)
	close(l.changed)
	l.changed = make(chan struct{})
}

// followEvery is how long new frames are collected before they are judged.
const followEvery = 20 * time.Millisecond

// Follow judges the log, and what is added to it, until ctx ends. The error says
// why it stopped before.
func (l *Linter) Follow(ctx context.Context) error {
	for {
		grown := l.log.Grown()
		if err := l.Update(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grown:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followEvery):
		}
	}
}

// Changed returns a channel that is closed when more frames have been judged.
// Get it, look at From, then wait.
func (l *Linter) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Judged says how far the linter has come: all frames up to this one have been
// judged.
func (l *Linter) Judged() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judged
}

// From lists the findings so far from the i-th on, counted from 0, as far as
// they are of frames up to last. They are in the order of the frames.
func (l *Linter) From(i int, last int64) []Found {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := sort.Search(len(l.found), func(k int) bool { return l.found[k].Seq > last })
	if i >= end {
		return nil
	}
	return slices.Clone(l.found[i:end])
}

// Of judges all of a log. It stops after so many findings as are kept; whole
// says that it has seen everything.
func Of(ctx context.Context, log *wire.Log) (found []Found, whole bool, err error) {
	l := New(log)
	if err := l.Update(ctx); err != nil {
		return nil, false, err
	}
	found = l.From(0, log.Len())
	return found, len(found) < Most, nil
}

// Rules says of which rules frames have findings, for filters.
func Rules(found []Found) func(seq int64) []string {
	rules := make(map[int64][]string)
	for _, f := range found {
		rules[f.Seq] = append(rules[f.Seq], f.Rule)
	}
	return func(seq int64) []string { return rules[seq] }
}

func (l *Linter) judge(ctx context.Context, f *wire.Frame) []Found {
	if f.Lost {
		return nil
	}
	key := connection{f.Server, f.Session}
	s := l.sessions[key]
	if s == nil {
		if len(l.sessions) >= most {
			clear(l.sessions) // most of them are over, and of the others less is found
		}
		s = newSession()
		l.sessions[key] = s
	}
	return slices.DeleteFunc(s.judge(ctx, f), func(one Found) bool { return f.Redacted && isRedacted(f.Raw, one.Pointer) })
}

// isRedacted reports whether the value that a finding is about was left out of
// a transcript, so that nothing is known of it.
func isRedacted(raw []byte, pointer string) bool {
	return strings.Contains(rawjson.Text(rawjson.At(raw, pointer)), redact.Placeholder)
}
