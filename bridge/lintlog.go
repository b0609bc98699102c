package bridge

import (
	"context"
	"log/slog"
	"slices"

	"elicitation-inspector/bridge/exchange"
	"elicitation-inspector/bridge/wire"
)

// LintLog returns what the linter has to say of all that is in a log of
// transcripts, of which a Replay shows only the latest. It stops looking after
// so many findings as are kept; all says that it has seen everything.
func LintLog(ctx context.Context, l *wire.Log) (found []Found, all bool, err error) {
	r := NewReplay(l, Source{}, slog.New(slog.DiscardHandler))
	defer func() {
		r.in.end()
		r.in.running.Wait()
	}()
	if err := r.index.Update(ctx); err != nil {
		return nil, false, err
	}
	r.tellTime()
	if err := r.recorded.update(ctx); err != nil {
		return nil, false, err
	}
	r.count()
	for from := 1; from <= len(r.numbers); from += exchangesKept {
		var read []*replayed
		for number := from; number < min(from+exchangesKept, len(r.numbers)+1); number++ {
			e, err := r.index.Exchange(ctx, number, exchange.Reading{Redact: wire.NoRedaction()})
			if err != nil {
				return nil, false, err
			}
			if one := r.replay(e, true); one != nil {
				read = append(read, one)
			}
		}
		r.show(read)
		r.in.running.Wait()
		if len(r.in.Findings("")) == foundMost {
			break
		}
	}
	found = r.in.Findings("")
	slices.SortStableFunc(found, func(a, b Found) int { return int(a.Seq - b.Seq) })
	return found, len(found) < foundMost, nil
}

// Hooks tell filters what was found.
func Hooks(found []Found) wire.Hooks {
	rules := make(map[int64][]string)
	var names []string
	for _, f := range found {
		rules[f.Seq] = append(rules[f.Seq], f.Rule)
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	return wire.Hooks{
		Finding: func(seq int64, rule string) bool {
			return len(rules[seq]) > 0 && (rule == "any" || slices.Contains(rules[seq], rule))
		},
		Findings: slices.Compact(names),
	}
}
