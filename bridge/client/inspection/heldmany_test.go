// The race detector makes these tests several times slower. Other tests do the same
// concurrently at smaller sizes.

//go:build !race

package inspection_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
)

// A server with too many waiting questions is refused further ones, and other servers are
// not.
func TestFloodHurtsOnlyItsServer(t *testing.T) {
	flood := tried()
	b := startFlood(t, flood.held)
	b.call(fmt.Sprint(flood.more))
	b.until("the flood is over", func() bool { return b.server().TurnedAway == 100 })
	if s := b.server(); s.Held != flood.held || len(b.in.OnShow(40)) != live.ShownMost {
		t.Errorf("%d are held back, and %d are on show", s.Held, len(b.in.OnShow(40)))
	}

	if _, err := b.in.Begin(live.Request{Server: "s2", Kind: conversation.Tool, Name: "ask", Key: "ask"}); err != nil {
		t.Fatal(err)
	}
	var other inspection.Question
	b.until("the other server's question is on show", func() bool {
		shown := b.in.OnShow(0)
		other = shown[len(shown)-1]
		return other.Server == "s2"
	})
	if other.State != conversation.Pending {
		t.Errorf("it is %s: %s", other.State, other.Reason)
	}

	if err := b.in.SetPolicy("s1", conversation.PolicyDecline); err != nil {
		t.Fatal(err)
	}
	for _, q := range b.in.OnShow(0) {
		b.answer(q.Number, live.Answer{Action: "cancel"})
	}
	_, text := b.done(1)
	want := fmt.Sprintf(`map[{"action":"cancel"}:%d {"action":"decline"}:%d {"code":-32000,"message":"too many questions are pending"}:100]`, live.ShownMost, flood.held)
	if text != want {
		t.Errorf("the server got %s, want %s", text, want)
	}
}

// Large questions that are held back take little memory.
func TestHeldBackInLittleMemory(t *testing.T) {
	flood := tried()
	b := startFlood(t, flood.held)
	used := func() int64 {
		runtime.GC()
		runtime.GC() // memory that finalizers freed
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before := used()
	n := b.call(fmt.Sprint(flood.full)).Number
	b.until("all wait", func() bool { return b.server().Held == flood.held })
	b.until("all have been read of the log", func() bool { c, err := b.in.Call(n); return err == nil && len(c.Questions) == flood.full })
	// The log, the inbox and the conversation each keep a part. What does not grow takes the rest.
	most := int64(flood.held*2800 + 2<<20)
	more := used() - before
	for end := time.Now().Add(patience); more > most && time.Now().Before(end); more = used() - before {
		time.Sleep(10 * time.Millisecond) // goroutines of the flood that have not ended hold memory
	}
	if t.Logf("%d questions take %d kB", flood.held, more>>10); more > most {
		t.Errorf("want at most %d kB", most>>10)
	}
}

// The questions of one server do not hold up another's, however many they are.
func TestTorrentDelaysNobody(t *testing.T) {
	flood := tried()
	b := startFlood(t, flood.held)
	b.call(fmt.Sprint(flood.torrent))
	began := time.Now()
	var worst time.Duration
	made := 0
	for b.server().TurnedAway < flood.torrent-flood.full {
		begun := time.Now()
		c, err := b.in.Begin(live.Request{Server: "s2", Kind: conversation.Tool, Name: "ask", Key: "ask"})
		if err != nil {
			t.Fatal(err)
		}
		var q inspection.Question
		b.until("the other server's question is on show", func() bool {
			shown := b.in.OnShow(0)
			i := slices.IndexFunc(shown, func(q inspection.Question) bool { return q.Server == "s2" })
			if i >= 0 {
				q = shown[i]
			}
			return i >= 0
		})
		b.answer(q.Number, live.Answer{Action: "cancel"})
		b.done(c.Number)
		made++
		worst = max(worst, time.Since(begun))
	}
	all := time.Since(began)
	// Were a call held up until the torrent is over, there would be one or two.
	if t.Logf("the longest of %d calls took %s of %s", made, worst, all); made < 3 || worst > all*9/10 {
		t.Errorf("%d calls, and one took %s of %s", made, worst, all)
	}
}

// What is counted for a redraw does not grow with the settled questions.
func TestSettledQuestionsCostNothing(t *testing.T) {
	flood := tried()
	b := startFlood(t, flood.held)
	cost := func() uint64 {
		least := uint64(math.MaxUint64)
		for range 5 { // the least counts, because others allocate, too
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.in.OnShow(40)
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	settle := func() {
		if err := b.in.SetPolicy("s1", conversation.PolicyDecline); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	b.done(b.call(fmt.Sprint(roomAndMore)).Number)
	few := cost()
	b.done(b.call(fmt.Sprint(flood.full)).Number)
	b.until("the log is read", func() bool {
		c, err := b.in.Call(2)
		return err == nil && len(c.Questions) == flood.full
	})
	b.judged()
	most := min(20, uint64(flood.full/roomAndMore/3)) // there are three times as many, or more
	if many := cost(); many > most*few {
		t.Errorf("%d bytes with %d settled questions, %d with %d", few, roomAndMore, many, flood.full)
	}
}
