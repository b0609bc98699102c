package query

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/wire"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // the zone of after: and before:
	m.Run()
}

func newLog(t testing.TB) *wire.Log {
	t.Helper()
	l, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func message(dir wire.Direction, format string, args ...any) wire.Frame {
	return wire.Frame{Server: "files", Session: "s1", Transport: "stdio", Dir: dir, Raw: fmt.Appendf(nil, format, args...)}
}

// filterLog returns a log with a frame for every term.
func filterLog(t testing.TB) *wire.Log {
	l := newLog(t)
	start := time.Date(2026, 7, 28, 10, 2, 0, 0, time.UTC)
	add := func(after time.Duration, f wire.Frame) { f.Time = start.Add(after); l.Append(f) }
	s := time.Second
	f := message(wire.ClientToServer, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"deploy","arguments":{"path":"a\/b"}}}`)
	f.Call = 3
	add(0, f) // 1
	f = message(wire.ServerToClient, `{"jsonrpc":"2.0","id":"7","method":"elicitation/create","params":{"message":"Grüße, which \"branch\"?","requestedSchema":{"type":"object"}}}`)
	f.Call, f.Question = 3, 1
	add(1*s, f) // 2
	f = message(wire.ClientToServer, `{"jsonrpc":"2.0","id":"7","result":{"action":"accept","content":{"branch":"main"}}}`)
	f.Call, f.Question, f.Actor = 3, 1, "person"
	add(3*s, f)                                                                                                                 // 3, 2000 ms
	add(3500*time.Millisecond, message(wire.ServerToClient, `{"jsonrpc":"2.0","id":7,"result":{"content":"Gr\u00fc\u00dfe"}}`)) // 4, 3500 ms
	add(4*s, message(wire.ServerToClient, `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"twice"}}`))                // 5, 4000 ms, duplicate
	add(5*s, message(wire.ServerToClient, `{"jsonrpc":"2.0","id":99,"result":{}}`))                                             // 6, orphan
	f = message(wire.ServerToClient, `{"jsonrpc":"2.0","method":"elicitation/odd","params":{"requestedSchema" : "%s"}}`, strings.Repeat("x", 12_000))
	f.Server, f.Session, f.Transport, f.Stream, f.Status = "web two", "w1", "http", wire.StreamGetSSE, 200
	f.Header = map[string][]string{"X": {"y"}}
	add(6*s, f)                                                                  // 7
	add(7*s, message(wire.ServerToClient, `listening on "port" 3000`))           // 8
	add(8*s, message(wire.Stderr, "WARNING: requestedSchema\tis\todd"))          // 9
	add(70*time.Minute, message(wire.Meta, "process exited"))                    // 10
	add(26*time.Hour, message(wire.ServerToClient, "caf\xe9 \"quoted\" KELVIN")) // 11
	return l
}

func pick(t testing.TB, l *wire.Log, line string, rules func(int64) []string) []int64 {
	t.Helper()
	f, err := Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	v := NewView(l, f, rules)
	if err := v.Update(context.Background()); err != nil {
		t.Fatal(err)
	}
	return v.Seqs(0, int(v.Len()))
}

func TestFilter(t *testing.T) {
	l := filterLog(t)
	rules := func(seq int64) []string {
		if seq == 2 {
			return []string{"title-missing", "other-rule"}
		}
		return nil
	}
	tests := []struct {
		line string
		want string
	}{
		{"", "1 2 3 4 5 6 7 8 9 10 11"},
		{"  ", "1 2 3 4 5 6 7 8 9 10 11"},
		{"method:elicitation/*", "2 3 7"},
		{"method:ELICITATION/create", "2 3"},
		{"method:elicitation", ""},
		{"method:*", "1 2 3 4 5 7"},
		{"!method:*", "6 8 9 10 11"},
		{"method:t*l*/c*l", "1 4 5"},
		{"method:tools/call,elicitation/odd", "1 4 5 7"},
		{"dir:in", "2 4 5 6 7 8 11"},
		{"dir:s2c !dir:in", ""},
		{"dir:out", "1 3"},
		{"dir:stderr or dir:meta", "9 10"},
		{"kind:request", "1 2"},
		{"kind:error", "5"},
		{"kind:noise", "8 11"},
		{"kind:response", "3 4 5 6"},
		{"kind:message kind:notification", "7"},
		{"kind:stderr,note", "9 10"},
		{"id:7", "1 2 3 4 5"},
		{`id:"7" dir:in`, "2 4 5"},
		{"id:99", "6"},
		{"id:8", ""},
		{"server:files", "1 2 3 4 5 6 8 9 10 11"},
		{`server:"web two"`, "7"},
		{"server:web*", "7"},
		{"session:w?", ""},
		{"session:w1", "7"},
		{"transport:http", "7"},
		{"stream:get-sse", "7"},
		{"stream:post", ""},
		{"status:200", "7"},
		{"status>=400", ""},
		{"status<400", "7"},
		{"call:3", "1 2 3"},
		{"call>3", ""},
		{"question:1", "2 3"},
		{"round:1", ""},
		{"seq>9", "10 11"},
		{"seq:2,4", "2 4"},
		{"actor:person", "3"},
		{"action:accept", "3"},
		{"action:decline", ""},
		{"ms>500", "3 4 5"},
		{"ms>=2000 ms<3.6s", "3 4"},
		{"ms:4000", "5"},
		{"ms<1", ""},
		{"size>10k", "7"},
		{"size>11.7Ki", "7"},
		{"size<30", "8 10 11"},
		{"after:10:02:05", "6 7 8 9 10 11"},
		{"before:10:02:03.5", "1 2 3"},
		{"after:11:00 before:23:59", "10"},
		{"after:2026-07-29", "11"},
		{"after:2026-07-28T11:00 before:2026-07-29T00:00:00", "10"},
		{"after:2026-07-28T12:02:06+02:00 before:+7s", "7"},
		{"is:duplicate", "5"},
		{"is:orphan", "6"},
		{"is:truncated or is:redacted", ""},
		{"finding:any", "2"},
		{"finding:title-missing", "2"},
		{"finding:other", ""},
		{"has:requestedSchema", "2 7"},
		{"has:branch", "3"},
		{"has:BRANCH", "3"},
		{"has:caf", ""},
		{"!has:requestedSchema kind:request,stderr", "1 9"},
		{"deploy", "1"},
		{"DEPLOY", "1"},
		{`"requestedschema"`, "2 7 9"},
		{"requestedschema kind:stderr", "9"},
		{`"which \"branch\"?"`, "2"},
		{`"\"port\" 3000"`, "8"},
		{"a/b", "1"},
		{"Grüße", "2 4"},
		{"GRÜSSE", ""},
		{"grü", "2 4"},
		{"caf", "11"},
		{"kelvin", "11"},
		{"is\todd", "9"},
		{`"is	odd"`, "9"},
		{"/odd$/", "9"},
		{"/ODD/", ""},
		{"/ODD/i", "7 9"},
		{`/"id":\s*"?7/`, "1 2 3 4 5"},
		{`/a\\\/b/`, "1"},
		{`/(port|process)/`, "8 10"},
		{`/kelvin/i`, "11"},
		{`/x{100}/ or /\d{4}/`, "5 7 8"},
		{"kind:request or kind:error dir:in", "1 2 5"},
		{"(kind:request or kind:error) dir:in", "2 5"},
		{"!(kind:request or dir:in)", "3 9 10"},
		{"not dir:in not dir:out", "9 10"},
		{"!!dir:out", "1 3"},
		{"dir:out and accept", "3"},
		{"deploy or !deploy", "1 2 3 4 5 6 7 8 9 10 11"},
		{"deploy !deploy", ""},
		{"kind:request deploy or kind:noise port", "1 8"},
		{"!deploy kind:request", "2"},
		{"deploy(id:7)", "1"},
	}
	for _, tt := range tests {
		got := strings.Trim(fmt.Sprint(pick(t, l, tt.line, rules)), "[]")
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.line, got, tt.want)
		}
	}
}

func TestFilterSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ line, at, want string }{
		{"metod:x", "metod", `there is no term "metod"`},
		{"msec>500", "msec", `there is no term "msec"; did you mean ms>?`},
		{"latncy>500", "latncy", `there is no term "latncy"; did you mean ms>?`},
		{"milliseconds>500", "milliseconds", `did you mean ms>?`},
		{"meth:x", "meth", `did you mean method:?`},
		{"http://x", "http", `put text with ":" in it in quotes`},
		{"a kind:eror b", "eror", `kind cannot be "eror"; did you mean error? It is one of request`},
		{"kind:error,", "", "a value must follow kind:"},
		{"method:", "", "a value must follow method:"},
		{"kind>error", ">", `kind goes with ":", not with ">"`},
		{"dir:up", "up", "it is one of in, out"},
		{"action:perhaps", "perhaps", "accept, decline, cancel"},
		{"is:odd", "odd", "duplicate"},
		{"stream:x", "x", "post-sse"},
		{"call:three", "three", "not a whole number"},
		{"ms>fast", "fast", "2s or 1m30s"},
		{"size>10q", "10q", "10k or 1.5M"},
		{"size>1.2.3", "1.2.3", "not a size"},
		{"after:noon", "noon", "10:02:03"},
		{"before:25:00", "25:00", "not a time"},
		{"(a b", "(", "not closed"},
		{"a)", ")", `no "(" that this closes`},
		{"()", ")", "something must stand before"},
		{"a or", "", "something must follow"},
		{"or a", "or", `something must stand before "or"`},
		{"a and or b", "or", "something must stand before"},
		{"!", "", "something must follow"},
		{`"open`, `"open`, "does not end"},
		{`""`, `""`, "no text between the quotes"},
		{`server:"a`, `"a`, "does not end"},
		{"/a", "/a", `does not end with "/"`},
		{"//", "//", "empty"},
		{"/a(/", "a(", "missing closing )"},
		{"/a/x", "x", `only the flag "i"`},
		{"/usr/lib", "lib", "in quotes"},
		{"a \xff", "\xff", "not UTF-8"},
		{strings.Repeat("(", 200) + "a", "(", "nested too deep"},
	}
	for _, tt := range tests {
		_, err := Parse(tt.line)
		var fe *Error
		if !errors.As(err, &fe) {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if at := tt.line[fe.Pos:fe.End]; at != tt.at || !strings.Contains(fe.Text, tt.want) {
			t.Errorf("%s: at %q: %s\nwant at %q: %s", tt.line, at, fe.Text, tt.at, tt.want)
		}
	}
}

