package demo

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
)

// browse requests a page like a browser and returns its status and body.
func browse(t *testing.T, method, address string, form url.Values, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

var allow, refuse = url.Values{"choice": {"allow"}}, url.Values{"choice": {"refuse"}}

func TestCalendar(t *testing.T) {
	for _, rev := range []string{protocol.Revision20251125, protocol.Revision20260728} {
		for _, web := range []bool{false, true} {
			for choice, want := range map[string]string{"allow": "Fernhill Calendar is connected.", "refuse": "You said no"} {
				p, _ := sit(t, setup{revision: rev, http: web, answer: func(_ context.Context, q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					status, body, header := browse(t, "GET", q.URL, nil)
					if status != 200 || !strings.Contains(body, "Sign in to Fernhill Calendar") || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
						t.Errorf("the page: %d %s", status, body)
					}
					status, body, _ = browse(t, "POST", q.URL, url.Values{"choice": {choice}})
					if status != 200 || !strings.Contains(body, "You can close this page") {
						t.Errorf("after the choice: %d %s", status, body)
					}
					return accept(nil)
				}})
				res := p.call("connect_calendar", nil)
				if got := textOf(res); !strings.HasPrefix(got, want) {
					t.Errorf("%s: got %q, want %q", rev, got, want)
				}
				if len(p.asked) != 1 || p.asked[0].Mode != "url" || (p.asked[0].ElicitationID != "") != (rev == protocol.Revision20251125) {
					t.Errorf("%s: asked %+v", rev, p.asked)
				}
				if rev == protocol.Revision20251125 {
					p.await("the completion", func() bool { return slices.Contains(p.completed, p.asked[0].ElicitationID) })
				}
			}
		}
	}
}

func TestSignInIsLearntByRetrying(t *testing.T) {
	p, _ := sit(t, setup{manual: true})
	res := p.call("connect_calendar", nil)
	var first string
	for round := range 3 {
		if !res.NeedsInput() {
			t.Fatalf("round %d: %s", round, textOf(res))
		}
		q := res.InputRequests["calendar"].(*mcp.ElicitParams)
		if first == "" {
			first = q.URL
		}
		if q.URL != first || q.ElicitationID != "" {
			t.Errorf("round %d: asked for %+v, at first for %s", round, q, first)
		}
		if round == 2 {
			browse(t, "POST", first, allow)
		}
		res = p.again("connect_calendar", nil, res, mcp.InputResponseMap{"calendar": &mcp.ElicitResult{Action: "accept"}})
	}
	if res.NeedsInput() || !strings.Contains(textOf(res), "is connected") {
		t.Errorf("after signing in: %s", textOf(res))
	}
}

func TestLookingAtAPageDecidesNothing(t *testing.T) {
	p, srv := sit(t, setup{manual: true})
	q := p.call("connect_calendar", nil).InputRequests["calendar"].(*mcp.ElicitParams)
	u, err := url.Parse(q.URL)
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatalf("the page is at %s", q.URL)
	}
	cases := []struct {
		what, method, address string
		form                  url.Values
		header                []string
		status                int
	}{
		{"looking", "GET", q.URL, nil, nil, 200},
		{"prefetching", "HEAD", q.URL, nil, nil, 200},
		{"by another name for it", "GET", q.URL, nil, []string{"Host", "localhost:" + u.Port()}, 200},
		{"a name that was rebound", "POST", q.URL, allow, []string{"Host", "attacker.example"}, 421},
		{"another port", "POST", q.URL, allow, []string{"Host", "127.0.0.1:1"}, 421},
		{"another site's form", "POST", q.URL, allow, []string{"Origin", "https://attacker.example"}, 403},
		{"another site's form, in a new browser", "POST", q.URL, allow, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"no choice", "POST", q.URL, url.Values{}, nil, 400},
		{"a choice in the address", "POST", q.URL + "?choice=allow", url.Values{}, nil, 400},
		{"another method", "PUT", q.URL, allow, nil, 405},
		{"another sign-in", "POST", strings.TrimSuffix(q.URL, u.Path) + "/sign-in/AAAA", allow, nil, 404},
		{"the styles", "GET", strings.TrimSuffix(q.URL, u.Path) + "/sign-in/style.css", nil, nil, 200},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			status, body, header := browse(t, c.method, c.address, c.form, c.header...)
			if status != c.status {
				t.Errorf("status %d, want %d: %s", status, c.status, body)
			}
			if status == 200 && (header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store") {
				t.Errorf("headers: %v", header)
			}
		})
	}
	if got := srv.desk.find(func(c *card) bool { return c.url == q.URL }).decided(); got != waiting {
		t.Errorf("the verdict is %d", got)
	}
}

