package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/net/html"

	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/conversation"
)

var update = flag.Bool("update", false, "write the golden file")

// hostile is a text that tries to break out of any context.
const hostile = "</pre></script><img src=x onerror=alert(1)>|`@octocat` ]]> \x1b\u202e&amp;\"'> https://evil.example"

// sample returns a report with hostile text wherever the server can put text.
func sample() *Report {
	finding := func(rule string, v Verdict, text string) Finding {
		return Finding{Rule: rule, Verdict: v, Text: text, Reference: "MCP 2025-11-25, client/elicitation, Response Actions", Frames: []int64{8, 9}}
	}
	r := &Report{
		Format: 1, Inspector: "1.0", Target: "./server " + hostile, Server: "shop " + hostile,
		Began: time.Date(2026, 11, 22, 15, 27, 30, 0, time.UTC), Took: 43 * time.Second, Stopped: "interrupted",
		Revisions: []string{"2025-11-25", "2025-06-18"}, Directory: "flows",
		Calls: []Call{{Kind: conversation.Tool, Key: "deploy", Title: hostile, Arguments: json.RawMessage(`{"a":"</script>"}`)}, {Kind: conversation.Prompt, Key: hostile, MadeUp: true}},
		Problems: []Problem{{
			Kind: CallBroken, Call: "tool " + hostile, Revisions: []string{"2025-06-18"}, Text: "It asked nothing: " + hostile, Do: "Give it arguments that it takes.",
		}},
		Silent:  []Call{{Kind: conversation.Tool, Key: hostile}},
		Skipped: []NotMade{{Call: Call{Kind: conversation.Tool, Key: hostile}, Why: "It is annotated with destructiveHint: " + hostile}},
		Behaviours: []Behaviour{
			{Name: "accept", Group: "Honest answers", Title: "Accept", Does: "Accepts.", Good: "It answers."},
			{Name: "decline", Group: "Honest answers", Title: "Decline", Does: "Declines.", Good: "It answers."},
			{Name: "wrong-type", Group: "Content", Title: "Give a field another type", Does: "Sends another type.", Good: "It refuses."},
		},
	}
	evidence := []Frame{
		{Seq: 8, Time: "2026-11-22T15:27:31.000Z", Direction: "s2c", Summary: hostile, Text: `{"message":"</pre><script>"}`},
		{Seq: 9, Time: "2026-11-22T15:27:31.100Z", Direction: "c2s", Summary: "answer", Deliberate: "wrong-type", Text: hostile},
	}
	add := func(call int, behaviour, revision, field string, list ...Finding) {
		one := Result{
			Trial: Trial{Call: call, Behaviour: behaviour, Revision: revision, Field: field}, Verdict: Pass, Findings: list,
			Outcome: "result: " + hostile, Took: 1500 * time.Millisecond, Reproduce: "inspector call deploy <<'EOF'\n" + hostile + "\n```\nEOF",
		}
		for _, f := range list {
			if f.Verdict.Rank() < one.Verdict.Rank() {
				one.Verdict = f.Verdict
			}
		}
		if list != nil {
			one.Evidence, one.Transcript = evidence, fmt.Sprintf("%d %s.jsonl", call, behaviour)
		}
		r.Results = append(r.Results, one)
	}
	add(0, "accept", "2025-11-25", "")
	add(0, "accept", "2025-06-18", "", finding("root-not-object", Fail, "The root is "+hostile))
	add(0, "decline", "2025-11-25", "", finding("process-ended", Fail, "It ended 12 ms after frame 7."), finding("leaks-internals", Warn, "It leaked."))
	add(0, "decline", "2025-06-18", "", finding("process-ended", Fail, "It ended 1.20 s after frame 11."))
	add(0, "wrong-type", "2025-11-25", "size", finding("uses-invalid-content", Warn, "It used "+hostile))
	add(0, "wrong-type", "2025-11-25", hostile)
	add(1, "accept", "2025-11-25", "", finding("not-tried", Inconclusive, "The question did not come: "+hostile))
	return r
}

