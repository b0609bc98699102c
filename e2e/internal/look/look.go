// Package look judges how a page looks at its present size: it measures what is cut
// off, covered or too small, and runs axe-core.
package look

import (
	_ "embed"
	"fmt"
	"os"
	"sync"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

//go:embed look.js
var measure string

// Faults returns descriptions of what is cut off, covered, overlapping, or a target
// smaller than least CSS pixels.
func Faults(p *page.Page, least int) []string {
	return page.Eval[[]string](p, fmt.Sprintf("(%s)(%d)", measure, least))
}

// Message returns what hides the message of the longest-waiting question; "" if the
// message is in sight.
func Message(p *page.Page) string {
	return page.Eval[string](p, `(() => {
		const message = document.querySelector('.question[data-state=pending] .message');
		if (!message) return 'no question waits';
		const r = message.getBoundingClientRect(), pane = document.getElementById('work').getBoundingClientRect();
		const bottom = Math.min(pane.bottom, innerHeight);
		if (r.top < pane.top - 1 || Math.min(r.bottom, r.top + pane.height / 2) > bottom + 1) return 'it lies at ' + Math.round(r.top) + '–' + Math.round(r.bottom) + ' px, the pane at ' + Math.round(pane.top) + '–' + Math.round(bottom) + ' px';
		const over = document.elementFromPoint(r.left + 8, r.top + 6);
		return message.contains(over) || over?.contains(message) ? '' : 'it is covered by ' + over?.outerHTML.slice(0, 120);
	})()`)
}

// Shift returns by how much the layout has shifted since the page was loaded, without what
// followed an input or another size of the window (Layout Instability API).
func Shift(p *page.Page) float64 {
	return page.Eval[float64](p, `(() => {
		let sum = 0;
		const observer = new PerformanceObserver(() => {});
		observer.observe({type: 'layout-shift', buffered: true});
		return new Promise(done => setTimeout(() => {
			for (const entry of observer.takeRecords()) if (!entry.hadRecentInput) sum += entry.value;
			observer.disconnect();
			done(sum);
		}));
	})()`)
}

var axe = sync.OnceValues(func() (string, error) {
	source, err := os.ReadFile(servers.Installed("npm", "node_modules", "axe-core", "axe.min.js"))
	return string(source), err
})

// Axe returns the findings of axe-core, including best practices: each with its rule
// and elements. Without rules, it checks all rules.
func Axe(t testing.TB, p *page.Page, rules ...string) []string {
	t.Helper()
	source, err := axe()
	if err != nil {
		t.Fatalf("%v\naxe-core is not installed: run the task `servers` (see Taskfile.yml).", err)
	}
	if !page.Eval[bool](p, "typeof axe === 'object'") {
		page.Eval[any](p, source+"\n;true")
	}
	only := ""
	for _, r := range rules {
		only += fmt.Sprintf("%q,", r)
	}
	return page.Eval[[]string](p, fmt.Sprintf(`axe.run(document, {
		resultTypes: ['violations'], elementRef: false,
		...(%[1]t ? {runOnly: {type: 'rule', values: [%[2]s]}} : {}),
	}).then(found => found.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 160) + ' ' + n.failureSummary.replace(/\s+/g, ' ').slice(0, 300))))`, only != "", only))
}
