package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/views"
	"elicitation-inspector/views/wirelog"
)

func TestSettings(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	d.done("/servers/s1/settings", url.Values{"protocol": {"2025-11-25"}, "elicitation": {"url"}, "roots": {"1"}})
	d.until("it has connected anew", func() bool {
		s := d.server()
		return s.State == conversation.ServerReady && s.Info.Protocol == "2025-11-25"
	})
	view := serverView(d.server())
	if view.Settings.Declared() != `{"url":{}}` || !view.Settings.Roots || view.Settings.Sampling || view.Settings.Protocol != "2025-11-25" {
		t.Errorf("it is connected with %+v, and declared %s", view.Settings, view.Settings.Declared())
	}
	for _, wrong := range []url.Values{{"protocol": {"2024-11-05"}}, {"elicitation": {"all"}}} {
		if status, _ := d.post("/servers/s1/settings", wrong); status != http.StatusBadRequest {
			t.Errorf("%v: %d, want 400", wrong, status)
		}
	}
}

// TestRemembered checks that the remembered revision applies until it is forgotten, or
// until the person chooses a revision in the settings.
func TestRemembered(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	post := func(path, protocol string, want conversation.ClientSettings) {
		t.Helper()
		d.done(path, url.Values{"protocol": {protocol}, "tasks": {"on"}})
		if got := d.server().Settings; got != want {
			t.Errorf("%s with %q: %+v, want %+v", path, protocol, got, want)
		}
	}
	const remembered, settings = "/servers/s1/remembered", "/servers/s1/settings"
	recalled := conversation.ClientSettings{Protocol: "2025-11-25", Choice: conversation.ChoiceRemembered}
	post(remembered, "2025-11-25", recalled)
	post(settings, "2025-11-25", recalled) // settings saved without a change
	post(remembered, "", conversation.ClientSettings{})
	post(settings, "2025-06-18", conversation.ClientSettings{Protocol: "2025-06-18", Choice: conversation.ChoiceExplicit})
	post(remembered, "2025-11-25", conversation.ClientSettings{Protocol: "2025-06-18", Choice: conversation.ChoiceExplicit})
	post(remembered, "", conversation.ClientSettings{Protocol: "2025-06-18", Choice: conversation.ChoiceExplicit})
	if status, _ := d.post(remembered, url.Values{"protocol": {"2024-11-05"}}); status != http.StatusBadRequest {
		t.Errorf("an unknown revision: %d, want 400", status)
	}
	if status, _ := d.post("/calls/7/again", nil); status != http.StatusNotFound {
		t.Errorf("a call that was never made: %d, want 404", status)
	}
}

// TestCallBeforeTheToolsAreListed checks that a page does not report a missing tool
// while the server's lists are being read again.
func TestCallBeforeTheToolsAreListed(t *testing.T) {
	listings, listed := 0, make(chan struct{})
	slow := mcp.NewServer(&mcp.Implementation{Name: "slow", Version: "1"}, nil)
	slow.AddTool(&mcp.Tool{Name: "deploy", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
	slow.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				if listings++; listings > 1 {
					<-listed
				}
			}
			return next(ctx, method, r)
		}
	})
	d := inspect(t, conversation.ClientSettings{}, target.Spec{Name: "slow", Builtin: logtest.Serving(slow.Connect)}, "deploy")
	before := d.server().Session
	d.done("/servers/s1/reconnect", nil)
	d.until("it has connected anew", func() bool { return d.server().State == conversation.ServerReady && d.server().Session != before })
	call := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"deploy"}}
	if status, text := d.post("/calls", call); status != http.StatusConflict || !strings.Contains(text, "lists are still being read") {
		t.Errorf("before its tools are listed: %d %s", status, text)
	}
	// Chosen now, the tool waits in the middle, with an address that leads to it.
	if middle := d.get("/middle?" + call.Encode()); !strings.Contains(middle, "data-awaits") || !strings.Contains(middle, `data-address="?tool=deploy&amp;server=slow"`) {
		t.Errorf("chosen before its tools are listed: %s", middle)
	}
	close(listed)
	d.until("its tools are listed", func() bool {
		_, err := d.in.Item("s1", conversation.Tool, "deploy")
		return err == nil
	})
	call.Set("key", "unheard_of")
	if status, text := d.post("/calls", call); status != http.StatusNotFound {
		t.Errorf("a tool that is not listed: %d %s", status, text)
	}
}

