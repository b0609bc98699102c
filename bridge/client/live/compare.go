package live

import (
	"context"
	"fmt"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
)

// Comparison compares what a server offers under two settings of the client.
type Comparison struct {
	With, Without conversation.ClientSettings
	OnlyWith      []conversation.Item // offered only under With
	OnlyWithout   []conversation.Item // offered only under Without
	Both          int                 // number of items offered under both
	Problems      []string
}

// compareTime limits a comparison: two handshakes and the lists of both.
const compareTime = 30 * time.Second

// Compare connects to a server twice more, with two settings, and compares what it
// offers. The present connection stays open. The frames of both connections are in the
// log.
func (servers *Servers) Compare(ctx context.Context, id string, with, without conversation.ClientSettings) (Comparison, error) {
	s, err := servers.find(id)
	if err != nil {
		return Comparison{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	first, err := servers.offers(ctx, s, with)
	if err != nil {
		return Comparison{}, err
	}
	second, err := servers.offers(ctx, s, without)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{With: with, Without: without, Problems: append(first.Errors, second.Errors...)}
	c.OnlyWith = lacking(first.Items, second.Items)
	c.OnlyWithout = lacking(second.Items, first.Items)
	c.Both = len(first.Items) - len(c.OnlyWith)
	return c, nil
}

func lacking(items, others []conversation.Item) (list []conversation.Item) {
	type name struct {
		kind conversation.Kind
		key  string
	}
	offered := make(map[name]bool, len(others))
	for _, item := range others {
		offered[name{item.Kind, item.Key}] = true
	}
	for _, item := range items {
		if !offered[name{item.Kind, item.Key}] {
			list = append(list, item)
		}
	}
	return list
}

// offers opens a further connection to a server and returns the catalog.
func (servers *Servers) offers(ctx context.Context, s *liveServer, settings conversation.ClientSettings) (conversation.Catalog, error) {
	beside := servers.newSession(s, settings, "-compare")
	done := make(chan struct{})
	if beside == nil || !servers.config.Spawn(func() { <-done }) { // closing waits for this goroutine, so that no process is left
		return conversation.Catalog{}, ErrClosed
	}
	defer close(done)
	defer servers.closeSession(context.WithoutCancel(ctx), beside, "the comparison is done")
	stop := context.AfterFunc(ctx, func() { beside.Release(false, context.Cause(ctx).Error()) })
	defer stop()
	if _, err := beside.Connect(); err != nil {
		declared := "no elicitation capability"
		if settings.Declared() != "" {
			declared = "elicitation " + settings.Declared()
		}
		return conversation.Catalog{}, fmt.Errorf("connecting with %s: %w", declared, err)
	}
	return beside.Catalog(), nil
}
