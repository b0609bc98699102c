package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"kind", "kind", 0}, {"", "kind", 4}, {"kidn", "kind", 1}, {"minLenght", "minLength", 1},
		{"methd", "method", 1}, {"xmethod", "method", 1}, {"sever", "server", 1}, {"abc", "xyz", 3},
	} {
		if got, back := Distance(c.a, c.b), Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
