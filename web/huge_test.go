package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/servers"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// script answers a method with the member of its response: "result":… or "error":….
type script map[string]string

// scriptedServer is an MCP server over Streamable HTTP, of revision 2026-07-28,
// that answers with exact bytes.
func scriptedServer(t *testing.T, answers script) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer, ok := answers[strings.TrimSuffix(m.Method+" "+m.Params.Name, " ")]
		if !ok {
			answer = `"error":{"code":-32601,"message":"Method not found"}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	server.Config.MaxHeaderBytes = 16 << 20 // a header repeats the tool's name
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// onScript is a page's server in front of a scripted one, over real connections.
type onScript struct {
	onDemo
	base string
}

func inspectScript(t *testing.T, answers script) onScript {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	in := bridge.New(bridge.Config{Log: log, Targets: []target.Spec{{Name: "huge", URL: scriptedServer(t, answers)}}})
	t.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	o := onDemo{t, in, New(Config{Inspection: in, Token: testToken})}.serve()
	in.Start()
	o.until("the server is ready", func() bool { return o.server().State == servers.Ready })
	o.until("its lists are there", func() bool {
		c, err := in.Catalog("s1")
		return err == nil && !c.Loading && len(c.Items) > 0
	})
	return o
}

// serve is the same page over real connections.
func (d onDemo) serve() onScript {
	web := httptest.NewServer(d.s)
	ctx, cancel := context.WithCancel(context.Background())
	end := d.s.work(ctx)
	d.t.Cleanup(func() {
		cancel()
		end()
		d.s.hub.close()
		web.Close()
	})
	return onScript{d, web.URL}
}

// get answers with a page, which is never larger than a page may be.
func (o onScript) get(path string) (string, http.Header) {
	o.t.Helper()
	r, err := http.Get(o.base + path)
	if err != nil {
		o.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	if r.StatusCode != http.StatusOK {
		o.t.Fatalf("GET %s: %s: %.300s", path, r.Status, body)
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") && len(body) > views.PageMost {
		o.t.Errorf("GET %s has %d bytes", path, len(body))
	}
	return string(body), r.Header
}

// watch reads what is pushed to a page, until the test ends.
func (o onScript) watch(since int) <-chan string {
	o.t.Helper()
	ctx, cancel := context.WithCancel(o.t.Context())
	socket, _, err := websocket.Dial(ctx, fmt.Sprintf("%s/live?since=%d", strings.Replace(o.base, "http", "ws", 1), since), nil)
	if err != nil {
		o.t.Fatal(err)
	}
	socket.SetReadLimit(-1)
	pushes, done := make(chan string, 1000), make(chan struct{})
	o.t.Cleanup(func() {
		cancel()
		<-done
		socket.CloseNow()
	})
	go func() {
		defer close(done)
		for {
			_, data, err := socket.Read(ctx)
			if err != nil {
				return
			}
			if len(data) > pushMost {
				o.t.Errorf("a push has %d bytes", len(data))
			}
			pushes <- string(data)
		}
	}()
	return pushes
}

// pushed waits until something is pushed that has all of this.
func (o onScript) pushed(pushes <-chan string, want string) string {
	o.t.Helper()
	end := time.After(patienceOfTests)
	for {
		select {
		case p := <-pushes:
			if strings.Contains(p, want) {
				return p
			}
		case <-end:
			o.t.Fatalf("nothing with %q is pushed", want)
		}
	}
}

const discovered = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":%s,"instructions":%s}`

func tools(list string) string {
	return `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + list + `]}`
}

var (
	showAllOf = regexp.MustCompile(`data-text="([^"]*)" data-from="(\d+)"`)
	tagged    = regexp.MustCompile(`<[^>]*>`)
)

