package e2e

import (
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// interrupts is the number of rounds of TestInterruptAtAnyMoment.
var interrupts = flag.Int("interrupts", 6, "how often the inspector is interrupted while it reconnects")

// endMost is the time limit for the end that the README promises.
const endMost = 15 * time.Second

// Ctrl-C ends the inspector in time at any moment while it repeatedly connects to a
// server that sends messages from the start and ends only when killed.
func TestInterruptAtAnyMoment(t *testing.T) {
	for n := range *interrupts {
		flags := []string{"-talk", "3000"}
		if n%3 == 2 {
			flags = append(flags, "-stubborn")
		}
		rude := servers.NewRude(t, nil, flags...)
		p := inspector.Start(t, append([]string{"--"}, rude.Command...)...)
		client := p.Client()
		over := make(chan struct{})
		var reconnecting sync.WaitGroup
		reconnecting.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				res, err := client.PostForm(p.Base+"/servers/s1/reconnect", nil)
				if err != nil {
					return // the inspector has ended
				}
				_, _ = io.Copy(io.Discard, res.Body) // the body is empty
				_ = res.Body.Close()
				if res.StatusCode != http.StatusNoContent && res.StatusCode != http.StatusConflict {
					t.Errorf("reconnecting was answered with %s", res.Status)
				}
				<-time.After(rand.N(150 * time.Millisecond))
			}
		})
		<-time.After(rand.N(time.Second)) // at any moment
		before := time.Now()
		p.Stop() // checks: exit code 0, no process left
		took := time.Since(before)
		close(over)
		reconnecting.Wait()
		t.Logf("%s: ended in %v", strings.Join(flags, " "), took.Round(time.Millisecond))
		if took > endMost {
			t.Errorf("it took %v to end", took)
		}
	}
}
