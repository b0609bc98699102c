package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
)

// logServer is a page's server for a log, without the guard.
type logServer struct {
	*Server
	t   testing.TB
	log *wire.Log
}

func newLogServer(t testing.TB, o wire.Options) logServer {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	log, err := wire.NewLog(o)
	if err != nil {
		t.Fatal(err)
	}
	in := inspection.New(inspection.Config{Log: log})
	s := New(Config{Inspection: in, Token: testToken})
	t.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return logServer{s, t, log}
}

// in and out append a received and a sent frame.
func (s logServer) in(raw string) int64  { return s.add(wire.ServerToClient, raw).Seq }
func (s logServer) out(raw string) int64 { return s.add(wire.ClientToServer, raw).Seq }

func (s logServer) add(dir wire.Direction, raw string) wire.Frame {
	return s.log.Append(wire.Frame{Server: "files", Session: "files-1", Transport: "stdio", Dir: dir, Raw: []byte(raw)})
}

func (s logServer) ask(method, path string, query, form url.Values) *http.Response {
	s.t.Helper()
	return s.askWith(s.t.Context(), method, path, query, form)
}

func (s logServer) askWith(ctx context.Context, method, path string, query, form url.Values) *http.Response {
	s.t.Helper()
	r := httptest.NewRequestWithContext(ctx, method, path+"?"+query.Encode(), strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", echo.MIMEApplicationForm)
	}
	w := httptest.NewRecorder()
	s.echo.ServeHTTP(w, r)
	return w.Result()
}

func (s logServer) text(path string, query url.Values) string {
	s.t.Helper()
	r := s.ask(http.MethodGet, path, query, nil)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.StatusCode != http.StatusOK {
		s.t.Fatalf("%s?%s: %s: %s", path, query.Encode(), r.Status, body)
	}
	return string(body)
}

type mistake = query.Error

// window is the content of a response of rows.
type window struct {
	seqs                        []int64
	places                      []int64
	html                        string
	total, judged, frames, view int64
	near                        int64
	nearFound                   bool
	status                      int
	times                       []string
	mistakeAt, mistakeEnd       int
	mistake                     string
}

var (
	rowSeq  = regexp.MustCompile(`role="row" id="r\d+" aria-rowindex="(\d+)" aria-selected="false" data-seq="(\d+)"`)
	rowTime = regexp.MustCompile(`class="c-time"[^>]*>([^<]*)<`)
)

