package static

import "testing"

// TestSizes bounds what the first load of the page carries.
func TestSizes(t *testing.T) {
	bundle, err := Files.ReadFile("bundle.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, served := range []struct {
		name       string
		size, most int
	}{{"the sheet in every page", len(Sheet), 40_000}, {"the scripts, with the sheet of what is shown later", len(bundle), 80_000}} {
		if served.size > served.most {
			t.Errorf("%s has %d bytes, more than %d", served.name, served.size, served.most)
		}
	}
}
