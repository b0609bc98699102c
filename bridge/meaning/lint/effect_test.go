package lint_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// A call that asks at 1 s, is answered at 3 s, and has its response at 4 s.
const askingCall = `
+0s c2s {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}}}}
+0s s2c {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
+0s c2s {"jsonrpc":"2.0","method":"notifications/initialized"}
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},"name":"order"}}
+1s s2c {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}
+2s c2s {"jsonrpc":"2.0","id":1,"result":{"action":"ACTION","content":{}}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}`

// The call over rounds, in the same times.
const askingRounds = `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}},"name":"order"}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}},"requestState":"s"}}
+2s c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b8-01","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}},"name":"order","inputResponses":{"q":{"action":"ACTION","content":{}}},"requestState":"s"}}
+1s s2c {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"x"}]}}`

// spanAt makes the frame of a span of the server's that begins at a time of the call by the server's clock.
func spanAt(id, parent, name, kind string, from, took time.Duration, attributes map[string]string) wire.Frame {
	s := &wire.Span{Name: name, SpanID: id, ParentID: parent, Kind: kind, Start: logtest.Epoch.Add(from), End: logtest.Epoch.Add(from + took), Attributes: map[string]json.RawMessage{}}
	for key, value := range attributes {
		s.Attributes[key] = fmt.Appendf(nil, "%q", value)
	}
	return wire.Frame{Time: logtest.Epoch.Add(9 * time.Second), Server: "files", Session: "files-1", Transport: "stdio", Dir: wire.Meta, Call: 1, Round: 1, Note: &wire.Note{Kind: wire.NoteSpan, Span: s}}
}

