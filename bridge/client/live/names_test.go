package live

import (
	"sync"
	"testing"

	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
)

// Sessions that begin at the same moment, in trials of a check or in two runs, have names of their own: they are
// told apart in a folder of transcripts, and their spans belong to traces of their own.
func TestSessionNames(t *testing.T) {
	names, latest := sync.Map{}, sync.WaitGroup{}
	for range 200 {
		l := logtest.New(t)
		servers := NewServers(ServersConfig{Targets: []target.Spec{{Name: "demo"}}, Session: session.Config{Log: l, Conversation: conversation.New(l)}, Owner: struct{ session.Owner }{}, Life: t.Context()})
		latest.Go(func() {
			if _, twice := names.LoadOrStore(servers.newSession(servers.list()[0]).Name, true); twice {
				t.Error("two sessions have one name")
			}
		})
	}
	latest.Wait()
}
