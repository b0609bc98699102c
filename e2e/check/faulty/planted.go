package faulty

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
)

// Plant is a finding that a check must report for a tool.
type Plant struct {
	Tool      string   // name of a tool or prompt, or URI of a resource
	Revisions []string // revisions in which the check must report it
	// Behaviours lists the behaviours under which the check must report it, if they fit.
	Behaviours []string
	// May lists further behaviours under which the check can report it.
	May []string
	// Rules lists the IDs of rules, any of which may report it.
	Rules   []string
	Verdict string // a verdict of package check
	Witness bool   // a check needs a witness for it, which WitnessOf returns
}

// WitnessOf returns what shows the effects of a tool, in three ways that inspector check
// takes.
func WitnessOf(tool string) []string {
	return []string{`tool:ledger {"tool":"` + tool + `"}`, "resource:ledger:" + tool, "command:grep -sc '^" + tool + "' \"$" + LedgerVariable + `" || true`}
}

// LedgerVariable is the environment variable from which a process that serves takes
// [Options.Ledger].
const LedgerVariable = "FAULTY_LEDGER"

// Planted lists the findings for the tools, in the order of tools/list. A check must
// report no others.
func Planted() []Plant {
	var all []Plant
	for _, t := range tools {
		for _, p := range t.plants {
			if p.Tool = t.name; p.Revisions == nil {
				p.Revisions = t.revisions()
			}
			if slices.Contains(p.Behaviours, "no-content") { // which that does, too
				p.May = append(slices.Clip(p.May), "no-content-again")
			}
			all = append(all, p)
		}
	}
	return all
}

// PlantedInDemo lists the findings for the demo server. It has none for flood, impatient,
// times_out, ask_many and suspicious_link, which make work for clients but break no rule.
func PlantedInDemo() []Plant {
	return slices.Concat(
		of("crash_on_decline", onDecline("fail", "process-ended")),
		of("rule_breaker", found("fail", "secret-in-form|nested-object|keyword-unsupported|type-missing|type-union|type-unknown|"+
			"format-unsupported|array-of-objects|choice-incomplete|newer-than-revision", "accept")),
		of("rule_breaker", found("warn", "default-invalid|enum-duplicate|enum-empty|duplicate-member|url-in-form", "accept")),
		of("rule_breaker", also(found("fail", undeclaredMode, "no-elicitation"), "url-only")),
	)
}

// of sets the tool and all revisions of plants.
func of(tool string, plants []Plant) []Plant {
	for i := range plants {
		plants[i].Tool, plants[i].Revisions = tool, mcp.Revisions
	}
	return plants
}

// found returns a plant that must be reported under the behaviours. rules separates the
// IDs by "|".
func found(verdict, rules string, behaviours ...string) []Plant {
	return []Plant{{Rules: strings.Split(rules, "|"), Verdict: verdict, Behaviours: behaviours}}
}

// also sets the behaviours under which the plants can be reported, too.
func also(plants []Plant, behaviours ...string) []Plant {
	for i := range plants {
		plants[i].May = behaviours
	}
	return plants
}

// seen makes the plants those of a check with a witness.
func seen(plants []Plant) []Plant {
	for i := range plants {
		plants[i].Witness = true
	}
	return plants
}

// in limits the plants to some revisions.
func in(plants []Plant, revisions ...string) []Plant {
	for i := range plants {
		plants[i].Revisions = revisions
	}
	return plants
}

// onDecline returns the plant of a tool that handles a decline wrongly.
func onDecline(verdict, rules string) []Plant {
	return also(found(verdict, rules, "decline", "decline-with-content"), "decline-always")
}

// onCancel returns the plant of a tool that handles a cancel wrongly.
func onCancel(verdict, rules string) []Plant {
	return found(verdict, rules, "cancel", "cancel-with-content", "cancel-then-accept")
}

// onCancelAct returns the plants of a tool that takes a cancel for consent.
func onCancelAct() []Plant {
	return append(found("fail", unagreed, "cancel", "cancel-with-content"), in(found("warn", afterCancel, "cancel-then-accept"), mcp.Revision20251125, mcp.Revision20250618)...)
}

// revisions lists the revisions that have the tool.
func (t *tool) revisions() []string {
	return slices.DeleteFunc(slices.Clone(mcp.Revisions), func(r string) bool {
		return r < t.since || t.before != "" && r >= t.before
	})
}

// input returns the schema of the tool's arguments.
func (t *tool) input() string {
	if t.argument == "" {
		return `{"type":"object","additionalProperties":false}`
	}
	return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%[1]q],"additionalProperties":false}`, t.argument)
}

// execution returns the member of the tool that says how it is called; "" for none.
func (t *tool) execution() string {
	if t.task == noTask {
		return ""
	}
	return `,"execution":{"taskSupport":"required"}`
}

// find returns the tool with a name; nil if the revision does not have it.
func find(name, revision string) *tool {
	i := slices.IndexFunc(tools, func(t *tool) bool { return t.name == name && slices.Contains(t.revisions(), revision) })
	if i < 0 {
		return nil
	}
	return tools[i]
}

// listed returns the tools of a revision as a JSON array for tools/list.
func listed(revision string) string {
	var list []string
	for _, t := range tools {
		if slices.Contains(t.revisions(), revision) {
			list = append(list, fmt.Sprintf(`{"name":%q,"title":%q,"description":%s,"inputSchema":%s%s}`,
				t.name, t.title, encode("Has a fault on purpose. "+t.does), t.input(), t.execution()))
		}
	}
	list = append(list, ledgerTool)
	return "[" + strings.Join(list, ",") + "]"
}

// tools lists all tools.
var tools = slices.Concat(hanging, crashing, spoiling, acting, careless, leaking, undeclared, endless, crossing, trusting, unruly, effective, tasked)