func (s logServer) rows(query ...string) window {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	r := s.ask(http.MethodGet, "/wire/rows", values, nil)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	n := func(name string) int64 {
		n, err := strconv.ParseInt(r.Header.Get(name), 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	w := window{
		html: string(body), total: n("X-Total"), judged: n("X-Judged"), frames: n("X-Frames"), view: n("X-View"),
		near: n("X-Near"), nearFound: r.Header.Get("X-Near-Found") == "true", status: r.StatusCode,
	}
	if r.StatusCode == http.StatusUnprocessableEntity {
		var answer struct{ Error mistake }
		if err := json.Unmarshal(body, &answer); err != nil {
			s.t.Fatalf("%v in %s", err, body)
		}
		w.mistakeAt, w.mistakeEnd, w.mistake = answer.Error.Pos, answer.Error.End, answer.Error.Text
		return w
	}
	for _, m := range rowSeq.FindAllStringSubmatch(w.html, -1) {
		place, _ := strconv.ParseInt(m[1], 10, 64)
		seq, _ := strconv.ParseInt(m[2], 10, 64)
		w.places, w.seqs = append(w.places, place), append(w.seqs, seq)
	}
	for _, m := range rowTime.FindAllStringSubmatch(w.html, -1) {
		w.times = append(w.times, m[1])
	}
	return w
}

// all requests rows until the whole log is judged.
func (s logServer) all(query ...string) window {
	s.t.Helper()
	for end := time.Now().Add(patienceOfTests); ; {
		w := s.rows(query...)
		if w.status != http.StatusOK || w.judged >= s.log.Len() {
			return w
		}
		if time.Now().After(end) {
			s.t.Fatalf("%v: %d of %d frames are judged", query, w.judged, w.frames)
		}
	}
}

// some appends calls, questions, errors and noise to the log: ten frames for each call.
func (s logServer) some(calls int) {
	for i := range calls {
		call := func(f wire.Frame) {
			f.Server, f.Session, f.Transport, f.Call = "files", "files-1", "stdio", i+1
			s.log.Append(f)
		}
		call(wire.Frame{Dir: wire.ClientToServer, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"load"}}`, i)})
		for range 4 {
			s.in(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"working"}}`)
		}
		call(wire.Frame{Dir: wire.ServerToClient, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Go on?"}}`, i)})
		call(wire.Frame{Dir: wire.ClientToServer, Actor: "person", Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{}}}`, i)})
		s.in("DEBUG: noise")
		s.in(fmt.Sprintf(`{"jsonrpc":"2.0","id":"gone-%d","error":{"code":-1,"message":"what?"}}`, i))
		call(wire.Frame{Dir: wire.ServerToClient, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, i)})
	}
}

func TestRows(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(100)
	for name, tt := range map[string]struct {
		query []string
		total int64
		seqs  []int64
		place int64 // 1-based place of the first row
	}{
		"all":                  {[]string{"count", "3"}, 1000, []int64{1, 2, 3}, 1},
		"from":                 {[]string{"from", "998", "count", "9"}, 1000, []int64{999, 1000}, 999},
		"past the end":         {[]string{"from", "1000"}, 1000, nil, 0},
		"none":                 {[]string{"count", "0"}, 1000, nil, 0},
		"since":                {[]string{"since", "990", "count", "2"}, 10, []int64{991, 992}, 1},
		"since all":            {[]string{"since", "1000"}, 0, nil, 0},
		"since what comes":     {[]string{"since", "5000"}, 0, nil, 0},
		"filter":               {[]string{"filter", "method:elicitation/*", "from", "2", "count", "3"}, 200, []int64{16, 17, 26}, 3},
		"filter and since":     {[]string{"filter", "kind:error", "since", "500", "count", "2"}, 50, []int64{509, 519}, 1},
		"call":                 {[]string{"filter", "call:7"}, 4, []int64{61, 66, 67, 70}, 1},
		"words":                {[]string{"filter", `"DEBUG: n"`, "from", "99"}, 100, []int64{998}, 100},
		"nothing matches":      {[]string{"filter", "zebra"}, 0, nil, 0},
		"space is no filter":   {[]string{"filter", "  ", "count", "1"}, 1000, []int64{1}, 1},
		"questions, answers":   {[]string{"filter", "is:question,answer", "count", "2"}, 200, []int64{6, 7}, 1},
		"one of those at most": {[]string{"filter", "seq>=1000"}, 1, []int64{1000}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.all(tt.query...)
			if w.status != http.StatusOK || w.total != tt.total || !slices.Equal(w.seqs, tt.seqs) || w.judged != 1000 || w.frames != 1000 {
				t.Errorf("status %d, %d rows in all, frames %v, judged %d of %d", w.status, w.total, w.seqs, w.judged, w.frames)
			}
			for i, place := range w.places {
				if place != tt.place+int64(i) {
					t.Errorf("the places are %v", w.places)
				}
			}
		})
	}
	for _, query := range [][]string{{"from", "x"}, {"count", "-1"}, {"since", "1.5"}, {"near", "one"}} {
		if w := s.rows(query...); w.status != http.StatusBadRequest {
			t.Errorf("%v: status %d", query, w.status)
		}
	}
	if w := s.rows("count", "100000"); len(w.seqs) != rowsMost {
		t.Errorf("%d rows at once", len(w.seqs))
	}
}

// A row shows the summary of an answer only once.
func TestRowsOfAnswers(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	for i, answer := range []string{`{"action":"accept","content":{"v":0}}`, `{"action":"decline"}`, `{"action":"cancel","content":{"a":"cancel"}}`} {
		s.in(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Go on?"}}`, i))
		s.out(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, i, answer))
	}
	rows, err := s.wire.rowViews([]int64{2, 4, 6})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Action+"|"+r.About())
	}
	if want := []string{"accept|v: 0", "decline|", "cancel|a: cancel"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// X-Near is the place of the given frame, or of the next frame in the view.
func TestRowsNear(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(20)
	for _, tt := range []struct {
		query []string
		near  int64
		found bool
	}{
		{[]string{"near", "7"}, 6, true},
		{[]string{"near", "7", "since", "5"}, 1, true},
		{[]string{"near", "3", "since", "5"}, 0, false},
		{[]string{"near", "19", "filter", "kind:error"}, 1, true},
		{[]string{"near", "20", "filter", "kind:error"}, 2, false},
		{[]string{"near", "200", "filter", "kind:error"}, 20, false},
		{[]string{"near", "999"}, 200, false},
	} {
		w := s.all(append(tt.query, "count", "0")...)
		if w.near != tt.near || w.nearFound != tt.found {
			t.Errorf("%v: %d, %v", tt.query, w.near, w.nearFound)
		}
	}
	if w := s.rows("count", "1"); w.near != -1 {
		t.Error("a place is given for no frame")
	}
}

// The place of a mistake is counted in UTF-16 code units.
func TestRowsMistakes(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	for line, want := range map[string]window{
		"kind:eror":          {mistakeAt: 5, mistakeEnd: 9, mistake: `Kind cannot be "eror"; did you mean error? It is one of request, notification, result, error, noise, stderr, note, span, response, message, rpc-error.`},
		`"🙂é" kind:eror`:     {mistakeAt: 11, mistakeEnd: 15, mistake: `Kind cannot be "eror"; did you mean error? It is one of request, notification, result, error, noise, stderr, note, span, response, message, rpc-error.`},
		"(call:3":            {mistakeAt: 0, mistakeEnd: 1, mistake: `This "(" is not closed.`},
		"/a(/":               {mistakeAt: 1, mistakeEnd: 3, mistake: "Regular expression: missing closing ): `a(`."},
		"  kind:error  or  ": {mistakeAt: 18, mistakeEnd: 18, mistake: "Something must follow here."},
	} {
		for name, ask := range map[string]func() (int, window){
			"rows": func() (int, window) { w := s.rows("filter", line); return w.status, w },
			"download": func() (int, window) {
				r := s.ask(http.MethodGet, "/wire.jsonl", url.Values{"filter": {line}}, nil)
				var answer struct{ Error mistake }
				if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
					t.Fatal(err)
				}
				return r.StatusCode, window{mistakeAt: answer.Error.Pos, mistakeEnd: answer.Error.End, mistake: answer.Error.Text}
			},
			"complete": func() (int, window) {
				var answer completion
				if err := json.Unmarshal([]byte(s.text("/wire/complete", url.Values{"line": {line}})), &answer); err != nil || answer.Error == nil {
					t.Fatalf("%v, %+v", err, answer)
				}
				return http.StatusUnprocessableEntity, window{mistakeAt: answer.Error.Pos, mistakeEnd: answer.Error.End, mistake: answer.Error.Text}
			},
		} {
			status, got := ask()
			if status != http.StatusUnprocessableEntity || got.mistakeAt != want.mistakeAt || got.mistakeEnd != want.mistakeEnd || got.mistake != want.mistake {
				t.Errorf("%s of %q: %d, %d to %d: %s", name, line, status, got.mistakeAt, got.mistakeEnd, got.mistake)
			}
		}
	}
}

