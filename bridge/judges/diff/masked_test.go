package diff

import (
	"testing"
)

// What is looked at in parts is masked as the whole text would be.
func FuzzMasked(f *testing.F) {
	for _, text := range []string{
		"", "a", "image 00000008-0000-4000-8000-00000000000a of shop-1 is pulled", "at 10:00:00 and 2026-11-28 10:00:00 GMT",
		"http://localhost:8080/x [::1]:80", "x-00000008-0000-4000-8000-00000000000a-y", "eyJhbGciOiJIUzI1NiIs.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV", "deadbeefdeadbee1.", "ä1234567890abcdef1", `{"n":1,"at":"12:30:00Z"}`, "1234567890ABCDEF, -Abcdefghijklmnopqrst1-",
	} {
		f.Add(text)
		f.Add(text + " " + text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := masked(text), withoutShapes(text); got != want {
			t.Errorf("%q is masked as %q, not as %q", text, got, want)
		}
	})
}
