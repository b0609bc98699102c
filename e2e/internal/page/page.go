package page

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Wait is the maximum time to wait for a change of the page. It is long enough for slow
// machines and does not measure speed.
const Wait = 60 * time.Second

// Page is one tab. Its methods end the test on failure.
type Page struct {
	t     testing.TB
	ctx   context.Context
	close func()

	at     input.TimeSinceEpoch // the time of further presses; 0 for the present
	second bool                 // whether they are the second of a double press

	mu       sync.Mutex
	complain []string // errors of the browser's console and network
	requests []string // URLs of all requests
}

func newPage(t testing.TB, ctx context.Context, cancel context.CancelFunc) *Page {
	t.Helper()
	p := &Page{t: t, ctx: ctx, close: cancel}
	t.Cleanup(func() {
		if t.Failed() && ctx.Err() == nil {
			p.keepEvidence()
		}
		cancel()
	})
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	// Turn off the driver's own tracking of the document, which would slow down
	// measurements.
	if _, err := call(p, css.Disable, cdp.Empty{}); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	if _, err := call(p, dom.Disable, cdp.Empty{}); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	// Every tab counts as focused, so that none is slowed down or loses focus to another.
	if _, err := call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	return p
}

// Tab opens a URL in another tab of the same browser context.
func (p *Page) Tab(url string) *Page {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	second := newPage(p.t, ctx, cancel)
	second.Goto(url)
	return second
}

// For returns the same tab for another test, usually a subtest.
func (p *Page) For(t testing.TB) *Page {
	sub := &Page{t: t, ctx: p.ctx, close: func() {}}
	t.Cleanup(func() {
		if t.Failed() {
			sub.keepEvidence()
		}
	})
	return sub
}

// Close closes the tab before the end of the test, and its browser context if it
// was opened with one.
func (p *Page) Close() { p.close() }

// Context returns the context for tests that need the browser's protocol itself.
func (p *Page) Context() context.Context { return p.ctx }

func (p *Page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.complain = append(p.complain, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
		}
	case *runtime.EventExceptionThrown:
		p.complain = append(p.complain, "exception: "+thrown(e.ExceptionDetails).Error())
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, ownHost.ReplaceAllString(e.Request.URL, "//127.0.0.1$1"))
	}
}

// Complaints returns the errors that the browser has logged so far: uncaught exceptions,
// refused loads, violations of the content security policy.
func (p *Page) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.complain...)
}

// ownHost matches the host that the inspector makes up for a run, and the one that keeps which it is.
var ownHost = regexp.MustCompile(`//(?:\w+\.)?inspector\.localhost(:\d+)?`)

// Requests returns the URLs of all requests of the page so far, with 127.0.0.1 in place of
// the inspector's own host.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Goto loads a URL and waits for its load event, and for the inspector's scripts.
func (p *Page) Goto(url string) {
	p.t.Helper()
	p.load(url, chromedp.Navigate(url))
}

// Reload loads the page again and waits like Goto.
func (p *Page) Reload() {
	p.t.Helper()
	p.load("the page again", chromedp.Reload())
}

// ready is a promise that the inspector's scripts run; they start after the first
// paint. On other pages it is fulfilled at once. On the page that leads to the inspector's
// own host it fails with the page.
const ready = `(async () => {
	if (document.readyState !== 'complete') await new Promise(done => addEventListener('load', done));
	const { dataset } = document.documentElement;
	if (dataset.own !== undefined && dataset.stays === undefined)
		await new Promise(done => new MutationObserver(() => dataset.stays !== undefined && done()).observe(document.documentElement, {attributes: true}));
	if (document.querySelector('script[type=module]'))
		await new Promise(done => {
			new PerformanceObserver(l => l.getEntriesByName('ready').length && done()).observe({type: 'mark', buffered: true});
		});
})()`

// gone matches the errors of an expression whose page has been replaced by another.
var gone = regexp.MustCompile(`navigated|destroyed|collected|Cannot find context`)

func (p *Page) load(what string, how chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, commandTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, how); err != nil {
		p.t.Fatalf("loading %s: %v", what, err)
	}
	if _, err := evalAgain[any](ctx, p, ready); err != nil {
		p.t.Fatalf("waiting for the scripts of %s: %v", what, err)
	}
}

