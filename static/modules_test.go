package static

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestModulesImportOneWay checks that no module imports itself, directly or through
// others. page.js names all other modules, those that every page needs and those that are
// loaded on demand, and no other module names the latter. main.js and door.js stand alone, and composer.js is
// the script of another page.
func TestModulesImportOneWay(t *testing.T) {
	folder := os.DirFS(".")
	names, err := fs.Glob(folder, "*.js")
	names = slices.DeleteFunc(names, func(name string) bool { return name == "bundle.js" || name == "compose.js" })
	if err != nil || len(names) == 0 {
		t.Fatalf("%d modules, %v", len(names), err)
	}
	imports := map[string][]string{}
	var later []string
	from := regexp.MustCompile(`(?m)^import (?:\{[^}]*\} from )?"\./([a-z]+\.js)"$`)
	dynamic := regexp.MustCompile(`import\("\./([a-z]+\.js)"\)`)
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range from.FindAllStringSubmatch(string(text), -1) {
			imports[name] = append(imports[name], m[1])
			if !slices.Contains(names, m[1]) {
				t.Errorf("%s imports %s, which is not there", name, m[1])
			}
		}
		for _, m := range dynamic.FindAllStringSubmatch(string(text), -1) {
			if name != "page.js" || !slices.Contains(names, m[1]) {
				t.Errorf("%s imports %s when it is needed", name, m[1])
			}
			later = append(later, m[1])
		}
	}
	for _, name := range names {
		if name != "main.js" && name != "page.js" && name != "door.js" && name != "composer.js" && !slices.Contains(slices.Concat(imports["page.js"], later), name) {
			t.Errorf("page.js does not name %s", name)
		}
		for _, other := range imports[name] {
			if slices.Contains(later, other) {
				t.Errorf("%s imports %s, which is to come when it is needed", name, other)
			}
		}
	}
	done := map[string]bool{}
	var visit func(name string, way []string)
	visit = func(name string, way []string) {
		if slices.Contains(way, name) {
			t.Errorf("a circle: %s", strings.Join(append(way, name), " → "))
			return
		}
		if done[name] {
			return
		}
		for _, next := range imports[name] {
			visit(next, append(slices.Clone(way), name))
		}
		done[name] = true
	}
	for _, name := range names {
		visit(name, nil)
	}
}
