package web

import (
	"context"

	"elicitation-inspector/bridge"
	"elicitation-inspector/views"
)

// TapsConfig configures the page of what taps send.
type TapsConfig struct {
	Config
	Replay    *bridge.Replay // of the log to which the taps append
	Connected func() int     // how many taps are connected
	Socket    string         // where they connect
}

// NewTaps returns the server of the page of what taps send: like any inspection, but
// nothing can be called or answered, because a client and a server of others speak with
// each other.
func NewTaps(c TapsConfig) *Server {
	c.Inspection = c.Replay.Inspection()
	s := New(c.Config)
	s.replay, s.tapped = c.Replay, &c
	return s
}

func (s *Server) tapsView() *views.Taps {
	if s.tapped == nil {
		return nil
	}
	v := &views.Taps{Connected: s.tapped.Connected(), Socket: s.tapped.Socket}
	if err := s.replay.Shown().Err; err != nil {
		v.Err = sentence(err)
	}
	return v
}

// pumpTaps draws the line about the taps after each reading of the log, if it has changed.
func (s *Server) pumpTaps(ctx context.Context) {
	last := views.Taps{Connected: -1}
	for more := true; more; {
		refreshed := s.replay.Refreshed()
		if now := *s.tapsView(); now != last {
			p := pump{Server: s, ctx: ctx}
			p.replace("taps", views.TapsLine(now))
			p.publish()
			last = now
		}
		more = again(ctx, 0, refreshed)
	}
}
