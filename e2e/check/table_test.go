package check

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/check"
	"elicitation-inspector/bridge/judges/check/judge"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/e2e/check/faulty"
	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

var whole = flag.Bool("whole", false, "try every behaviour on every tool in every revision")

// TestFaultyServer checks that a check finds every planted fault of the faulty server,
// and nothing else.
func TestFaultyServer(t *testing.T) {
	t.Parallel()
	// The test binary could serve, too, but would take twice as long to start for each trial.
	binary := filepath.Join(t.TempDir(), "faulty")
	if err := inspector.Build("..", binary, "./servers/faulty"); err != nil {
		t.Fatal(err)
	}
	spec := target.Spec{Name: faulty.Name, Command: []string{binary}, Env: []string{faulty.LedgerVariable + "=" + filepath.Join(t.TempDir(), "ledger")}}
	table(t, spec, faulty.Planted())
}

// TestDemo checks that a check finds every planted fault of the demo server, and
// nothing else.
func TestDemo(t *testing.T) {
	t.Parallel()
	server := demo.New(demo.Options{})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	table(t, target.Spec{Name: demo.Name, Builtin: server.ServeLines}, faulty.PlantedInDemo())
}

// oftenClean are the servers without faults that every run checks: by hand and by an SDK, over
// both transports, and one that refuses what is accepted.
var oftenClean = []string{"hand", "gosdk over HTTP", "refusing", "with a witness, over stdio"}

// TestRightServersAreClean checks that a check finds nothing in fifteen servers without
// faults: of three SDKs and by hand, over stdio and HTTP, with and without a witness, and
// in servers that are slow, random in what they say, strict, refuse what is accepted, or
// have one dialogue at a time. Without -whole, it checks those in oftenClean.
func TestRightServersAreClean(t *testing.T) {
	t.Parallel()
	commands := servers.Right(t)
	var specs []target.Spec
	for name, command := range commands {
		specs = append(specs, target.Spec{Name: name, Command: command})
	}
	for name, url := range servers.RightOverHTTP(t, commands) {
		specs = append(specs, target.Spec{Name: name + " over HTTP", URL: url})
	}
	gosdk := commands["gosdk"]
	for _, kind := range []string{"slow", "random", "strict", "refusing"} {
		specs = append(specs, target.Spec{Name: kind, Command: append(slices.Clone(gosdk), "-"+kind)})
	}
	clean := func(name string, test func(*testing.T)) {
		if *whole || slices.Contains(oftenClean, name) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	}
	clean("one dialogue", func(t *testing.T) {
		one := target.Spec{Name: "one dialogue", URL: servers.FlagHTTP(t, gosdk, "-alone")}
		for i, item := range catalogOf(t, one) { // two checks at the same time would be in each other's way
			tried(t, one, item, i, nil, "")
		}
	})
	for _, spec := range specs {
		clean(spec.Name, func(t *testing.T) { table(t, spec, nil) })
	}
	for _, over := range []string{"stdio", "HTTP"} {
		clean("with a witness, over "+over, func(t *testing.T) {
			for i, tool := range []string{"plan_workshop", "cancel_booking", "book_room", "rent_bike"} {
				ledger := orders(t)
				spec, revisions := target.Spec{Name: "ledger", Command: append(slices.Clone(gosdk), "-ledger", ledger)}, mcp.Revisions
				if over == "HTTP" {
					revisions = mcp.Revisions[1:] // its SDK speaks the newest one only without sessions
					spec = target.Spec{Name: "ledger", URL: servers.FlagHTTP(t, gosdk, "-ledger", ledger)}
				}
				tried(t, spec, &offered{Item: conversation.Item{Kind: conversation.Tool, Key: tool}, revisions: revisions}, i, nil, "command:cat "+ledger)
			}
		})
	}
}

// offered is an item with the revisions in which the server offers it.
type offered struct {
	conversation.Item
	revisions []string
}

// catalogOf returns all items of a server, in every revision that it supports.
func catalogOf(t *testing.T, spec target.Spec) (list []*offered) {
	t.Helper()
	for _, revision := range mcp.Revisions {
		s, err := headless.Open(t.Context(), headless.Config{Target: spec, Settings: conversation.ClientSettings{Protocol: revision, Choice: conversation.ChoiceExplicit}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Catalog(t.Context())
		if err != nil {
			t.Error(err)
		}
		server, err := s.Server()
		if err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if server.Info.Protocol != revision {
			continue
		}
		for _, item := range c.Items {
			i := slices.IndexFunc(list, func(o *offered) bool { return o.Key == item.Key && o.Kind == item.Kind })
			if i < 0 {
				i, list = len(list), append(list, &offered{Item: item})
			}
			list[i].revisions = append(list[i].revisions, revision)
		}
	}
	return list
}

// together is the number of tools of a server that are checked at the same time.
const together = 8

// table checks all items of a server, and compares the findings with the planted
// faults. Without -whole, it checks each tool with the behaviours that show its planted
// faults and some others, mostly in one revision; see [reduced].
func table(t *testing.T, spec target.Spec, plants []faulty.Plant) {
	var running sync.WaitGroup
	places := make(chan struct{}, together)
	trials, offers := make(chan int, 1), catalogOf(t, spec)
	trials <- 0
	for i, item := range offers {
		if item.Kind == conversation.Template {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(plants), func(p faulty.Plant) bool { return p.Tool != item.Key })
		plain := slices.DeleteFunc(slices.Clone(own), func(p faulty.Plant) bool { return p.Witness })
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			trials <- tried(t, spec, item, i, plain, "") + <-trials
			if len(plain) == len(own) {
				return
			}
			witnesses := faulty.WitnessOf(item.Key)
			if !*whole {
				witnesses = witnesses[i%len(witnesses):][:1]
			}
			for _, w := range witnesses {
				trials <- tried(t, spec, item, i, own, w) + <-trials
			}
		})
	}
	running.Wait()
	t.Logf("%d trials of %d offers", <-trials, len(offers))
}

