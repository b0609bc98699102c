package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// actsBinary is the server e2e/servers/acts, which is instrumented with the SDK of OpenTelemetry.
func actsBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "acts")
	if err := inspector.Build(".", path, "./servers/acts"); err != nil {
		t.Fatal(err)
	}
	return path
}

// Servers that act rightly are left alone, and those that do not are named, with the gap between what their
// span says and the answer: the same live, in the transcript of the session, and over rounds.
func TestEffects(t *testing.T) {
	t.Parallel()
	const early, refused, before, again, later = "effect-before-answer", "effect-after-refusal", "effect-before-question", "effect-repeated", "effect-after-result"
	cases := []struct {
		name, answer, steps string // the steps of the server, between ";"
		want                string // rule of the finding; "" for none
	}{
		{"asks, and then inserts", "accept", "ask;accepted db INSERT INTO orders", ""},
		{"heeds a decline", "decline", "ask;accepted db INSERT INTO orders", ""},
		{"heeds a cancel", "cancel", "ask;accepted db INSERT INTO orders", ""},
		{"reads before", "accept", "db SELECT * FROM stock;ask;accepted db UPDATE stock", ""},
		{"reads while it asks", "decline", "within 30 db SELECT * FROM stock;ask", ""},
		{"looks into a cache", "decline", "within 30 http GET;ask;refused http GET", ""},
		{"writes a log after a decline", "decline", "ask;refused log", ""},
		{"receives while it asks", "decline", "within 30 receive;ask", ""},
		{"calls out after the accept", "accept", "ask;accepted http POST;accepted send", ""},
		{"reads a file after a decline", "decline", "ask;refused file read ledger", ""},
		{"asks nothing", "", "db INSERT INTO orders;http POST", ""},
		{"asks twice, and the second time in vain", "accept,decline", "ask;accepted db DELETE FROM carts;ask;rest 20;db INSERT INTO orders", ""},

		{"inserts before the accept", "accept", "within 60 db INSERT INTO orders;ask", early},
		{"updates before the decline", "decline", "within 60 db UPDATE stock;ask", early},
		{"deletes after a decline", "decline", "ask;rest 20;refused db DELETE FROM orders", refused},
		{"deletes after a cancel", "cancel", "ask;rest 20;refused db DELETE FROM orders", refused},
		{"calls out before the accept", "accept", "within 60 http POST;ask", early},
		{"sends after a decline", "decline", "ask;rest 20;send", refused},
		{"charges before the accept", "accept", "within 60 rpc shop.Bank/Charge;ask", early},
		{"writes a file after a cancel", "cancel", "ask;rest 20;file write ledger", refused},
		{"inserts after a decline, in the background", "decline", "ask;later 60 db INSERT INTO orders", refused},
		{"inserts twice", "accept", "ask;accepted db INSERT INTO orders;accepted db INSERT INTO orders", again},
		{"inserts in the background", "accept", "ask;later 60 db INSERT INTO orders", later},
		{"inserts, and then asks", "decline", "db INSERT INTO orders;rest 40;ask", before},
	}
	dir, acts := t.TempDir(), actsBinary(t)
	var scenario strings.Builder
	fmt.Fprintf(&scenario, "calls:\n")
	for _, c := range cases {
		steps, _ := json.Marshal(strings.Split(c.steps, ";"))
		fmt.Fprintf(&scenario, "  - name: %s\n    tool: act\n    arguments: {steps: %s}\n    answers:\n", c.name, steps)
		for answer := range strings.SplitSeq(cmp.Or(c.answer, "decline"), ",") {
			fmt.Fprintf(&scenario, "      - {answer: %s, delay: 200ms, times: 1}\n", answer)
		}
	}
	fmt.Fprintf(&scenario, "  - name: waits for what is done in the background\n    tool: act\n    arguments: {steps: [rest 150]}\n")
	path := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(path, []byte(scenario.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "record")
	r := inspector.Run(t, inspector.Options{}, "run", path, "--otlp-listen", "--protocol", "2025-11-25", "--record", record, "--", acts)
	if r.Code != 0 {
		t.Fatal(r)
	}
	file := filepath.Join(record, "s-2025-11-25.jsonl")
	exported := inspector.Run(t, inspector.Options{}, "export", file, "--format", "json")
	var frames []struct {
		Call      int
		TS        time.Time
		Direction string
		Raw       struct {
			Method string
			Result struct {
				Action  string
				Content json.RawMessage
			}
		}
		Note struct {
			Span struct {
				Name  string
				Start time.Time
			}
		}
		Findings []struct{ Rule, Text string }
	}
	if err := json.Unmarshal([]byte(exported.Stdout), &frames); err != nil {
		t.Fatal(err, exported.Stderr)
	}
	for i, c := range cases {
		var asked, answered, over time.Time
		began := map[string]time.Time{} // by the name of the span; of two, the later
		said := map[string]bool{}
		for _, f := range frames {
			if f.Call != i+1 {
				continue
			}
			switch {
			case f.Raw.Method == "elicitation/create":
				asked = f.TS
			case f.Raw.Result.Action != "":
				answered = f.TS
			case f.Direction == "s2c" && f.Raw.Result.Content != nil:
				over = f.TS
			case f.Note.Span.Name != "":
				began[f.Note.Span.Name] = f.Note.Span.Start
			}
		}
		for _, f := range frames { // the finding about a span stands where its gap is known, which may be later
			if f.Call != i+1 {
				continue
			}
			for _, one := range f.Findings {
				if !strings.HasPrefix(one.Rule, "effect-") {
					continue
				}
				said[one.Rule] = true
				start := began[strings.Split(one.Text, `"`)[1]]
				gap := map[string]time.Duration{early: answered.Sub(start), refused: start.Sub(answered), before: asked.Sub(start), again: start.Sub(answered), later: start.Sub(over)}[one.Rule]
				number := ""
				if _, after, ok := strings.Cut(one.Text, " began "); ok {
					number, _, _ = strings.Cut(after, " ms")
				}
				var ms float64
				if _, err := fmt.Sscan(number, &ms); err != nil || time.Duration(ms*1e6)-gap > time.Millisecond || gap-time.Duration(ms*1e6) > time.Millisecond {
					t.Errorf("%s: the gap is %v, and the finding says %q", c.name, gap, one.Text)
				}
			}
		}
		if len(said) > 1 || len(said) == 1 && !said[c.want] || len(said) == 0 && c.want != "" {
			t.Errorf("%s: %v is found, want %q", c.name, said, c.want)
		}
	}
}

// check takes the spans of a server for a witness: it names one that acts after a decline, also where
// --effect says that a span is an effect, and leaves one that heeds its answers alone, also where its calls ask at once.
func TestCheckBySpans(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	text := `
behaviours: [decline, several-at-once]
calls:
  - {tool: act, arguments: {steps: [ask, accepted db INSERT INTO orders]}}
  - {tool: act, arguments: {steps: [ask, rest 20, db INSERT INTO orders]}}
  - {tool: act, arguments: {steps: [ask, rest 20, file charge card]}}
`
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	acts := actsBinary(t)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--otlp-listen", "--effect", "name:~^charge"}, `1 decline "INSERT INTO orders" (db.operation.name INSERT), 2 decline "charge card" (--effect name:~^charge)`},
		{[]string{"--otlp-listen", "--effect=-name:insert into"}, ""},
		{nil, ""},
	} {
		r := inspector.Run(t, inspector.Options{}, append(append([]string{"check", "--plan", plan, "--protocol", "2025-11-25", "--format", "json"}, c.flags...), "--", acts)...)
		var made struct {
			Results []struct {
				Call      int
				Behaviour string
				Findings  []struct{ Rule, Text string }
			}
		}
		if err := json.Unmarshal([]byte(r.Stdout), &made); err != nil {
			t.Fatal(err, r)
		}
		var found []string
		for _, one := range made.Results {
			for _, f := range one.Findings {
				_, says, _ := strings.Cut(f.Text, "the server's span ")
				span, _, _ := strings.Cut(says, " began ")
				if span != "" {
					found = append(found, fmt.Sprint(one.Call, " ", one.Behaviour, " ", span))
				}
			}
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%q: found %s\nwant %s", c.flags, got, c.want)
		}
	}
}

