package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

// Found is a finding and its place in the log.
type Found struct {
	Finding        // Pointer leads into the frame's bytes
	Seq     int64  // number of the frame
	Label   string // of the frame's server
	// Place is the position, from 1, of the request for input among those in the frame;
	// 0 if the finding is about the whole frame.
	Place int
	// Answer is the frame of the answer whose consequence the finding is; 0 for none.
	Answer int64
}

// Follows reports whether the finding is about what followed the refusal of a question.
func (f Found) Follows(q *conversation.Question) bool {
	return f.Answer != 0 && f.Answer == q.AnswerSeq && q.Action != "accept"
}

// OfQuestion lists the findings about a question: those of the frames that ask and answer it,
// and of the response to its call, those about what followed. at lists the findings of a frame.
func OfQuestion(q *conversation.Question, response int64, at func(seq int64) []Found) (list []Found) {
	found := slices.Concat(at(q.AskedSeq), at(q.AnswerSeq))
	if response != q.AskedSeq {
		found = append(found, at(response)...)
	}
	for _, f := range found {
		if f.Place == q.Place || f.Follows(q) {
			list = append(list, f)
		}
	}
	return list
}

// FindingsMost is how many findings are kept: otherwise a server that breaks a rule with every
// request could fill the memory.
const FindingsMost = 5000

// Linter finds and keeps the findings of a log. All methods are safe for concurrent
// use.
type Linter struct {
	log  *wire.Log
	talk *conversation.Conversation // says to which call a frame belongs
	view *query.View                // the frames to lint
	busy chan struct{}              // a lock, held during Update

	// The holder of busy has the fields below to itself.
	read     int64 // number of linted frames of the view
	sessions map[connection]*session
	done     bool   // no more findings are kept
	unread   int    // frames that a bound of the inspector's keeps from being judged
	bound    string // that of the first of them

	mu      sync.Mutex
	found   []Found // sorted by frame
	judged  int64   // all frames up to this one are linted
	counts  Counts  // of the first counted findings; replaced, never changed
	counted int
	changed chan struct{}
}

// connection identifies the session of a frame.
type connection struct{ server, session string }

// judgedFrames selects the frames that can have findings or that later findings depend
// on.
var judgedFrames = sync.OnceValue(func() *query.Filter {
	return query.MustParse("kind:request,result,rpc-error,note,span,notification,noise or fault:*")
})

// NewLinter returns a linter of a log that has linted nothing yet; see Update and Follow.
func NewLinter(l *wire.Log, talk *conversation.Conversation) *Linter {
	return &Linter{
		log: l, talk: talk, view: query.NewView(l, judgedFrames(), nil), busy: make(chan struct{}, 1),
		sessions: make(map[connection]*session), changed: make(chan struct{}),
	}
}

const window = 256

