package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// made is a finished trial with its log, which close releases.
type made struct {
	*judge.Observation
	trial      *trial
	transport  string
	transcript string // file name; "" if no transcript is written
	began      time.Time
	took       time.Duration
	session    *headless.Session
	reset      bool // the world was put back before the trial
}

func (m *made) close() { _ = m.session.Close() } // the connection has ended before

// make runs a trial. It returns nil if ctx ends before the trial does.
func (r *runner) make(ctx context.Context, c *chosen, t *trial, limit time.Duration) *made {
	place, err := r.slots.take(ctx, t.Lasts || t.slow || t.pause > 0 || t.Behaviour == judge.BehaviourAccept)
	if err != nil {
		return nil
	}
	defer place.leave()
	t.limit = (limit + t.pause).Round(100 * time.Millisecond)
	name := c.Key + ", " + t.Behaviour
	if t.Field != "" {
		name += " “" + t.Field + "”"
	}
	r.begin(t, name+", "+t.Revision)
	defer r.end(t)
	if r.Reset != "" { // others would see the world change
		r.turn <- struct{}{}
		defer func() { <-r.turn }()
		if out, err := r.shell(ctx, r.Reset); err != nil && ctx.Err() == nil {
			r.trouble(fmt.Errorf("running --reset: %w: %s", err, wording.Shorten(out, 300)))
			return nil
		}
	}
	m := &made{Observation: &judge.Observation{Trial: t.Trial, Effect: t.effect, Early: t.early, Twice: t.twice}, trial: t, began: time.Now(), reset: r.Reset != ""}
	config := r.config(t)
	if r.Record != "" {
		m.transcript = transcriptName(c, t)
		config.Record, config.RecordNew = filepath.Join(r.Record, m.transcript), true
	}
	if m.session, err = headless.Start(config); err != nil {
		r.trouble(fmt.Errorf("some trials could not be made: %w", err))
		return nil
	}
	outcomes, err := m.converse(ctx, place, c, t, limit)
	if err != nil {
		m.Unconnected = err.Error()
	}
	if t.looks != nil {
		t.looks.linger(ctx, t, outcomes)
	}
	if err := m.session.End(); errors.Is(err, playback.ErrIncomplete) { // a server that has to be killed does not spoil the trial
		r.trouble(err)
	}
	if t.looks != nil {
		t.looks.take(ctx, &t.looks.after)
	}
	if ctx.Err() != nil {
		m.close()
		return nil
	}
	m.took = time.Since(m.began)
	if err := m.read(c, outcomes); err != nil {
		r.trouble(fmt.Errorf("some trials could not be made: %w", err))
		m.close()
		return nil
	}
	return m
}

// pingLimit is how long the client waits for the response to a ping. It is shorter than the
// delay of a late answer.
const pingLimit = 2500 * time.Millisecond

// outcomes holds the ended calls of a trial, and the length of the log at that time.
type outcomes struct {
	calls []headless.Outcome
	after []headless.Outcome // the honest call that follows, and a second one if it failed
	other []headless.Outcome // see Observation.Other
	limit time.Duration
	over  int64
}

