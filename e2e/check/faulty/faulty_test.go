package faulty

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dlclark/regexp2/v2"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
)

const both = `{"form":{},"url":{}}`

// TestEachToolHasOneFault expects each tool to show its defect under the behaviours of its
// plants, in each of its revisions, and no defect under other behaviours.
func TestEachToolHasOneFault(t *testing.T) {
	startClock(t)
	for _, tool := range tools {
		if tool.task != noTask {
			continue // this client knows no tasks
		}
		for _, revision := range tool.revisions() {
			t.Run(tool.name+"/"+revision, func(t *testing.T) {
				t.Parallel()
				shown := observe(t, tool, revision)
				for name, rules := range shown {
					for _, rule := range rules {
						if !planted(tool, name, rule) {
							t.Errorf("%s shows %s, which is not planted", name, rule)
						}
					}
				}
				for _, p := range Planted() {
					if p.Tool != tool.name || !slices.Contains(p.Revisions, revision) || p.Witness || tool.inherits {
						continue // this client sees one session, and no effects
					}
					ran := 0
					for _, name := range p.Behaviours {
						rules, ok := shown[name]
						if ok {
							ran++
						}
						if ok && !slices.ContainsFunc(rules, func(rule string) bool { return slices.Contains(p.Rules, rule) }) {
							t.Errorf("%s does not show %s", name, p.Rules)
						}
					}
					before := func(name string) bool { // this client makes no call before
						return slices.Contains([]string{"other-arguments-state", "forged-state-declined", "no-content-again"}, name)
					}
					if ran == 0 && !slices.ContainsFunc(p.Behaviours, before) {
						t.Errorf("none of %v fits", p.Behaviours)
					}
				}
			})
		}
	}
}

// startClock starts the clock that all matches of patterns share outside of any synctest
// bubble.
func startClock(t *testing.T) {
	re := regexp2.MustCompile("a")
	re.MatchTimeout = time.Hour
	if _, err := re.MatchString("a"); err != nil {
		t.Fatal(err)
	}
}

func planted(t *tool, behaviour, rule string) bool {
	return slices.ContainsFunc(t.plants, func(p Plant) bool {
		all := slices.Concat(p.Behaviours, p.May)
		isRule := slices.Contains(p.Rules, rule)
		// Each trial's log shows the linter's findings.
		return isRule && (slices.Contains(all, behaviour) || slices.Contains(all, "*") || slices.Contains(p.Behaviours, "accept"))
	})
}

// observe tries every behaviour that fits a tool, and returns the broken rules by
// behaviour.
func observe(t *testing.T, tool *tool, revision string) map[string][]string {
	shown := map[string][]string{}
	note := func(name string, rules []string) {
		shown[name] = append(slices.Clip(shown[name]), rules...)
	}
	var honest trial
	var facts []fault.Facts // of each question
	run(t, revision, both, func(c *client) {
		honest = c.call(tool.name, func(c *client, name, id string, q asked, n int) json.RawMessage {
			facts = append(facts, c.facts(name, q))
			return honestly(c, name, id, q, n)
		})
		note("accept", judged(honest, trial{}, ""))
	})
	if !honest.responded {
		return shown
	}
	for i := range facts {
		for _, action := range []string{"decline", "cancel"} {
			run(t, revision, both, func(c *client) {
				tr := c.call(tool.name, refusing(action, i+1))
				note(action, c.judge(tool, tr, honest, "refusal"))
			})
		}
		if confirms(facts[i]) {
			run(t, revision, both, func(c *client) {
				tr := c.call(tool.name, func(c *client, tool, id string, q asked, n int) json.RawMessage {
					c.respond(tool, q, `{"action":"accept","content":{"confirm":false}}`)
					return nil
				})
				note("accept-no", c.judge(tool, tr, honest, "refusal"))
			})
		}
		for _, f := range fault.For(facts[i]) {
			if f.Group == fault.Connection || f.Name == "given-content" || f.Name == "given-result" {
				continue
			}
			run(t, revision, both, func(c *client) {
				tr := c.call(tool.name, spoilt(f.Name, f.Field, i+1))
				note(f.Name, c.judge(tool, tr, honest, kindOf(f, facts[i])))
			})
		}
	}
	for name, declares := range map[string]string{"no-elicitation": "", "form-only": `{"form":{}}`, "url-only": `{"url":{}}`} {
		if revision == mcp.Revision20250618 && declares != "" {
			continue
		}
		run(t, revision, declares, func(c *client) {
			tr := c.call(tool.name, honestly)
			note(name, c.judge(tool, tr, honest, "declared"))
		})
	}
	if revision < mcp.Revision20260728 {
		run(t, revision, both, func(c *client) {
			c.call(tool.name, func(c *client, name, id string, q asked, n int) json.RawMessage {
				ping := c.request(mcp.MethodPing, "")
				if !slices.ContainsFunc(c.next(), func(m message) bool { return string(m.ID) == ping }) {
					note("late", []string{"ping-unanswered"})
				}
				return honestly(c, name, id, q, n)
			})
		})
	}
	run(t, revision, both, func(c *client) {
		if tr := c.call(tool.name, decliningAlways); tr.questions >= 20 {
			note("decline-always", []string{"asks-for-ever"})
		}
	})
	run(t, revision, both, func(c *client) { note("several-at-once", c.several(tool, facts[0])) })
	return shown
}

