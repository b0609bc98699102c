// The race detector makes these tests several times slower. Other tests do the same
// concurrently at smaller sizes.

//go:build !race

package web

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views/markup"
)

// TestHugeTexts checks that the page and every push stay small however long a server's
// texts are, and that the whole texts can be fetched.
func TestHugeTexts(t *testing.T) {
	huge := strings.Repeat("x", 640<<10)
	q := `"` + huge + `"`
	field := func(more string) string { return `{"type":"string","title":` + q + `,"description":` + q + more + `}` }
	o := inspectScript(t, script{
		"server/discover": fmt.Sprintf(discovered, `{"name":`+q+`,"title":`+q+`,"version":`+q+`}`, q),
		"tools/list": tools(`{"name":"ask","title":` + q + `,"description":` + q + `,"inputSchema":{"type":"object"}},` +
			`{"name":` + q + `,"description":` + q + `,"inputSchema":{"type":"object","properties":{"a":` + field(`,"default":`+q) + `}}}`),
		"tools/call ask": `"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"form","message":` + q + `,"requestedSchema":{"type":"object","properties":{` +
			`"t":` + field(`,"default":`+q+`,"pattern":"^y*$"`) + `,"c":{"type":"string","title":"Pick","enum":[` + q + `,"b"]}}}}}}}`,
		"tools/call " + huge: `"result":{"resultType":"complete","content":[{"type":"text","text":` + q + `},{"type":"resource_link","name":` + q + `,"uri":"https://example.com/` + huge + `","description":` + q + `}],"structuredContent":{"a":` + q + `}}`,
	})
	pushes := o.watch(-1)
	page, _ := o.get("/")
	key := regexp.MustCompile(`data-key="(x+…[^"]*)"`).FindStringSubmatch(page)
	if key == nil {
		t.Fatal("the tool with the long name is not there")
	}

	// The tool with the long name can be chosen, and its whole description can be
	// fetched.
	item := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {key[1]}}
	form, _ := o.get("/middle?" + item.Encode())
	cuts := showAllOf.FindAllStringSubmatch(form, -1)
	if len(cuts) == 0 {
		t.Fatal("nothing is cut")
	}
	for _, cut := range cuts[:2] {
		if n := o.whole(cut[1], cut[2], item.Encode()); n < len(huge)-64<<10 {
			t.Errorf("the rest from %s on has %d bytes", cut[2], n)
		}
	}
	text, header := o.get("/texts/" + cuts[0][1] + "?" + item.Encode())
	if text != huge || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		t.Errorf("it is saved as %d bytes of %s", len(text), header.Get("Content-Type"))
	}

	// It can be called with its long default, which the page does not contain.
	item.Set("kept", "0")
	if status, answer := o.post("/calls", item); status != http.StatusOK || len(answer) > markup.PageMost {
		t.Fatalf("%d, %d bytes: %.300s", status, len(answer), answer)
	}
	o.until("the call has ended", func() bool { c, err := o.in.Call(1); return err == nil && c.State.Over() })
	if c, err := o.in.Call(1); err != nil || c.State != conversation.Done || len(c.Request.Arguments) < len(huge) {
		t.Errorf("it was called with %d bytes and is %s, %.300s, %v", len(c.Request.Arguments), c.State, c.Failure, err)
	}
	o.get("/?call=1")
	o.get("/calls/1")

	// A question can be answered with its long default, which the page does not contain
	// either.
	if status, answer := o.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"ask"}}); status != http.StatusOK || len(answer) > markup.PageMost {
		t.Fatalf("%d, %d bytes", status, len(answer))
	}
	o.until("the question is there", func() bool { q, err := o.in.Question(1); return err == nil && q.State == conversation.Pending })
	o.pushed(pushes, `data-question=\"1\"`)
	page, _ = o.get("/?call=2")
	if !strings.Contains(page, `name="kept" value="0"`) {
		t.Error("the default is not kept")
	}
	if status, answer := o.post("/questions/1/draft", url.Values{"kept": {"0"}, "f1": {"1"}}); status != http.StatusOK || len(answer) > markup.PageMost {
		t.Errorf("%d, %d bytes", status, len(answer))
	}
	if status, answer := o.post("/questions/1/answer", url.Values{"action": {"accept"}, "kept": {"0"}, "f1": {"1"}}); status != wrong || len(answer) > markup.PageMost {
		t.Errorf("the default does not match its pattern: %d, %d bytes", status, len(answer))
	}
	if status, answer := o.post("/questions/1/answer", url.Values{"action": {"accept"}, "kept": {"0"}, "f1": {"1"}, "force": {"1"}}); status != http.StatusNoContent || len(answer) > markup.PageMost {
		t.Errorf("%d, %d bytes", status, len(answer))
	}
	o.until("it is answered", func() bool { q, err := o.in.Question(1); return err == nil && q.State == conversation.Answered })
	if q, err := o.in.Question(1); err != nil || len(q.Content()) < len(huge) || !strings.HasSuffix(string(q.Content()), `"c":"b"}`) {
		t.Errorf("%d bytes went out, %v", len(q.Content()), err)
	}
	o.get("/?call=2")
	o.pushed(o.watch(-1), `"anew":true`) // a page that reconnects
	for _, path := range []string{"/wire/rows", "/calls/2/steps", "/servers/s1/findings", "/wire/frames/2", "/wire/frames/4", "/wire/frames/6", "/questions?have=", "/calls/1/ladder", "/calls/2/ladder", "/wire/frames/8?against=6"} {
		o.get(path)
	}
}

