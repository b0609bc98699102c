package probe

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Elsewhere is the group for broken rules of the linter that no probe tests.
const Elsewhere Group = "Other rules"

// sights says of a probe whether the answer to a question with any server shows that it works.
var sights = map[string]func(q *conversation.Question) bool{
	"accept": did("accept", false), "decline": did("decline", false), "cancel": did("cancel", false), "url-decline": did("decline", true),
	"round-state": inRound, "round-id": inRound, "round-arguments": inRound,
	"round-keys":    func(q *conversation.Question) bool { return inRound(q) && q.Of > 1 },
	"task-call":     func(q *conversation.Question) bool { return q.Via == elicit.InTask && q.State == conversation.Answered },
	"task-question": func(q *conversation.Question) bool { return q.Task != nil && q.State == conversation.Answered },
}

func did(action string, url bool) func(*conversation.Question) bool {
	return func(q *conversation.Question) bool { return q.Action == action && (q.URL() != "") == url }
}

func inRound(q *conversation.Question) bool {
	return q.Via == elicit.InRound && q.State == conversation.Answered
}

// faults are findings of one rule.
type faults []lint.Found

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
		byRule := map[string]faults{}
		for _, f := range found {
			if f.Label != s.Label || f.Judges != lint.ClientParty || f.Severity == lint.Advice {
				continue
			}
			var err error
			if f.Finding, err = lint.Shared(f.Finding, f.Seq, log, r); err != nil {
				return nil, err
			}
			byRule[f.Rule] = append(byRule[f.Rule], f)
		}
		for _, p := range Table() {
			if !p.In(s.Protocol) {
				continue
			}
			one := Result{Probe: p.Name, Group: p.Group, Title: p.Title, Do: p.Do, Verdict: NotSeen, Unseen: NoFrame, How: "Nothing that passed shows it."}
			for _, q := range asked[s.Label] {
				if shows := sights[p.Name]; shows != nil && shows(q) {
					one.Verdict, one.Unseen, one.How = Works, "", ""
					one.add(q.AskedSeq, q.AnswerSeq)
				}
			}
			for _, rule := range lint.Rules() {
				if owners()[rule.ID] == p.Name {
					one.blame(byRule[rule.ID], s.Protocol)
					delete(byRule, rule.ID)
				}
			}
			c.Results = append(c.Results, one)
		}
		c.addRules(byRule)
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

// addRules adds a result for each rule that is broken, and that no probe tests.
func (c *Client) addRules(byRule map[string]faults) {
	for _, rule := range lint.Rules() {
		if list := byRule[rule.ID]; len(list) > 0 {
			one := Result{Probe: rule.ID, Group: Elsewhere, Title: wording.Sentence(rule.Breaks), Verdict: NotSeen}
			one.blame(list, c.Revision)
			c.Results = append(c.Results, one)
		}
	}
}

// blame changes a result to the verdict of the findings' rule, with the findings as the reason.
// Without findings it changes nothing.
func (r *Result) blame(list faults, revision string) {
	if len(list) == 0 {
		return
	}
	if r.Verdict == Works || r.Verdict == NotSeen {
		r.How, r.Frames = "", nil
	}
	for i, f := range list {
		if verdict := verdictOf(f.Severity); grave(verdict) < grave(r.Verdict) {
			r.Verdict, r.Unseen = verdict, ""
			r.cite(f.Rule, revision)
			r.Change = changeFor(f.Rule)
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
