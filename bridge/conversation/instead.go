package conversation

import (
	"strings"

	"elicitation-inspector/bridge/wording"
)

// insteadMost is the number of names that Instead lists.
const insteadMost = 30

// Instead returns which of the names of a server's items is most like one that it does not
// have, and lists them, to follow a sentence that says so.
func Instead(name string, names []string) string {
	if len(names) == 0 {
		return "; it offers none"
	}
	text := "; it offers "
	if hint := wording.DidYouMean(name, names); hint != "" {
		text = hint + " It offers "
	}
	var list []string
	for _, n := range names[:min(len(names), insteadMost)] {
		list = append(list, wording.Quoted(n))
	}
	text += strings.Join(list, ", ")
	if more := len(names) - insteadMost; more > 0 {
		text += " and " + wording.Plural(more, "other")
	}
	return text
}
