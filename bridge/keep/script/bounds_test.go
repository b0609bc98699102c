// The race detector makes these tests several times slower, and nothing in them runs concurrently.

//go:build !race

package script

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/testdata/cost"
)

// nested returns files whose content is nested to a depth of levels, by how it is nested.
func nested(levels int) map[string]string {
	var indented strings.Builder
	for i := range levels - 1 {
		fmt.Fprintf(&indented, "%sa:\n", strings.Repeat(" ", i))
		if indented.Len() > written.SizeMost {
			break
		}
	}
	return map[string]string{
		"JSON":         `{"answers":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`,
		"JSON objects": strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels),
		"not closed":   strings.Repeat(`{"a":`, levels),
		"flow":         "answers: " + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1),
		"dashes":       strings.Repeat("- ", levels-1) + "a",
		"indented":     indented.String() + strings.Repeat(" ", min(levels, 2000)) + "b: 1",
	}
}

// TestNestedTooDeep expects a file that is nested too deep to be refused in little memory,
// and one within the bound to be read.
func TestNestedTooDeep(t *testing.T) {
	const most = 200 << 20 // bytes allocated
	for name, text := range nested(40_000) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("answers.yaml", []byte(text[:min(len(text), written.SizeMost)]), os.LookupEnv)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), written.ErrDepth.Error()) && !strings.Contains(err.Error(), written.ErrValues.Error()) {
			t.Errorf("%s: %.200v", name, err)
		}
		took := after.TotalAlloc - before.TotalAlloc
		if t.Logf("%s: %d MB", name, took>>20); took > most {
			t.Errorf("%s takes %d MB", name, took>>20)
		}
	}
	for name, text := range nested(written.DepthMost) {
		if _, err := Parse("answers.yaml", []byte(text), os.LookupEnv); err != nil && strings.Contains(err.Error(), "nested") {
			t.Errorf("%s: %v", name, err)
		}
	}
	wide := "answers:\n" + strings.Repeat("  - {when: {message: \"a [b {c\"}, action: decline} # ]\n", 500)
	if _, err := Parse("answers.yaml", []byte(wide), os.LookupEnv); err != nil && strings.Contains(err.Error(), "nested") {
		t.Error(err)
	}
}

// TestTooManyValues expects a file of very many tiny values to be refused in little
// memory, and a long text to be read.
func TestTooManyValues(t *testing.T) {
	const most = 150 << 20 // bytes allocated
	for begin, part := range map[string]string{`{"a":[`: "1,", "[": "1,", "[[],": "[],", "": "- 1\n", "a: 1\n": "a: 1\n", "? ": "? a\n", "!": "! ", "&": "&a ", "*": "*a ", `"`: `"" `, "#": "#\n", "-": "---\n"} {
		text := begin + strings.Repeat(part, (written.SizeMost-len(begin))/len(part))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("answers.yaml", []byte(text), os.LookupEnv)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), written.ErrValues.Error()) {
			t.Errorf("%s%s: %.200v", begin, part, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%s%s takes %d MB", begin, part, took>>20)
		}
	}
	long := "default:\n  accept:\n    text: |\n" + strings.Repeat("      A long text has words - and dots.\n", 10_000)
	if _, err := Parse("answers.yaml", []byte(long), os.LookupEnv); err != nil {
		t.Error(err)
	}
}

// TestFileWithoutEnd expects a file that does not end to be refused.
func TestFileWithoutEnd(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip(err)
	}
	if _, err := written.ReadFile("/dev/zero"); err == nil || err.Error() != "reading /dev/zero: it has more than 16 MiB" {
		t.Error(err)
	}
	largest := filepath.Join(t.TempDir(), "largest")
	if err := os.WriteFile(largest, make([]byte, written.SizeMost), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := written.ReadFile(largest); err != nil || len(text) != written.SizeMost {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestManyStars expects patterns with many stars to be matched at once.
func TestManyStars(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for source, want := range map[string]bool{
		strings.Repeat("*", 200) + "b": false, strings.Repeat("a*", 200): true, strings.Repeat("a*", 200) + "b": false,
		"/" + strings.Repeat(".*", 200) + "b/": false,
	} {
		p, err := ParseText(source)
		if err != nil {
			t.Fatal(err)
		}
		took := cost.Of(func() {
			if p.Matches(long) != want {
				t.Errorf("%.20s: %t", source, !want)
			}
		})
		if t.Logf("%.20s %s", source, took); took > 30*time.Second {
			t.Errorf("%.20s costs %s", source, took)
		}
	}
}
