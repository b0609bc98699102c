package inspection_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// reconnects is how often TestReconnectWhileTheServerTalks reconnects:
//
//	go test -race ./bridge/client/inspection -run TestReconnectWhileTheServerTalks -args -reconnects 500
var reconnects = flag.Int("reconnects", 10, "how often the server that talks while it connects is connected anew")

// talk is how many log messages a server sends right after initialize.
const talk = 3000

func init() {
	// sends log messages without a pause after initialize.
	rawServers["talker"] = func(s *rawServer) { chat(s, func(request) {}) }
}

func chat(s *rawServer, handle func(request)) {
	for {
		r, ok := s.read()
		switch {
		case !ok:
			return
		case r.Method == "server/discover":
			s.fail(r, -32601, "Method not found", "")
		case r.Method == "initialize":
			s.reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"talker","version":"1"}}`)
			for n := range talk {
				s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"line %d"}}`, n)
			}
		case r.Method == "tools/list":
			s.reply(r, `{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`)
		case r.Method == "tools/call":
			handle(r)
		}
	}
}

// within fails the test with the stacks of all goroutines, unless do returns within
// limit.
func within(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s takes longer than %v\n%s", what, limit, stacks())
	}
}

// stacks returns the stacks of all goroutines.
func stacks() string {
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, 2) // to memory
	return text.String()
}

// A server that sends messages while it connects must not block the inspector, even with
// many reconnects.
func TestReconnectWhileTheServerTalks(t *testing.T) {
	t.Parallel()
	b := start(t, "talker", conversation.ClientSettings{})
	began := time.Now()
	for n := range *reconnects {
		within(t, 2*patience, fmt.Sprintf("reconnect %d", n+1), func() {
			before := b.server().Since
			if err := b.in.Reconnect("s1"); err != nil {
				t.Error(err)
			}
			for s := b.server(); s.State != conversation.ServerReady || !s.Since.After(before); s = b.server() {
				<-b.sub.Ready()
			}
		})
	}
	t.Logf("%d reconnects, %d frames in %v", *reconnects, b.log.Len(), time.Since(began).Round(time.Millisecond))
}