func TestNoListenerWithoutAQuestion(t *testing.T) {
	p, srv := sit(t, setup{answer: script(nil)})
	p.call("delete_files", nil)
	if srv.desk.web != nil {
		t.Error("a port is open that nobody asked for")
	}
	srv.Close()
	if _, err := srv.desk.card("x", calendar, nil, nil); err == nil {
		t.Error("a closed server opens a port")
	}
}

func TestPagesBelowABaseURL(t *testing.T) {
	// The pages are part of the handler, and no port is opened.
	var srv *Server
	web := newWeb(t, func() http.Handler { return srv.Handler() })
	srv = New(Options{BaseURL: web.URL + "/", Pause: quick})
	t.Cleanup(func() { srv.Close() })
	c, err := srv.desk.card("abc", calendar, nil, nil)
	if err != nil || c.url != web.URL+"/sign-in/abc" || srv.desk.web != nil {
		t.Fatalf("card at %v, %v", c, err)
	}
	if status, _, _ := browse(t, "POST", c.url, allow); status != 200 || c.decided() != allowed {
		t.Errorf("status %d, verdict %d", status, c.decided())
	}
	if status, _, _ := browse(t, "POST", c.url, refuse); status != 200 || c.decided() != allowed {
		t.Error("the first choice is the one that counts")
	}
}