// whole presses "Show all" until there is no more, and is how many bytes came.
func (o onScript) whole(id, from, query string) int {
	o.t.Helper()
	n := 0
	for {
		piece, _ := o.get("/texts/" + id + "?from=" + from + "&" + query)
		more := showAllOf.FindStringSubmatch(piece)
		n += len(tagged.ReplaceAllString(piece, ""))
		if more == nil {
			return n
		}
		id, from = more[1], more[2]
	}
}

// TestHugeTexts: however long what a server writes is, the page and every push
// stay small, and all of it can be had.
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

	// The tool with the long name can be chosen, and its description had.
	item := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {key[1]}}
	form, _ := o.get("/form?" + item.Encode())
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

	// It can be called, with the default that the page does not hold.
	item.Set("kept", "0")
	if status, answer := o.post("/calls", item); status != http.StatusOK || len(answer) > pushMost {
		t.Fatalf("%d, %d bytes: %.300s", status, len(answer), answer)
	}
	o.until("the call has ended", func() bool { c, err := o.in.Call(1); return err == nil && c.State.Over() })
	if c, err := o.in.Call(1); err != nil || c.State != conversation.Done || len(c.Request.Arguments) < len(huge) {
		t.Errorf("it was called with %d bytes and is %s, %.300s, %v", len(c.Request.Arguments), c.State, c.Failure, err)
	}
	o.get("/?call=1")
	o.get("/calls/1")

	// A question is answered with its default, which the page does not hold either.
	if status, answer := o.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"ask"}}); status != http.StatusOK || len(answer) > pushMost {
		t.Fatalf("%d, %d bytes", status, len(answer))
	}
	o.until("the question is there", func() bool { q, err := o.in.Question(1); return err == nil && q.State == conversation.Pending })
	o.pushed(pushes, `data-question=\"1\"`)
	page, _ = o.get("/?call=2")
	if !strings.Contains(page, `name="kept" value="0"`) {
		t.Error("the default is not kept")
	}
	if status, answer := o.post("/questions/1/draft", url.Values{"kept": {"0"}, "f1": {"1"}}); status != http.StatusOK || len(answer) > pushMost {
		t.Errorf("%d, %d bytes", status, len(answer))
	}
	if status, answer := o.post("/questions/1/answer", url.Values{"action": {"accept"}, "kept": {"0"}, "f1": {"1"}}); status != http.StatusUnprocessableEntity || len(answer) > pushMost {
		t.Errorf("the default does not match its pattern: %d, %d bytes", status, len(answer))
	}
	if status, answer := o.post("/questions/1/answer", url.Values{"action": {"accept"}, "kept": {"0"}, "f1": {"1"}, "force": {"1"}}); status != http.StatusNoContent || len(answer) > pushMost {
		t.Errorf("%d, %d bytes", status, len(answer))
	}
	o.until("it is answered", func() bool { q, err := o.in.Question(1); return err == nil && q.State == conversation.Answered })
	if q, err := o.in.Question(1); err != nil || len(q.Content()) < len(huge) || !strings.HasSuffix(string(q.Content()), `"c":"b"}`) {
		t.Errorf("%d bytes went out, %v", len(q.Content()), err)
	}
	o.get("/?call=2")
	o.pushed(o.watch(-1), `"anew":true`) // a page that comes back
	for _, path := range []string{"/wire/rows", "/calls/2/steps", "/servers/s1/findings", "/wire/frames/2", "/wire/frames/4", "/wire/frames/6", "/questions?have=", "/calls/1/ladder", "/calls/2/ladder", "/wire/frames/8?against=6"} {
		o.get(path)
	}
}