// What a server's spans say that it did is judged by when it began, by the frames that came so far, and the same
// however the log is read.
func TestEffects(t *testing.T) {
	const ms, ours = time.Millisecond, "00f067aa0ba902b7"
	insert := map[string]string{"db.operation.name": "INSERT"}
	at := func(from time.Duration) wire.Frame { return spanAt("a", ours, "orders", "client", from, 5*ms, insert) }
	again := func(from time.Duration) wire.Frame { return spanAt("b", ours, "orders", "client", from, 5*ms, insert) }
	const said = "The span \"orders\" (db.operation.name INSERT) began "
	for name, test := range map[string]struct {
		action string
		spans  []wire.Frame
		back   int    // how many frames come after the spans
		want   string // the rules and their texts
	}{
		"before the accept":                     {"accept", []wire.Frame{at(2660 * ms)}, 0, "effect-before-answer should: " + said + "340 ms before the accept, while the question waited."},
		"before the accept, and said at once":   {"accept", []wire.Frame{at(2660 * ms)}, 2, "effect-before-answer should: " + said + "340 ms before the accept, while the question waited."},
		"before the decline":                    {"decline", []wire.Frame{at(1500 * ms)}, 0, "effect-before-answer should: " + said + "1.50 s before the decline, while the question waited."},
		"after the accept":                      {"accept", []wire.Frame{at(3001 * ms)}, 0, ""},
		"too close to tell":                     {"accept", []wire.Frame{at(2998 * ms)}, 0, ""},
		"too close to tell, of a decline":       {"decline", []wire.Frame{at(3002 * ms)}, 0, ""},
		"after a decline":                       {"decline", []wire.Frame{at(3040 * ms)}, 0, "effect-after-refusal should: " + said + "40 ms after the decline."},
		"after a cancel, in the background":     {"cancel", []wire.Frame{at(4500 * ms)}, 0, "effect-after-refusal should: " + said + "1.50 s after the cancel, and 500 ms after the response to the call."},
		"in the background":                     {"accept", []wire.Frame{at(4250 * ms)}, 0, "effect-after-result advice: " + said + "250 ms after the response to the call, which so could not say what came of it."},
		"before the question":                   {"accept", []wire.Frame{at(600 * ms)}, 0, "effect-before-question advice: " + said + "400 ms before the question was asked. A server may well write a log or a session first: whether this is what the question is about is a guess."},
		"before the question, and said at once": {"accept", []wire.Frame{at(600 * ms)}, 3, "effect-before-question advice: " + said + "400 ms before the question was asked. A server may well write a log or a session first: whether this is what the question is about is a guess."},
		"twice":                                 {"accept", []wire.Frame{at(3100 * ms), again(3130 * ms)}, 0, "effect-repeated advice: " + said + "130 ms after the accept, and another one that says the same began 30 ms earlier, though one question was accepted. Whether that is once too often is a guess."},
		"within another effect":                 {"decline", []wire.Frame{spanAt("c", "a", "POST", "client", 3050*ms, 5*ms, map[string]string{"http.request.method": "POST"}), at(3040 * ms)}, 0, "effect-after-refusal should: The span \"POST\" (http.request.method POST) began 50 ms after the decline."},
		"a read":                                {"decline", []wire.Frame{spanAt("a", ours, "read", "client", 2*time.Second, 5*ms, map[string]string{"db.operation.name": "SELECT"})}, 0, ""},
	} {
		for way, text := range map[string]string{"request": askingCall, "rounds": askingRounds} {
			frames := logtest.Talk(t, strings.ReplaceAll(text, "ACTION", test.action))
			for i := range frames {
				if !strings.Contains(string(frames[i].Raw), `initialize`) && !strings.Contains(string(frames[i].Raw), `"id":0`) {
					frames[i].Call, frames[i].Round = 1, 1
				}
				if strings.Contains(string(frames[i].Raw), `"id":2`) {
					frames[i].Round = 2
				}
			}
			frames = slices.Insert(frames, len(frames)-test.back, test.spans...)
			exit := wire.Frame{Time: logtest.Epoch.Add(10 * time.Second), Server: "files", Session: "files-1", Transport: "stdio", Dir: wire.Meta, Note: &wire.Note{Kind: wire.NoteProcessExited, PID: 1, Code: new(int)}}
			frames = append(frames, exit)
			l := logtest.New(t)
			talk := conversation.New(l)
			live := lint.NewLinter(l, talk)
			for _, f := range frames {
				l.Append(f)
				if err := live.Update(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			opened, _, err := lint.FindingsOf(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			for how, found := range map[string][]lint.Found{"live": live.From(0, l.Len()), "opened": opened} {
				got := ""
				for _, f := range found {
					if strings.HasPrefix(f.Rule, "effect-") {
						got += f.Rule + " " + f.Severity.String() + ": " + f.Text
					}
				}
				if got != test.want {
					t.Errorf("%s, %s, %s:\n%s\nwant\n%s", name, way, how, got, test.want)
				}
			}
		}
	}
}

// Where several calls are open, a question may be of another one than the effect, and nothing is said.
func TestEffectsOfGuessedQuestions(t *testing.T) {
	for guessed, want := range map[bool]int{false: 1, true: 0} {
		frames := logtest.Talk(t, strings.ReplaceAll(askingCall, "ACTION", "accept"))
		for i := range frames[3:] {
			frames[3+i].Call, frames[3+i].Round = 1, 1
		}
		frames[4].Guessed = guessed
		frames = append(frames, spanAt("a", "00f067aa0ba902b7", "orders", "client", 2*time.Second, time.Millisecond, map[string]string{"db.operation.name": "INSERT"}))
		found, _, err := lint.FindingsOf(t.Context(), logtest.New(t, frames...))
		if err != nil {
			t.Fatal(err)
		}
		effects := slices.DeleteFunc(found, func(f lint.Found) bool { return !strings.HasPrefix(f.Rule, "effect-") })
		if len(effects) != want {
			t.Errorf("guessed: %v, found %+v", guessed, effects)
		}
	}
}

// Nor is it of a call that was open when the question of another one came, which may be its own: here a decline
// is followed by an insert after an accept that may be of this call.
func TestEffectsBesideGuessedQuestions(t *testing.T) {
	for _, guessed := range []bool{false, true} {
		frames := logtest.Talk(t, strings.ReplaceAll(askingCall, "ACTION", "decline"))
		for i := range frames[3:] {
			frames[3+i].Call, frames[3+i].Round = 1, 1
		}
		other := logtest.Talk(t, strings.NewReplacer("ACTION", "accept", `"id":2`, `"id":20`, `"id":1`, `"id":10`).Replace(askingCall))[3:]
		for i := range other {
			other[i].Call, other[i].Round = 2, 1
		}
		other[1].Guessed = guessed
		end := len(frames) - 1 // the response to the call
		frames = slices.Concat(frames[:end], other, frames[end:], []wire.Frame{
			spanAt("a", "00f067aa0ba902b7", "orders", "client", 4*time.Second, time.Millisecond, map[string]string{"db.operation.name": "INSERT"}),
		})
		found, _, err := lint.FindingsOf(t.Context(), logtest.New(t, frames...))
		if err != nil {
			t.Fatal(err)
		}
		effects := slices.DeleteFunc(found, func(f lint.Found) bool { return f.Rule != "effect-after-refusal" })
		if (len(effects) == 0) != guessed {
			t.Errorf("guessed: %v, found %+v", guessed, effects)
		}
	}
}

// A question whose answer a fault holds back waits until the answer is on the wire.
func TestEffectsWhileAFaultWaits(t *testing.T) {
	frames := logtest.Talk(t, strings.ReplaceAll(askingCall, "ACTION", "accept"))
	frames[4].Question = 1
	asked := frames[4].Time
	frames = slices.Insert(frames, 5, wire.Frame{
		Time: asked, Server: "files", Session: "files-1", Transport: "stdio", Dir: wire.Meta, Actor: "fault", Fault: "late",
		Question: 1, Note: &wire.Note{Kind: wire.NoteMisbehaved, At: asked},
	})
	for i := range frames[3:] {
		frames[3+i].Call, frames[3+i].Round = 1, 1
	}
	frames = append(frames, spanAt("a", "00f067aa0ba902b7", "orders", "client", 2*time.Second, time.Millisecond, map[string]string{"db.operation.name": "INSERT"}))
	found, _, err := lint.FindingsOf(t.Context(), logtest.New(t, frames...))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found, func(f lint.Found) bool {
		return strings.Contains(f.Text, " began 1.00 s before the accept, while the question waited.")
	}) {
		t.Errorf("found %+v", found)
	}
}

// The clock of a server on another machine is estimated, and what it leaves open is not said.
func TestEffectsByClock(t *testing.T) {
	const ms, ours = time.Millisecond, "00f067aa0ba902b7"
	insert := map[string]string{"db.operation.name": "INSERT"}
	for name, test := range map[string]struct {
		from, to, insert time.Duration // by the server's clock, 10 s ahead
		want             string
	}{
		"known":     {10_010 * ms, 13_990 * ms, 12_660 * ms, "330 ms before the accept, while the question waited. The server's clock is 9.99 s ahead, as estimated from the span of the request, give or take 20 ms."},
		"in doubt":  {10_010 * ms, 13_500 * ms, 12_900 * ms, ""},
		"not known": {0, 0, 12_000 * ms, ""},
	} {
		frames := logtest.Talk(t, strings.ReplaceAll(askingCall, "ACTION", "accept"))
		for i := range frames[3:] {
			frames[3+i].Call, frames[3+i].Round = 1, 1
		}
		frames = append(frames, spanAt("i", "r", "orders", "client", test.insert, 5*ms, insert))
		if test.to > 0 {
			frames = append(frames, spanAt("r", ours, "tools/call", "server", test.from, test.to-test.from, nil))
		}
		for i := range frames {
			frames[i].Transport = "http"
		}
		found, _, err := lint.FindingsOf(t.Context(), logtest.New(t, frames...))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range found {
			if strings.HasPrefix(f.Rule, "effect-") {
				got += strings.TrimPrefix(f.Text, "The span \"orders\" (db.operation.name INSERT) began ")
			}
		}
		if got != test.want {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, test.want)
		}
	}
}
