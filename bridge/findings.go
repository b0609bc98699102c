package bridge

import (
	"context"
	"slices"

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
	if in.replay != nil {
		at := in.replay.shown.Load()
		return at.findings(id, at.found)
	}
	in.mu.Lock()
	var out []Found
	for _, f := range in.found {
		if id == "" || f.Server == id {
			out = append(out, f)
		}
	}
	in.mu.Unlock()
	return in.placed(out)
}

// Found returns what the linter has to say of one frame.
func (in *Inspection) Found(seq int64) []Found {
	if in.replay != nil {
		at := in.replay.shown.Load()
		return at.findings("", at.foundAt[seq])
	}
	in.mu.Lock()
	var out []Found
	for _, i := range in.foundAt[seq] {
		out = append(out, in.found[i])
	}
	in.mu.Unlock()
	return in.placed(out)
}

// FindingsKnown counts what the linter has said so far.
func (in *Inspection) FindingsKnown() int {
	if in.replay != nil {
		return len(in.replay.shown.Load().found)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.found)
}

// placed puts the questions and the calls that they are about to findings.
func (in *Inspection) placed(list []Found) []Found {
	for i := range list {
		f := &list[i]
		if number, call := in.inbox.At(f.Seq, f.Place); number != 0 {
			f.Question, f.Call = number, call
		}
		if !in.calls.Known(f.Call) {
			f.Call = 0
		}
	}
	return list
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
	fresh := in.linter.From(in.passed, in.log.Len())
	in.passed += len(fresh)
	var changes []Change
	for _, one := range fresh {
		head := in.log.Head(one.Seq)
		i := slices.IndexFunc(in.servers, func(s *server) bool { return s.spec.Name == head.Server })
		if i < 0 {
			continue
		}
		s := in.servers[i]
		in.keepFinding(s, Found{Found: one, Server: s.id, Call: head.Call})
		changes = append(changes, Change{Kind: FindingsChanged, Server: s.id})
		if number, _ := in.inbox.At(one.Seq, one.Place); number != 0 {
			changes = append(changes, Change{Kind: QuestionChanged, Number: number})
		}
	}
	in.changed(changes...)
	return nil
}

func (in *Inspection) keepFinding(s *server, f Found) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s.Findings[f.Severity]++
	in.foundAt[f.Seq] = append(in.foundAt[f.Seq], len(in.found))
	in.found = append(in.found, f)
}

// Rules says of which rules frames have findings, for filters.
func Rules(found []Found) func(seq int64) []string {
	list := make([]findings.Found, len(found))
	for i, f := range found {
		list[i] = f.Found
	}
	return findings.Rules(list)
}
