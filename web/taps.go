package web

import (
	"context"
	"net"
	"sync"

	"elicitation-inspector/bridge"
	"elicitation-inspector/views"
)

// Taps serves the page of what taps send: like any inspection, but nothing can be called or
// answered, because a client and a server of others speak with each other.
type Taps struct {
	server *Server
	config TapsConfig
}

// TapsConfig configures [Taps].
type TapsConfig struct {
	Config
	Replay    *bridge.Replay // of the log to which the taps append
	Connected func() int     // how many taps are connected
	Socket    string         // where they connect
}

// NewTaps returns the server of the page. Serve starts it.
func NewTaps(c TapsConfig) *Taps {
	c.Inspection = c.Replay.Inspection()
	t := &Taps{server: New(c.Config), config: c}
	t.server.replay, t.server.tapped = c.Replay, t
	return t
}

// Serve answers on l until ctx ends, then lets running requests finish.
func (t *Taps) Serve(ctx context.Context, l net.Listener) error {
	following, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { t.config.Replay.Follow(following) })
	defer work.Wait()
	defer stop()
	return t.server.Serve(ctx, l)
}

func (s *Server) tapsView() *views.Taps {
	if s.tapped == nil {
		return nil
	}
	v := &views.Taps{Connected: s.tapped.config.Connected(), Socket: s.tapped.config.Socket}
	if err := s.replay.Shown().Err; err != nil {
		v.Err = sentence(err)
	}
	return v
}

// pumpTaps draws the line about the taps after each reading of the log.
func (s *Server) pumpTaps(ctx context.Context) {
	last := views.Taps{Connected: -1}
	for {
		refreshed := s.replay.Refreshed()
		if now := *s.tapsView(); now != last {
			p := pump{Server: s, ctx: ctx}
			p.replace("taps", views.TapsLine(now))
			p.publish()
			last = now
		}
		select {
		case <-ctx.Done():
			return
		case <-refreshed:
		}
	}
}