func TestCardsMakeRoom(t *testing.T) {
	d := newDesk("http://127.0.0.1:1")
	for i := range maxCards + 10 {
		if _, err := d.card(string(mustJSON(i)), calendar, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.cards) != maxCards || d.cards[0].id != "10" {
		t.Errorf("%d cards are kept", len(d.cards))
	}
}

func TestMailboxNeverCompletes(t *testing.T) {
	p, _ := sit(t, setup{revision: protocol.Revision20251125, answer: func(_ context.Context, q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		if status, body, _ := browse(t, "POST", q.URL, allow); status != 200 || !strings.Contains(body, "it never ends") {
			t.Errorf("%d %s", status, body)
		}
		return accept(nil)
	}})
	if got := textOf(p.call("connect_mailbox", nil)); !strings.Contains(got, "never does") {
		t.Errorf("got %q", got)
	}

	p, _ = sit(t, setup{manual: true})
	res := p.call("connect_mailbox", nil)
	for range 12 {
		if !res.NeedsInput() {
			t.Fatal("the mailbox is connected")
		}
		res = p.again("connect_mailbox", nil, res, mcp.InputResponseMap{"mailbox": &mcp.ElicitResult{Action: "accept"}})
	}
	if res = p.again("connect_mailbox", nil, res, mcp.InputResponseMap{"mailbox": &mcp.ElicitResult{Action: "cancel"}}); textOf(res) != "The mailbox is not connected yet." {
		t.Errorf("got %q", textOf(res))
	}
}

func TestProtectedReport(t *testing.T) {
	for _, web := range []bool{false, true} {
		p, _ := sit(t, setup{revision: protocol.Revision20251125, http: web})
		for _, report := range []string{"quarter", "board"} {
			args := map[string]any{"report": report}
			elicitations := func() []mcp.ElicitParams {
				t.Helper()
				_, err := p.try("protected_report", args)
				e, ok := wireError(err)
				if !ok || e.Code != protocol.CodeURLElicitationRequired {
					t.Fatalf("got %v, want -32042", err)
				}
				var data struct{ Elicitations []mcp.ElicitParams }
				if err := json.Unmarshal(e.Data, &data); err != nil {
					t.Fatal(err)
				}
				return data.Elicitations
			}
			open := elicitations()
			// The first sign-in, from the quarter's report, also counts for the board's report.
			if len(open) != 1 || open[0].Mode != "url" || open[0].ElicitationID == "" {
				t.Fatalf("%s: to open: %+v", report, open)
			}
			if again := elicitations(); again[0].ElicitationID != open[0].ElicitationID || again[0].URL != open[0].URL {
				t.Errorf("what is still open is asked for anew: %+v", again)
			}
			browse(t, "POST", open[0].URL, refuse)
			p.await("the completion", func() bool { return slices.Contains(p.completed, open[0].ElicitationID) })
			anew := elicitations()
			if anew[0].ElicitationID == open[0].ElicitationID {
				t.Error("what was refused needs another sign-in")
			}
			browse(t, "POST", anew[0].URL, allow)
			p.await("the completion", func() bool { return slices.Contains(p.completed, anew[0].ElicitationID) })
			if got := textOf(p.call("protected_report", args)); !strings.Contains(got, "Revenue is up") {
				t.Errorf("got %q", got)
			}
		}
	}

	p, _ := sit(t, setup{answer: func(_ context.Context, q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		browse(t, "POST", q.URL, allow)
		return accept(nil)
	}})
	if got := textOf(p.call("protected_report", map[string]any{"report": "board"})); !strings.Contains(got, "Revenue is up") || len(p.asked) != 2 {
		t.Errorf("got %q after %d questions", got, len(p.asked))
	}
}

func wireError(err error) (*jsonrpc.Error, bool) {
	for ; err != nil; err = unwrap(err) {
		if e, ok := err.(*jsonrpc.Error); ok {
			return e, true
		}
	}
	return nil, false
}

func unwrap(err error) error {
	u, ok := err.(interface{ Unwrap() error })
	if !ok {
		return nil
	}
	return u.Unwrap()
}

func TestClientsThatCannotBeAsked(t *testing.T) {
	form := &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}}
	none := &mcp.ClientCapabilities{}
	cases := []struct {
		revision string
		caps     *mcp.ClientCapabilities
		tool     string
		code     int64  // code of the error, if there is one
		want     string // text in the error's data, or in the result
	}{
		{protocol.Revision20250618, nil, "connect_calendar", 0, "which revision 2025-06-18 has no way to ask for"},
		{protocol.Revision20250618, nil, "protected_report", 0, "which revision 2025-06-18 has no way to ask for"},
		{protocol.Revision20251125, form, "connect_calendar", 0, `{"elicitation":{"url":{}}}`},
		{protocol.Revision20251125, form, "protected_report", 0, `{"elicitation":{"url":{}}}`},
		{protocol.Revision20251125, none, "deploy", 0, `{"elicitation":{"form":{}}}`},
		{protocol.Revision20260728, form, "connect_calendar", protocol.CodeMissingCapability, `{"requiredCapabilities":{"elicitation":{"url":{}}}}`},
		{protocol.Revision20260728, none, "deploy", protocol.CodeMissingCapability, `{"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{protocol.Revision20260728, none, "flood", protocol.CodeMissingCapability, `{"requiredCapabilities":{"elicitation":{"form":{}}}}`},
	}
	for _, c := range cases {
		p, _ := sit(t, setup{revision: c.revision, caps: c.caps, client: func(o *mcp.ClientOptions) {
			if c.caps == none {
				o.ElicitationHandler = nil // with a handler, the SDK would declare other capabilities
			}
		}})
		res, err := p.try(c.tool, nil)
		if c.code == 0 {
			if err != nil || !res.IsError || !strings.Contains(textOf(res), c.want) {
				t.Errorf("%s %s: got %v, %v, want %s", c.revision, c.tool, res, err, c.want)
			}
			continue
		}
		if e, ok := wireError(err); !ok || e.Code != c.code || string(e.Data) != c.want {
			t.Errorf("%s %s: got %v, want %d with %s", c.revision, c.tool, err, c.code, c.want)
		}
	}
}

func TestHiddenTools(t *testing.T) {
	form := &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}}
	for _, c := range []struct {
		revision string
		caps     *mcp.ClientCapabilities
		want     bool
	}{
		{protocol.Revision20250618, nil, false}, {protocol.Revision20251125, nil, true}, {protocol.Revision20251125, form, false}, {protocol.Revision20260728, nil, true}, {protocol.Revision20260728, form, false},
	} {
		p, _ := sit(t, setup{revision: c.revision, caps: c.caps})
		list, err := p.session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == "connect_mailbox" })
		if got != c.want {
			t.Errorf("%s, %+v: connect_mailbox is listed: %v", c.revision, c.caps, got)
		}
	}
}

func TestSuspiciousLinks(t *testing.T) {
	for _, link := range suspicious {
		b := newBare(t, protocol.Revision20251125, Options{})
		b.greet()
		if _, err := b.tool("suspicious_link", `{"link":"`+link.name+`"}`); err != nil {
			t.Fatal(err)
		}
		var q struct{ Mode, URL string }
		if err := json.Unmarshal(b.seen[0].Params, &q); err != nil || q.Mode != "url" || q.URL != link.url {
			t.Errorf("%s: sent %s, %v", link.name, b.seen[0].Params, err)
		}
	}
}
