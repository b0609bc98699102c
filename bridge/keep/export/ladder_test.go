package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
)

// exchangesOfTalk returns the calls in a file of testdata/talks.
func exchangesOfTalk(t *testing.T, name string) []*conversation.Call {
	t.Helper()
	text, err := os.ReadFile("../../meaning/conversation/testdata/talks/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return callsOf(t, logtest.New(t, logtest.Talk(t, string(text))...))
}

// drawn returns a call as an SVG file, or as an element of a page.
func drawn(t *testing.T, e *conversation.Call, embedded bool) []byte {
	t.Helper()
	var b bytes.Buffer
	err := Draw(e, 0).SVG(&b)
	if embedded {
		b.Reset()
		err = Draw(e, 0).Embed(nil).Render(t.Context(), &b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLadderGolden(t *testing.T) {
	for _, name := range []string{"form", "required", "rounds", "cancelled"} {
		e := exchangesOfTalk(t, name)[0]
		logtest.Golden(t, "testdata/ladders/"+name+".svg", drawn(t, e, false))
		var b bytes.Buffer
		if err := Draw(e, 0).Mermaid(&b); err != nil {
			t.Fatal(err)
		}
		logtest.Golden(t, "testdata/ladders/"+name+".mmd", b.Bytes())
	}
}

// svgElement is the part of an SVG that the tests examine.
type svgElement struct {
	name  string
	attrs map[string]string
	text  string
}

// parseSVG parses an SVG as XML.
func parseSVG(t *testing.T, raw []byte) []svgElement {
	t.Helper()
	var out []svgElement
	var open []int
	dec := xml.NewDecoder(bytes.NewReader(raw))
	dec.Strict = true
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%.2000s", err, raw)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := svgElement{name: token.Name.Local, attrs: make(map[string]string)}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			open = append(open, len(out))
			out = append(out, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				out[open[len(open)-1]].text += string(token)
			}
		}
	}
}

// Every call can be drawn. The drawing is well-formed and names each frame it shows,
// and an embedded one works under the page's content security policy.
func TestLaddersOfRecordings(t *testing.T) {
	for _, path := range logtest.Files(t, recordings) {
		for _, e := range callsOf(t, logtest.Open(t, path)) {
			elements := parseSVG(t, drawn(t, e, true))
			var seqs []string
			for _, el := range elements {
				if _, ok := el.attrs["style"]; ok || el.name == "style" || el.name == "script" || el.name == "a" {
					t.Errorf("%s, exchange %d: %+v", path, e.Place, el)
				}
				if seq := el.attrs["data-seq"]; seq != "" {
					if el.name != "g" {
						t.Errorf("frame %s is a %s", seq, el.name)
					}
					seqs = append(seqs, seq)
				}
			}
			for _, r := range e.Rounds {
				if !slices.Contains(seqs, fmt.Sprint(r.Request)) || !slices.Contains(seqs, fmt.Sprint(r.Response)) && r.Response != 0 {
					t.Errorf("%s, exchange %d: round %+v is not in %v", path, e.Place, r, seqs)
				}
			}
			if root := elements[0]; root.attrs["aria-labelledby"] == "" || elements[1].name != "title" || elements[1].text == "" || elements[2].name != "desc" || elements[2].text == "" {
				t.Errorf("%s, exchange %d has no name: %+v", path, e.Place, elements[:3])
			}
			checkScale(t, e)
		}
	}
}

// checkScale checks that a ladder goes down with time, and that a longer time is never
// drawn shorter.
func checkScale(t *testing.T, e *conversation.Call) {
	t.Helper()
	l := Draw(e, 0)
	for i := 1; i < len(l.Ticks); i++ {
		a, b := l.Ticks[i-1], l.Ticks[i]
		if b.Y <= a.Y || b.At < a.At {
			t.Errorf("exchange %d: %+v before %+v", e.Place, a, b)
		}
	}
	for i := 2; i < len(l.Ticks); i++ {
		d1, d2 := l.Ticks[i-1].At-l.Ticks[i-2].At, l.Ticks[i].At-l.Ticks[i-1].At
		h1, h2 := l.Ticks[i-1].Y-l.Ticks[i-2].Y, l.Ticks[i].Y-l.Ticks[i-1].Y
		if float64(d2) > 3*float64(d1) && d2 > time.Second && h2 <= h1 {
			t.Errorf("exchange %d: %s is %d high, and %s only %d", e.Place, d1, h1, d2, h2)
		}
	}
	for _, b := range l.Bars {
		if b.From >= b.To || b.To > l.Height {
			t.Errorf("exchange %d: bar %+v in %d", e.Place, b, l.Height)
		}
	}
}

// A millisecond, a minute and an hour between arrows all have a bearable height, and the
// longer time is the higher one.
func TestTimesHaveBearableHeights(t *testing.T) {
	e := callsOf(t, logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
+1ms s2c {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Well?","requestedSchema":{"type":"object","properties":{}}}}
+1h c2s {"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}
+1m s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`)...))[0]
	l := Draw(e, 0)
	var heights []int
	for i := 1; i < len(l.Ticks); i++ {
		heights = append(heights, l.Ticks[i].Y-l.Ticks[i-1].Y)
	}
	if len(heights) != 3 || heights[0] < rowHeight || heights[0] >= heights[2] || heights[2] >= heights[1] || heights[1] > 5*rowHeight {
		t.Errorf("1 ms, 1 h and 1 min are %d high", heights)
	}
	if e.With(conversation.PersonParty) != time.Hour || e.With(conversation.ServerParty) != time.Minute+time.Millisecond {
		t.Errorf("person %s, server %s", e.With(conversation.PersonParty), e.With(conversation.ServerParty))
	}
	if svg := string(drawn(t, e, false)); !strings.Contains(svg, "took 1 h 0 min") || !strings.Contains(svg, "@media (prefers-color-scheme: dark)") {
		t.Errorf("no time of the answer, or no dark colours: %s", svg)
	}
}

// The number of rows is bounded.
func TestLadderIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}` + "\n")
	for i := range 2000 {
		fmt.Fprintf(&b, `+1ms s2c {"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"n","requestedSchema":{"type":"object","properties":{}}}}`+"\n", i)
	}
	l := Draw(callsOf(t, logtest.New(t, logtest.Talk(t, b.String())...))[0], 0)
	if len(l.Arrows) > 2*rowsMost || l.Height > 20_000 || len(l.Notes) != 2 {
		t.Errorf("%d arrows, %d high, notes %+v", len(l.Arrows), l.Height, l.Notes)
	}
}

// hostile is a text from a malicious server.
const hostile = "EVIL</script></svg><script>alert(1)</script><img src=x onerror=alert(1)>\u202e`*_[x](javascript:alert(1))|--> ;#35;%%\\\" ' & {{.}} end\x00\x01\ufffe"

func hostileExchanges(t *testing.T) []*conversation.Call {
	t.Helper()
	return callsOf(t, logtest.New(t, logtest.Talk(t, hostileTalk)...))
}

// hostileTalk has hostile in every place that can hold text.
var hostileTalk = func() string {
	h := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\x00", `\u0000`, "\x01", `\u0001`).Replace(hostile)
	return strings.ReplaceAll(`
+0s c2s {"jsonrpc":"2.0","id":"HOSTILE","method":"tools/call","params":{"name":"HOSTILE","arguments":{"HOSTILE":"HOSTILE"}}}
+1s s2c {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"HOSTILE","logger":"HOSTILE","data":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","method":"HOSTILE","params":{"HOSTILE":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","id":"HOSTILE","method":"elicitation/create","params":{"message":"HOSTILE","requestedSchema":{"type":"object","title":"HOSTILE","properties":{"HOSTILE":{"type":"string","title":"HOSTILE","description":"HOSTILE","default":"HOSTILE","pattern":"HOSTILE","format":"HOSTILE"},"pick":{"type":"string","oneOf":[{"const":"HOSTILE","title":"HOSTILE"}]},"odd":{"type":"HOSTILE"}}}}}
+1s c2s {"jsonrpc":"2.0","id":"HOSTILE","result":{"action":"accept","content":{"HOSTILE":"HOSTILE","pick":"HOSTILE","odd":"HOSTILE","more":"HOSTILE"}}}
+1s s2c {"jsonrpc":"2.0","id":"u","method":"elicitation/create","params":{"mode":"url","message":"HOSTILE","url":"https://EVIL.example/HOSTILE","elicitationId":"HOSTILE"}}
+1s c2s {"jsonrpc":"2.0","id":"u","result":{"action":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","id":"v","method":"elicitation/create","params":{"mode":"HOSTILE","message":["HOSTILE"]}}
+1s s2c {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"v","reason":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","id":"HOSTILE","result":{"resultType":"input_required","inputRequests":{"HOSTILE":{"method":"HOSTILE","params":{"HOSTILE":"HOSTILE"}}},"requestState":"HOSTILE"}}
+1s c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"HOSTILE","inputResponses":{"HOSTILE":{"action":"HOSTILE"}},"requestState":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"HOSTILE"},{"type":"HOSTILE","name":"HOSTILE","uri":"HOSTILE"},{"type":"resource","resource":{"uri":"HOSTILE","text":"HOSTILE"}},"HOSTILE"],"structuredContent":{"HOSTILE":"HOSTILE"}}}
+1s c2s {"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","id":3,"result":{"messages":[{"role":"HOSTILE","content":{"type":"text","text":"HOSTILE"}}]}}
+1s c2s {"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","id":4,"error":{"code":-32042,"message":"HOSTILE","data":{"elicitations":[{"mode":"url","message":"HOSTILE","url":"HOSTILE"},"HOSTILE"]}}}
+1s c2s {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"HOSTILE","task":{}}}
+1s s2c {"jsonrpc":"2.0","id":5,"result":{"task":{"taskId":"HOSTILE","status":"working","statusMessage":"HOSTILE"}}}
+1s c2s {"jsonrpc":"2.0","id":6,"method":"tasks/get","params":{"taskId":"HOSTILE"}}
+1s s2c {"jsonrpc":"2.0","id":6,"result":{"taskId":"HOSTILE","status":"cancelled","statusMessage":"HOSTILE"}}
+1s c2s {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"HOSTILE","task":{}}}
+1s s2c {"jsonrpc":"2.0","id":7,"result":{"task":{"taskId":"2","status":"HOSTILE","statusMessage":"HOSTILE"}}}
+1s stderr EVIL</pre></details><script>alert(2)</script>
+1s s2c EVIL<b>not JSON</b>
+1s meta EVIL<i>note</i>
`, "HOSTILE", h)
}()

// Text from a server stays text in a drawing.
func TestHostileLadders(t *testing.T) {
	for _, e := range hostileExchanges(t) {
		for _, embedded := range []bool{true, false} {
			for _, el := range parseSVG(t, drawn(t, e, embedded)) {
				switch el.name {
				case "svg", "title", "desc", "text", "tspan", "line", "rect", "path", "g":
				case "style":
					if embedded || el.text != LadderStyle {
						t.Errorf("a style: %s", el.text)
					}
				default:
					t.Errorf("an element %s", el.name)
				}
				for name := range el.attrs {
					if strings.HasPrefix(name, "on") {
						t.Errorf("an attribute %s", name)
					}
				}
			}
		}
		var b bytes.Buffer
		if err := Draw(e, 0).Mermaid(&b); err != nil {
			t.Fatal(err)
		}
		checkMermaid(t, b.String())
	}
}

// checkMermaid checks that a diagram only consists of statements that the export
// writes.
func checkMermaid(t *testing.T, text string) {
	t.Helper()
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i == 0 {
			if l != "sequenceDiagram" {
				t.Errorf("begins with %q", l)
			}
			continue
		}
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "%% ") {
			continue
		}
		head, body, _ := strings.Cut(l, ": ")
		if strings.HasPrefix(l, "participant ") || strings.HasPrefix(l, "actor ") {
			head, body, _ = strings.Cut(l, " as ")
		}
		switch head {
		case "participant S", "participant S1", "participant C", "actor P", "participant P", "S->>C", "C->>S", "S-->>C", "C-->>S", "S--xC", "C--xS", "S-)C", "C-)S",
			"S1->>C", "C->>S1", "S1-->>C", "C-->>S1", "S1--xC", "C--xS1", "S1-)C", "C-)S1", "C->>P", "P-->>C",
			"Note over S", "Note over P", "Note over C", "Note over S,P", "Note over S,C", "Note over S1", "Note over S1,P", "Note over S1,C", "Note over C,P":
		default:
			t.Errorf("line %d: %q", i+1, l)
		}
		// Only character codes contain "#" and ";".
		for rest := body; ; {
			_, after, found := strings.Cut(rest, "#")
			if !found {
				if strings.ContainsAny(rest, ";<>`\"") {
					t.Errorf("line %d: %q", i+1, body)
				}
				break
			}
			number, after, found := strings.Cut(after, ";")
			if !found || strings.Trim(number, "0123456789") != "" {
				t.Errorf("line %d: %q", i+1, body)
				break
			}
			rest = after
		}
	}
}