// TestAddServer checks that the page can connect to further servers only if that is
// allowed.
func TestAddServer(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	if status, why := d.post("/servers", url.Values{"address": {"sh -c true"}}); status != http.StatusForbidden || !strings.Contains(why, "--allow-add") {
		t.Errorf("without leave: %d %s, want 403", status, why)
	}
	if strings.Contains(d.get("/"), "Add server") {
		t.Error("the page offers what it may not do")
	}
	d.s.servers.put = func(ctx context.Context, typed views.NewServer) (string, error) {
		if typed.Address == "" {
			return "address", errors.New("there is no address")
		}
		return "address", d.in.Put(ctx, typed.ID, target.Spec{Name: cmp.Or(typed.Name, "demo"), Builtin: demo.New(demo.Options{}).ServeLines, Dir: typed.Dir, Header: http.Header{"X-Key": {"a", "b"}}})
	}
	if status, form := d.post("/servers", url.Values{"name": {"mine"}}); status != wrong || !strings.Contains(form, `aria-invalid="true"`) || !strings.Contains(form, "There is no address.") || !strings.Contains(form, `value="mine"`) {
		t.Errorf("no address: %d %s, want the form and X-Wrong", status, form)
	}
	if status, form := d.post("/servers", url.Values{"address": {"anything"}}); status != http.StatusOK || strings.Contains(form, "anything") {
		t.Errorf("%d %s, want an empty form", status, form)
	}
	ready := func(n int, label string) {
		t.Helper()
		d.until(label+" is ready", func() bool {
			all := d.in.Servers()
			return len(all) == n && all[n-1].State == conversation.ServerReady && all[n-1].Label == label
		})
	}
	ready(2, "demo 2")

	if form := d.get("/servers/s2/edit"); !strings.Contains(form, `value="demo 2"`) || !strings.Contains(form, "X-Key: a\nX-Key: b</textarea>") {
		t.Errorf("the form to edit it: %s", form)
	}
	d.done("/servers/s2/policy", url.Values{"policy": {"decline"}})
	if status, form := d.post("/servers/s2/edit", url.Values{"address": {""}}); status != wrong || !strings.Contains(form, "There is no address.") {
		t.Errorf("edited into nothing: %d %s", status, form)
	}
	if status, form := d.post("/servers/s2/edit", url.Values{"address": {"it"}, "name": {"mine"}, "dir": {"/"}}); status != http.StatusOK || !strings.Contains(form, `value="mine"`) {
		t.Errorf("edited: %d %s", status, form)
	}
	ready(2, "mine")
	if s, err := d.in.Server("s2"); err != nil || s.Policy != conversation.PolicyDecline || !s.Added {
		t.Errorf("edited, it is %+v, %v", s, err)
	}
	for _, act := range []string{"edit", "remove"} {
		if status, why := d.post("/servers/s1/"+act, url.Values{"address": {"it"}}); status == http.StatusOK || status == http.StatusNoContent {
			t.Errorf("%s the server of the command line: %d %s", act, status, why)
		}
	}

	p := d.s.newPump(t.Context())
	defer p.sub.Close()
	pushed := d.pushed(p, func() {
		d.done("/servers/s2/remove", nil)
		p.redraw(calmly, map[live.Change]bool{{Kind: live.ServerChanged, Server: "s2"}: true})
	})
	if all := d.in.Servers(); len(all) != 1 || !strings.Contains(pushed, `{"id":"server-s2"}`) || !strings.Contains(pushed, `{"id":"offer-s2-tools"}`) {
		t.Errorf("removed: %+v; pushed: %s", all, pushed)
	}
	d.done("/servers/s2/reconnect", nil)
	if status, why := d.post("/servers/s2/edit", url.Values{"address": {"it"}}); status == http.StatusOK || len(d.in.Servers()) != 1 {
		t.Errorf("edited after it was removed: %d %s", status, why)
	}
	if status, form := d.post("/servers", url.Values{"address": {"it"}, "name": {"mine"}}); status != http.StatusOK {
		t.Errorf("added again: %d %s", status, form)
	}
	ready(2, "mine 2") // the log has frames of "mine" already
	added := d.in.Servers()[1]
	for _, row := range rowsOf(t, d, "mine 2") {
		if row.ServerIndex != added.Index {
			t.Errorf("frame %d has the colour of server %d, and its server that of %d", row.Seq, row.ServerIndex, added.Index)
		}
	}
}