func init() {
	// sends many list_changed notifications, and changes its tools each time.
	rawServers["restless"] = func(s *rawServer) {
		version := 0
		for {
			r, ok := s.read()
			switch {
			case !ok:
				return
			case r.Method == "initialize":
				s.reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true}},"serverInfo":{"name":"restless","version":"1"}}`)
			case r.Method == "tools/list":
				s.reply(r, `{"tools":[{"name":"change","inputSchema":{"type":"object"}},{"name":"version-%d","inputSchema":{"type":"object"}}]}`, version)
			case r.Method == "prompts/list":
				s.reply(r, `{"prompts":[]}`)
			case r.Method == "resources/list":
				s.reply(r, `{"resources":[]}`)
			case r.Method == "resources/templates/list":
				s.reply(r, `{"resourceTemplates":[]}`)
			case r.Method == "tools/call":
				for range 1000 {
					version++
					s.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				}
				s.text(r, "changed")
			}
		}
	}
}

// After many list_changed notifications, only that list is read again: a few times at
// most, and once after the last notification.
func TestListChangesAreReadTogether(t *testing.T) {
	b := start(t, "restless", conversation.ClientSettings{Protocol: mcp.Revision20251125})
	for round, want := range []string{"version-1000", "version-2000"} {
		b.done(b.call("change").Number)
		b.until("the tools as they are in the end", func() bool {
			_, err := b.in.Item("s1", conversation.Tool, want)
			return err == nil
		})
		// On slow machines the notifications take longer than one pause between readings.
		if n := b.sent("tools/list"); n > 1+10*(round+1) {
			t.Errorf("tools/list was asked for %d times", n)
		}
	}
	for _, other := range []string{"prompts/list", "resources/list", "resources/templates/list"} {
		if n := b.sent(other); n != 1 {
			t.Errorf("%s was asked for %d times", other, n)
		}
	}
	if c, err := b.in.Catalog("s1"); err != nil || len(c.Items) != 2 || len(c.Errors) > 0 || c.Loading {
		t.Errorf("the catalog is %+v, %v", c, err)
	}
}

func init() {
	// stops reading once a tool is called, and ignores every signal but SIGKILL.
	rawServers["deaf"] = func(s *rawServer) {
		ignoreSignals()
		s.serve("2025-11-25", []string{"go deaf"}, func(request) {
			fmt.Fprintln(os.Stderr, "deaf")
			select {}
		})
	}
	// never connects.
	rawServers["mute"] = func(s *rawServer) {
		ignoreSignals()
		fmt.Fprintln(os.Stderr, "mute")
		select {}
	}
}

// Close returns in time and leaves no process behind, also when servers or recorders
// hang.
func TestCloseKeepsItsTime(t *testing.T) {
	inspect := func(t *testing.T, server string, recorders ...*wire.Recorder) (*inspection.Inspection, *wire.Log) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() }) // the test checks Close of the inspection
		for _, r := range recorders {
			log.Record(r)
		}
		in := inspection.New(inspection.Config{Log: log, Targets: []target.Spec{{
			Name: server, Command: []string{self}, Env: []string{serverEnv + "=" + server},
		}}})
		in.Start()
		return in, log
	}
	// The context ends early to keep the test short.
	end := func(t *testing.T, in *inspection.Inspection, log *wire.Log, patience time.Duration) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		within(t, patience+time.Minute, "closing", func() { t.Log(in.Close(ctx)) })
		for _, pid := range processes(t, log) {
			if alive(pid) {
				t.Errorf("process %d is left", pid)
			}
		}
	}
	stderr := func(in *inspection.Inspection, line string) func() bool {
		return func() bool { return strings.Contains(strings.Join(in.Servers()[0].Stderr, " "), line) }
	}
	t.Run("a server that does not read", func(t *testing.T) {
		in, log := inspect(t, "deaf")
		b := &bench{t, in, log, in.Subscribe()}
		b.until("ready", func() bool { return b.server().State == conversation.ServerReady })
		b.call("go deaf")
		b.until("deafness", stderr(in, "deaf"))
		for range 100 { // to fill the pipe
			_, _ = in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "go deaf", Key: "go deaf",
				Arguments: []byte(`{"x":"` + strings.Repeat("x", 10_000) + `"}`)})
		}
		end(t, in, log, time.Second)
	})
	t.Run("a connection that is being made", func(t *testing.T) {
		in, log := inspect(t, "mute")
		b := &bench{t, in, log, in.Subscribe()}
		b.until("a process that runs", stderr(in, "mute"))
		end(t, in, log, time.Second)
	})
	t.Run("no patience at all", func(t *testing.T) {
		in, log := inspect(t, "mute")
		b := &bench{t, in, log, in.Subscribe()}
		b.until("a process that runs", stderr(in, "mute"))
		end(t, in, log, 0)
	})
	t.Run("a transcript that nobody reads", func(t *testing.T) {
		unread, full, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer unread.Close()
		defer full.Close() // unblocks the recorder
		_ = full.SetWriteDeadline(time.Now().Add(time.Second))
		for err == nil {
			_, err = full.Write(make([]byte, 4096))
		}
		_ = full.SetWriteDeadline(time.Time{})
		in, log := inspect(t, "talker", wire.NewRecorder(full, wire.RecordOptions{}))
		within(t, patience, "the first frame, which cannot be written,", func() {
			for log.Len() == 0 {
				time.Sleep(time.Millisecond) // not by b.until: its notifications hang
			}
		})
		end(t, in, log, time.Second)
	})
}

// Many concurrent actions do not block each other, and the inspection ends in time.
func TestEverythingAtOnce(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var targets []target.Spec
	for _, server := range []string{"talker", "restless", "chatterbox"} {
		targets = append(targets, target.Spec{Name: server, Command: []string{self}, Env: []string{serverEnv + "=" + server}})
	}
	in := inspection.New(inspection.Config{Log: log, Targets: targets, Rate: 1000})
	in.Start()
	list := in.Servers()
	policies := conversation.Policies()
	settings := []conversation.ClientSettings{{}, {Protocol: mcp.Revision20251125}, {Elicitation: conversation.DeclareNone}, {Sampling: true, Roots: true}}
	call := func(r *rand.Rand, id string) {
		for _, tool := range []string{"ask", "change"} {
			_, _ = in.Begin(live.Request{Server: id, Kind: conversation.Tool, Name: tool, Key: tool, Timeout: time.Duration(r.IntN(200)) * time.Millisecond})
		}
	}
	acts := []func(r *rand.Rand, id string){
		call, call, call, call, call, call,
		func(r *rand.Rand, id string) {
			if s, err := in.Server(id); err == nil && s.State == conversation.ServerConnecting && r.IntN(10) > 0 {
				return // let most attempts to connect succeed
			}
			_ = in.ReconnectWith(id, settings[r.IntN(len(settings))])
		},
		func(r *rand.Rand, id string) { _ = in.SetPolicy(id, policies[r.IntN(len(policies))]) },
		func(r *rand.Rand, id string) {
			if r.IntN(10) > 0 {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(50))*time.Millisecond)
			defer cancel()
			_ = in.Disconnect(ctx, id)
			_ = in.Reconnect(id)
		},
		func(r *rand.Rand, _ string) {
			for _, c := range in.Calls() {
				if !c.State.Over() && r.IntN(2) == 0 {
					_ = in.Stop(c.Number)
				}
			}
		},
		func(r *rand.Rand, _ string) {
			for _, q := range in.OnShow(10) {
				_ = in.Answer(q.Number, live.Answer{Action: []string{"accept", "decline", "cancel"}[r.IntN(3)], Actor: conversation.ByPerson})
			}
		},
		func(*rand.Rand, string) {
			sub := in.Subscribe()
			_, _, _ = in.Servers(), in.Questions(), in.Findings("")
			sub.Close()
		},
	}
	var acting sync.WaitGroup
	over := make(chan struct{})
	for n := range 6 {
		acting.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 7))
			for {
				select {
				case <-over:
					return
				case <-time.After(time.Duration(r.IntN(20)) * time.Millisecond):
				}
				acts[r.IntN(len(acts))](r, list[r.IntN(len(list))].ID)
			}
		})
	}
	time.Sleep(*storm)
	within(t, inspection.CloseTime+time.Minute, "closing in the midst of it", func() {
		if err := in.Close(context.Background()); err != nil {
			t.Errorf("%v\n%s", err, stacks())
		}
	})
	close(over)
	within(t, patience, "what was under way", acting.Wait)
	for _, pid := range processes(t, log) {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	t.Logf("%d frames, %d calls, %d questions", log.Len(), len(in.Calls()), len(in.Questions()))
}

// storm is the duration of TestEverythingAtOnce.
var storm = flag.Duration("storm", 3*time.Second, "how long everything happens at once")

func init() {
	// sends questions and cancels them at once.
	rawServers["chatterbox"] = func(s *rawServer) {
		asked := 0
		chat(s, func(call request) {
			for range 20 {
				asked++
				s.write(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"Which one?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}}}`, asked)
				s.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				if asked%3 == 0 {
					s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q%d"}}`, asked)
				}
			}
			s.text(call, "asked")
		})
	}
}

// processes returns the ids of the processes that the log shows as started.
func processes(t *testing.T, log *wire.Log) (pids []int) {
	t.Helper()
	for seq := range log.Len() {
		f, err := log.Frame(seq + 1)
		if err != nil {
			t.Fatal(err)
		}
		var program string
		var pid int
		if n, _ := fmt.Sscanf(string(f.Raw), "started %s as process %d", &program, &pid); n == 2 && f.Kind == wire.NoteFrame {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		t.Error("no process was started")
	}
	return pids
}
