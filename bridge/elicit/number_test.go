package elicit

import "testing"

func TestCount(t *testing.T) {
	for in, want := range map[string]int{"3": 3, "3.0": 3, "3e0": 3, "30e-1": 3, "0": 0, "1e30": 1<<31 - 1, "1e999999999": 1<<31 - 1, "-1": -1, "1.5": -1, "x": -1, "-0.5": -1, "-1e999": -1} {
		got := -1
		if n := count(in); n != nil {
			got = *n
		}
		if got != want {
			t.Errorf("count(%s) = %d, want %d", in, got, want)
		}
	}
}
