package e2e

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/look"
	"elicitation-inspector/e2e/internal/page"
)

// viewport is a window size, with a mouse or a touch screen.
type viewport struct {
	width, height int64
	touch         bool
}

func (w viewport) String() string { return fmt.Sprintf("%d×%d", w.width, w.height) }

// least is the minimum size of a target, in CSS pixels.
func (w viewport) least() int {
	if w.touch {
		return 44
	}
	return 24
}

// apply sets the window size, and shows a state's pane in a narrow window.
func (w viewport) apply(p *page.Page, pane string) {
	p.Size(w.width, w.height)
	p.Touch(w.touch)
	page.Eval[any](p, fmt.Sprintf(`(async () => {
		if (innerWidth < 900) document.querySelector('.panes [data-pane=%s]')?.click(); // Compose has no panes
		for (let i = 0; i < 2; i++) await new Promise(r => requestAnimationFrame(r));
		// The ladder is drawn again for the width of its pane.
		const ladder = document.getElementById('ladder'), larger = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
		const fits = () => !ladder?.checkVisibility() || Number(ladder.querySelector('svg')?.getAttribute('width')) === Math.max(250, Math.min(Math.round((ladder.clientWidth - 28) / larger), 1600));
		for (let i = 0; i < 100 && !fits(); i++) await new Promise(r => setTimeout(r, 30));
	})()`, pane))
}

var whole = flag.Bool("whole", false, "judge the looks of every state, and make all calls of a long row")

// oftenJudged are the quickest journeys. Every run judges their looks.
var oftenJudged = []string{"several", "results", "links", "findings", "compose"}

// full is the window in which a journey changes from state to state.
var full = viewport{1440, 900, false}

// windows are those in which each state is judged and pictured. The lowest one is a small
// phone's, and about what is left of a larger one at 200 %.
var windows = []viewport{full, {1024, 768, false}, {768, 1024, true}, {390, 844, true}, {320, 568, true}}

// TestLooks checks in each state and window that nothing overflows, overlaps or is covered,
// that every target is large enough, that the message of a waiting question is in sight, that
// axe-core finds nothing, also in the dark, on a phone and in forced colours, and that the
// layout does not shift without an input.
//
// Without -whole, it only runs the journeys in oftenJudged.
func TestLooks(t *testing.T) {
	t.Parallel()
	for _, j := range journeys {
		if !*whole && !slices.Contains(oftenJudged, j.name) {
			continue
		}
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			s := j.start(t)
			for _, state := range j.states {
				state.show(s)
				found := faults(t, s.page, state)
				if shift := look.Shift(s.page); shift >= 0.01 {
					found = append(found, fmt.Sprintf("the layout shifts by %.3f", shift))
				}
				for _, fault := range found {
					t.Errorf("%s: %s", state.name, fault)
				}
			}
		})
	}
}

// faults returns what is wrong with a state in any of the windows.
func faults(t testing.TB, p *page.Page, s state) []string {
	var all []string
	add := func(where string, found []string) {
		for _, f := range found {
			all = append(all, where+": "+f)
		}
	}
	full.apply(p, s.pane)
	add("controls", p.UnlikeTree())
	for _, w := range windows {
		w.apply(p, s.pane)
		add(w.String(), look.Faults(p, w.least()))
		if !s.ask {
			continue
		}
		if hidden := look.Message(p); hidden != "" {
			add(w.String(), []string{"the message is out of sight: " + hidden})
		}
	}
	add("on a phone", look.Axe(t, p, "color-contrast", "target-size"))
	full.apply(p, s.pane)
	add("light", look.Axe(t, p))
	for medium, value := range map[string]string{"prefers-color-scheme": "dark", "forced-colors": "active"} {
		p.Media(medium, value)
		add(value, look.Axe(t, p, "color-contrast"))
	}
	p.Media()
	slices.Sort(all)
	return slices.CompactFunc(all, strings.EqualFold)
}