// The SDK for Node.js says what a server does as well as that for Go, if the server reads traceparent itself.
func TestEffectsOfNode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, record := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "record")
	text := `
calls:
  - {tool: heeds, answers: [{answer: accept}]}
  - {tool: heeds, answers: [{answer: decline}]}
  - {tool: hastens, answers: [{answer: accept, delay: 200ms}]}
  - {tool: ignores, answers: [{answer: decline}]}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := inspector.Run(t, inspector.Options{}, append([]string{"run", path, "--otlp-listen", "--protocol", "2025-11-25", "--record", record, "--"}, servers.TracedNode(t)...)...)
	if r.Code != 0 {
		t.Fatal(r)
	}
	exported := inspector.Run(t, inspector.Options{}, "export", filepath.Join(record, "s-2025-11-25.jsonl"), "--format", "json")
	var frames []struct {
		Call int
		Note struct {
			Span struct{ Name string }
		}
		Findings []struct{ Rule string }
	}
	if err := json.Unmarshal([]byte(exported.Stdout), &frames); err != nil {
		t.Fatal(err, exported.Stderr)
	}
	var spans, found []string
	for _, f := range frames {
		if f.Note.Span.Name != "" {
			spans = append(spans, fmt.Sprint(f.Call, " ", f.Note.Span.Name))
		}
		for _, one := range f.Findings {
			if strings.HasPrefix(one.Rule, "effect-") {
				found = append(found, fmt.Sprint(f.Call, " ", one.Rule))
			}
		}
	}
	slices.Sort(spans)
	slices.Sort(found)
	if got, want := strings.Join(spans, ", "), "1 INSERT orders, 1 tools/call heeds, 2 tools/call heeds, 3 INSERT orders, 3 tools/call hastens, 4 INSERT orders, 4 tools/call ignores"; got != want {
		t.Errorf("the spans are %s\nwant %s", got, want)
	}
	if got, want := strings.Join(found, ", "), "3 effect-before-answer, 4 effect-after-refusal"; got != want {
		t.Errorf("found %s\nwant %s", got, want)
	}
}
