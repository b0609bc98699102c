package bridge

import (
	"context"
	"slices"

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
	if in.replay != nil {
		at := in.replay.shown.Load()
		return at.findings(id, at.found)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []Found
	for i := range in.found {
		if id == "" || in.found[i].Server == id {
			out = append(out, in.placed(i))
		}
	}
	return out
}

// Found returns what the linter has to say of one frame.
func (in *Inspection) Found(seq int64) []Found {
	if in.replay != nil {
		at := in.replay.shown.Load()
		return at.findings("", at.foundAt[seq])
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []Found
	for _, i := range in.foundAt[seq] {
		out = append(out, in.placed(i))
	}
	return out
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

// placed is a finding with the question and the call that it is about. The
// caller holds in.mu.
func (in *Inspection) placed(i int) Found {
	f := in.found[i]
	for _, q := range in.askedBy[f.Seq] {
		if q.place == f.Place {
			f.Question = q.number
			if f.Call = 0; q.call != nil {
				f.Call = q.call.number
			}
		}
	}
	if _, err := in.call(f.Call); err != nil {
		f.Call = 0
	}
	return f
}

// findingsOf lists what the linter has to say of a question. The caller holds
// in.mu.
func (in *Inspection) findingsOf(q *question) []lint.Finding {
	var out []lint.Finding
	for _, i := range in.foundAt[q.seq] {
		if in.found[i].Place == q.place {
			out = append(out, in.found[i].Finding)
		}
	}
	return out
}

// keepQuestion lets a question be found by its number and its frame, and
// dropQuestion ends that. The caller holds in.mu.
func (in *Inspection) keepQuestion(q *question) {
	in.questions[q.number-1] = q
	in.askedBy[q.seq] = append(in.askedBy[q.seq], q)
}

func (in *Inspection) dropQuestion(number int) {
	if q := in.questions[number-1]; q != nil {
		in.askedBy[q.seq] = slices.DeleteFunc(in.askedBy[q.seq], func(other *question) bool { return other == q })
		if len(in.askedBy[q.seq]) == 0 {
			delete(in.askedBy, q.seq)
		}
	}
	in.questions[number-1] = nil
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
		defer func() { <-in.passing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	fresh := in.linter.From(in.passed, in.log.Len())
	in.passed += len(fresh)
	in.keepFindings(fresh, func(seq int64) int { return in.log.Head(seq).Call })
	return nil
}

// keepFindings adds findings. callOf tells the call that a frame belongs to, 0
// where there is none.
func (in *Inspection) keepFindings(list []findings.Found, callOf func(seq int64) int) {
	if len(list) == 0 {
		return
	}
	added := make([]Found, len(list))
	labels := make([]string, len(list))
	for i, one := range list {
		added[i] = Found{Found: one, Call: callOf(one.Seq)}
		labels[i] = in.log.Head(one.Seq).Server
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, f := range added {
		s := in.labelled(labels[i])
		if s == nil {
			continue
		}
		f.Server = s.id
		s.findings[f.Severity]++
		in.foundAt[f.Seq] = append(in.foundAt[f.Seq], len(in.found))
		in.found = append(in.found, f)
		in.changed(Change{Kind: FindingsChanged, Server: s.id})
		for _, q := range in.askedBy[f.Seq] {
			if q.place == f.Place {
				in.changed(Change{Kind: QuestionChanged, Number: q.number})
			}
		}
	}
}

// labelled is the server that frames name so, nil if there is none. The caller
// holds in.mu.
func (in *Inspection) labelled(label string) *server {
	for _, s := range in.servers {
		if s.label() == label {
			return s
		}
	}
	return nil
}

// Rules says of which rules frames have findings, for filters.
func Rules(found []Found) func(seq int64) []string {
	list := make([]findings.Found, len(found))
	for i, f := range found {
		list[i] = f.Found
	}
	return findings.Rules(list)
}
