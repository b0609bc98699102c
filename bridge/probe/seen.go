package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
)

// Elsewhere is the group for broken rules of the linter that no probe tests.
const Elsewhere Group = "Other rules"

// sight maps a probe to what can be recognized in the traffic with any server.
type sight struct {
	probe string
	shows func(q *conversation.Question) bool // whether the answer to a question shows that it works; nil for none
	rules []string                            // of the linter that name what is wrong with it
}

func did(action string, url bool) func(*conversation.Question) bool {
	return func(q *conversation.Question) bool { return q.Action == action && (q.URL() != "") == url }
}

func inRound(q *conversation.Question) bool {
	return q.Via == elicit.InRound && q.State == conversation.Answered
}

var sights = []sight{
	{"accept", did("accept", false), []string{"answer-malformed", "answer-action-unknown", "answer-value-type", "answer-content-missing", "answer-invalid",
		"answer-field-unknown", "answer-after-cancellation", "client-answered-twice", "client-response-unasked", "stdin-noise"}},
	{"decline", did("decline", false), []string{"answer-content-unwanted"}},
	{"cancel", did("cancel", false), nil},
	{"url-consent", nil, []string{"answer-url-content"}}, // no frame shows when a person has consented
	{"url-decline", did("decline", true), nil},
	{"round-state", inRound, []string{"state-missing", "state-changed", "state-elsewhere"}},
	{"round-no-state", nil, []string{"state-unasked", "input-unasked"}},
	{"round-id", inRound, []string{"retry-id-same"}},
	{"round-arguments", inRound, []string{"retry-changed"}},
	{"round-keys", func(q *conversation.Question) bool { return inRound(q) && q.Of > 1 }, []string{"input-missing", "input-unknown", "input-duplicate"}},
	{"task-call", func(q *conversation.Question) bool { return q.Via == elicit.InTask && q.State == conversation.Answered }, nil},
	{"task-keys", nil, []string{"task-input-unknown", "task-input-again"}},
	{"task-question", func(q *conversation.Question) bool { return q.Task != nil && q.State == conversation.Answered }, []string{"client-task-malformed", "client-task-id-again",
		"client-task-begins-otherwise", "client-task-goes-back", "client-related-task-missing"}},
	{"task-undeclared", nil, []string{"client-task-unasked"}},
	{"declared", nil, []string{"refused-declared"}},
	{"mode-undeclared", nil, []string{"answer-undeclared", "refused-undeclared"}},
}

// Seen returns a probe's report on clients that were tapped while they used other servers.
// Each server in the log counts as one client. A probe's verdict comes from the answers to
// questions of its kind and from the linter's findings; it is "not seen" where only the
// probe's own question could show it.
func Seen(ctx context.Context, log *wire.Log, version string, r *redact.Redaction) (*Report, error) {
	if err := r.Learn(ctx, log); err != nil {
		return nil, err
	}
	talk := conversation.New(log)
	linter := lint.NewLinter(log, talk)
	if err := linter.Update(ctx); err != nil {
		return nil, fmt.Errorf("judging what was seen: %w", err)
	}
	found := linter.From(0, log.Len())
	asked := map[string][]*conversation.Question{} // by server
	for place := 1; place <= talk.Len(); place++ {
		call, err := talk.Call(ctx, place, conversation.Reading{Redact: redact.Nothing()})
		if err != nil {
			return nil, fmt.Errorf("reading what was asked: %w", err)
		}
		for _, q := range call.Questions {
			if q.Method == "" || q.AnswerSeq == 0 {
				continue
			}
			asked[call.Server] = append(asked[call.Server], q)
		}
	}
	out := &Report{Format: reportFormat, Inspector: version, Date: time.Now().UTC().Truncate(time.Second), Clients: []Client{}}
	for _, s := range talk.Servers() {
		if s.Protocol == "" {
			continue
		}
		c := Client{Number: len(out.Clients) + 1, Identity: Identity{Name: cmp.Or(s.Client, "client of "+s.Label), Revision: s.Protocol, Transport: s.Transport}, First: s.Since, Last: out.Date}
		if s.Declared != nil {
			c.Declared = wording.Shorten(string(s.Declared.Elicitation), 200)
		}
		faults := map[string][]lint.Found{} // by rule
		for _, f := range found {
			if f.Label != s.Label || f.Judges != lint.ClientParty || f.Severity == lint.Advice {
				continue
			}
			var err error
			if f.Finding, err = lint.Shared(f.Finding, f.Seq, log, r); err != nil {
				return nil, err
			}
			faults[f.Rule] = append(faults[f.Rule], f)
		}
		for _, p := range table {
			if !p.In(s.Protocol) {
				continue
			}
			one := Result{Probe: p.Name, Group: p.Group, Title: p.Title, Do: p.Do, Verdict: NotSeen, How: "Nothing that passed shows it."}
			if i := slices.IndexFunc(sights, func(s sight) bool { return s.probe == p.Name }); i >= 0 {
				for _, q := range asked[s.Label] {
					if sights[i].shows != nil && sights[i].shows(q) {
						one.Verdict, one.How = Works, ""
						one.add(q.AskedSeq, q.AnswerSeq)
					}
				}
				for _, rule := range sights[i].rules {
					one.blame(faults[rule])
					delete(faults, rule)
				}
			}
			c.Results = append(c.Results, one)
		}
		for _, rule := range lint.Rules() {
			if list := faults[rule.ID]; len(list) > 0 {
				one := Result{Probe: rule.ID, Group: Elsewhere, Title: wording.Sentence(rule.Breaks)}
				one.blame(list)
				c.Results = append(c.Results, one)
			}
		}
		out.Clients = append(out.Clients, c)
	}
	return out, nil
}

// add adds frames, as many as evidence is kept of.
func (r *Result) add(seqs ...int64) {
	if len(r.Frames) < framesMost {
		r.Frames = append(r.Frames, seqs...)
	}
}

// blame changes a result to Fails if a finding is a violation, else to Partly, with the
// findings as the reason. Without findings it changes nothing.
func (r *Result) blame(list []lint.Found) {
	if len(list) == 0 {
		return
	}
	if r.Verdict != Fails && r.Verdict != Partly {
		r.Verdict, r.How, r.Frames = Partly, "", nil
	}
	for i, f := range list {
		if f.Severity == lint.Violation {
			r.Verdict = Fails
		}
		if i == 0 {
			r.How = wording.Join(" ", r.How, f.Text, "("+wording.Join(", ", f.Rule, f.Reference)+")")
		}
		r.add(f.Seq)
	}
	if n := len(list); n > 1 {
		r.How += fmt.Sprintf(" %d times.", n)
	}
}
