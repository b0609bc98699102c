package wording

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"kind", "kind", 0}, {"", "kind", 4}, {"kidn", "kind", 1}, {"minLenght", "minLength", 1},
		{"methd", "method", 1}, {"xmethod", "method", 1}, {"sever", "server", 1}, {"abc", "xyz", 3},
	} {
		if got, back := distance(c.a, c.b), distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"type", "minLength", "required", "method"}
	for name, want := range map[string]string{
		"minLenght": "minLength", "min_length": "minLength", "Required": "required", "methd": "method", "typo": "type", "tap": "", "length": "", "": "",
		"minLengthminLengthminLength": "",
	} {
		if got := Nearest(name, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
