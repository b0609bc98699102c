package bridge

import (
	"context"

	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/findings"
)

// Found is a finding of the linter's with what it is about.
type Found struct {
	findings.Found
	Server   string // id
	Question int    // 0 where it is about a message as a whole, or the question is not kept
	Call     int    // 0 if it cannot be told, or the call is not kept
}

// Findings returns what the linter has to say of a server so far, in order;
// of all servers for the id "".
func (in *Inspection) Findings(id string) []Found {
	return in.placed(id, in.linter.From(0, in.log.Len()))
}

// Found returns what the linter has to say of one frame.
func (in *Inspection) Found(seq int64) []Found { return in.placed("", in.linter.At(seq)) }

// FindingsKnown counts what the linter has said so far.
func (in *Inspection) FindingsKnown() int { return in.linter.Count(in.log.Len()) }

// Rules returns the rules that a frame breaks by what the linter has said so far, for
// filters.
func (in *Inspection) Rules() func(seq int64) []string {
	return findings.Rules(in.linter.From(0, in.log.Len()))
}

// severities counts what the linter has said so far, by the id of the server.
func (in *Inspection) severities() map[string]map[lint.Severity]int {
	counts := map[string]map[lint.Severity]int{}
	for label, count := range in.linter.ByServer(in.log.Len()) {
		id := in.known.IDOf(label)
		if counts[id] == nil {
			counts[id] = map[lint.Severity]int{}
		}
		for severity, n := range count {
			counts[id][severity] += n
		}
	}
	return counts
}

// placed puts to findings the questions and the calls that they are about.
func (in *Inspection) placed(id string, list []findings.Found) []Found {
	if len(list) == 0 {
		return nil
	}
	now := in.read()
	said := now.ByNumber()
	var out []Found
	for _, one := range list {
		f := Found{Found: one, Server: in.known.IDOf(one.Label), Question: in.conversation.QuestionAt(one.Seq, one.Place)}
		if id != "" && f.Server != id {
			continue
		}
		if place := in.conversation.Of(one.Seq); place != 0 {
			f.Call = in.conversation.NumberAt(place)
		}
		if said[f.Call] == nil || in.replay == nil && !in.calls.Known(f.Call) {
			f.Call = 0
		}
		if _, q := now.Question(f.Question); q == nil {
			f.Question = 0
		}
		out = append(out, f)
	}
	return out
}

// judgeLog has the linter judge the log of a live inspection until that ends.
func (in *Inspection) judgeLog() {
	if err := in.linter.Follow(in.life); err != nil && in.life.Err() == nil {
		in.logger.Error("judging the log", "error", err)
	}
}

// Judge returns when the findings of all frames that are in the log by now are
// known. It is for a live inspection; a Replay knows them after each Refresh.
func (in *Inspection) Judge(ctx context.Context) error {
	if err := in.linter.Update(ctx); err != nil {
		return err
	}
	return in.tellFindings(ctx)
}

// tellFindings marks what has findings that nobody was told of yet.
func (in *Inspection) tellFindings(ctx context.Context) error {
	select {
	case in.telling <- struct{}{}:
		defer func() { <-in.telling }()
	case <-ctx.Done():
		return ctx.Err()
	}
	in.read() // so that questions have their numbers
	fresh := in.linter.From(in.told, in.log.Len())
	in.told += len(fresh)
	var news []changes.Change
	for _, f := range fresh {
		if id := in.known.IDOf(f.Label); id != "" {
			news = append(news, changes.Change{Kind: changes.Findings, Server: id})
		}
		if number := in.conversation.QuestionAt(f.Seq, f.Place); number != 0 {
			news = append(news, changes.Change{Kind: changes.Question, Number: number})
		}
	}
	in.changes.Mark(news...)
	return nil
}
