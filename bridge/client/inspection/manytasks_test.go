// The race detector makes this test several times slower. TestLivesOfTasks does the same
// concurrently with fewer tasks.

//go:build !race

package inspection_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// resultOfOne matches the result of a task in a frame, which has the answer that the task got.
var resultOfOne = regexp.MustCompile(`told\\":\\"What\? ([^\\]+)`)

// Two hundred tasks at once are all asked about, no more often than their server wants, and
// each gets the answer to its own question.
func TestTwoHundredTasks(t *testing.T) {
	const all, interval = 200, time.Second // as the server says
	for _, revision := range []string{november, july} {
		b := start(t, "tasks-"+revision, conversation.ClientSettings{})
		for range all {
			b.callAsTask("asks-in-a-crowd")
		}
		over := 0
		b.until("the answers and the ends", func() bool {
			if b.server().Held > 0 {
				if err := b.in.Release("s1", "show"); err != nil {
					t.Fatal(err)
				}
			}
			for _, q := range b.in.OnShow(0) {
				if q.Request == nil {
					continue
				}
				a := accept(fmt.Sprintf(`{"told":%q}`, q.Request.Message))
				a.Actor = conversation.ByPerson
				err := b.in.Answer(q.Number, a)
				if err != nil && !errors.Is(err, live.ErrSettled) && !errors.Is(err, live.ErrUnknownQuestion) { // it is in the log before it can be answered
					t.Fatal(err)
				}
			}
			for ; over < all; over++ {
				c, err := b.in.Call(over + 1)
				if errors.Is(err, live.ErrForgotten) { // it has ended
					continue
				}
				if err != nil || !c.State.Over() {
					return false
				}
				if c.State != conversation.Done {
					t.Fatalf("%s: call %d is %s: %s", revision, c.Number, c.State, c.Failure)
				}
			}
			return true
		})
		frames, err := logtest.Frames(b.log)
		if err != nil {
			t.Fatal(err)
		}
		polled, answered := map[string]time.Time{}, map[string]bool{}
		for _, f := range frames {
			if told := resultOfOne.FindSubmatch(f.Raw); told != nil && f.Dir == wire.ServerToClient {
				id := string(told[1])
				if answered[id] = true; !strings.Contains(string(f.Raw), `"taskId":"`+id+`"`) {
					t.Errorf("%s: the answer for task %s is in %s", revision, id, f.Raw)
				}
			}
			if f.Kind != wire.Request || f.Method != mcp.MethodGetTask {
				continue
			}
			id := rawjson.Text(rawjson.Member(f.Message.Params, "taskId"))
			if pause := f.Time.Sub(polled[id]); pause < interval*9/10 {
				t.Errorf("%s: task %s was asked about again after %v", revision, id, pause)
			}
			polled[id] = f.Time
		}
		if len(answered) != all || len(polled) != all {
			t.Errorf("%s: %d tasks were answered, and %d were asked about", revision, len(answered), len(polled))
		}
	}
}