func TestSearchAgreesWithRegexp(t *testing.T) {
	alphabet := []string{"a", "A", "b", "B", "é", "É", "\"", "\\", "/", " ", "1", "k", ":", "日"}
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(alphabet[rand.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 20_000 {
		text, in := word(1+rand.IntN(3)), []byte(word(rand.IntN(12)))
		want := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text)).Match(in)
		find := formFinder(text, "")
		if find(in) != want {
			t.Fatalf("%q in %q: %v, want %v", text, in, !want, want)
		}
	}
}

func TestNeededText(t *testing.T) {
	for expr, want := range map[string]string{
		`abc`: "abc", `a+bcd?`: "bc", `(foo|bar)baz`: "baz", `\d+`: "", `x*`: "", `(?:abc)+d`: "abc",
		`(?i)tools/call`: "/CALL", `(?i)task`: "TA", `a{0,3}`: "", `(ab){2}`: "ab", `a|b`: "", `é`: "", `éab`: "ab",
	} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := neededBy(tree); got != want {
			t.Errorf("%s needs %q, want %q", expr, got, want)
		}
	}
}

func TestViewGrowsWithTheLog(t *testing.T) {
	l := newLog(t)
	f, err := Parse("kind:request or accept")
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(l, f, nil)
	var want []int64
	for i := range 30_000 {
		l.Append(floodFrame(i))
		if m := i % 100; m == 0 || m == 50 || m == 51 {
			want = append(want, int64(i+1))
		}
		if i == 0 || i == 777 || i == 9000 || i == 29_999 {
			if err := v.Update(context.Background()); err != nil {
				t.Fatal(err)
			}
			if v.Judged() != l.Len() || v.Len() != int64(len(want)) {
				t.Fatalf("%d of %d judged, %d match, want %d", v.Judged(), l.Len(), v.Len(), len(want))
			}
			if got := v.Seqs(0, len(want)+5); !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d frames the view is wrong", i+1)
			}
		}
	}
	for range 500 {
		from, n := rand.IntN(len(want)+10)-5, rand.IntN(40)
		first := max(from, 0)
		last := min(first+n, len(want))
		var w []int64
		if first < last {
			w = want[first:last]
		}
		if got := v.Seqs(int64(from), n); !(len(got) == 0 && len(w) == 0) && !reflect.DeepEqual(got, w) {
			t.Fatalf("from %d, %d: %v, want %v", from, n, got, w)
		}
	}
	place := 0
	for seq := int64(-1); seq <= l.Len()+2; seq++ {
		hit := place < len(want) && want[place] == seq
		if got, ok := v.Index(seq); ok != hit || got != int64(place) {
			t.Fatalf("frame %d is at %d, %v; want %d, %v", seq, got, ok, place, hit)
		}
		if hit {
			place++
		}
		if judged, upTo, after := v.Extent(seq); judged != l.Len() || upTo != int64(place) || upTo+after != int64(len(want)) {
			t.Fatalf("%d are judged, %d up to frame %d and %d after it, want %d and %d", judged, upTo, seq, after, place, len(want)-place)
		}
	}
	if got := v.Seqs(0, -1); got != nil {
		t.Error("a negative count gives something")
	}
}