// TestVeryManyTools checks that the page gets only the tools in sight of 100,000, and
// that the server searches all of them.
func TestVeryManyTools(t *testing.T) {
	const n = 100_000
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, `,{"name":"tool_%d","description":"Does job number %d.","inputSchema":{"type":"object"}}`, i, n-i)
	}
	o := inspectScript(t, script{
		"server/discover":       fmt.Sprintf(discovered, `{"name":"many","version":"1"}`, `""`),
		"tools/list":            tools(list.String()[1:]),
		"tools/call tool_99999": `"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`,
	})
	if page, _ := o.get("/"); !strings.Contains(page, `data-total="100000"`) || !strings.Contains(page, ">tool_0<") || strings.Contains(page, ">tool_99<") {
		t.Error("the page does not begin with the first tools")
	}
	pushes := o.watch(-1)
	if status, _ := o.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"tool_99999"}}); status != http.StatusOK {
		t.Fatal(status)
	}
	push := o.pushed(pushes, `"id":"s1-tools-99999-about"`)
	_, badge, _ := strings.Cut(push, `"id":"s1-tools-99999-about"`)
	badge, _, _ = strings.Cut(badge, "}")
	if len(badge) > 500 || strings.Contains(push, "tool_4242") || len(push) > 40_000 {
		t.Errorf("%d bytes, %d in all, are pushed for one tool of many: %s", len(badge), len(push), push)
	}
	for query, want := range map[string]struct {
		total string
		has   []string
	}{
		"from=99990&count=50":      {"100000", []string{`data-place="99999"`, `aria-posinset="100000"`, ">tool_99999<"}},
		"search=TOOL_4242":         {"11", []string{">tool_4242<", ">tool_42420<"}},
		"search=job+number+99999.": {"1", []string{">tool_1<"}},
		"search=absent":            {"0", nil},
		"from=200000":              {"100000", nil},
	} {
		rows, header := o.get("/servers/s1/items?shelf=tools&" + query)
		if header.Get("X-Total") != want.total {
			t.Errorf("%s: %s in all, want %s", query, header.Get("X-Total"), want.total)
		}
		for _, has := range want.has {
			if !strings.Contains(rows, has) {
				t.Errorf("%s lacks %s", query, has)
			}
		}
		if want.has == nil && rows != "" {
			t.Errorf("%s has rows", query)
		}
	}
}

