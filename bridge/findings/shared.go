package findings

import (
	"fmt"

	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Shared is a finding as it may be shown to others. Findings quote what servers
// say: what r leaves out stays out of them, and where a rule leaves something out
// of the message itself, it is only said which rule of the specification it breaks.
// r must have seen the log.
func Shared(f lint.Finding, seq int64, log *wire.Log, r *redact.Redaction) (lint.Finding, error) {
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
	for _, rule := range lint.Rules() {
		if rule.ID == id && rule.Breaks != "" {
			return "The rule forbids: " + rule.Breaks + "."
		}
	}
	return id
}
