// The race detector makes this test several times slower. Other tests do the same concurrently
// with fewer calls.

//go:build !race

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/wire"
)

// TestAnswersGiveTheSameResult records a call of every story of the demo server, writes an answers
// file from the transcript, and checks that it leads to the same result.
func TestAnswersGiveTheSameResult(t *testing.T) {
	t.Parallel()
	for _, revision := range mcp.Revisions {
		calls := demoCalls(t, revision)
		for how, answers := range firstAnswers {
			if how == "wavering" && revision != mcp.Revision20260728 {
				continue
			}
			t.Run(how+" in "+revision, func(t *testing.T) {
				t.Parallel()
				for _, call := range calls {
					if how != "accepting" && call.Kind == conversation.Tool && call.Arguments != nil { // vary the arguments only once
						continue
					}
					sameAgain(t, revision, answers, call)
				}
			})
		}
	}
}

func sameAgain(t *testing.T, revision, answers string, call headless.Call) {
	name := fmt.Sprintf("%s %s %s", call.Kind, call.Key, call.Arguments)
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	first := callDemo(t, revision, answers, path, call)
	written := strings.ReplaceAll(answersFrom(t, path), "answer: accept\n", "answer: accept\n    retry: 20ms\n")
	again := callDemo(t, revision, written, "", call)
	if first.TimedOut != again.TimedOut || len(again.Unanswered) > 0 || alike(first.Result) != alike(again.Result) || alike(first.Error) != alike(again.Error) {
		t.Errorf("%s: first\n%s%s%s\nagain\n%s%s%s %+v\n%s", name, first.Result, first.Error, first.Failure, again.Result, again.Error, again.Failure, again.Unanswered, written)
	}
	if string(first.Result) == alike(first.Result) && len(again.Unmet) > 0 {
		t.Errorf("%s: not as expected: %s\n%s", name, again.Unmet, written)
	}
}

// varies matches text that differs between two calls of the demo server.
var varies = regexp.MustCompile(`\d+ ms|"milliseconds":\d+|\b[A-Z2-7]{26}\b|127\.0\.0\.1:\d+|\d{4}-\d\d-\d\dT[0-9:.]+Z?|\d\d:\d\d:\d\d|answered in .*?"`)

func alike(raw json.RawMessage) string { return varies.ReplaceAllString(string(raw), "…") }

// answersFrom returns the answers file of a transcript.
func answersFrom(t *testing.T, path string) string {
	t.Helper()
	opened, err := playback.Open(path)
	if err == nil {
		err = opened.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	talk := conversation.New(opened.Log)
	if err := talk.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls, err := script.CallsIn(t.Context(), talk, 0, conversation.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	w := script.Writing{From: filepath.Base(path), Servers: talk.Servers(), Expect: true}
	scenario, missing := script.FromCalls(calls, w)
	back, err := script.ParseScenario("scenario", []byte(scenario.String()), os.LookupEnv)
	if (err == nil) != (missing == nil) || !rawjson.Same(back.Source, scenario.Source) || len(back.Calls) != len(scenario.Calls) {
		t.Errorf("%v, and read back %v:\n%s\n%s", missing, err, scenario, back.Source)
	}
	s, missing := script.AnswersOf(calls, w)
	if missing != nil {
		t.Error(missing)
	}
	return s.String()
}

// quickly makes pauses in the demo's stories end at once, except for the patience with an answer,
// which must not end before the answer arrives.
func quickly(ctx context.Context, d time.Duration) error {
	if d < 10*time.Second {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// connectDemo connects to a demo server without pauses, and visits the sign-in pages.
func connectDemo(t *testing.T, revision, record string) *headless.Session {
	t.Helper()
	server := demo.New(demo.Options{Pause: quickly})
	settings, err := conversation.ParseClientSettings(revision, "")
	if err != nil {
		t.Fatal(err)
	}
	settings.Sampling, settings.Roots = true, true
	var visited []string
	s, err := headless.Open(t.Context(), headless.Config{
		Target: target.Spec{Name: "demo", Builtin: server.ServeLines}, Settings: settings, Timeout: 30 * time.Second, Record: record,
		Watch: func(f wire.Frame) {
			if f.Dir != wire.ServerToClient {
				return
			}
			for _, address := range regexp.MustCompile(`http://127\.0\.0\.1:\d+/sign-in/[A-Z2-7]{26}`).FindAllString(string(f.Raw), -1) {
				if !slices.Contains(visited, address) {
					visited = append(visited, address)
					if res, err := http.PostForm(address, url.Values{"choice": {"allow"}}); err == nil {
						res.Body.Close()
					}
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return s
}

func callDemo(t *testing.T, revision, answers, record string, call headless.Call) headless.Outcome {
	t.Helper()
	parsed, err := script.Parse("answers.yaml", []byte(answers), os.LookupEnv)
	if err != nil {
		t.Fatalf("%v\n%s", err, answers)
	}
	call.Scripts, call.Expect = []*script.Script{parsed}, parsed.Expect
	s := connectDemo(t, revision, record)
	out, err := s.Call(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// demoCalls returns calls of all items of the demo server, with each choice for an argument.
func demoCalls(t *testing.T, revision string) (calls []headless.Call) {
	t.Helper()
	s := connectDemo(t, revision, "")
	offers, err := s.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range offers.Items {
		call := headless.Call{Kind: item.Kind, Key: item.Key}
		switch {
		case item.Key == "connect_mailbox": // its sign-in never ends
			call.Timeout = 2 * time.Second
		case item.Key == "flood":
			call.Arguments = json.RawMessage(`{"count":100}`)
		case item.Kind == conversation.Prompt:
			call.Arguments = json.RawMessage(`{"version":"1.4.0"}`)
		case item.Kind == conversation.Template:
			call.Kind, call.Key = conversation.Resource, "contract://lease/old-mill"
		}
		calls = append(calls, call)
		for name, property := range rawjson.Members(rawjson.Member(item.Schema, "properties")) {
			var choices []json.RawMessage
			for _, v := range rawjson.Elements(rawjson.Member(property, "enum")) {
				choices = append(choices, v)
			}
			for _, v := range rawjson.Elements(rawjson.Member(property, "oneOf")) {
				choices = append(choices, rawjson.Member(v, "const"))
			}
			for _, choice := range choices {
				call.Arguments = fmt.Appendf(nil, `{%q:%s}`, name, choice)
				if call.Timeout = 0; string(choice) == `"left_over_request"` { // this call never ends in 2026-07-28
					call.Timeout = 2 * time.Second
				}
				calls = append(calls, call)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return calls
}