func written(t *testing.T, format string, r *Report) string {
	t.Helper()
	var out bytes.Buffer
	f, err := Formats.Named(format)
	if err == nil {
		err = f.Write(&out, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestJSONIsReadAgain(t *testing.T) {
	r := sample()
	Compare(sample(), r)
	back, err := Read(strings.NewReader(written(t, "json", r)))
	if err != nil {
		t.Fatal(err)
	}
	// The file has the arguments indented.
	back.Calls[0].Arguments = r.Calls[0].Arguments
	if !reflect.DeepEqual(back, r) {
		t.Errorf("got  %+v\nwant %+v", back, r)
	}
	for _, bad := range []string{"", "[]", `{"format":2}`, `{"format":1,"results":[{"call":0}]}`, `{"format":1,"calls":[{}],"results":[{"call":-1}]}`} {
		if _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if _, err := Formats.Named("pdf"); err == nil {
		t.Error("there is a format pdf")
	}
}

// junitElements holds the elements of JUnit's XML with their required and optional
// attributes and their children, from the schema of Jenkins.
var junitElements = map[string]struct{ must, may, children string }{
	"testsuites": {"", "tests failures", "testsuite"},
	"testsuite":  {"name tests failures errors", "skipped time", "properties testcase"},
	"properties": {"", "", "property"},
	"property":   {"name value", "", ""},
	"testcase":   {"name", "classname time", "skipped failure system-out"},
	"skipped":    {"message", "", ""},
	"failure":    {"message type", "", ""},
	"system-out": {"", "", ""},
}

func TestJUnit(t *testing.T) {
	out := written(t, "junit", sample())
	var open []string
	count := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(out)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.StartElement:
			name := x.Name.Local
			rules, known := junitElements[name]
			if !known || len(open) > 0 && !slices.Contains(strings.Fields(junitElements[open[len(open)-1]].children), name) {
				t.Errorf("%s in %v", name, open)
			}
			var has []string
			for _, a := range x.Attr {
				has = append(has, a.Name.Local)
				if !slices.Contains(strings.Fields(rules.must+" "+rules.may), a.Name.Local) || export.Visible(a.Value) != a.Value {
					t.Errorf("%s has %s=%q", name, a.Name.Local, a.Value)
				}
			}
			for _, must := range strings.Fields(rules.must) {
				if !slices.Contains(has, must) {
					t.Errorf("%s lacks %s", name, must)
				}
			}
			open = append(open, name)
			count[name]++
		}
	}
	want := map[string]int{"testsuites": 1, "testsuite": 4, "properties": 4, "property": 8, "testcase": 10, "failure": 4, "skipped": 3, "system-out": 1}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("got %v, want %v", count, want)
	}
	for _, part := range []string{`<testsuites tests="10" failures="4">`, `name="tool deploy, 2025-11-25" tests="4" failures="1" errors="0" skipped="0" time="6.000"`, `type="process-ended"`} {
		if !strings.Contains(out, part) {
			t.Errorf("there is no %s in\n%s", part, out)
		}
	}
}

func TestSARIF(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "..", "..", "cmd", "inspector", "testdata", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	compared := sample()
	Compare(&Report{Format: 1}, compared)
	for name, r := range map[string]*Report{"sample": sample(), "compared": compared, "empty": {Format: 1}} {
		out := written(t, "sarif", r)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		counts := map[string]int{`"level": "error"`: 4, `"physicalLocation"`: 6, `"level": "warning"`: 2, `"baselineState": "new"`: 0, `"uri": "flows/0%20decline.jsonl"`: 3, `"uri": "server"`: 1}
		switch name {
		case "compared":
			counts[`"baselineState": "new"`] = 5
		case "empty":
			clear(counts)
		}
		for text, want := range counts {
			if got := strings.Count(out, text); got != want {
				t.Errorf("%s: %s is there %d times, not %d", name, text, got, want)
			}
		}
	}
}

// TestHTML expects a page without elements that load or run anything, and only links to
// places inside it.
func TestHTML(t *testing.T) {
	r := sample()
	Compare(&Report{Format: 1, Server: hostile}, r)
	out := written(t, "html", r)
	doc, err := html.Parse(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	elements := strings.Fields(`html head meta title style body header main section article div h1 h2 h3 h4 p ul ol li dl dt dd a b bdi small span code pre
		details summary table thead tbody tr th td`)
	attributes := strings.Fields("lang charset http-equiv content name class id href aria-label aria-labelledby role scope title tabindex value dir data-c open")
	ids, links, style, text := map[string]bool{}, []string{}, "", ""
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.ElementNode && !slices.Contains(elements, n.Data):
			t.Errorf("there is a %s", n.Data)
		case n.Type == html.ElementNode && n.Data == "style":
			style = n.FirstChild.Data
		case n.Type == html.TextNode && n.Parent.Data != "style":
			text += n.Data
		}
		for _, a := range n.Attr {
			switch {
			case !slices.Contains(attributes, a.Key):
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("the id %s is there twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" || a.Key == "aria-labelledby":
				links = append(links, strings.TrimPrefix(a.Val, "#"))
			case a.Key == "http-equiv" && !strings.Contains(out, html.EscapeString(export.Policy(export.PageStyle+pageStyle, ""))) && !strings.Contains(html.UnescapeString(out), export.Policy(export.PageStyle+pageStyle, "")):
				t.Error("the policy is another")
			}
		}
	}
	for _, to := range links {
		if !ids[to] {
			t.Errorf("a link leads to %q, which there is not", to)
		}
	}
	if style != export.PageStyle+pageStyle || strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style sheet is another, or loads something")
	}
	for _, part := range []string{"Of 7 trials of 2 calls, 3 failed and 1 more ended with a warning.", "5 new, 0 fixed", "<img src=x onerror=alert(1)>", "deliberate: wrong-type", "fail 1", "To reproduce it", "1 of 2", "It ended 1.20 s after frame 11."} {
		if !strings.Contains(text, part) {
			t.Errorf("the page does not say %q", part)
		}
	}
}

