package live

import (
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/wording"
)

// CommandLine returns the command line of the inspector that makes the call. server names
// the server in it; see [transport.Spec.CommandLine].
func (r Request) CommandLine(server string) string {
	words := []string{"inspector", "call"}
	switch r.Kind {
	case conversation.Tool:
	case conversation.Prompt:
		words = append(words, "--prompt")
	default:
		words = append(words, "--resource")
	}
	words = append(words, wording.ShellWord(r.Key))
	if args := string(r.Arguments); args != "" && args != "{}" {
		words = append(words, "--args", wording.ShellWord(args))
	}
	if server != "" {
		words = append(words, server)
	}
	return strings.Join(words, " ")
}