// converse makes the calls of a trial. The error says why there was no session for them.
func (m *made) converse(ctx context.Context, place *slot, c *chosen, t *trial, limit time.Duration) (out outcomes, err error) {
	out.limit = limit
	defer func() { out.over = m.session.Log().Len() }()
	if err := m.session.Connected(ctx); err != nil {
		return out, err
	}
	if t.Behaviour == "other-tool" { // the catalog names the other tools
		if _, err := m.session.Catalog(ctx); err != nil {
			return out, err
		}
	}
	var asked func(place int)
	if l := t.looks; l != nil {
		if l.before == nil || m.reset {
			l.take(ctx, &l.before)
		}
		asked = func(place int) {
			if place == max(t.Question, 1) {
				l.take(ctx, &l.asked)
			}
		}
	}
	if t.Behaviour == "late" && t.Revision < mcp.Revision20260728 {
		var pinging sync.WaitGroup
		defer pinging.Wait()
		asked = func(int) { // the connection is read on only when it returns
			pinging.Go(func() {
				ctx, done := context.WithTimeout(ctx, pingLimit)
				defer done()
				_ = m.session.Ping(ctx) // the linter finds a missing response in the log
			})
		}
	}
	server, err := m.session.Server()
	if err != nil {
		return out, err
	}
	call := func(key string, arguments json.RawMessage, answers string, times int, limit time.Duration) (list []headless.Outcome, err error) {
		rules, err := script.Parse("answers", []byte(answers), os.LookupEnv)
		if err != nil {
			return nil, fmt.Errorf("reading the answers of the trial: %w", err)
		}
		place.during(func() {
			list, err = m.session.CallTogether(ctx, headless.Call{
				Kind: c.Kind, Key: key, Arguments: arguments, Timeout: limit, Scripts: []*script.Script{rules}, Asked: asked,
				AsTask: c.asTask && t.Revision == mcp.Revision20251125 && server.Info.Tasks.Calls,
			}, times)
		})
		return list, err
	}
	var used json.RawMessage
	if t.before != nil {
		out.other, err = call(c.Key, t.before.arguments, t.before.answers, 1, limit)
		if used = m.lastState(); used != nil || t.By != "" {
			t.answers = t.before.then(used)
		} else if err == nil {
			err = errors.New("the call before it got no requestState")
		}
	}
	if err == nil {
		out.calls, err = call(c.Key, c.Arguments, t.answers, max(t.times, 1), t.limit)
	}
	if t.looks != nil {
		t.looks.sameState = used != nil && string(used) == string(m.lastState())
	}
	if err != nil {
		return out, err
	}
	if t.Follows { // the response to the first answer may overtake the second, so that the call is over before that goes out
		m.awaitSent(ctx, 2, func(e wire.Entry) bool { return e.Names().Fault == m.Behaviour })
	}
	if t.Behaviour == "new-session" {
		for goesOn := true; goesOn; {
			goesOn = m.goOn(ctx, server.Since, &out)
		}
	}
	if server, err = m.session.Server(); err != nil || server.State != conversation.ServerReady || t.Ends || t.alone ||
		t.Behaviour == judge.BehaviourAccept && out.calls[0].TimedOut { // the next call would take as long
		return out, nil
	}
	if out.calls[0].TimedOut { // the next call may overtake the cancellation, and meet a question that still waits
		m.awaitSent(ctx, 1, func(e wire.Entry) bool { return e.Names().Method == mcp.NotificationCancelled })
	}
	if t.other != "" {
		if out.other, err = call(t.other, c.Arguments, c.honest.file(), 1, limit); err != nil {
			return out, nil // the connection has ended since: no call can follow
		}
	}
	for range 2 {
		after, err := call(c.Key, c.Arguments, c.honest.file(), 1, limit)
		if err != nil {
			break
		}
		if out.after = append(out.after, after...); after[0].Result == nil && after[0].Error == nil || after[0].Result != nil && !after[0].IsError {
			break
		}
	}
	return out, nil
}

// awaitSent waits until the log has this number of sent messages that is accepts, but not
// longer than late.
func (m *made) awaitSent(ctx context.Context, times int, is func(wire.Entry) bool) {
	ctx, done := context.WithTimeout(ctx, late)
	defer done()
	log := m.session.Log()
	_ = log.Await(ctx, func() bool { // the trial goes on in any case
		sent := 0
		for seq := int64(1); seq <= log.Len(); seq++ {
			if e := log.Entry(seq); e.Dir == wire.ClientToServer && is(e) {
				sent++
			}
		}
		return sent >= times
	})
}

// lastState returns the latest requestState in the log; nil if there is none.
func (m *made) lastState() json.RawMessage {
	log := m.session.Log()
	for seq := log.Len(); seq > 0; seq-- {
		if f, err := log.Frame(seq); err == nil && f.Dir == wire.ServerToClient {
			if state := rawjson.Member(f.Message.Result, "requestState"); state != nil {
				return state
			}
		}
	}
	return nil
}

// goOn waits for a session that the fault new-session starts in place of the one that has
// been ready since a time, and for the call that continues in it. It reports whether that
// call, too, ended without a response, so that it may go on in one more session.
func (m *made) goOn(ctx context.Context, since time.Time, out *outcomes) bool {
	soon, done := context.WithTimeout(ctx, out.limit)
	defer done()
	if m.session.Reconnected(soon, since) != nil || m.Revision != mcp.Revision20260728 || len(out.calls) > m.trial.sessions {
		return false
	}
	again, err := m.session.Await(ctx, soon, out.calls[len(out.calls)-1].Number+1)
	if err != nil {
		return false
	}
	out.calls = append(out.calls, again)
	return again.Result == nil && again.Error == nil
}