// tried checks an item and returns the number of its trials.
func tried(t *testing.T, spec target.Spec, item *offered, place int, plants []faulty.Plant, witness string) int {
	allowed, err := script.ParseText(script.Literal(item.Key))
	if err != nil {
		t.Error(err)
		return 0
	}
	o := check.Options{
		Server: headless.Config{Target: spec}, Jobs: 4, AllowDestructive: []*script.Text{allowed},
		Wanted: []check.Wanted{{Kind: item.Kind, Key: item.Key}}, Revisions: item.revisions,
	}
	if witness != "" {
		if o.Witness, err = script.ParseWitness(witness); err != nil {
			t.Error(err)
			return 0
		}
	}
	if !*whole {
		reduced(&o, place, plants)
	}
	made, err := check.Run(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Errorf("%s: %v", item.Key, err)
		return 0
	}
	if made.Stopped != "" || slices.ContainsFunc(made.Problems, func(p report.Problem) bool { return p.Kind == report.WitnessBlind }) {
		t.Errorf("%s: stopped: %q, %+v", item.Key, made.Stopped, made.Problems)
	}
	compare(t, made, plants)
	return len(made.Results)
}

// reduced limits a check by the tool's place in the list: the newest revision for every
// third tool, the second newest for the next one, and so on, and a part of the behaviours
// in turn. A tool whose faults only a witness shows is checked in every revision, because
// what the check compares depends on the revision, and only by the behaviours that show them.
func reduced(o *check.Options, place int, plants []faulty.Plant) {
	all, others := judge.BehaviourNames(), 1
	if len(plants) == 0 {
		others = 16
	}
	o.Behaviours = []string{"accept", "accept-other", "accept-no", "decline", "cancel"}
	watched := slices.ContainsFunc(plants, func(p faulty.Plant) bool { return p.Witness })
	if watched {
		o.Behaviours, others = o.Behaviours[:1], 0
	}
	for i := range others {
		o.Behaviours = append(o.Behaviours, all[(place*others+i)%len(all)])
	}
	revision := o.Revisions[place%len(o.Revisions)]
	for _, p := range plants {
		o.Behaviours = append(o.Behaviours, p.Behaviours...)
		switch p.Rules[0] {
		case "uses-invalid-content": // shows where other invalid content is refused
			o.Behaviours = append(o.Behaviours, "wrong-type")
		case "forged-state": // shows where the state matters
			o.Behaviours = append(o.Behaviours, "no-state")
		case "refuses-afterwards": // shows where most trials leave the tool of use
			o.Behaviours = nil
		}
		if o.Behaviours == nil {
			break
		}
		if !slices.Contains(p.Revisions, revision) {
			revision = p.Revisions[0]
		}
	}
	if !watched {
		o.Revisions = []string{revision}
	}
	if o.Wanted[0].Key == "flood" { // ten thousand messages in each trial show no more than a hundred
		o.Wanted[0].Arguments = []byte(`{"count":100}`)
	}
}

// compare reports findings that are not planted, and planted faults that were not
// found.
func compare(t *testing.T, made *report.Report, plants []faulty.Plant) {
	t.Helper()
	seen := map[string]bool{}
	ran := map[string]bool{}
	for _, r := range made.Results {
		tool := made.Calls[r.Call].Key
		ran[key(r.Revision, r.Behaviour)] = true
		for _, f := range r.Findings {
			if f.Verdict != report.Fail && f.Verdict != report.Warn {
				continue
			}
			i := slices.IndexFunc(plants, func(p faulty.Plant) bool { return covers(p, r, f) })
			if i < 0 {
				t.Errorf("%s, %s, %s (question %d, field %q): %s %s: %s\n%s", tool, r.Revision, r.Behaviour, r.Question, r.Field, f.Verdict, f.Rule, f.Text, r.Reproduce)
				continue
			}
			seen[key(r.Revision, r.Behaviour, fmt.Sprint(i))] = true
		}
	}
	for i, p := range plants {
		for _, revision := range p.Revisions {
			if !slices.Contains(made.Revisions, revision) {
				continue
			}
			tried := false
			for _, b := range p.Behaviours {
				if !ran[key(revision, b)] {
					continue
				}
				tried = true
				if !seen[key(revision, b, fmt.Sprint(i))] {
					t.Errorf("%s, %s, %s: no %s %s", p.Tool, revision, b, p.Verdict, strings.Join(p.Rules, "|"))
				}
			}
			if !tried {
				t.Errorf("%s, %s: none of %s was tried", p.Tool, revision, p.Behaviours)
			}
		}
	}
}

func covers(p faulty.Plant, r report.Result, f report.Finding) bool {
	shows := slices.Contains(p.Behaviours, r.Behaviour) || slices.Contains(p.May, r.Behaviour) || slices.Contains(p.May, "*")
	return shows && string(f.Verdict) == p.Verdict && slices.Contains(p.Rules, f.Rule) && slices.Contains(p.Revisions, r.Revision)
}

func key(parts ...string) string { return strings.Join(parts, " ") }
