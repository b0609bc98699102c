package bridge

import (
	"context"
	"fmt"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/session"
)

// Comparison is what a server offers under two declarations of the client's.
type Comparison struct {
	With, Without client.Settings
	OnlyWith      []catalog.Item // offered only under the first
	OnlyWithout   []catalog.Item // offered only under the second
	Both          int            // how many are offered under both
	Problems      []string
}

// compareTime bounds a comparison: two handshakes and their lists.
const compareTime = 30 * time.Second

// Compare connects to a server twice more, under two declarations, and compares
// what it offers. Its present connection stays. The frames of both connections
// are in the log.
func (in *Inspection) Compare(ctx context.Context, id string, with, without client.Settings) (Comparison, error) {
	s, err := in.server(id)
	if err != nil {
		return Comparison{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	first, err := in.offers(ctx, s, with)
	if err != nil {
		return Comparison{}, fmt.Errorf("connecting with %s: %w", declaration(with), err)
	}
	second, err := in.offers(ctx, s, without)
	if err != nil {
		return Comparison{}, fmt.Errorf("connecting with %s: %w", declaration(without), err)
	}
	c := Comparison{With: with, Without: without, Problems: append(first.Errors, second.Errors...)}
	type name struct{ kind, key string }
	names := func(list []catalog.Item) map[name]bool {
		all := make(map[name]bool, len(list))
		for _, item := range list {
			all[name{string(item.Kind), item.Key}] = true
		}
		return all
	}
	lacks := func(list map[name]bool, item catalog.Item) bool { return !list[name{string(item.Kind), item.Key}] }
	inFirst, inSecond := names(first.Items), names(second.Items)
	for _, item := range first.Items {
		if lacks(inSecond, item) {
			c.OnlyWith = append(c.OnlyWith, item)
		} else {
			c.Both++
		}
	}
	for _, item := range second.Items {
		if lacks(inFirst, item) {
			c.OnlyWithout = append(c.OnlyWithout, item)
		}
	}
	return c, nil
}

func declaration(s client.Settings) string {
	if s.Declared() == "" {
		return "no elicitation capability"
	}
	return "elicitation " + s.Declared()
}

// offers connects to a server beside its present connection and lists what it offers.
func (in *Inspection) offers(ctx context.Context, s *server, settings client.Settings) (all catalog.Catalog, err error) {
	beside := in.newSession(s, settings, "-compare")
	done := make(chan struct{})
	if beside == nil || !in.spawn(func() { <-done }) { // Close waits for it, so that no process is left
		return catalog.Catalog{}, ErrClosed
	}
	defer close(done)
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), session.EndTime)
		defer cancel()
		in.closeSession(closing, beside, "the comparison is done")
	}()
	stop := context.AfterFunc(ctx, func() { beside.Release(false, context.Cause(ctx).Error()) })
	defer stop()
	if _, err := beside.Connect(); err != nil {
		return catalog.Catalog{}, err
	}
	return beside.Catalog(), nil
}
