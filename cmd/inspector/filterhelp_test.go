// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"elicitation-inspector/bridge/wire/query"
)

// Every term is in the help and in the docs, and its example is valid.
func TestFilterHelp(t *testing.T) {
	var out bytes.Buffer
	root := newRoot(&out, &out)
	root.SetArgs([]string{"help", "filter"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../../docs/filter.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range query.Terms() {
		if _, err := query.Parse(term.Example); err != nil || !strings.HasPrefix(term.Example, term.Name) {
			t.Errorf("the example %q of %s: %v", term.Example, term.Name, err)
		}
		if !strings.Contains(out.String(), term.Example+" ") || !strings.Contains(string(docs), "`"+term.Example+"` | "+term.Means) {
			t.Errorf("%s is not in the help, or not in docs/filter.md", term.Name)
		}
	}
}