// dropSockets records every websocket of the page, so that DropSockets can close them.
const dropSockets = `{
	const Real = WebSocket;
	const open = new Set();
	window.WebSocket = class extends Real {
		constructor(...args) { super(...args); open.add(this); this.addEventListener('close', () => open.delete(this)) }
	};
	window.dropSockets = () => { const n = open.size; open.forEach(s => s.close()); return n };
}`

// DropSockets closes every open websocket of the page, and returns their number. The tab
// must come from Blank, with WatchSockets called before its first load.
func (p *Page) DropSockets() int {
	p.t.Helper()
	return Eval[int](p, "window.dropSockets()")
}

// WatchSockets prepares a blank tab for DropSockets.
func (p *Page) WatchSockets() { p.BeforeLoad(dropSockets) }

// BeforeLoad runs a script in every document of this tab before the document's own
// scripts.
func (p *Page) BeforeLoad(script string) {
	p.t.Helper()
	params := cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}
	if _, err := call(p, cdppage.AddScriptToEvaluateOnNewDocument, params); err != nil {
		p.t.Fatalf("preparing the page: %v", err)
	}
}

// Eval returns the value of a JavaScript expression, awaited if it is a promise. If the page
// is replaced meanwhile, the expression is evaluated in the next one.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Wait)
	defer cancel()
	v, err := evalAgain[T](ctx, p, expression)
	if err != nil {
		p.t.Fatalf("evaluating %q in the page: %v", expression, err)
	}
	return v
}

// evalAgain is eval, once more for each page that replaces the one before, until ctx ends.
func evalAgain[T any](ctx context.Context, p *Page, expression string) (T, error) {
	for {
		v, err := eval[T](p, expression)
		if err == nil || ctx.Err() != nil || !gone.MatchString(err.Error()) {
			return v, err
		}
	}
}

func eval[T any](p *Page, expression string) (T, error) {
	var v T
	yes := true
	res, err := call(p, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ReturnByValue: &yes, AwaitPromise: &yes})
	if err != nil {
		return v, err
	}
	return v, decode(res.Result, res.ExceptionDetails, &v)
}

func decode(result *runtime.RemoteObject, exception *runtime.ExceptionDetails, v any) error {
	if exception != nil {
		return thrown(exception)
	}
	if result == nil || len(result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(result.Value, v)
}

// thrown converts an exception of the page to an error.
func thrown(e *runtime.ExceptionDetails) error {
	if e.Exception != nil && e.Exception.Description != "" {
		return fmt.Errorf("%s", e.Exception.Description)
	}
	return fmt.Errorf("%s", e.Text)
}

// Title returns the document's title.
func (p *Page) Title() string {
	p.t.Helper()
	return Eval[string](p, "document.title")
}

// changed waits for the next change of the document, or a short time, since changes of
// focus or layout need not change the document.
func (p *Page) changed() {
	_, _ = eval[bool](p, `new Promise(done => {
		const o = new MutationObserver(() => { o.disconnect(); done(true) });
		o.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
		setTimeout(() => { o.disconnect(); done(false) }, 40);
	})`)
}

// Until waits until holds returns true, and checks it after each change of the page. what
// describes the condition for the failure.
func (p *Page) Until(what func() string, holds func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(Wait); ; {
		if holds() {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("after %v still not: %s", Wait, what())
		}
		if err := p.ctx.Err(); err != nil {
			p.t.Fatalf("the tab is gone while waiting: %s", what())
		}
		p.changed()
	}
}

// Size sets the size of the tab's window in CSS pixels.
func (p *Page) Size(width, height int64) {
	p.t.Helper()
	params := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1}
	if _, err := call(p, emulation.SetDeviceMetricsOverride, params); err != nil {
		p.t.Fatalf("sizing the window: %v", err)
	}
}

// UserAgent has the tab name itself as another browser, and send no hints of its own about that.
func (p *Page) UserAgent(agent string) {
	p.t.Helper()
	if _, err := call(p, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent}); err != nil {
		p.t.Fatalf("naming another browser: %v", err)
	}
}

// Touch sets whether the page is on a touch screen, where the pointer is coarse.
func (p *Page) Touch(on bool) {
	p.t.Helper()
	if _, err := call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: on}); err != nil {
		p.t.Fatalf("setting the touch screen: %v", err)
	}
}

// Media sets media features in pairs, such as "prefers-color-scheme", "dark". All other
// features get the browser's defaults.
func (p *Page) Media(features ...string) {
	p.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{}}
	for i := 0; i+1 < len(features); i += 2 {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	if _, err := call(p, emulation.SetEmulatedMedia, params); err != nil {
		p.t.Fatalf("setting the medium: %v", err)
	}
}

