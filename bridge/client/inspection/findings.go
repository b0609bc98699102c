package inspection

import (
	"context"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/lint"
)

// findings has the findings of the linter, and tells subscribers of new ones.
type findings struct {
	*reader
	servers *servers
	calls   *calls
	linter  *lint.Linter
	telling chan struct{} // held by the goroutine that uses told
	told    int           // the number of findings that subscribers know of
}

// Found is a finding of the linter with its server, question and call.
type Found struct {
	lint.Found
	Server   string // id
	Question int    // 0 if the finding is about a whole message, or the question is not kept
	Call     int    // 0 if the call is not known or not kept
}

// Findings returns the findings about a server so far, in the order of the log; for the
// id "", those about all servers.
func (in *findings) Findings(id string) []Found {
	return in.placed(id, in.linter.From(0, in.log.Len()))
}

// Found returns the findings about one frame.
func (in *findings) Found(seq int64) []Found { return in.placed("", in.linter.At(seq)) }

// placed adds to findings their servers, questions and calls, and leaves out findings
// about servers other than id, unless id is "".
func (in *findings) placed(id string, list []lint.Found) []Found {
	if len(list) == 0 {
		return nil
	}
	now := in.read()
	calls := now.ByNumber()
	var out []Found
	for _, one := range list {
		f := Found{Found: one, Server: in.servers.known.IDOf(one.Label), Question: in.questionOf(now, one)}
		if id != "" && f.Server != id {
			continue
		}
		if place := in.conversation.PlaceOf(one.Seq); place != 0 {
			f.Call = in.conversation.NumberAt(place)
		}
		if _, err := in.calls.live.Call(f.Call); calls[f.Call] == nil || in.replay == nil && err != nil {
			f.Call = 0
		}
		if _, q := now.Question(f.Question); q == nil {
			f.Question = 0
		}
		out = append(out, f)
	}
	return out
}

// questionOf returns the number of the question that a finding is about: the frame asks it,
// or answers it. It is 0 if the finding is about a whole message, or if an answered question
// is none of the latest.
func (in *findings) questionOf(now *live.View, f lint.Found) int {
	if number := in.conversation.QuestionAt(f.Seq, f.Place); number != 0 || f.Place == 0 && f.Answer == 0 {
		return number
	}
	for _, q := range now.Settled {
		if q.AnswerSeq == f.Seq && q.Place == f.Place || f.Follows(q) {
			return q.Number
		}
	}
	return 0
}

func (in *findings) bySeverity() map[string]lint.Tally {
	counts := map[string]lint.Tally{}
	for label, count := range in.linter.ByServer(in.log.Len()) {
		id := in.servers.known.IDOf(label)
		if counts[id] == nil {
			counts[id] = lint.Tally{}
		}
		for severity, n := range count {
			counts[id][severity] += n
		}
	}
	return counts
}

// FindingsKnown returns the number of findings so far.
func (in *findings) FindingsKnown() int { return in.linter.Count(in.log.Len()) }

// Rules returns a function for filters that returns the rules that a frame breaks, by the
// findings so far.
func (in *findings) Rules() func(seq int64) []string {
	return lint.RulesAt(in.linter.From(0, in.log.Len()))
}

// Judge waits until the linter has checked all frames that the log has now. It is for
// live inspections; a [Replay] runs the linter in each Refresh.
func (in *findings) Judge(ctx context.Context) error {
	if err := in.linter.Update(ctx); err != nil {
		return err
	}
	return in.tellFindings(ctx)
}

// tellFindings marks the servers and questions of new findings as changed.
func (in *findings) tellFindings(ctx context.Context) error {
	select {
	case in.telling <- struct{}{}:
		defer func() { <-in.telling }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now := in.read() // so that questions have their numbers
	fresh := in.linter.From(in.told, in.log.Len())
	in.told += len(fresh)
	var news []live.Change
	for _, f := range fresh {
		if id := in.servers.known.IDOf(f.Label); id != "" {
			news = append(news, live.Change{Kind: live.FindingsChanged, Server: id})
		}
		if number := in.questionOf(now, f); number != 0 {
			news = append(news, live.Change{Kind: live.QuestionChanged, Number: number})
		}
		if f.Answer != 0 {
			news = append(news, live.Change{Kind: live.CallChanged, Number: in.conversation.NumberAt(in.conversation.PlaceOf(f.Seq))})
		}
	}
	in.changes.Mark(news...)
	return nil
}