func (m *made) read(c *chosen, out outcomes) error {
	ctx := context.Background()
	m.Log = m.session.Log()
	m.Last = m.Log.Len()
	talk := conversation.New(m.Log)
	if err := talk.Update(ctx); err != nil {
		return err
	}
	how := conversation.Reading{Redact: redact.Nothing()}
	madeOf := func(o headless.Outcome) (judge.Made, error) {
		for place := 1; place <= talk.Len(); place++ {
			if talk.NumberAt(place) == o.Number {
				call, err := talk.Call(ctx, place, how)
				return judge.Made{Call: call, Arguments: c.Arguments, TimedOut: o.TimedOut, Limit: out.limit}, err
			}
		}
		return judge.Made{}, errNoCall
	}
	for _, o := range out.calls {
		one, err := madeOf(o)
		switch {
		case errors.Is(err, errNoCall): // the connection ended before the request could be sent
			m.Unconnected = cmp.Or(m.Unconnected, o.Failure)
		case err != nil:
			return err
		default:
			m.Calls = append(m.Calls, one)
		}
	}
	for _, o := range out.other {
		if one, err := madeOf(o); err == nil {
			m.Other = &one
		} else if !errors.Is(err, errNoCall) {
			return err
		}
	}
	for _, s := range talk.Servers() {
		m.transport = s.Transport
	}
	m.exits(out.over)
	for i, o := range out.after {
		after, err := madeOf(o)
		switch {
		case errors.Is(err, errNoCall), err == nil && m.Exit != nil && after.Frames[0].Seq > m.Exit.Seq:
		case err != nil:
			return err
		case i == 0:
			m.After = &after
		default:
			m.Again = &after
		}
	}
	var err error
	m.Found, m.Gaps, err = lint.FindingsOf(ctx, m.Log)
	m.Found = slices.DeleteFunc(m.Found, func(f lint.Found) bool { return f.Judges == lint.ClientParty }) // the client is the check itself
	return err
}

var errNoCall = errors.New("the log does not have the call")

// exits finds the end of the process or the connection in the log: an unexpected end up to
// frame over, or the end that the behaviour causes.
func (m *made) exits(over int64) {
	var acted time.Time // when the client last sent something
	for seq := int64(1); seq <= m.Last; seq++ {
		head := m.Log.Head(seq)
		if head.Dir == wire.ClientToServer || head.Fault != "" && head.Dir == wire.Meta {
			acted = head.Time
		}
		if head.Dir != wire.Meta {
			continue
		}
		f, err := m.Log.Frame(seq)
		if err != nil || f.Note == nil {
			continue
		}
		exit := &judge.Exit{Seq: seq, Text: f.Note.Words(&f), After: f.Time.Sub(acted)}
		switch f.Note.Kind {
		case wire.NoteProcessExited:
			exit.Text = f.Note.Exit()
		case wire.NoteServerLost, wire.NoteStillRuns:
		default:
			continue
		}
		switch {
		case m.trial.Ends && m.Ended == nil:
			m.Ended = exit
		case !m.trial.Ends && m.Exit == nil && seq <= over && f.Note.By != wire.ByInspector && m.trial.Behaviour != "new-session":
			m.Exit = exit
		}
	}
}

func transcriptName(c *chosen, t *trial) string {
	parts := []string{string(c.Kind), c.Key, t.Behaviour}
	if t.Question > 0 {
		parts = append(parts, fmt.Sprintf("q%d", t.Question))
	}
	if t.Field != "" {
		parts = append(parts, t.Field)
	}
	if t.run > 0 {
		parts = append(parts, fmt.Sprint(t.run))
	}
	parts = append(parts, t.Revision)
	const most = 40
	for i, part := range parts { // without the characters that file names cannot have
		plain := []rune(strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '.' || c == '_' {
				return c
			}
			return '-'
		}, part))
		parts[i] = string(plain[:min(len(plain), most)])
	}
	parts = slices.Insert(parts, 0, fmt.Sprintf("%03d", t.Call+1))
	return strings.Join(parts, "_") + ".jsonl"
}