// Screenshot returns the page as a PNG.
func (p *Page) Screenshot() ([]byte, error) {
	res, err := call(p, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{})
	return res.Data, err
}

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// keepEvidence writes a picture of the page, its document and its complaints
// into a folder, and names the folder in the test's log.
func (p *Page) keepEvidence() {
	dir, err := os.MkdirTemp("", "inspector-e2e-"+unsafeInNames.ReplaceAllString(p.t.Name(), "_")+"-")
	if err != nil {
		p.t.Logf("keeping evidence: %v", err)
		return
	}
	if picture, err := p.Screenshot(); err == nil {
		_ = os.WriteFile(filepath.Join(dir, "page.png"), picture, 0o600)
	}
	if html, err := eval[string](p, "document.documentElement.outerHTML"); err == nil {
		_ = os.WriteFile(filepath.Join(dir, "page.html"), []byte(html), 0o600)
	}
	tree, err := p.outline()
	if err == nil {
		_ = os.WriteFile(filepath.Join(dir, "accessibility.txt"), []byte(tree), 0o600)
	}
	p.t.Logf("the page as it was is in %s; the browser complained of: %q; it had: %s", dir, p.Complaints(), strings.Join(landmark.FindAllString(tree, 40), ", "))
}

// landmark matches the lines of an outline that tell which parts of the page are shown.
var landmark = regexp.MustCompile(`\b(region|navigation|dialog|article|heading) ".+"`)

// text is the text of a role or name in the accessibility tree.
func text(v *accessibility.Value) string {
	var s string
	if v == nil || json.Unmarshal(v.Value, &s) != nil {
		return ""
	}
	return s
}

// outline returns the page's accessibility tree, one line per node.
func (p *Page) outline() (string, error) {
	nodes, err := p.tree()
	depth := map[accessibility.NodeID]int{}
	out := ""
	for _, n := range nodes {
		d := 0
		if parent, ok := depth[n.ParentID]; ok {
			d = parent + 1
		}
		depth[n.NodeID] = d
		if !n.Ignored {
			out += fmt.Sprintf("%*s%s %q\n", d, "", text(n.Role), text(n.Name))
		}
	}
	return out, err
}

// tree returns the nodes of the browser's accessibility tree.
func (p *Page) tree() ([]*accessibility.Node, error) {
	res, err := call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	return res.Nodes, err
}

// UnlikeTree returns what the finder and the browser's accessibility tree do not both have, of all
// the roles that a control is found by. White space does not count, since in names the tree keeps
// that of an earlier layout.
func (p *Page) UnlikeTree() []string {
	p.t.Helper()
	roles := append([]string{
		"alert", "article", "button", "cell", "columnheader", "dialog", "DisclosureTriangle", "form", "grid", "gridcell", "heading",
		"image", "link", "list", "listitem", "navigation", "option", "progressbar", "radio", "region", "row", "status", "tab", "tabpanel", "table",
	}, fieldRoles...)
	all := p.find("element", roles, "").All()
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	var unlike []string
	p.Until(func() string { return "the page stays as it is for a moment" }, func() bool {
		found, err := all.matches()
		if err != nil {
			return false
		}
		more := map[match]int{} // in the tree than the finder has
		nodes, err := p.tree()
		if err != nil {
			p.t.Fatalf("reading the accessibility tree: %v", err)
		}
		parts := map[accessibility.NodeID]bool{} // of controls that the browser puts together itself
		for _, n := range nodes {
			role := text(n.Role)
			if parts[n.NodeID] || slices.Contains([]string{"Date", "DateTime", "InputTime", "Audio", "Video"}, role) {
				for _, id := range n.ChildIDs {
					parts[id] = true
				}
			}
			if !n.Ignored && !parts[n.NodeID] && slices.Contains(roles, role) {
				more[match{role, bare(text(n.Name))}]++
			}
		}
		for _, m := range found {
			more[match{m.Role, bare(m.Name)}]--
		}
		unlike = nil
		for m, n := range more {
			if n != 0 {
				unlike = append(unlike, fmt.Sprintf("the accessibility tree has %d more than the finder of %s %q", n, m.Role, m.Name))
			}
		}
		after, err := all.matches()
		return err == nil && slices.Equal(found, after)
	})
	return unlike
}
