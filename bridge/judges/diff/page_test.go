package diff_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/diff"
)

// TestPageHasEachDifference finds each planted difference on its page, once, listed and in its place,
// with its two frames.
func TestPageHasEachDifference(t *testing.T) {
	t.Parallel()
	for _, c := range planted {
		r := compare(t, session, edited(t, c.edits), diff.Options{})
		text := written(t, r, "html")
		for i := range r.Differences {
			d := &r.Differences[i]
			id := fmt.Sprintf("d%d", i+1)
			if strings.Count(text, `id="`+id+`"`) != 1 || strings.Count(text, `href="#`+id+`"`) != 1 {
				t.Errorf("%s: difference %d is not listed once and in one place", c.name, i+1)
			}
			_, block, _ := strings.Cut(text, `id="`+id+`"`)
			if !strings.Contains(block[:min(len(block), 400)], d.Matter.String()) || !strings.Contains(block, string(d.Kind)) {
				t.Errorf("%s: difference %d does not say its kind", c.name, i+1)
			}
			for _, seq := range []int64{d.OldFrame, d.NewFrame} {
				if block, _, _ := strings.Cut(block, `class="rung`); seq != 0 && !strings.Contains(block, fmt.Sprintf("frame %d", seq)) {
					t.Errorf("%s: difference %d does not show frame %d", c.name, i+1, seq)
				}
			}
		}
	}
}

// TestPageJoinsWhatIsTheSame has a question that is gone stand alone, beside nothing, while what comes
// before and after it is joined.
func TestPageJoinsWhatIsTheSame(t *testing.T) {
	t.Parallel()
	r := compare(t, session, edited(t, without(`"id":"e2","method"`, `"id":"e2","result"`)), diff.Options{})
	var steps []string
	for _, m := range regexp.MustCompile(`class="step (\w+)"`).FindAllStringSubmatch(written(t, r, "html"), -1) {
		steps = append(steps, m[1])
	}
	// the call, the first question with its answer and a message; the question that is gone, its answer; a message and the result
	if got, want := strings.Join(steps, " "), "same same same same differs alone same same"; got != want {
		t.Errorf("the steps are %s, want %s", got, want)
	}
}

// TestPageMarksTheField marks the field on the card of the question.
func TestPageMarksTheField(t *testing.T) {
	t.Parallel()
	r := compare(t, session, edited(t, []string{`"required":["kind"]`, `"required":["kind","note"]`}), diff.Options{})
	text := html.UnescapeString(written(t, r, "html"))
	if n := strings.Count(text, `class="marked"`); n != 2 || !strings.Contains(text, `"note" became required`) {
		t.Errorf("%d fields are marked, want that of the old card and that of the new", n)
	}
}

// TestPageIsSelfContained has texts of a hostile server as text, and nothing that loads, sends or runs.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	const hostile = `\"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e`
	r := compare(t, session, edited(t, []string{"Delete 47 files?", hostile, "Deletes old files.", hostile, `"note":{`, `"` + hostile + `":{`, `"name":"pay"`, `"name":"` + hostile + `"`}), diff.Options{})
	r.New = `<script>alert(3)</script>`
	text := written(t, r, "html")
	if strings.Contains(text, "<script") || strings.Contains(text, "<img") || strings.Contains(text, "\u202e") || regexp.MustCompile(`(src|href)="[^#]`).MatchString(text) {
		t.Error("the page has markup of the server, or loads something")
	}
	if !strings.Contains(html.UnescapeString(text), "default-src 'none'") {
		t.Error("the page has no policy")
	}
}
