package markup

import (
	"strings"
	"testing"

	"github.com/a-h/templ"
)

func TestCutBetweenCharacters(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("é", 1000), strings.Repeat("x", 1000), strings.Repeat("\xff", 1000)} {
		head := Head(s, 301)
		if !strings.HasPrefix(s, head) || len(head) > 301 || len(s) > 301 && len(head) < 50 || strings.HasSuffix(head, "\xc3") {
			t.Errorf("%d of %d bytes", len(head), len(s))
		}
	}
}

func TestRunsLoseNothing(t *testing.T) {
	for _, s := range []string{
		"", "plain", `{"a": "b\"c", "d": [1.50, -2e3, true, null], "e": {}}`, `"unfinished`, `\`, "\u202eabc\u200b", "täxt \u0301 日本 \U0001F600", `{"a"`, "-", "1.2.3abc",
	} {
		for name, runs := range map[string][]run{"plain": plainRuns(s), "JSON": jsonRuns(s)} {
			var b strings.Builder
			for _, r := range runs {
				b.WriteString(r.Text)
			}
			if b.String() != s {
				t.Errorf("%s: %q became %q", name, s, b.String())
			}
		}
	}
}

func TestJSONRunsTellTokensApart(t *testing.T) {
	var got []string
	for _, r := range jsonRuns(`{"key" : "value", "n": -1.50e3, "b": false}`) {
		if r.Class != "" {
			got = append(got, r.Class+"="+r.Text)
		}
	}
	want := `k="key" s="value" k="n" n=-1.50e3 k="b" b=false`
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, " "), want)
	}
}

// TestFilesInJSON checks that a file stands by its size and hash, and that its bytes can be had.
func TestFilesInJSON(t *testing.T) {
	text := `{"a": "data:image/png;base64,` + strings.Repeat("AAAA", 20_000) + `"}`
	const folded = "60 kB, sha256 "
	for name, drawn := range map[string]templ.Component{"code": JSON(text), "tree": Tree("JSON", []byte(text), nil)} {
		var b strings.Builder
		if err := drawn.Render(t.Context(), &b); err != nil || !strings.Contains(b.String(), folded) || strings.Contains(b.String(), strings.Repeat("A", 65)) {
			t.Errorf("%s: %v, %s", name, err, b.String()[:min(b.Len(), 2000)])
		}
		if !strings.Contains(b.String(), "Show ") {
			t.Errorf("%s has no way to the bytes", name)
		}
	}
	if whole, ok, err := Find(t.Context(), Digest(text), JSON(text)); whole != text || !ok || err != nil {
		t.Errorf("the bytes are not found (%v)", err)
	}
	if from := excerpt([]byte(`"data:image/png;base64,AAAA"`), int64(len(`"data:image/png;base64,`)), 100).text; from != `AAAA"` {
		t.Errorf("the rest is %s", from)
	}
}
