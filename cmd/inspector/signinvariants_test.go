// The race detector makes this test several times slower: each of its calls is a process of
// its own. Other tests sign in with it.

//go:build !race

package main

import (
	"strings"
	"testing"

	faulted "elicitation-inspector/bridge/testdata/protected"
)

// A call fails in each faulty variant with the step and the reason, and succeeds in the others.
// No output has a token, a code or a secret.
func TestCallAtEachVariant(t *testing.T) {
	t.Parallel()
	w := watch(t)
	service := serviceFlags(t)
	t.Run("all", func(t *testing.T) {
		for _, v := range append([]faulted.Variant{{}}, faulted.Variants()...) {
			if v.Name == "refresh-refused" || strings.HasSuffix(v.Name, "-hanging") {
				continue // they take as long as a token is valid, or as the inspector waits
			}
			t.Run("person "+v.Name, func(t *testing.T) {
				t.Parallel()
				var flags []string
				if v.Name == "preregistered" {
					flags = []string{"--oauth-client-id", faulted.ClientID}
				}
				w.judge(t, v, w.signInAndCall(t, v, flags...))
			})
			if v.Name != "" && v.Step != faulted.StepToken && v.Step != faulted.StepRequest && v.Step != faulted.StepUp {
				continue
			}
			t.Run("service "+v.Name, func(t *testing.T) {
				t.Parallel()
				w.judge(t, v, w.signInAndCall(t, v, service...))
			})
		}
	})
	if len(w.Secrets()) < 50 {
		t.Errorf("only %d secrets were searched for", len(w.Secrets()))
	}
}
