package inspection_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
)

// roomAndMore is how many questions do not all find room on the page.
const roomAndMore = live.ShownMost + 10

// flood is how many questions of one server are held back in a test, and how many the server
// asks: as many as are held back and on show, 100 more, and a torrent.
type flood struct{ held, full, more, torrent int }

// floods holds what every run tries and, last, the bound of a running inspector, which a run
// with -whole tries.
var floods = []flood{floodOf(500, 8_000), floodOf(live.HeldMost, 96_000)}

func floodOf(held, torrent int) flood {
	full := held + live.ShownMost
	return flood{held, full, full + 100, torrent}
}

var whole = flag.Bool("whole", false, "try the bounds of a running inspector")

func tried() flood {
	if *whole {
		return floods[1]
	}
	return floods[0]
}

const kiloform = `{"message":"Number %d? %s","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":%d}}}}`

// manyForms returns the params of count questions, about a kilobyte each.
func manyForms(count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf(kiloform, i, strings.Repeat("x", 900), i)
	}
	return all
}

func init() {
	// asks all the questions that the tool's name counts at once, and then counts the
	// answers.
	count := func(call request) (n int) {
		_, _ = fmt.Sscan(call.tool(), &n)
		return n
	}
	tools := []string{fmt.Sprint(roomAndMore)}
	for _, f := range floods {
		tools = append(tools, fmt.Sprint(f.full), fmt.Sprint(f.more), fmt.Sprint(f.torrent))
	}
	rawServers["flood"] = func(s *rawServer) {
		s.serve("2025-11-25", tools, func(call request) {
			forms := manyForms(count(call))
			for i, form := range forms {
				s.write(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s}`, i, form)
			}
			got := map[string]int{}
			for range forms {
				answer, ok := s.read()
				if !ok {
					return
				}
				got[string(answer.Result)+string(answer.Error)]++
			}
			s.text(call, fmt.Sprint(got))
		})
	}
	rawServers["flood in a round"] = func(s *rawServer) {
		s.serve("2026-07-28", tools, func(call request) {
			if p := roundOf(call); p.Responses != nil {
				s.text(call, string(p.Responses))
				return
			}
			var requests []string
			for i, form := range manyForms(count(call)) {
				requests = append(requests, fmt.Sprintf(`"a/%d":{"method":"elicitation/create","params":%s}`, i, form))
			}
			s.reply(call, `{"resultType":"input_required","inputRequests":{%s}}`, strings.Join(requests, ","))
		})
	}
	rawServers["flood of URLs"] = func(s *rawServer) {
		s.serve("2025-11-25", tools, func(call request) {
			var urls []string
			for i := range count(call) {
				urls = append(urls, fmt.Sprintf(`{"mode":"url","message":"Number %d?","url":"https://example.org/%d","elicitationId":"e%d"}`, i, i, i))
			}
			s.fail(call, -32042, "visit", `{"elicitations":[`+strings.Join(urls, ",")+`]}`)
		})
	}
}

// startFlood starts an inspection of two servers, where the first floods and the second asks.
func startFlood(t *testing.T, held int) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var targets []target.Spec
	for _, name := range []string{"flood", "asks"} {
		targets = append(targets, target.Spec{Name: name, Command: []string{self}, Env: []string{serverEnv + "=" + name}})
	}
	b := startInspection(t, inspection.Config{Targets: targets, Held: held})
	b.until("the other server is ready", func() bool { return b.in.Servers()[1].State == conversation.ServerReady })
	return b
}

// A question that was held back is shown unchanged, however it was asked.
func TestHeldBackIsShownAsAsked(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"flood", "flood in a round", "flood of URLs"} {
		t.Run(server, func(t *testing.T) {
			b := start(t, server, conversation.ClientSettings{})
			call := b.call(fmt.Sprint(roomAndMore))
			b.until("all have come", func() bool { return b.server().Held == 10 })
			if err := b.in.Release("s1", "show"); err != nil {
				t.Fatal(err)
			}
			if s := b.server(); s.Held != 10 || s.Room != 0 {
				t.Errorf("with no room: %d are held back, and there is room for %d", s.Held, s.Room)
			}
			for n := range roomAndMore {
				if n == live.ShownMost {
					if err := b.in.Release("s1", "show"); err != nil {
						t.Fatal(err)
					}
				}
				q := b.question(n + 1)
				if q.State != conversation.Pending || q.Held || q.Request == nil || !strings.HasPrefix(q.Request.Message, fmt.Sprintf("Number %d?", n)) {
					t.Fatalf("question %d is %s, held back: %v, %+v", n+1, q.State, q.Held, q.Request)
				}
				b.answer(n+1, live.Answer{Action: "cancel"})
			}
			_, text := b.done(call.Number)
			if got := strings.Count(text, "cancel"); server == "flood in a round" && got != roomAndMore {
				t.Errorf("%d answers came: %s", got, text)
			}
			if want := fmt.Sprintf(`map[{"action":"cancel"}:%d]`, roomAndMore); server == "flood" && text != want {
				t.Errorf("the server got %s", text)
			}
		})
	}
}

// A policy that is set later answers the questions that are held back, with the defaults
// of each.
func TestPolicyForWhatIsHeldBack(t *testing.T) {
	b := start(t, "flood", conversation.ClientSettings{})
	call := b.call(fmt.Sprint(roomAndMore))
	b.until("all have come", func() bool { return b.server().Held == 10 })
	if err := b.in.SetPolicy("s1", conversation.PolicyDefaults); err != nil {
		t.Fatal(err)
	}
	q := b.question(roomAndMore)
	if want := fmt.Sprintf(`{"n":%d}`, roomAndMore-1); q.State != conversation.Answered || !bytes.Equal(q.Content(), []byte(want)) {
		t.Errorf("the last is %s with %s, want %s", q.State, q.Content(), want)
	}
	if err := b.in.Stop(call.Number); err != nil {
		t.Fatal(err)
	}
	if s := b.server(); s.Held != 0 || s.Room != live.ShownMost {
		t.Errorf("after the call %d are held back, and there is room for %d", s.Held, s.Room)
	}
}

// The questions of a round count, whether they are held back or on show.
func TestHeldBackCountsInItsRound(t *testing.T) {
	b := startConfig(t, "flood in a round", inspection.Config{Rate: 10})
	n := b.call(fmt.Sprint(roomAndMore)).Number
	b.until("all have come", func() bool { return b.server().Held == roomAndMore-10 })
	counts := func(open int) {
		t.Helper()
		if c, err := b.in.Call(n); err != nil || c.Asks != roomAndMore || c.Open != open {
			t.Errorf("%d of %d are open, want %d, %v", c.Open, c.Asks, open, err)
		}
	}
	counts(roomAndMore)
	for number := range 10 {
		b.answer(number+1, live.Answer{Action: "decline"})
	}
	if on := len(b.in.OnShow(0)); on != 0 {
		t.Errorf("%d are on show", on)
	}
	counts(roomAndMore - 10)
	if err := b.in.Retry(n); err != nil {
		t.Fatal(err)
	}
	b.done(n)
	if c, err := b.in.Call(n); err != nil || c.Open+c.Asks != 0 {
		t.Errorf("afterwards: %d of %d, %v", c.Open, c.Asks, err)
	}
}

// Every Close returns after the server has ended.
func TestCloseWaitsEachTime(t *testing.T) {
	b := startProcess(t, "asks")
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() {
			if err := b.in.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if text := b.transcript(); !strings.Contains(text, " exited with ") && !strings.Contains(text, " ended by signal") {
				t.Error("the server runs on")
			}
		})
	}
	closing.Wait()
}