// rowsOf returns the rows of the frames of a server, of which there is at least one.
func rowsOf(t *testing.T, d onDemo, server string) (of []wirelog.Row) {
	t.Helper()
	var all []int64
	for seq := range d.in.Log().Len() {
		all = append(all, seq+1)
	}
	rows, err := d.s.wire.rowViews(all)
	if err != nil {
		t.Fatal(err)
	}
	if of = slices.DeleteFunc(rows, func(row wirelog.Row) bool { return row.Server != server }); len(of) == 0 {
		t.Fatalf("there are no frames of %q", server)
	}
	return of
}

func TestPolicy(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	d.done("/servers/s1/policy", url.Values{"policy": {"decline"}})
	if page := d.get("/"); !strings.Contains(page, "declines") {
		t.Errorf("the page does not say so: %s", page)
	}
	if status, _ := d.post("/servers/s1/policy", url.Values{"policy": {"ignore"}}); status != http.StatusBadRequest {
		t.Errorf("an unknown policy: %d, want 400", status)
	}
	if status, _ := d.post("/servers/s9/policy", url.Values{"policy": {"ask"}}); status != http.StatusNotFound {
		t.Errorf("an unknown server: %d, want 404", status)
	}
}

func TestFindings(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	if got := d.get("/servers/s1/findings"); !strings.Contains(got, "Nothing found so far.") {
		t.Errorf("at first: %s", got)
	}
	d.call("rule_breaker", 1)
	d.until("the linter has spoken", func() bool { return len(d.in.Findings("s1")) > 0 })
	if got := d.get("/servers/s1/findings"); !strings.Contains(got, "secret-in-form") {
		t.Errorf("the panel: %s", got)
	}
	for query, want := range map[string]bool{"": true, "?server=s1": true, "?server=s2": false} {
		var list []exported
		if err := json.Unmarshal([]byte(d.get("/findings.json"+query)), &list); err != nil {
			t.Fatal(err)
		}
		if got := len(list) > 0; got != want {
			t.Errorf("%q exports %d findings", query, len(list))
		}
		for _, f := range list {
			if f.Server != "demo" || f.Frame == 0 || f.Question != 1 || f.Rule == "" || f.Text == "" || f.Reference == "" {
				t.Errorf("exported: %+v", f)
			}
		}
	}
}

// TestTimeoutIsKept checks that a typed timeout stays in the form, after an error and
// in the call that was made.
func TestTimeoutIsKept(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	form := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"haggle"}, "tab": {"form"}, "f0": {"many"}, "timeout": {"2.5"}}
	const shown = `name="timeout" value="2.5"`
	if status, drawn := d.post("/calls", form); status != wrong || !strings.Contains(drawn, shown) {
		t.Errorf("with an error: %d %s", status, drawn)
	}
	form.Set("f0", "2")
	if status, text := d.post("/calls", form); status != http.StatusOK || strings.TrimSpace(text) != "1" || !strings.Contains(d.get("/calls/1"), shown) {
		t.Errorf("called: %d %s", status, text)
	}
	for _, wrong := range []string{"0", "-1", "soon", "1e99"} {
		form.Set("timeout", wrong)
		if status, _ := d.post("/calls", form); status != http.StatusBadRequest {
			t.Errorf("timeout %s: %d, want 400", wrong, status)
		}
	}
}

// TestCallIsDrawnWhereItIsAskedFor checks that a page that accepts HTML gets the panel
// of the call that it made.
func TestCallIsDrawnWhereItIsAskedFor(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	form := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"deploy"}, "tab": {"form"}}
	r := httptest.NewRequest(http.MethodPost, "/calls", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	d.s.echo.ServeHTTP(w, r)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `data-call="1"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