// Rows tell the time since the first frame, and the time of day on demand.
func TestRowsTellTheTime(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	start := time.Date(2026, 7, 28, 10, 2, 3, 0, time.Local)
	for _, after := range []time.Duration{0, 41 * time.Millisecond, 61 * time.Second, 2*time.Hour + 41*time.Second} {
		s.log.Append(wire.Frame{Dir: wire.Meta, Raw: []byte("note"), Time: start.Add(after)})
	}
	w := s.rows("filter", "seq>1")
	if want := []string{"0.041", "1:01.000", "2:00:41"}; !slices.Equal(w.times, want) || !strings.Contains(w.html, `title="2026-07-28 10:02:03.041"`) {
		t.Errorf("%q in %s", w.times, w.html)
	}
}

// The server sorts the whole log, and a page that shows a part of it gets the rows in
// the same order whatever part it asks for.
func TestRowsSortedByDuration(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	start := time.Now()
	for i, ms := range []int{30, 5, 0, 400, 5} { // requests 1 to 5, their responses 6 to 10
		s.log.Append(wire.Frame{Dir: wire.ClientToServer, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i), Time: start.Add(-time.Duration(ms) * time.Millisecond)})
	}
	for i := range 5 {
		s.log.Append(wire.Frame{Dir: wire.ServerToClient, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, i), Time: start})
	}
	for name, tt := range map[string]struct {
		query []string
		want  []int64
	}{
		"longest first":  {[]string{"sort", "-took"}, []int64{9, 6, 7, 10, 8, 1, 2, 3, 4, 5}},
		"shortest first": {[]string{"sort", "took"}, []int64{8, 7, 10, 6, 9, 1, 2, 3, 4, 5}},
		"a window":       {[]string{"sort", "-took", "from", "3", "count", "2"}, []int64{10, 8}},
		"since":          {[]string{"sort", "-took", "since", "7"}, []int64{9, 10, 8}},
		"up to":          {[]string{"sort", "-took", "upto", "8"}, []int64{6, 7, 8, 1, 2, 3, 4, 5}},
		"filter":         {[]string{"sort", "-took", "filter", "kind:result -id:3"}, []int64{6, 7, 10, 8}},
		"nothing":        {[]string{"sort", "-took", "since", "9", "upto", "3"}, nil},
		"to come":        {[]string{"sort", "-took", "upto", "11"}, nil},
	} {
		if w := s.all(tt.query...); !slices.Equal(w.seqs, tt.want) || len(tt.want) == 10 && w.total != 10 {
			t.Errorf("%s: %v of %d, want %v", name, w.seqs, w.total, tt.want)
		}
	}
	if w := s.all("sort", "-took", "near", "10", "count", "0"); w.near != 3 || !w.nearFound {
		t.Errorf("frame 10 is at %d, %v", w.near, w.nearFound)
	}
	if w := s.all("sort", "-took", "near", "10", "upto", "8", "count", "0"); w.nearFound {
		t.Error("a frame is found among those that were there before it")
	}
}

