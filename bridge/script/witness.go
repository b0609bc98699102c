package script

import (
	"encoding/json"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/rawjson"
)

// Witness is what is looked at before and after a call, to see what the call did: the
// result of a tool, the contents of a resource, or the output of a command.
type Witness struct {
	Source    string // as written
	Kind      string // "tool", "resource" or "command"
	Key       string // a tool's name, a resource's URI, or a command line
	Arguments json.RawMessage
}

// ParseWitness reads "tool:NAME {ARGUMENTS}", "resource:URI" or "command:LINE".
func ParseWitness(source string) (*Witness, error) {
	kind, key, _ := strings.Cut(source, ":")
	w := &Witness{Source: source, Kind: kind, Key: strings.TrimSpace(key)}
	if kind == "tool" {
		name, arguments, _ := strings.Cut(w.Key, " ")
		w.Key, w.Arguments = name, json.RawMessage(strings.TrimSpace(arguments))
		if len(w.Arguments) == 0 {
			w.Arguments = json.RawMessage(`{}`)
		}
		if err := rawjson.Check(w.Arguments); err != nil || rawjson.KindOf(w.Arguments) != rawjson.Object {
			return nil, fmt.Errorf("the arguments of the witness %s are no JSON object", name)
		}
	}
	if w.Key == "" || kind != "tool" && kind != "resource" && kind != "command" {
		return nil, fmt.Errorf("a witness is tool:NAME {ARGUMENTS}, resource:URI or command:LINE, not %q", source)
	}
	return w, nil
}
