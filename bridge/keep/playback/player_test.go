package playback_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

const session = `{"session_id":"a","server_label":"s","ts":"2026-07-28T10:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T10:00:01Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T11:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":"Ada"}}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T11:00:01Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
`

// playing starts a player of a transcript and waits until the transcript has been read.
func playing(t *testing.T, text string, o playback.Options) *playback.Player {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := wire.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := source.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	p, err := playback.NewPlayer(source, o)
	if err != nil {
		t.Fatal(err)
	}
	go p.Run(ctx)
	t.Cleanup(func() {
		cancel()
		p.Close()
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// look returns the only call in the shown log; nil if there is none.
func look(t *testing.T, p *playback.Player) *conversation.Call {
	t.Helper()
	c := conversation.New(p.Shown())
	if err := c.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Len() == 0 {
		return nil
	}
	call, err := c.Watch(t.Context(), 1, p.Over(p.Shown()))
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// shows waits until the player shows a number of frames, and checks the states of their
// questions.
func shows(t *testing.T, p *playback.Player, frames int64, want ...conversation.QuestionState) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	for {
		log := p.Shown()
		grown := log.Grown()
		if log.Len() == frames {
			break
		}
		select {
		case <-grown:
		case <-ctx.Done():
			t.Fatalf("%d frames, want %d", log.Len(), frames)
		}
	}
	var got []conversation.QuestionState
	if call := look(t, p); call != nil {
		for _, q := range call.Questions {
			got = append(got, q.State)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("with %d frames the questions are %v, want %v", frames, got, want)
	}
}

func TestPlayer(t *testing.T) {
	t.Parallel()
	p := playing(t, session, playback.Options{})
	shows(t, p, 4, conversation.Answered)
	whole := p.Shown()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Step())
	shows(t, p, 1)
	if p.Shown() == whole {
		t.Error("going back shows the same log")
	}
	must(p.Step())
	shows(t, p, 2, conversation.Pending)
	first := p.Shown()
	must(p.GoTo(3))
	shows(t, p, 3, conversation.Answered)
	if p.Shown() != first {
		t.Error("going on begins again")
	}
	must(p.GoTo(2))
	shows(t, p, 2, conversation.Pending)
	if kept := p.Shown().Stats(); kept.Memory != 0 || kept.Frames != 2 || kept.Where != "t.jsonl" {
		t.Errorf("what is shown takes room of its own: %+v", kept)
	}
	if s := p.State(); s.At != time.Second || s.Length != time.Hour+time.Second || s.Position != 2 || s.Frames != 4 {
		t.Errorf("state %+v", s)
	}
	must(p.GoTo(99))
	shows(t, p, 4, conversation.Answered)
	for _, x := range []float64{0, 0.1, 17, -1} {
		if p.SetSpeed(x) == nil {
			t.Errorf("a speed of %g is taken", x)
		}
	}
}

// Pauses of the session are shortened: an hour is over in a moment.
func TestPlayerShortensPauses(t *testing.T) {
	t.Parallel()
	p := playing(t, session, playback.Options{Play: true, Speed: playback.FastestSpeed, Gap: 100 * time.Millisecond})
	shows(t, p, 4, conversation.Answered)
}

// A playback shows an answer being given before its frame, within the pause there is. Going
// to a position, and a step, show the state at once.
func TestPlayerGivesAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, session, playback.Options{Gap: playback.ShortGap})
		is := func(position, giving int64) {
			t.Helper()
			synctest.Wait()
			if s := p.State(); s.Position != position || s.Giving != giving {
				t.Errorf("at %d giving %d, want %d and %d", s.Position, s.Giving, position, giving)
			}
		}
		is(4, 0)
		if asked := p.State().Asked; len(asked) != 1 || asked[0].Title != "Who?" || asked[0].Asked != 2 || asked[0].Answered != 3 || asked[0].Action != "accept" {
			t.Errorf("asked %+v", asked)
		}
		if err := errors.Join(p.GoTo(2), p.Play()); err != nil {
			t.Fatal(err)
		}
		before := playback.ShortGap - playback.Giving
		time.Sleep(before - time.Millisecond)
		is(2, 0)
		time.Sleep(time.Millisecond)
		is(2, 3)
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
		is(3, 0)
		if err := errors.Join(p.GoTo(2), p.SetSpeed(4), p.Play()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(playback.ShortGap/4 - time.Millisecond)
		is(2, 3)
		if err := p.GoTo(2); err != nil {
			t.Fatal(err)
		}
		is(2, 0)
		time.Sleep(playback.ShortGap / 4)
		is(3, 0)
	})
}

func TestUnansweredAtTheEnd(t *testing.T) {
	t.Parallel()
	two := strings.Join(strings.SplitAfter(session, "\n")[:2], "")
	p := playing(t, two, playback.Options{})
	shows(t, p, 2, conversation.Withdrawn)
	if c := look(t, p); c.State != conversation.Failed || c.Failure == "" {
		t.Errorf("the call is %s: %q", c.State, c.Failure)
	}
}