// In the waterfall the wait for a person begins with the question: with its request, or
// since 2026-07-28 with the result that asks.
func TestRowsSayWhenWaitsBegan(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	start := time.Unix(1000, 0)
	at := func(second int, f wire.Frame) {
		f.Time = start.Add(time.Duration(second) * time.Second)
		f.Call = max(f.Call, 1)
		s.log.Append(f)
	}
	at(0, wire.Frame{Dir: wire.ClientToServer, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)})
	at(1, wire.Frame{Dir: wire.ServerToClient, Raw: []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Go?"}}}}}`)})
	at(2, wire.Frame{Dir: wire.ServerToClient, Call: 2, Raw: []byte(`{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"message":"Other?"}}`)})
	at(5, wire.Frame{Dir: wire.ClientToServer, Call: 2, Actor: "person", Raw: []byte(`{"jsonrpc":"2.0","id":"x","result":{"action":"decline"}}`)})
	at(8, wire.Frame{Dir: wire.ClientToServer, Actor: "person", Raw: []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","inputResponses":{"q":{"action":"decline"}}}}`)})
	rows, err := s.wire.rowViews([]int64{1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, r := range rows {
		got = append(got, r.Since.Sub(start).Seconds())
	}
	if want := []float64{0, 0, 2, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestComplete(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(1)
	complete := func(line string, at int) (c completion) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.text("/wire/complete", url.Values{"line": {line}, "at": {strconv.Itoa(at)}})), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := complete("é🙂 meth", 8)
	if c.From != 4 || c.To != 8 || len(c.Items) == 0 || c.Items[0].Text != "method:" || c.Items[0].Means == "" || c.Error != nil {
		t.Errorf("%+v", c)
	}
	c = complete("method:elicit", 13)
	if len(c.Items) == 0 || c.From != 7 || c.Items[0].Text != "elicitation/create" || c.Error != nil {
		t.Errorf("%+v", c)
	}
	if c := complete("kind:", 5); c.Error == nil || c.Error.Pos != 5 || len(c.Items) == 0 {
		t.Errorf("%+v", c)
	}
	if c := complete("", 0); len(c.Items) < 10 {
		t.Errorf("an empty line goes on in %d ways", len(c.Items))
	}
	if c := complete(`"no way on`, 5); c.Items == nil || len(c.Items) != 0 {
		t.Errorf("%+v", c)
	}
}

// A few views are kept, so that their frames are not judged twice.
func TestViewsAreKept(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(10)
	line := func(i int) string { return fmt.Sprintf("call:%d", i) }
	first := s.all("filter", line(0)).view
	if again := s.all("filter", " "+line(0)+" ").view; again != first {
		t.Error("the same filter has another view")
	}
	for i := 1; i < viewsKept; i++ {
		s.all("filter", line(i))
	}
	if again := s.all("filter", line(0)).view; again != first {
		t.Error("a view was forgotten though there was room")
	}
	s.all("filter", line(viewsKept)) // replaces line(1), the least recently used
	if again := s.all("filter", line(0)).view; again != first {
		t.Error("a view was forgotten that had just been asked for")
	}
	s.wire.filters.mu.Lock()
	kept := len(s.wire.filters.kept)
	forgotten := !slices.ContainsFunc(s.wire.filters.kept, func(v *filterView) bool { return v.line == line(1) })
	s.wire.filters.mu.Unlock()
	if kept != viewsKept || !forgotten {
		t.Errorf("%d views are kept; the oldest was forgotten: %v", kept, forgotten)
	}
	if again := s.all("filter", line(1)); again.total != 4 {
		t.Errorf("asked for again, it has %d rows", again.total)
	}
}

// A filter that takes long answers with the rows found so far, and continues at the
// next request.
func TestRowsWhileJudging(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // each processor judges some thousands of frames at a time
	synctest.Test(t, func(t *testing.T) {
		const frames, easy = 30_000, 10_000
		s := newLogServer(t, wire.Options{})
		for range frames {
			s.in("hay")
		}
		tenth := func(seq int64) (rules []string) {
			if seq > easy {
				time.Sleep(time.Millisecond)
			}
			if seq%10 == 0 {
				rules = append(rules, "x")
			}
			return rules
		}
		s.wire.filters.kept = []*filterView{{View: query.NewView(s.log, query.MustParse("finding:x"), tenth), line: "finding:x", number: 1}}
		partial := false
		for last := (window{}); last.judged < frames; {
			w := s.rows("filter", "finding:x", "count", "1")
			if w.judged <= last.judged || w.total != w.judged/10 || w.frames != frames || w.view != 1 {
				t.Fatalf("%d of %d after %d of %d, in view %d", w.total, w.judged, last.total, last.judged, w.view)
			}
			partial = partial || w.judged < frames
			last = w
		}
		if !partial {
			t.Error("the first answer came when all was judged")
		}
	})
}

// Judging stops when its request is cancelled, and continues at the next request.
func TestJudgingStopsWhenNobodyAsks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const frames = 30_000
	s := newLogServer(t, wire.Options{})
	for range frames {
		s.in("hay")
	}
	ctx, giveUp := context.WithCancel(t.Context())
	view := query.NewView(s.log, query.MustParse("finding:x"), func(int64) []string {
		giveUp()
		return nil
	})
	s.wire.filters.kept = []*filterView{{View: view, line: "finding:x"}}
	if _, err := s.wire.filtered(ctx, "finding:x"); !errors.Is(err, context.Canceled) || view.Judged() == frames {
		t.Errorf("given up: %v, and %d frames are judged", err, view.Judged())
	}
	if s.all("filter", "finding:x"); view.Judged() != frames {
		t.Errorf("asked again, it has judged %d", view.Judged())
	}
}

// A cancelled request ends at once, without rows.
func TestRowsGivenUp(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := s.askWith(ctx, http.MethodGet, "/wire/rows", url.Values{"filter": {"needle"}}, nil)
	if body, err := io.ReadAll(r.Body); err != nil || len(body) > 0 || r.Header.Get("X-Total") != "" {
		t.Errorf("it is answered: %v %s", err, body)
	}
}

// Pages with different filters request rows while frames arrive. Each gets its frames
// in order and exactly once.
func TestRowsWhileFramesCome(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	const calls = 300
	var work sync.WaitGroup
	work.Go(func() { s.some(calls) })
	for line, of := range map[string]int64{"": 10 * calls, "kind:error": calls, "is:question": calls, "working": 4 * calls, "seq>0": 10 * calls} {
		work.Go(func() {
			var seen []int64
			for int64(len(seen)) < of {
				w := s.rows("filter", line, "from", strconv.Itoa(len(seen)), "count", "100")
				if w.status != http.StatusOK {
					t.Errorf("%q: status %d", line, w.status)
					return
				}
				seen = append(seen, w.seqs...)
			}
			if !slices.IsSorted(seen) || len(slices.Compact(seen)) != int(of) {
				t.Errorf("%q: %d frames, in order: %v", line, len(seen), slices.IsSorted(seen))
			}
		})
	}
	work.Wait()
}

func TestMarking(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(2)
	p := s.newPump(t.Context())
	defer p.sub.Close()
	mark := func(seq int64, form url.Values) (int, string) {
		t.Helper()
		r := s.ask(http.MethodPost, fmt.Sprintf("/wire/frames/%d/mark", seq), nil, form)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(body)
	}
	before := s.all("filter", "is:pinned or is:noted")
	if before.total != 0 {
		t.Fatalf("%d rows are marked", before.total)
	}
	if status, body := mark(6, url.Values{"pinned": {"1"}, "colour": {"amber"}, "note": {"here <it> begins"}}); status != http.StatusNoContent {
		t.Fatalf("%d: %s", status, body)
	}
	d := onDemo{t: t, in: s.Server.in, s: s.Server}
	if got := d.pushed(p, func() { p.redraw(calmly, nil) }); !strings.Contains(got, `"id":"pin-6"`) || !strings.Contains(got, "here &lt;it&gt; begins") || !strings.Contains(got, `"id":"log-state"`) {
		t.Errorf("every page gets %s", got)
	}
	w := s.rows("from", "5", "count", "1")
	for _, want := range []string{"in-amber", "pinned-row", "here &lt;it&gt; begins", "pinned, marked amber"} {
		if !strings.Contains(w.html, want) {
			t.Errorf("the row lacks %q: %s", want, w.html)
		}
	}
	// A new mark makes its frame be judged again, and changes the view's state for the
	// page.
	after := s.all("filter", "is:pinned or is:noted")
	if !slices.Equal(after.seqs, []int64{6}) || after.view == before.view {
		t.Errorf("marked are %v, in view %d after %d", after.seqs, after.view, before.view)
	}
	if again := s.all("filter", "is:pinned or is:noted"); again.view != after.view {
		t.Error("nothing has changed, and it is judged again")
	}
	if page := s.text("/", nil); !strings.Contains(page, `id="pins"`) || !strings.Contains(page, "here &lt;it&gt; begins") {
		t.Error("the page drawn anew lacks what is pinned")
	}
	// The mark is in the transcript, also in a transcript of selected frames.
	part := s.text("/wire.jsonl", url.Values{"filter": {"call:1 is:question"}})
	if lines := strings.Split(strings.TrimSpace(part), "\n"); len(lines) != 3 || !strings.Contains(lines[2], `"raw":{"mark":{"seq":6,"pinned":true,"colour":"amber","note":"here <it> begins"}}`) {
		t.Errorf("saved is\n%s", part)
	}
	for name, tt := range map[string]struct {
		seq    int64
		form   url.Values
		status int
	}{
		"colour": {6, url.Values{"colour": {"mauve"}}, http.StatusBadRequest},
		"note":   {6, url.Values{"note": {strings.Repeat("x", wire.MaxNote+1)}}, http.StatusBadRequest},
		"frame":  {99, url.Values{"pinned": {"1"}}, http.StatusNotFound},
	} {
		if status, body := mark(tt.seq, tt.form); status != tt.status {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, _ := mark(6, url.Values{}); status != http.StatusNoContent {
		t.Errorf("unmarking: %d", status)
	}
	if w := s.all("filter", "is:pinned or is:noted"); w.total != 0 {
		t.Errorf("%d rows are still marked", w.total)
	}
}

func TestSaveFiltered(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(3)
	r := s.ask(http.MethodGet, "/wire.jsonl", url.Values{"filter": {"kind:error"}, "download": {"1"}}, nil)
	var seqs []int64
	for _, f := range logtest.Read(t, r.Body) {
		if f.Kind != wire.Error {
			t.Errorf("saved: %s", f.Raw)
		}
		seqs = append(seqs, f.Seq)
	}
	if len(seqs) != 3 || !strings.Contains(r.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d frames, %q", len(seqs), r.Header.Get("Content-Disposition"))
	}
	whole := logtest.Read(t, s.ask(http.MethodGet, "/wire.jsonl", url.Values{"filter": {"seq:6"}}, nil).Body)
	if len(whole) != 2 || whole[0].Method != "elicitation/create" || whole[1].Kind != wire.Result {
		t.Errorf("with a question its answer is saved: %v", whole)
	}
	if lines := strings.Count(s.text("/wire.jsonl", nil), "\n"); lines != 30 {
		t.Errorf("all of it is %d lines", lines)
	}
}

// Each export format contains the frames that the filter selects, and their notes, in a file
// that is named after its title. No temporary file is needed.
func TestExport(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(3)
	t.Setenv("TMPDIR", "/dev/null/nothing")
	for _, format := range export.Documents {
		r := s.ask(http.MethodGet, "/export/"+format.Name, url.Values{"filter": {"call:1"}}, nil)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		switch format {
		case export.HAR: // nothing went over HTTP
			if r.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("har: %s, %.200s", r.Status, body)
			}
		default:
			if r.StatusCode != http.StatusOK || len(body) == 0 || !regexp.MustCompile(`filename="load-asked-once-accepted`+regexp.QuoteMeta(format.Ending)+`"$`).MatchString(r.Header.Get("Content-Disposition")) {
				t.Errorf("%s: %s, %q, %.200s", format, r.Status, r.Header.Get("Content-Disposition"), body)
			}
		}
	}
	for path, status := range map[string]int{"/export/word": http.StatusBadRequest, "/export/html?filter=ms>": http.StatusUnprocessableEntity} {
		path, query, _ := strings.Cut(path, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if r := s.ask(http.MethodGet, path, values, nil); r.StatusCode != status {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

// More filters than are kept are used concurrently with new frames, marks, details,
// downloads and completions. Each request gets its own rows, and nothing is lost.
func TestEverythingAtOnce(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(20)
	const calls, first = 500, 200 // frames in the log at the beginning
	done := make(chan struct{})
	var pages, frames sync.WaitGroup
	frames.Go(func() { s.some(calls); close(done) })
	busy := func(do func(i int)) {
		pages.Go(func() {
			for i := 0; ; i++ {
				do(i)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for page := range 3 {
		busy(func(i int) {
			call := 1 + (page*7+i)%20 // eight views are kept for twenty filters
			w := s.rows("filter", fmt.Sprintf("call:%d seq<=%d", call, first))
			if w.status != http.StatusOK || w.judged >= first && (w.total != 4 || len(w.seqs) != 4 || w.seqs[0] != int64(call-1)*10+1) {
				t.Errorf("call %d: %+v", call, w)
			}
		})
	}
	busy(func(i int) {
		seq := int64(1 + i%first)
		r := s.ask(http.MethodPost, fmt.Sprintf("/wire/frames/%d/mark", seq), nil, url.Values{"pinned": {"1"}, "note": {"n"}})
		if r.StatusCode != http.StatusNoContent {
			t.Errorf("marking: %s", r.Status)
		}
		if w := s.all("filter", "is:pinned"); !slices.Contains(w.seqs, seq) && len(w.seqs) < rowsMost {
			t.Errorf("frame %d was pinned, and is not among %d that are", seq, len(w.seqs))
		}
	})
	busy(func(i int) {
		a, b := int64(1+i%first), int64(1+(i*7)%first)
		if r, body := s.frame(a, "", "against", strconv.FormatInt(b, 10)); r.StatusCode != http.StatusOK || !strings.Contains(body, fmt.Sprintf("#%d", a)) {
			t.Errorf("frame %d: %s", a, r.Status)
		}
	})
	busy(func(i int) {
		n := 0
		r := s.ask(http.MethodGet, "/wire.jsonl", url.Values{"filter": {fmt.Sprintf("kind:error seq<=%d", first)}}, nil)
		for _, f := range logtest.Read(t, r.Body) {
			switch {
			case f.Kind == wire.Error:
				n++
			case f.Dir != wire.Meta: // what was noted of them
				t.Errorf("saved: %s", f.Raw)
			}
		}
		if n != 20 {
			t.Errorf("%d errors are saved", n)
		}
	})
	busy(func(int) {
		if body := s.text("/wire/complete", url.Values{"line": {"method:tools"}}); !strings.Contains(body, "tools/call") {
			t.Errorf("it goes on with %s", body)
		}
	})
	frames.Wait()
	pages.Wait()
	if w := s.all("filter", "!dir:meta", "count", "0"); w.total != 10*(calls+20) {
		t.Errorf("%d frames in the end", w.total)
	}
	s.wire.filters.mu.Lock()
	defer s.wire.filters.mu.Unlock()
	if len(s.wire.filters.kept) > viewsKept {
		t.Errorf("%d views are kept", len(s.wire.filters.kept))
	}
}
