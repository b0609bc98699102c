package e2e

import (
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// A million rows are scrolled from end to end: wherever the window stands, by
// key, by wheel or by scroll bar, its rows are those of the transcript, none
// missing, doubled or out of order.
func TestMillionRows(t *testing.T) {
	f := flow{frames: 1_000_000, span: 1000 * 1e9}
	path, _ := f.write(t)
	s := opened(t, f.frames, path)
	s.page.Until(func() string { return fmt.Sprintf("the grid has a million rows; it has %d", s.rowCount()) }, func() bool { return s.rowCount() == f.frames })
	grid := s.page.Region("Wire log").Role("grid", "Frames")
	grid.Focus()

	// right checks the rows in sight, and gives the first and the last of them.
	right := func(where string) (first, last int) {
		t.Helper()
		all := s.inSight()
		for i, r := range all {
			if r.Index != all[0].Index+i || r.Seq != r.Index || !strings.Contains(r.Text, f.says(r.Index)) {
				t.Fatalf("%s: row %d in sight is %+v, after row %d; want %q", where, i+1, r, all[max(0, i-1)].Index, f.says(r.Index))
			}
		}
		return all[0].Index, all[len(all)-1].Index
	}
	reach := func(where string, there func(first, last int) bool) (first, last int) {
		t.Helper()
		s.page.Until(func() string { return fmt.Sprintf("%s; in sight are %d to %d", where, first, last) }, func() bool {
			first, last = right(where)
			return there(first, last)
		})
		return first, last
	}

	s.page.Press(page.Home)
	reach("the first row after Home", func(first, _ int) bool { return first == 1 })
	s.page.Press(page.End)
	reach("the last row after End", func(_, last int) bool { return last == f.frames })

	// By the scroll bar, from end to end.
	const stops = 60
	var before int
	for i := range stops + 1 {
		page.Call[bool](s.page.Region("Wire log"), `function(part) {
			const grid = this.querySelector('[role=grid]');
			grid.scrollTop = part * (grid.scrollHeight - grid.clientHeight);
			return true;
		}`, float64(i)/stops)
		want := float64(f.frames) * float64(i) / stops
		first, last := reach(fmt.Sprintf("the scroll bar at %d of %d", i, stops), func(first, last int) bool {
			return float64(first) < want+2000 && float64(last) > want-2000
		})
		if i > 0 && first <= before {
			t.Fatalf("the scroll bar further down shows row %d, after row %d", first, before)
		}
		before = first
		if i == 0 && first != 1 || i == stops && last != f.frames {
			t.Errorf("the scroll bar at %d of %d shows rows %d to %d", i, stops, first, last)
		}
	}

	// By key and by wheel, over many windows, somewhere in the middle.
	page.Call[bool](s.page.Region("Wire log"), `function() { const g = this.querySelector('[role=grid]'); g.scrollTop = g.scrollHeight * 0.37; return true }`)
	reach("the scroll bar in the middle", func(first, _ int) bool { return first > 300_000 && first < 450_000 })
	chosen := func() int {
		return page.Call[int](s.page.Region("Wire log"), `function() {
			const active = this.querySelector('[role=grid]').getAttribute('aria-activedescendant');
			return Number(document.getElementById(active)?.ariaRowIndex ?? 0);
		}`)
	}
	grid.Role("row", "").All().Nth(5).Click()
	at := 0
	s.page.Until(func() string { return "a row is chosen" }, func() bool { at = chosen(); return at > 300_000 && at < 450_000 })
	grid.HasFocus()
	for i := range 60 {
		key, want := page.Down, at+1
		if i >= 40 {
			key, want = page.Up, at-1
		}
		s.page.Press(key)
		s.page.Until(func() string { return fmt.Sprintf("row %d is chosen; it is %d", want, chosen()) }, func() bool { return chosen() == want })
		at = want
		if first, last := right("stepping by key"); at < first || at > last {
			t.Fatalf("row %d is chosen, in sight are %d to %d", at, first, last)
		}
	}

	down := true
	seenTo, _ := right("before the wheel")
	for i := range 45 {
		if i == 30 {
			down = false
		}
		by := 200.0
		if !down {
			by = -200
		}
		beforeFirst, beforeLast := right("the wheel")
		grid.Wheel(by)
		first, last := reach("the wheel turned", func(first, _ int) bool { return first != beforeFirst })
		if down && (first < beforeFirst || first > beforeLast) || !down && (last > beforeLast || last < beforeFirst) {
			t.Fatalf("the wheel went from %d to %d on to %d to %d: rows were left out", beforeFirst, beforeLast, first, last)
		}
	}
	if now, _ := right("after the wheel"); now <= seenTo {
		t.Errorf("30 turns down and 15 up lead from row %d to row %d", seenTo, now)
	}

	// The same through a filter, whose rows the server picks.
	s.page.Region("Wire log").Field("Filter").Fill("method:elicitation/create kind:request")
	s.page.Until(func() string { return fmt.Sprintf("the filter picks 100 rows; it picks %d", s.rowCount()) }, func() bool { return s.rowCount() == f.frames/10_000 })
	s.page.Press(page.Escape)
	grid.HasFocus()
	for _, key := range []string{page.Home, page.PageDown, page.PageDown, page.End, page.PageUp} {
		s.page.Press(key)
		all := s.inSight()
		for i, r := range all {
			seq := (r.Index-1)*10_000 + 50
			if r.Index != all[0].Index+i || r.Seq != seq || !strings.Contains(r.Text, f.says(seq)) {
				t.Fatalf("filtered row %d in sight is %+v, want frame %d", i+1, r, seq)
			}
		}
	}
}
