package live

import (
	"context"

	"elicitation-inspector/bridge/conversation"

	"elicitation-inspector/bridge/lint"

	"elicitation-inspector/bridge/wire"
)

// Finding is a finding of the linter with its server, question and call.
type Finding struct {
	lint.Found
	Server   string // id
	Question int    // 0 if the finding is about a whole message, or the question is not kept
	Call     int    // 0 if the call is not known or not kept
}

// FindingsOwner is the inspection that shows the findings.
type FindingsOwner interface {
	// View reads the log, so that questions have their numbers, and returns its calls.
	View() *View
	// IDOf returns the id of the server with this name in frames, "" if there is none.
	IDOf(label string) string
	// Keeps reports whether a call of the View is shown.
	Keeps(call int) bool
}

// Findings are the findings of a log. Its methods are safe for concurrent use.
type Findings struct {
	Linter *lint.Linter

	in           FindingsOwner
	log          *wire.Log
	conversation *conversation.Conversation
	changes      *Feed
	turn         chan struct{} // held by the goroutine that uses told
	told         int           // the number of findings that subscribers know of
}

// NewFindings returns the findings of a linter that has linted nothing yet.
func NewFindings(in FindingsOwner, log *wire.Log, c *conversation.Conversation, feed *Feed) *Findings {
	return &Findings{Linter: lint.NewLinter(log), in: in, log: log, conversation: c, changes: feed, turn: make(chan struct{}, 1)}
}

// Of returns the findings about a server so far, in the order of the log; for the id "",
// those about all servers.
func (p *Findings) Of(id string) []Finding { return p.place(id, p.Linter.From(0, p.log.Len())) }

// At returns the findings about one frame.
func (p *Findings) At(seq int64) []Finding { return p.place("", p.Linter.At(seq)) }

// BySeverity counts the findings so far by server id and severity.
func (p *Findings) BySeverity() map[string]map[lint.Severity]int {
	counts := map[string]map[lint.Severity]int{}
	for label, count := range p.Linter.ByServer(p.log.Len()) {
		id := p.in.IDOf(label)
		if counts[id] == nil {
			counts[id] = map[lint.Severity]int{}
		}
		for severity, n := range count {
			counts[id][severity] += n
		}
	}
	return counts
}

// place adds to findings their servers, questions and calls, and leaves out findings
// about servers other than id, unless id is "".
func (p *Findings) place(id string, list []lint.Found) []Finding {
	if len(list) == 0 {
		return nil
	}
	now := p.in.View()
	calls := now.ByNumber()
	var out []Finding
	for _, one := range list {
		f := Finding{Found: one, Server: p.in.IDOf(one.Label), Question: p.conversation.QuestionAt(one.Seq, one.Place)}
		if id != "" && f.Server != id {
			continue
		}
		if place := p.conversation.Of(one.Seq); place != 0 {
			f.Call = p.conversation.NumberAt(place)
		}
		if calls[f.Call] == nil || !p.in.Keeps(f.Call) {
			f.Call = 0
		}
		if _, q := now.Question(f.Question); q == nil {
			f.Question = 0
		}
		out = append(out, f)
	}
	return out
}

// Update has the linter check all frames that the log has now, and tells subscribers.
func (p *Findings) Update(ctx context.Context) error {
	if err := p.Linter.Update(ctx); err != nil {
		return err
	}
	return p.Tell(ctx)
}

// Tell marks the servers and questions of new findings as changed.
func (p *Findings) Tell(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p.in.View()
	fresh := p.Linter.From(p.told, p.log.Len())
	p.told += len(fresh)
	var news []Change
	for _, f := range fresh {
		if id := p.in.IDOf(f.Label); id != "" {
			news = append(news, Change{Kind: FindingsChanged, Server: id})
		}
		if number := p.conversation.QuestionAt(f.Seq, f.Place); number != 0 {
			news = append(news, Change{Kind: QuestionChanged, Number: number})
		}
	}
	p.changes.Mark(news...)
	return nil
}
