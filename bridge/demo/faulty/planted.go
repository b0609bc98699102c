package faulty

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/mcp"
)

// Plant is what a check must find in a tool.
type Plant struct {
	Tool      string   // or in the demo server the name of a prompt, or the URI of a resource
	Revisions []string // in which it must be found
	// Behaviours are those under which it must be found, wherever they fit.
	Behaviours []string
	// May are those under which it shows as well, if the trial goes that way.
	May []string
	// Rules are the ids of the rules that tell of it; any of them will do.
	Rules   []string
	Verdict string // as of package check
}

// Planted lists what is wrong with the tools, in the order in which they are listed.
// Whatever else a check says of them is not there.
func Planted() []Plant {
	var all []Plant
	for _, t := range tools {
		for _, p := range t.plants {
			if p.Tool = t.name; p.Revisions == nil {
				p.Revisions = t.revisions()
			}
			all = append(all, p)
		}
	}
	return all
}

// PlantedInDemo lists what is wrong with the tools, prompts and resources of the demo
// server. Tools that give clients trouble and break no rule are not there: flood,
// impatient, times_out, ask_many, suspicious_link.
func PlantedInDemo() []Plant {
	return slices.Concat(
		of("crash_on_decline", onDecline("fail", "process-ended")),
		of("rule_breaker", found("fail", "secret-in-form|nested-object|keyword-unsupported|type-missing|type-union|type-unknown|"+
			"format-unsupported|array-of-objects|choice-incomplete|newer-than-revision", "accept")),
		of("rule_breaker", found("warn", "default-invalid|enum-duplicate|enum-empty|duplicate-member|url-in-form", "accept")),
		of("rule_breaker", also(found("fail", undeclaredMode, "no-elicitation"), "url-only")),
	)
}

// of says whose plants they are.
func of(tool string, plants []Plant) []Plant {
	for i := range plants {
		plants[i].Tool, plants[i].Revisions = tool, mcp.Revisions
	}
	return plants
}

// found is what a check must find under some behaviours.
func found(verdict, rules string, behaviours ...string) []Plant {
	return []Plant{{Rules: strings.Split(rules, "|"), Verdict: verdict, Behaviours: behaviours}}
}

// also adds behaviours under which a plant may show.
func also(plants []Plant, behaviours ...string) []Plant {
	for i := range plants {
		plants[i].May = behaviours
	}
	return plants
}

// in says that plants are to be found in some revisions only.
func in(plants []Plant, revisions ...string) []Plant {
	for i := range plants {
		plants[i].Revisions = revisions
	}
	return plants
}

// onDecline is what must be found in a tool that takes a decline wrongly.
func onDecline(verdict, rules string) []Plant {
	return also(found(verdict, rules, "decline", "decline-with-content"), "decline-always")
}

// onCancel is what must be found in a tool that takes a cancel wrongly.
func onCancel(verdict, rules string) []Plant {
	return found(verdict, rules, "cancel", "cancel-with-content", "cancel-then-accept")
}

// revisions are those that the tool is offered in.
func (t *tool) revisions() []string {
	return slices.DeleteFunc(slices.Clone(mcp.Revisions), func(r string) bool {
		return r < t.since || t.before != "" && r >= t.before
	})
}

// find is the tool of a name; nil if there is none in this revision.
func find(name, revision string) *tool {
	i := slices.IndexFunc(tools, func(t *tool) bool { return t.name == name && slices.Contains(t.revisions(), revision) })
	if i < 0 {
		return nil
	}
	return tools[i]
}

// listed are the tools of a revision, as tools/list returns them.
func listed(revision string) string {
	var list []string
	for _, t := range tools {
		if slices.Contains(t.revisions(), revision) {
			list = append(list, fmt.Sprintf(`{"name":%q,"title":%q,"description":%s,"inputSchema":{"type":"object","additionalProperties":false}}`,
				t.name, t.title, encode("Has a fault on purpose. "+t.does)))
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

// tools are all that there are.
var tools = slices.Concat(hanging, crashing, spoiling, acting, careless, leaking, undeclared, endless, crossing, trusting, unruly)
