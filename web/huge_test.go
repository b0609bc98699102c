package web

import (
	"context"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views/markup"
)

// script maps a method to the member of its response: "result":… or "error":….
type script map[string]string

// scriptedServer starts an MCP server over Streamable HTTP with revision 2026-07-28
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
	server.Config.MaxHeaderBytes = 16 << 20 // the header Mcp-Name repeats the tool's name
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// onScript is the page of an inspection over a real connection.
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
	in := inspection.New(inspection.Config{Log: log, Targets: []target.Spec{{Name: "huge", URL: scriptedServer(t, answers)}}})
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
	o.until("the server is ready", func() bool { return o.server().State == conversation.ServerReady })
	o.until("its lists are there", func() bool {
		c, err := in.Catalog("s1")
		return err == nil && !c.Loading && len(c.Items) > 0
	})
	return o
}

// serve starts the page's server on a real port.
func (d onDemo) serve() onScript {
	web := httptest.NewServer(d.s)
	ctx, cancel := context.WithCancel(context.Background())
	end := d.s.work(ctx)
	d.t.Cleanup(func() {
		cancel()
		end()
		d.s.hub.Close()
		web.Close()
	})
	return onScript{d, web.URL}
}

// get returns a response, and checks that a page does not exceed its maximum size.
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
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") && len(body) > markup.PageMost {
		o.t.Errorf("GET %s has %d bytes", path, len(body))
	}
	return string(body), r.Header
}

// watch connects a page to the pushes until the test ends.
func (o onScript) watch(since int) <-chan string {
	o.t.Helper()
	ctx, cancel := context.WithCancel(o.t.Context())
	socket, _, err := websocket.Dial(ctx, fmt.Sprintf("%s/live?since=%d", strings.Replace(o.base, "http", "ws", 1), since), nil)
	if err != nil {
		o.t.Fatal(err)
	}
	socket.SetReadLimit(-1)
	pushes, done := make(chan string, 100_000), make(chan struct{})
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
			if len(data) > markup.PageMost {
				o.t.Errorf("a push has %d bytes", len(data))
			}
			pushes <- string(data)
		}
	}()
	return pushes
}

// pushed waits for a push that contains want.
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

// whole presses "Show all" until nothing is left, and returns the number of bytes of
// text.
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

// TestVeryManyChoices checks that choices are fetched by a search.
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
	if form, _ := o.get("/middle?" + query); len(form) > 200<<10 {
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

// TestFrameOfManyLongStrings checks that a frame whose tree would be too large is shown
// as raw bytes.
func TestFrameOfManyLongStrings(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	list := strings.Repeat(`,"`+strings.Repeat(`<\"`, 700)+`"`, 390)[1:]
	s.out(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","list":[` + list + `]}}`)
	seq := s.in(`{"jsonrpc":"2.0","id":1,"result":{"list":[` + list + `]}}`)
	r, body := s.frame(seq, "")
	if r.StatusCode != http.StatusOK || len(body) > markup.PageMost || !strings.Contains(body, ">Raw<") {
		t.Errorf("%s, %d bytes", r.Status, len(body))
	}
	for i := range 500 {
		s.out(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d%s","method":"%s","params":{"name":"%[2]s"}}`, i, strings.Repeat("y", 1<<10), strings.Repeat(`\"`, 500)))
	}
	if w := s.all("from", "2", "count", "500"); w.status != http.StatusOK || len(w.html) > markup.PageMost || len(w.seqs) < 200 {
		t.Errorf("%d rows of %d in %d bytes: %d", len(w.seqs), w.total, len(w.html), w.status)
	}
}