// Update lints the frames added to the log since the last Update. If ctx ends, the
// current frame may lack some of its findings; the next Update continues after it.
func (l *Linter) Update(ctx context.Context) error {
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := cmp.Or(l.view.Update(ctx), l.talk.Update(ctx)); err != nil { // the conversation has at least what the view has
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
			if l.talk.NoReports && conversation.IsReport(l.log.Entry(seq).Names().Method) {
				l.read++
				continue
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

func (l *Linter) publish(fresh []Found, judged int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := FindingsMost - len(l.found); len(fresh) >= room {
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

// followEvery is how long new frames are collected before they are linted.
const followEvery = 20 * time.Millisecond

// Follow lints the log and the frames added to it until ctx ends. The error says why it
// stopped.
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

// Changed returns a channel that is closed when more frames have been linted. A caller
// that gets the channel before it calls From misses nothing.
func (l *Linter) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// FindingsOf lints a whole log. gaps is a sentence about what was not judged or listed because of
// the limits of the inspector; "" if nothing.
func FindingsOf(ctx context.Context, log *wire.Log) (found []Found, gaps string, err error) {
	l := NewLinter(log, conversation.New(log))
	if err := l.Update(ctx); err != nil {
		return nil, "", err
	}
	found = l.From(0, log.Len())
	if l.unread > 0 {
		gaps = fmt.Sprintf("By the limits of the inspector, %s not judged; of the first, %s.", wording.Either(l.unread == 1, "1 frame is", fmt.Sprintf("%d frames are", l.unread)), l.bound)
	}
	if l.done {
		gaps = strings.TrimSpace(fmt.Sprintf("Only the first %d findings of the log are known. %s", FindingsMost, gaps))
	}
	return found, gaps, nil
}

// RulesAt returns a function for filters that lists the rules with findings in a frame.
func RulesAt(found []Found) func(seq int64) []string {
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
	if f.Unread() {
		if l.unread++; l.unread == 1 {
			l.bound = fmt.Sprintf("frame %d, %s", f.Seq, f.Bound())
		}
	}
	key := connection{f.Server, f.Session}
	s := l.sessions[key]
	if s == nil {
		if len(l.sessions) >= most {
			clear(l.sessions) // most sessions are over, and the others only lose findings
		}
		s = newSession(l.talk)
		l.sessions[key] = s
	}
	if f.Begins() {
		fresh, in := newSession(l.talk), s.signIns // a sign-in is the client's, not the connection's
		fresh.signIns.server, fresh.signIns.metadata, fresh.signIns.signIn = in.server, in.metadata, in.signIn
		fresh.legacy = f.Note.Kind == wire.NoteEndpoint
		s, l.sessions[key] = fresh, fresh
	}
	return slices.DeleteFunc(s.judge(ctx, f), func(one Found) bool { // it may be wrong where the value was redacted
		return f.Redacted && strings.Contains(rawjson.Text(rawjson.At(f.Raw, one.Pointer)), redact.Placeholder)
	})
}

func (l *Linter) upTo(last int64) []Found {
	return l.found[:sort.Search(len(l.found), func(k int) bool { return l.found[k].Seq > last })]
}

// From lists the findings from index i on, for frames up to last, sorted by frame.
func (l *Linter) From(i int, last int64) []Found {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.upTo(last)
	return slices.Clone(known[min(i, len(known)):])
}

// At lists the findings of one frame.
func (l *Linter) At(seq int64) []Found {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.upTo(seq)[len(l.upTo(seq-1)):])
}

// Count returns how many findings there are of frames up to last.
func (l *Linter) Count(last int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.upTo(last))
}

// Counts says how many findings there are of each severity, by the label of their server.
// The same finding in several frames counts once.
type Counts map[string]Tally

// Alike identifies findings that say the same of different frames.
type Alike struct{ Label, Rule, Pointer, Text string }

// Alike returns what is equal for findings that say the same of different frames.
func (f Found) Alike() Alike { return Alike{f.Label, f.Rule, f.Pointer, f.Text} }

// ByServer counts the findings of frames up to last. Every look at a server asks for the
// counts, so they are kept: readers share what it returns, and must not change it.
func (l *Linter) ByServer(last int64) Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.upTo(last)
	if l.counts == nil || l.counted != len(known) {
		l.counts, l.counted = Counts{}, len(known)
		seen := map[Alike]bool{}
		for _, f := range known {
			if l.counts[f.Label] == nil {
				l.counts[f.Label] = Tally{}
			}
			if alike := f.Alike(); !seen[alike] {
				seen[alike] = true
				l.counts[f.Label][f.Severity]++
			}
		}
	}
	return l.counts
}

// Shared returns a finding redacted by r, for others to see. Findings quote servers, so
// redacted values are removed from them. If a redaction rule applies to the frame
// itself, the text is replaced by a description of the broken lint rule. r must have
// seen the log.
func Shared(f Finding, seq int64, log *wire.Log, r *redact.Redaction) (Finding, error) {
	frame, err := log.Frame(seq)
	if err != nil {
		return f, fmt.Errorf("reading what a finding is about: %w", err)
	}
	if r.NamesIn(frame.Raw) {
		if f.Text = f.Rule; RuleOf(f.Rule).Breaks != "" {
			f.Text = "The rule forbids: " + RuleOf(f.Rule).Breaks + "."
		}
	}
	f.Text, f.Pointer = r.Text(f.Text), r.Text(f.Pointer)
	return f, nil
}
