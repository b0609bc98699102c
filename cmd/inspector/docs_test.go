package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/keep/script"
)

// examples returns the code blocks of a language in a document.
func examples(t *testing.T, document, language string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	if len(list) == 0 {
		t.Fatalf("%s has no example in %s", document, language)
	}
	return list
}

// compiled returns the schema of the files of a kind.
func compiled(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	schema, err := script.Schema(kind)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDocumentedAnswers parses the examples of the documentation and validates them by the
// published schemas.
func TestDocumentedAnswers(t *testing.T) {
	answers, scenario := compiled(t, "answers"), compiled(t, "scenario")
	env := func(name string) (string, bool) { return "CHG-12345", name == "TICKET" }
	for _, text := range examples(t, "answers.md", "yaml") {
		schema, err := answers, error(nil)
		if strings.Contains(text, "calls:") {
			schema = scenario
			var s, again *script.Scenario
			if s, err = script.ParseScenario("scenario", []byte(text), env); err == nil {
				if again, err = script.ParseScenario("again", []byte(s.String()), env); err == nil && !rawjson.Same(again.Source, s.Source) {
					t.Errorf("what is written of %s is\n%s", text, s)
				}
			}
		} else {
			_, err = script.Parse("answers", []byte(text), env)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if err := valid(schema, text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// TestDocumentedPlan parses the plan of the documentation and validates it by its schema.
func TestDocumentedPlan(t *testing.T) {
	schema := compiled(t, "plan")
	for _, text := range examples(t, "check.md", "yaml") {
		if _, err := script.ParsePlan("plan", []byte(text), func(string) (string, bool) { return "x", true }, judge.BehaviourNames()); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if err := valid(schema, text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func valid(schema *jsonschema.Schema, text string) error {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// TestSchemaAndReaderAgree checks that the schema and the reader accept and refuse the same files.
func TestSchemaAndReaderAgree(t *testing.T) {
	schema := compiled(t, "answers")
	for text, good := range map[string]bool{
		"answers: []": true, "default: accept": true, "default: {accept: valid}": true, "default: {accept: {a: {$env: X}, b: [{$choice: 2}], c: {d: 1}}}": true,
		"default: {fault: any-error, code: 5, message: m, data: {a: 1}}": true, "default: {fault: late, seconds: 2}": true, "default: {result: {roots: []}}": true,
		"answers: [{answer: ask, delay: 1s, retry: 2ms, times: 3, match: {server: a, tool: b, prompt: c, resource: d, message: e, key: f, withFields: [g], mode: url, round: 1, nth: 2}, expect: {message: m, allFields: {a: {}}, asked: 0}}]": true,
		"answers: [{answer: ask, match: {fields: [a]}, expect: {fields: {a: {}}, asked: {minimum: 1}}}, {answer: ask, expect: {allFields: [a]}}]":                                                                                              true,
		"answers: [{answer: ask, expect: {asked: {minimum: 0}}}]": false, "answers: [{answer: ask, expect: {asked: {least: 1}}}]": false,
		"expect: {result: '*', findings: [a]}": true, "expect: {error: {code: 1}, findings: none}": true,
		"default: maybe": false, "default: {accept: all}": false, "default: {rest: valid}": false, "default: {accept: {a: {$choice: 0}}}": false,
		"answers: [{match: {}}]": false, "answers: [{answer: ask, match: {tol: x}}]": false, "answers: [{answer: ask, delay: soon}]": false,
		"answers: [{answer: ask, match: {round: 0}}]": false, "expect: {result: {}, error: {}}": false, "expect: {findings: some}": false, "expects: {}": false,
	} {
		env := func(string) (string, bool) { return "x", true }
		s, err := script.Parse("answers", []byte(text), env)
		if (err == nil) != good {
			t.Errorf("the reader: %s: %v", text, err)
		}
		if again, err := script.Parse("again", []byte(s.String()), env); good && (err != nil || !rawjson.Same(again.Source, s.Source)) {
			t.Errorf("what is written of %s: %v\n%s", text, err, s)
		}
		if err := valid(schema, text); (err == nil) != good {
			t.Errorf("the schema: %s: %v", text, err)
		}
	}
}

// TestDocumentedTests runs the tests of docs/ci.md.
func TestDocumentedTests(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for language, c := range map[string]struct {
		file    string
		command []string
	}{
		"go":     {"deploy_test.go", []string{"go", "test", "deploy_test.go"}},
		"js":     {"deploy.test.mjs", []string{"node", "--test", "deploy.test.mjs"}},
		"python": {"test_deploy.py", []string{"python3", "test_deploy.py"}},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.command[0]); err != nil {
				t.Skipf("there is no %s here", c.command[0])
			}
			path := write(t, c.file, examples(t, "ci.md", language)[0])
			cmd := exec.Command(c.command[0], c.command[1:]...)
			cmd.Dir = filepath.Dir(path)
			cmd.Env = append(os.Environ(), "INSPECTOR="+self, asInspector+"=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestMapHasEveryPackage checks that the map in docs/architecture.md names every package, and no
// package that does not exist.
func TestMapHasEveryPackage(t *testing.T) {
	packages := imports(t)
	mapped := map[string]bool{}
	var above []string // the parent packages of the present line, by indentation
	for line := range strings.Lines(examples(t, "architecture.md", "")[0]) {
		names := strings.TrimSpace(line[:min(len(line), 23)])
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		if names == "" || depth > len(above) {
			continue // a continued description
		}
		above = above[:depth]
		for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return strings.ContainsRune(", ", r) }) {
			mapped[strings.Join(append(above, name), "/")] = true
		}
		above = append(above, strings.FieldsFunc(names, func(r rune) bool { return strings.ContainsRune(", ", r) })[0])
	}
	for name := range packages {
		if !mapped[name] {
			t.Errorf("%s is not on the map", name)
		}
		delete(mapped, name)
	}
	delete(mapped, "e2e") // a separate module
	for name := range packages {
		delete(mapped, path.Dir(name)) // a wing
	}
	for name := range mapped {
		t.Errorf("%s is on the map, and is no package", name)
	}
}

// TestWings checks that each wing of the house imports only those that the table in
// docs/architecture.md allows it.
func TestWings(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| wing | imports |\n|---|---|\n")
	if !ok {
		t.Fatal("there is no table of wings")
	}
	folder := func(wing string) string {
		if wing == "views" {
			return wing
		}
		return "bridge/" + wing
	}
	within := func(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
	allowed := map[string][]string{} // by the folder of a wing: folders
	for row := range strings.Lines(table) {
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row, -1)
		if len(names) == 0 {
			break
		}
		wing := folder(names[0][1])
		for _, name := range names {
			allowed[wing] = append(allowed[wing], folder(name[1]))
		}
	}
	for name, imported := range imports(t) {
		for wing, folders := range allowed {
			if !within(name, wing) {
				continue
			}
			for _, other := range imported {
				if inside := strings.HasPrefix(other, "bridge/") || within(other, "web"); inside && !slices.ContainsFunc(folders, func(f string) bool { return within(other, f) }) {
					t.Errorf("%s imports %s", name, other)
				}
			}
		}
		if strings.HasPrefix(name, "bridge/") && !slices.ContainsFunc(slices.Collect(maps.Keys(allowed)), func(wing string) bool { return within(name, wing) }) {
			t.Errorf("%s is in no wing", name)
		}
	}
}

// imports returns what each package of the inspector imports of the others, without its tests.
func imports(t *testing.T) map[string][]string {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir = filepath.Join("..", "..")
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(packages)) {
		var own []string
		for _, name := range strings.Fields(line) {
			if name, ours := strings.CutPrefix(name, "elicitation-inspector/"); ours {
				own = append(own, name)
			}
		}
		all[own[0]] = own[1:]
	}
	return all
}

// TestTestdataIsForTests checks that the binary is built without the packages of the tests.
func TestTestdataIsForTests(t *testing.T) {
	packages, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(packages), "elicitation-inspector/bridge/testdata/") {
		t.Error("it imports bridge/testdata")
	}
}

// TestWithoutTemplates checks that nothing can execute a template of text/template or
// html/template. They look for methods by names that only a run knows, so that the linker
// keeps every exported method of every library: 7 MB of the binary.
func TestWithoutTemplates(t *testing.T) {
	self, err := os.Executable() // which is the inspector, too
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Join([]string{"text/template.(*state)", "evalField"}, ".") // as a constant it would be in the binary itself
	if bytes.Contains(binary, []byte(name)) {
		t.Errorf("it has %s: see what leads there by go build -ldflags=-dumpdep", name)
	}
}

// TestKindsOfDifference compares the table of docs/replay.md with the kinds that there are.
func TestKindsOfDifference(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "replay.md"))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, k := range diff.Kinds {
		fmt.Fprintf(&table, "| %s | %s | %s |\n", k.ID, k.Matter, k.Says)
	}
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("docs/replay.md must have\n%s", &table)
	}
	for _, example := range examples(t, "replay.md", "yaml") {
		if _, err := diff.ParseVarying("replay.md", []byte(example)); err != nil {
			t.Error(err)
		}
	}
}
