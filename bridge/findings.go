package bridge

import (
	"context"
	"maps"

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

// found is what the linter has said so far.
type found struct {
	list  []findings.Found
	at    map[int64][]int                  // indexes into list, by frame
	count map[string]map[lint.Severity]int // by the label of the server
}

// Findings returns what the linter has to say of a server so far, in order;
// of all servers for the id "".
func (in *Inspection) Findings(id string) []Found {
	in.mu.Lock()
	list := in.found.list
	in.mu.Unlock()
	return in.placed(id, list)
}

// Found returns what the linter has to say of one frame.
func (in *Inspection) Found(seq int64) []Found { return in.placed("", in.foundIn(seq)) }

func (in *Inspection) foundIn(seq int64) (list []findings.Found) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, i := range in.found.at[seq] {
		list = append(list, in.found.list[i])
	}
	return list
}

// FindingsKnown counts what the linter has said so far.
func (in *Inspection) FindingsKnown() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.found.list)
}

// severities counts what the linter has said of a server.
func (in *Inspection) severities(label string) map[lint.Severity]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	if count := in.found.count[label]; count != nil {
		return maps.Clone(count)
	}
	return map[lint.Severity]int{}
}

// placed puts to findings the questions and the calls that they are about.
func (in *Inspection) placed(id string, list []findings.Found) []Found {
	if len(list) == 0 {
		return nil
	}
	s := in.read()
	said := s.calls()
	var out []Found
	for _, one := range list {
		f := Found{Found: one, Server: in.idOf(s, in.log.Head(one.Seq).Server), Question: in.questionOf(one)}
		if id != "" && f.Server != id {
			continue
		}
		if place := in.conversation.Of(one.Seq); place != 0 {
			f.Call = in.conversation.NumberAt(place)
		}
		if said[f.Call] == nil || in.replay == nil && !in.calls.Known(f.Call) {
			f.Call = 0
		}
		if q, _ := in.asked(s, f.Question); q == nil {
			f.Question = 0
		}
		out = append(out, f)
	}
	return out
}

// questionOf is the number of the question that a finding is about, 0 if it is about
// none.
func (in *Inspection) questionOf(f findings.Found) int {
	return in.conversation.QuestionAt(f.Seq, f.Place)
}

// lint has the linter judge the log of a live inspection until ctx ends.
func (in *Inspection) lint(ctx context.Context) {
	in.running.Go(func() {
		for {
			changed := in.linter.Changed()
			if in.passFindings(ctx) != nil {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	if err := in.linter.Follow(ctx); err != nil && ctx.Err() == nil {
		in.logger.Error("judging the log", "error", err)
	}
}

// Judge returns when the findings of all frames that are in the log by now are
// known. It is for a live inspection; a Replay knows them after each Refresh.
func (in *Inspection) Judge(ctx context.Context) error {
	if err := in.linter.Update(ctx); err != nil {
		return err
	}
	return in.passFindings(ctx)
}

// passFindings takes over what the linter has found.
func (in *Inspection) passFindings(ctx context.Context) error {
	select {
	case in.passing <- struct{}{}:
		defer in.passing.give()
	case <-ctx.Done():
		return ctx.Err()
	}
	s := in.read()
	fresh := in.linter.From(in.FindingsKnown(), in.log.Len())
	var news []changes.Change
	for _, one := range fresh {
		label := in.log.Head(one.Seq).Server
		in.keepFinding(label, one)
		if id := in.idOf(s, label); id != "" {
			news = append(news, changes.Change{Kind: changes.Findings, Server: id})
		}
		if number := in.questionOf(one); number != 0 {
			news = append(news, changes.Change{Kind: changes.Question, Number: number})
		}
	}
	in.changes.Mark(news...)
	return nil
}

func (in *Inspection) keepFinding(label string, f findings.Found) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.found.count[label] == nil {
		in.found.count[label] = map[lint.Severity]int{}
	}
	in.found.count[label][f.Severity]++
	in.found.at[f.Seq] = append(in.found.at[f.Seq], len(in.found.list))
	in.found.list = append(in.found.list, f)
}

// Rules says of which rules frames have findings, for filters.
func Rules(found []Found) func(seq int64) []string {
	list := make([]findings.Found, len(found))
	for i, f := range found {
		list[i] = f.Found
	}
	return findings.Rules(list)
}