// run calls f with a new client in a synctest bubble.
func run(t *testing.T, revision, declares string, f func(*client)) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, revision, declares)
		defer c.close()
		f(c)
	})
}

func refusing(action string, place int) behaviour {
	return func(c *client, tool, id string, q asked, n int) json.RawMessage {
		if n != place {
			return honestly(c, tool, id, q, n)
		}
		c.respond(tool, q, `{"action":"`+action+`"}`)
		return nil
	}
}

func decliningAlways(c *client, tool, id string, q asked, n int) json.RawMessage {
	if n <= 20 {
		c.respond(tool, q, `{"action":"decline"}`)
	}
	return nil
}

// kindOf returns how a good tool reacts to a fault.
func kindOf(f fault.Fault, facts fault.Facts) string {
	patient := []string{"never-retry", "wrong-id", "retyped-id", "answer-withdrawn", "invalid-json", "response-after-cancel"}
	harmless := []string{"extra-field", "extra-key", "response-twice", "half-then-rest", "byte-by-byte", "late", "same-id",
		"accept-unopened", "accept-with-content", "retry-before-completion"}
	emptyFits := facts.Request.Mode == elicit.ModeURL && f.Group == fault.Content
	switch {
	case f.Name == "never":
		return "never"
	case slices.Contains(patient, f.Name):
		return "patience"
	case slices.Contains(harmless, f.Name) || emptyFits:
		return "honest"
	case f.Name == "other-tool":
		return "foreign"
	case strings.HasPrefix(f.Name, "changed-state") || slices.Contains([]string{"invented-state", "no-state"}, f.Name):
		return "forged"
	case f.Name == "cancel-then-accept":
		return "change of mind"
	case strings.HasPrefix(f.Name, "decline") || strings.HasPrefix(f.Name, "cancel"), f.Group == fault.Result, f.Group == fault.Error:
		return "refusal"
	case f.Name == "missing-key":
		return "lacking"
	case confirms(facts) && f.Group == fault.Content && (f.Field == "confirm" || f.Field == ""):
		return "refusal"
	case f.Group == fault.Content:
		return "content"
	}
	return "result"
}

// confirms reports whether a question's form has a field to confirm with.
func confirms(facts fault.Facts) bool {
	return slices.ContainsFunc(facts.Request.Fields, func(f elicit.Field) bool { return f.Name == "confirm" })
}

// judge returns the rules that a trial breaks, and whether the tool is usable after it.
func (c *client) judge(t *tool, tr, honest trial, kind string) []string {
	rules := judged(tr, honest, kind)
	if c.crashed {
		return append(rules, "process-ended")
	}
	if kind == "declared" {
		if !tr.responded {
			rules = append(rules, "no-response")
		}
		return rules
	}
	if kind != "patience" && kind != "never" && !tr.responded {
		return append(rules, "no-response")
	}
	if tr.takenBack && !tr.responded && kind == "never" {
		return append(rules, "no-response")
	}
	after := c.call(t.name, honestly)
	switch {
	case !after.responded:
		return append(rules, "unusable")
	case kind == "refusal" && after.questions == 0 && honest.questions > 0 && after.text == honest.text:
		return append(rules, "goes-on-unasked")
	case after.text != honest.text || after.isError != honest.isError:
		return append(rules, "refuses-afterwards")
	}
	return rules
}