var sevenStep = regexp.MustCompile(`step \d*7 of`)

func TestViewCanBeReadAndCancelledWhileItJudges(t *testing.T) {
	l := flood(t, 60_000)
	f := MustParse("/step \\d*7 of/ or finding:none")
	ctx, cancel := context.WithCancel(context.Background())
	v := NewView(l, f, func(seq int64) []string {
		if seq == 40_000 {
			cancel()
		}
		return nil
	})
	if err := v.Update(ctx); !errors.Is(err, context.Canceled) || v.Judged() >= 40_000 {
		t.Fatalf("%v, %d judged", err, v.Judged())
	}
	before := v.Seqs(0, 10)
	prefix := make([]int64, 60_001) // number of matches among the first frames
	for i := range 60_000 {
		prefix[i+1] = prefix[i]
		if sevenStep.Match(floodFrame(i).Raw) {
			prefix[i+1]++
		}
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := v.Update(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	for v.Judged() < 60_000 {
		if n := v.Len(); n > 0 {
			if seqs := v.Seqs(n-1, 5); len(seqs) == 0 {
				t.Error("the last of the view is not there")
			}
		}
		// All numbers of the view are from one moment.
		if judged, upTo, after := v.Extent(0); upTo != 0 || after != prefix[judged] {
			t.Fatalf("of %d judged, %d and %d match, want %d", judged, upTo, after, prefix[judged])
		}
	}
	wg.Wait()
	if !reflect.DeepEqual(before, v.Seqs(0, 10)) {
		t.Error("what was there has changed")
	}
	if want := prefix[60_000]; v.Len() != want {
		t.Errorf("%d match, want %d", v.Len(), want)
	}
	cancel()
	if err := NewView(l, f, nil).Update(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an Update that was cancelled before: %v", err)
	}
}

func TestFilterLooksIntoHugeAndLostFrames(t *testing.T) {
	l := newLog(t)
	l.Append(message(wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"result":"%s needle %s"}`, strings.Repeat("x", 5<<20), strings.Repeat("y", 100)))
	l.Append(message(wire.ServerToClient, "no such thing"))
	if got := pick(t, l, "NEEDLE", nil); !reflect.DeepEqual(got, []int64{1}) {
		t.Errorf("%v", got)
	}
	lost, err := wire.NewLog(wire.Options{Dir: "/nowhere/at/all", Memory: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer lost.Close()
	for i := range 2000 {
		lost.Append(message(wire.ServerToClient, `{"jsonrpc":"2.0","id":%d,"result":"%s"}`, i, strings.Repeat("x", 100)))
	}
	for grown := lost.Grown(); lost.Err() == nil; grown = lost.Grown() {
		<-grown
	}
	if got := pick(t, lost, "id:3", nil); !reflect.DeepEqual(got, []int64{4}) {
		t.Errorf("%v", got)
	}
	if got := pick(t, lost, "kind:result", nil); len(got) != 2000 {
		t.Errorf("%d results", len(got))
	}
}

func TestComplete(t *testing.T) {
	l := filterLog(t)
	findings := []string{"title-missing"}
	tests := []struct {
		line string // | is the cursor
		from int
		to   int
		want string // the first candidates
	}{
		{"|", 0, 0, "method: kind: dir: id:"},
		{"me|", 0, 2, "method:"},
		{"se|", 0, 2, "server: session: seq"},
		{"!ki|", 1, 3, "kind:"},
		{"elic|", 0, 4, "method:elicitation/* method:elicitation/create method:elicitation/odd"},
		{"method:|", 7, 7, "elicitation/* elicitation/create elicitation/odd tools/call"},
		{"method:cr|", 7, 9, "elicitation/create"},
		{"method:cr|xx b", 7, 11, "elicitation/create"},
		{"kind:error,no|", 11, 13, "notification noise note"},
		{"(dir:|)", 5, 5, "in out stderr meta"},
		{"server:w|", 7, 8, `"web two"`},
		{`server:"w|`, 7, 9, `"web two"`},
		{"finding:|", 8, 8, "any title-missing"},
		{"has:in|", 4, 6, "inputRequests inputResponses"},
		{"action:c|", 7, 8, "cancel accept"},
		{"size|", 0, 4, "size>"},
		{`"me|`, 3, 3, ""},
		{`/me|`, 3, 3, ""},
		{`"a" me|`, 4, 6, "method:"},
		{"id:|", 3, 3, ""},
		{"kind:error |", 11, 11, "method: kind:"},
		{"kind:error &&|", 13, 13, "method: kind:"},
		{"ki|nd:error", 0, 5, "kind:"},
		{"tool:a (not|", 8, 11, ""},
	}
	for _, tt := range tests {
		at := strings.IndexByte(tt.line, '|')
		line := tt.line[:at] + tt.line[at+1:]
		got := Complete(l, line, at, findings)
		var texts []string
		for _, c := range got.Items {
			texts = append(texts, c.Text)
		}
		joined := strings.Join(texts, " ")
		if got.From != tt.from || got.To != tt.to || !strings.HasPrefix(joined, tt.want) || tt.want == "" && joined != "" {
			t.Errorf("%s: %d to %d: %s\nwant %d to %d: %s", tt.line, got.From, got.To, joined, tt.from, tt.to, tt.want)
		}
		for _, c := range got.Items {
			whole := line[:got.From] + c.Text + line[got.To:]
			if _, err := Parse(whole); err != nil && !strings.ContainsAny(c.Text[len(c.Text)-1:], ":>=") && !strings.HasPrefix(line, "(") {
				t.Errorf("%s: the candidate %q does not parse: %v", tt.line, whole, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`method:elicitation/* !(dir:in or kind:error,noise) id:7 "a b" /re+/i ms>500 size<=10k`,
		`after:10:02:03 before:2026-07-28 has:x finding:any not server:"a \"b\"" call>3`, `((a)`, `"\`, `/\//`, "grüße",
		`-kind:noise && ms > 500||tool!=a, b | -(x)`, "kind : =", "a & b | > 5",
	} {
		f.Add(line)
	}
	l := filterLog(f)
	f.Fuzz(func(t *testing.T, line string) {
		for at := range len(line) + 1 {
			if c := Complete(l, line, at, nil); c.From < 0 || c.From > at || c.To < at || c.To > len(line) {
				t.Fatalf("completion at %d replaces %d to %d", at, c.From, c.To)
			}
			if at > 50 {
				break
			}
		}
		filter, err := Parse(line)
		if err != nil {
			fe, ok := err.(*Error)
			if !ok || fe.Pos < 0 || fe.End < fe.Pos || fe.End > len(line) || fe.Text == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if len(line) > 200 {
			return
		}
		v, w := NewView(l, filter, nil), NewView(l, filter, nil)
		if err := v.Update(context.Background()); err != nil {
			t.Fatal(err)
		}
		// The negation selects the other frames.
		w.filter = &Filter{not(filter.node)}
		if err := w.Update(context.Background()); err != nil {
			t.Fatal(err)
		}
		if v.Len()+w.Len() != l.Len() {
			t.Fatalf("%d frames match, %d do not, of %d", v.Len(), w.Len(), l.Len())
		}
	})
}

// The spans of servers are picked by their names, and are no notes.
func TestSpans(t *testing.T) {
	l := newLog(t)
	add := func(n wire.Note) {
		l.Append(wire.Frame{Dir: wire.Meta, Transport: "stdio", Session: "s", Server: "s", Note: &n, Failed: n.Span != nil && n.Span.Status == wire.SpanError})
	}
	add(wire.Note{Kind: wire.NoteSpan, Span: &wire.Span{Name: `INSERT "orders"`}})
	add(wire.Note{Kind: wire.NoteServerLost, Why: "span INSERT"})
	add(wire.Note{Kind: wire.NoteSpan, Span: &wire.Span{Name: "HTTP POST", Status: wire.SpanError, Message: "refused"}})
	for line, want := range map[string]string{
		"is:span": "[1 3]", "kind:span": "[1 3]", "kind:note": "[2]", "span:insert": "[1]", `span:"insert \"ord"`: "[1]", "span:refused": "[3]", "span:span": "[]", "kind:error": "[3]", "dir:meta !is:span": "[2]",
	} {
		if got := fmt.Sprint(pick(t, l, line, nil)); got != want {
			t.Errorf("%s picks %s, want %s", line, got, want)
		}
	}
}
