package lint

import (
	"fmt"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Shared returns a finding redacted by r, for others to see. Findings quote servers, so
// redacted values are removed from them. If a redaction rule applies to the frame
// itself, the text is replaced by a description of the broken lint rule. r must have
// seen the log.
func Shared(f Finding, seq int64, log *wire.Log, r *redact.Redaction) (Finding, error) {
	frame, err := log.Frame(seq)
	if err != nil {
		return f, fmt.Errorf("reading what a finding is about: %w", err)
	}
	if r.NamesIn(frame.Raw) {
		f.Text = ruleWords(f.Rule)
	}
	f.Text, f.Pointer = r.Text(f.Text), r.Text(f.Pointer)
	return f, nil
}

func ruleWords(id string) string {
	for _, rule := range Rules() {
		if rule.ID == id && rule.Breaks != "" {
			return "The rule forbids: " + rule.Breaks + "."
		}
	}
	return id
}
