package export

import (
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	cases := []struct{ in, want string }{
		{"plain\n\ttext é 漢 😀", "plain\n\ttext é 漢 😀"},
		{"a\u202eb", "a‹U+202E›b"},
		{"a\r\nb\rc", "a\nb‹U+000D›c"},
		{"\x00\x1b[1m\xff", "‹U+0000›‹U+001B›[1m‹byte FF›"},
		{"zero\u200bwidth\ufeff", "zero‹U+200B›width‹U+FEFF›"},
		{"\uffff", "‹U+FFFF›"},
	}
	for _, c := range cases {
		if got := Visible(c.in); got != c.want {
			t.Errorf("Visible(%q) = %q, want %q", c.in, got, c.want)
		}
		var back strings.Builder
		for _, r := range Runs(c.in) {
			if r.Mark == "" {
				back.WriteString(Visible(r.Text))
			}
		}
		if s := back.String(); Visible(s) != s {
			t.Errorf("Runs(%q) leaves %q", c.in, back.String())
		}
	}
	lines := []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"exactly 10", 10, "exactly 10"},
		{"more than 10", 10, "more than…"},
		{"two\nlines  here", 40, "two lines here"},
		{"漢字漢字漢字", 7, "漢字漢…"},
		{strings.Repeat("é", 5000), 5, "éééé…"},
	}
	for _, c := range lines {
		if got := Line(c.in, c.columns); got != c.want {
			t.Errorf("Line(%.20q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
}

func TestPolicy(t *testing.T) {
	const ofNothing = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
	if got, want := Policy("", ""), "default-src 'none'; style-src "+ofNothing+"; script-src 'none'; base-uri 'none'; form-action 'none'"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Policy("a", ""); strings.Contains(got, ofNothing) {
		t.Errorf("another style sheet has the same policy: %s", got)
	}
}