// TestManyLargeQuestions checks that the page fetches the questions that do not fit
// into it.
func TestManyLargeQuestions(t *testing.T) {
	const n = 40
	var requests, fields strings.Builder
	for i := range 20 {
		fmt.Fprintf(&fields, `,"f%d":{"type":"string","description":%q}`, i, strings.Repeat("words ", 500))
	}
	for i := range n {
		fmt.Fprintf(&requests, `,"k%d":{"method":"elicitation/create","params":{"mode":"form","message":"Question %d","requestedSchema":{"type":"object","properties":{%s}}}}`, i, i, fields.String()[1:])
	}
	o := inspectScript(t, script{
		"server/discover": fmt.Sprintf(discovered, `{"name":"many","version":"1"}`, `""`),
		"tools/list":      tools(`{"name":"ask","inputSchema":{"type":"object"}}`),
		"tools/call ask":  `"result":{"resultType":"input_required","inputRequests":{` + requests.String()[1:] + `}}`,
	})
	pushes := o.watch(0)
	if status, _ := o.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"ask"}}); status != http.StatusOK {
		t.Fatal(status)
	}
	waiting := func() []inspection.Question { return o.in.OnShow(0) }
	o.until("the questions are on show", func() bool { return len(waiting()) == n })
	o.pushed(pushes, `Question 9<`)
	page, _ := o.get("/")
	if !strings.Contains(page, `data-more="1"`) {
		t.Fatal("the page does not say that there are more questions")
	}
	card := regexp.MustCompile(`<article[^>]* data-number="(\d+)"`)
	have := map[string]bool{}
	var list []string
	add := func(html string) {
		for _, m := range card.FindAllStringSubmatch(html, -1) {
			if have[m[1]] {
				t.Errorf("question %s comes twice", m[1])
			}
			have[m[1]] = true
			list = append(list, m[1])
		}
	}
	add(page)
	for more := "true"; more == "true"; {
		html, header := o.get("/questions?have=" + strings.Join(list, ","))
		more = header.Get("X-More")
		add(html)
	}
	if len(have) != len(waiting()) {
		t.Errorf("%d questions came, and %d wait", len(have), len(waiting()))
	}
}

var whole = flag.Bool("whole", false, "try the largest texts")

// TestDrawingHugeTexts expects a page to be drawn in no time, however long the texts on it
// are. Without -whole they are a tenth as long, and so is the time.
func TestDrawingHugeTexts(t *testing.T) {
	parts := 10
	if *whole {
		parts = 1
	}
	most := time.Second / time.Duration(parts)
	long := func(part string, size int) string { return strings.Repeat(part, size<<20/parts/len(part)) }
	form := func(message, description string) string {
		return `"mode":"form","message":"` + message + `","requestedSchema":{"type":"object","properties":{"a":{"type":"string","description":"` + description + `"}}}`
	}
	for _, c := range []struct{ name, params, tool string }{
		{"URL", `"mode":"url","message":"Go","url":"https://example.org/` + long("a@b.cc/", 5) + `"`, ""},
		{"message of spaces", form(long(" ", 50), ""), ""},
		{"description", form("Go", long("Long words. ", 50)), ""},
		{"tool of spaces", form("Go", ""), long(" ", 50)},
		{"tool of umlauts", form("Go", ""), long("\u00c4\u00df ", 50)},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := inspectScript(t, script{
				"server/discover": fmt.Sprintf(discovered, `{"name":"huge","version":"1"}`, `""`),
				"tools/list":      tools(`{"name":"ask","description":"` + c.tool + `","inputSchema":{"type":"object"}}`),
				"tools/call ask":  `"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{` + c.params + `}}}}`,
			})
			if status, _ := o.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"ask"}}); status != http.StatusOK {
				t.Fatal(status)
			}
			o.until("the question is there", func() bool { return len(o.in.OnShow(0)) == 1 })
			for _, path := range []string{"/?call=1", "/middle?server=s1&kind=tool&key=ask", "/servers/s1/items?shelf=tools&search=zz"} {
				best := time.Hour
				for tries := 0; tries < 4 || best > most && tries < 40; tries++ { // the fastest counts, because others run at the same time
					began := time.Now()
					o.get(path)
					best = min(best, time.Since(began))
				}
				if t.Logf("%s %s", path, best); best > most {
					t.Errorf("%s takes %s", path, best)
				}
			}
		})
	}
}