// judged returns the rules that the questions and the response of a trial break.
func judged(tr, honest trial, kind string) []string {
	rules := slices.Clone(tr.rules)
	for _, mark := range []string{"goroutine ", "(node:internal", "Traceback", "Cannot read properties", "java.base/", "panicked at", "NoneType"} {
		if strings.Contains(tr.all, mark) {
			rules = append(rules, "leaks-internals")
			break
		}
	}
	used := tr.responded && !tr.isError && (tr.questions == honest.questions || kind == "declared") && (tr.text == honest.text || uses(tr, honest))
	switch {
	case kind == "" && !tr.responded:
		rules = append(rules, "no-response")
	case kind == "honest" && tr.responded && tr.text != honest.text && !slices.Contains(rules, "leaks-internals"):
		rules = append(rules, fmt.Sprintf("a fault of its own: %q", tr.text))
	case (kind == "refusal" || kind == "lacking" || kind == "never") && used:
		rules = append(rules, unagreed)
	case kind == "change of mind" && used:
		rules = append(rules, afterCancel)
	case kind == "lacking" && tr.isError:
		rules = append(rules, "fails-on-missing-answer")
	case kind == "declared" && strings.Contains(tr.all, `"code":-32602`):
		rules = append(rules, "capability-error-missing")
	case kind == "declared" && used && tr.questions == 0:
		rules = append(rules, "goes-on-unasked")
	case kind == "content" && used:
		rules = append(rules, "uses-invalid-content")
	case kind == "forged" && tr.responded && !tr.isError && tr.questions == honest.questions:
		rules = append(rules, "forged-state")
	case kind == "foreign" && used:
		rules = append(rules, "foreign-state")
	}
	return rules
}

// uses reports whether the text of a trial has a value of its content that the text of the
// honest call does not have.
func uses(tr, honest trial) bool {
	for _, value := range rawjson.Members(tr.content) {
		word := plain(value)
		if shown := func(text string) bool {
			return strings.Contains(text, word) || strings.Contains(text, strings.ToUpper(word))
		}; shown(tr.text) && !shown(honest.text) {
			return true
		}
	}
	return false
}

// several makes three calls at the same time and answers them in reverse order.
func (c *client) several(t *tool, first fault.Facts) []string {
	var came []message
	for range 3 {
		c.request(mcp.MethodCallTool, fmt.Sprintf(`"name":%q,"arguments":{}`, t.name))
		came = append(came, c.next()...)
	}
	name := "" // name of a field that accepts any text
	for _, f := range first.Request.Fields {
		if f.Kind == elicit.Text && f.Format == "" && f.Pattern == "" && f.MaxLength == nil {
			name = f.Name
		}
	}
	answers := map[string]string{} // the text that was sent, by question or round, and the text of each result
	n := 0
	for len(came) > 0 && n < 12 {
		last := came[len(came)-1]
		came = came[:len(came)-1]
		n++
		word := fmt.Sprintf("Number %d", n)
		switch {
		case last.Method == mcp.MethodElicit && c.revision < mcp.Revision20260728:
			c.respond(t.name, asked{via: elicit.ByRequest, id: last.ID}, filled(parsed(c.t, last.Params), name, word))
			answers[string(last.ID)] = word // the ids of questions count as those of calls do, whose requests follow each other
		case rawjson.Text(rawjson.Member(last.Result, "resultType")) == "input_required":
			for key, r := range rawjson.Members(rawjson.Member(last.Result, "inputRequests")) {
				c.respond(t.name, asked{via: elicit.InRound, key: key, state: rawjson.Member(last.Result, "requestState")}, filled(parsed(c.t, rawjson.Member(r, "params")), name, word))
				answers["round "+fmt.Sprint(c.id)] = word
			}
		case last.Result != nil:
			answers["done "+string(last.ID)] = rawjson.Text(rawjson.At(last.Result, "/content/0/text"))
		}
		came = append(came, c.next()...)
	}
	return c.crossed(answers, name)
}

func (c *client) crossed(answers map[string]string, name string) []string {
	if c.crashed {
		return []string{"process-ended"}
	}
	done := 0
	for key, text := range answers {
		id, ok := strings.CutPrefix(key, "done ")
		if !ok {
			continue
		}
		done++
		word := answers["round "+id]
		if c.revision < mcp.Revision20260728 {
			word = answers[previous(id)]
		}
		if name != "" && strings.Contains(text, "Number") && !strings.Contains(text, word) {
			return []string{"crossed-answers"}
		}
	}
	if done < 3 {
		return []string{"no-response"}
	}
	return nil
}

// previous returns the id of a call's question, which is one less because initialize has
// the client's first id.
func previous(id string) string {
	var n int
	fmt.Sscan(id, &n)
	return fmt.Sprint(n - 1)
}

// filled returns an honest answer with another value for one field.
func filled(r *elicit.Request, name, word string) string {
	if r.Mode == elicit.ModeURL {
		return `{"action":"accept"}`
	}
	content := map[string]json.RawMessage{}
	for n, value := range rawjson.Members(elicit.Valid(r.Fields)) {
		content[n] = value
	}
	if name != "" {
		content[name] = encode(word)
	}
	return fmt.Sprintf(`{"action":"accept","content":%s}`, encode(content))
}