// outsideCode returns Markdown without its code blocks and code spans, which end with as
// many backticks as they begin with.
func outsideCode(s string) (out string) {
	for {
		start := strings.IndexByte(s, '`')
		if start < 0 {
			return out + s
		}
		out += s[:start]
		ticks := s[start : start+len(s[start:])-len(strings.TrimLeft(s[start:], "`"))]
		s = s[start+len(ticks):]
		end := regexp.MustCompile("(?:^|[^`])" + ticks + "(?:[^`]|$)").FindStringIndex(s)
		if end == nil {
			return out + s
		}
		s = strings.TrimLeft(s[end[0]+1:], "`")
	}
}

// TestMarkdown expects the server's texts in code, and no text that breaks a table cell.
func TestMarkdown(t *testing.T) {
	r := sample()
	Compare(sample(), r)
	r.Results[2].Findings[0].New = true
	out := written(t, "markdown", r)
	golden := filepath.Join("testdata", "report.md")
	if *update {
		if err := os.WriteFile(golden, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || out != string(want) {
		t.Errorf("not what was found before (%v); look at the difference, and run with -update if it is right:\n%s", err, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != len(r.Revisions)+2 {
			t.Errorf("a row has other cells: %s", line)
		}
	}
	if strings.ContainsAny(out, "\u202e\x1b") {
		t.Error("what is invisible is not made visible")
	}
	for _, bad := range []string{"@octocat", "<img", "evil.example"} {
		if text := outsideCode(out); strings.Contains(text, bad) {
			t.Errorf("%q is not in code:\n%s", bad, text)
		}
	}
}

// TestLocationWithoutTranscript expects each SARIF result to have a physical location, also
// without transcripts: the server's program or address.
func TestLocationWithoutTranscript(t *testing.T) {
	for target, want := range map[string]string{
		"node --inspect=0 dist/server.js": "dist/server.js", "'/srv/my server' -x": "file:///srv/my%20server", "https://example.com/mcp": "https://example.com/mcp", "server": "server", "": "server",
	} {
		r := sample()
		r.Target = target
		for i := range r.Results {
			r.Results[i].Transcript = ""
		}
		out := written(t, "sarif", r)
		if all, own := strings.Count(out, `"ruleId"`), strings.Count(out, fmt.Sprintf(`"uri": %q`, want)); all != 6 || own != all {
			t.Errorf("%s: of %d results %d are in %s\n%s", target, all, own, want, out)
		}
	}
}

// TestSummaryFirst expects one line a cause before everything else, with consent first, and
// the problems before them.
func TestSummaryFirst(t *testing.T) {
	r := sample()
	refused := r.Results[2]
	refused.Findings = []Finding{{Rule: "acts-without-consent", Verdict: Warn, Text: "It did it.", Frames: []int64{9}}}
	r.Results = append(r.Results, refused, refused)
	for _, format := range []string{"markdown", "html"} {
		out, last := written(t, format, r), 0
		for _, part := range []string{"Give it arguments that it takes.", "consent: Whoever says no, or nothing at all, gets ", "crashes and hangs: ", "unchecked content: ", "the rest: ", "It ended 12 ms after"} {
			at := strings.Index(out[last:], part)
			if at < 0 {
				t.Errorf("%s: %q is not where it belongs\n%s", format, part, out)
				continue
			}
			last += at
		}
		if n := strings.Count(out, "consent: Whoever says no"); n != 1 {
			t.Errorf("%s: the cause is told %d times", format, n)
		}
	}
}

// TestDashes expects a dash where no frame can show what is right, and a question mark where
// the trial could not be made.
func TestDashes(t *testing.T) {
	r := sample()
	r.Results[5].Verdict = Inconclusive
	r.Results[5].Findings = []Finding{{Rule: "acts-without-consent", Verdict: Inconclusive, Text: "Nothing shows it."}}
	r.Results[4].Verdict, r.Results[4].Findings = Pass, nil
	v := NewView(r)
	if got := v.Calls[0].Rows[2].Cells[0].Mark(); got != "–" {
		t.Errorf("what is inconclusive by its nature is %q", got)
	}
	if got := v.Calls[1].Rows[0].Cells[0].Mark(); got != "?" {
		t.Errorf("what could not be tried is %q", got)
	}
}

// TestRefusals expects a finding once, however the client refused; to accept with a no is
// something else.
func TestRefusals(t *testing.T) {
	r := sample()
	refused := func(behaviour, did string) {
		r.Results = append(r.Results, Result{Trial: Trial{Behaviour: behaviour, Revision: "2025-11-25"}, Verdict: Fail, Findings: []Finding{{
			Rule: "acts-without-consent", Verdict: Fail, Text: "The server went on: the client " + did + ", and the result is that of an accepted call: \"" + behaviour + "\".",
		}}})
	}
	refused("decline", "declined")
	refused("no-action", "answered with a result without an action")
	refused("response-after-cancel", "cancelled the call, and answered after that")
	refused("accept-no", "accepted with a no in the form")
	if out := written(t, "markdown", r); strings.Count(out, "fail: acts-without-consent") != 2 || !strings.Contains(out, "In 3 trials: `decline, 2025-11-25`; `no-action, 2025-11-25`; `response-after-cancel, 2025-11-25`") {
		t.Error(out)
	}
}

// TestIdsAreIncidental expects a finding once, whatever id it names.
func TestIdsAreIncidental(t *testing.T) {
	r := sample()
	for _, id := range []string{"1", `"4"`} {
		r.Results = append(r.Results, Result{Trial: Trial{Behaviour: "decline", Revision: "2025-11-25"}, Verdict: Fail, Findings: []Finding{{
			Rule: "cancelled-unknown", Verdict: Fail, Text: "The server has sent no request with the id " + id + " in this session.",
		}}})
	}
	if out := written(t, "markdown", r); strings.Count(out, "fail: cancelled-unknown") != 1 {
		t.Error(out)
	}
}

// TestUndecidable expects no row for a behaviour that no frame can judge.
func TestUndecidable(t *testing.T) {
	r := sample()
	r.Behaviours = append(r.Behaviours, Behaviour{Name: "never"})
	r.Results = append(r.Results, Result{Trial: Trial{Behaviour: "never", Revision: "2025-11-25"}, Verdict: Inconclusive, Findings: []Finding{
		{Rule: "no-response", Verdict: Inconclusive, Text: "No answer went out."},
	}})
	const want = "For 1 behaviour no frame can show whether the server did right, at least in one revision: never.\n"
	if out := written(t, "markdown", r); strings.Contains(out, "| never |") || !strings.Contains(out, want) {
		t.Error(out)
	}
}

// TestFrameOnce expects frames of the same summary to be quoted once.
func TestFrameOnce(t *testing.T) {
	r := sample()
	one := &r.Results[1]
	one.Evidence = append(slices.Clone(one.Evidence), Frame{Seq: 11, Direction: "s2c", Summary: one.Evidence[0].Summary, Text: "the second question"}, Frame{Seq: 12, Direction: "s2c", Summary: one.Evidence[0].Summary})
	one.Findings[0].Frames = []int64{8, 9, 11, 12}
	if out := written(t, "markdown", r); !strings.Contains(out, "- Frame 8, server → client, much the same in 11, 12: `{\"message\":\"</pre><script>\"}`\n- Frame 9") || strings.Contains(out, "the second question") {
		t.Error(out)
	}
}

// TestManyProblems expects many problems to be folded, so that the findings come first.
func TestManyProblems(t *testing.T) {
	r := sample()
	for range 3 {
		r.Problems = append(r.Problems, r.Problems[0])
	}
	if out := written(t, "markdown", r); !strings.Contains(out, "<details><summary>Not judged: 4</summary>") || strings.Contains(out, "- Not judged:") {
		t.Error(out)
	}
}
