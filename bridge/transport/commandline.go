package transport

import (
	"maps"
	"slices"
	"strings"

	"elicitation-inspector/bridge/wording"
)

// CommandLine returns the arguments of an inspector command line that select the
// server, quoted for a shell; "" for the built-in server. Values of headers and of the
// environment may be secret, so shell variables stand for them.
func (s Spec) CommandLine() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		words = append(words, "--header", `"`+name+": $"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+`"`)
	}
	for _, pair := range s.Env {
		name, _, _ := strings.Cut(pair, "=")
		words = append(words, "--env", name+`="$`+name+`"`)
	}
	if s.Dir != "" {
		words = append(words, "--cwd", wording.ShellWord(s.Dir))
	}
	if s.Transport != TransportAuto {
		words = append(words, "--transport", string(s.Transport))
	}
	switch {
	case s.URL != "":
		words = append(words, wording.ShellWord(s.URL))
	case s.Command != nil:
		words = append(words, "--", s.Address())
	}
	return strings.Join(words, " ")
}