// TestVeryManyTools: of 100,000 tools the page gets those that are in sight, and
// the server searches all of them.
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
	if badge := o.pushed(pushes, `"id":"s1-tools-99999-about"`); len(badge) > 4000 {
		t.Errorf("%d bytes are pushed for one tool of many: %s", len(badge), badge)
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

// TestVeryManyChoices: choices come as they are searched for.
func TestVeryManyChoices(t *testing.T) {
	var list strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&list, `,"part %d"`, i)
	}
	o := inspectScript(t, script{
		"server/discover": fmt.Sprintf(discovered, `{"name":"many","version":"1"}`, `""`),
		"tools/list":      tools(`{"name":"pick","inputSchema":{"type":"object","properties":{"p":{"type":"string","enum":[` + list.String()[1:] + `]},"several":{"type":"array","items":{"type":"string","enum":[` + list.String()[1:] + `]}}}}}`),
	})
	query := "server=s1&kind=tool&key=pick&"
	if form, _ := o.get("/form?" + query); len(form) > 200<<10 {
		t.Errorf("the form has %d bytes", len(form))
	}
	rows, header := o.get("/form/choices?" + query + "field=0&search=PART+4999&count=5")
	if header.Get("X-Total") != "15" || strings.Count(rows, `role="option"`) != 5 || !strings.Contains(rows, `data-value="4999"`) {
		t.Errorf("%s match: %s", header.Get("X-Total"), rows)
	}
	rows, header = o.get("/form/choices?" + query + "field=1&near=30000&count=20")
	if header.Get("X-Near") != "30000" || !strings.Contains(rows, `data-value="30000"`) {
		t.Errorf("around 30000: %s %s", header.Get("X-Near"), rows)
	}
}

// TestManyLargeQuestions: questions that have no room in the page follow it.
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
	waiting := func() []bridge.Question { return o.in.OnShow(0) }
	o.until("several questions are on show", func() bool { return len(waiting()) >= 10 })
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

// TestPushesAreBounded: what is too much for one push comes in several, and what
// is too much by itself is replaced by an element that says so.
func TestPushesAreBounded(t *testing.T) {
	h := newHub()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.serve(w, r); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	defer h.close()
	o := onScript{onDemo{t: t}, server.URL}
	pushes := o.watch(-1)
	o.pushed(pushes, "anew")
	var changes []change
	for i := range 8 {
		changes = append(changes, change{ID: fmt.Sprintf("part-%d", i), HTML: strings.Repeat(`"`, 200<<10)})
	}
	changes = append(changes, change{ID: "monster", HTML: strings.Repeat("\x01", 1<<20)}, change{ID: "last", HTML: "<p>"})
	h.publish(changes, time.Time{})
	var got []string
	for len(got) < len(changes) {
		var p push
		if err := json.Unmarshal([]byte(o.pushed(pushes, "changes")), &p); err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Changes {
			if c.ID == "monster" && !strings.Contains(c.HTML, "too large") {
				t.Errorf("it came as %.100q", c.HTML)
			}
			got = append(got, c.ID)
		}
	}
	for i, c := range changes {
		if got[i] != c.ID {
			t.Errorf("%s came in place of %s", got[i], c.ID)
		}
	}
}

// TestFrameOfManyLongStrings: a frame whose JSON takes too much is shown as it is.
func TestFrameOfManyLongStrings(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	list := strings.Repeat(`,"`+strings.Repeat(`<\"`, 700)+`"`, 390)[1:]
	s.out(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","list":[` + list + `]}}`)
	seq := s.in(`{"jsonrpc":"2.0","id":1,"result":{"list":[` + list + `]}}`)
	r, body := s.frame(seq, "")
	if r.StatusCode != http.StatusOK || len(body) > views.PageMost || !strings.Contains(body, ">Raw<") {
		t.Errorf("%s, %d bytes", r.Status, len(body))
	}
	for i := range 500 {
		s.out(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d%s","method":"%s","params":{"name":"%[2]s"}}`, i, strings.Repeat("y", 1<<10), strings.Repeat(`\"`, 500)))
	}
	if w := s.all("from", "2", "count", "500"); w.status != http.StatusOK || len(w.html) > views.PageMost || len(w.seqs) < 200 {
		t.Errorf("%d rows of %d in %d bytes: %d", len(w.seqs), w.total, len(w.html), w.status)
	}
}
