package web

import (
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/views"
	"elicitation-inspector/web/push"
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
	return newServer(c.Config, source{
		replay: c.Replay, panel: taps{c.Replay, c.Connected, c.Socket},
		refusal: "This is a transcript: nothing can be called, answered or changed in it.",
	}, push.NewHub())
}

// taps is the line about the taps.
type taps struct {
	replay    *bridge.Replay
	connected func() int
	socket    string
}

func (taps) routes(*echo.Echo) {}

func (t taps) fill(p *views.Page) {
	p.Taps = &views.Taps{Connected: t.connected(), Socket: t.socket}
	if err := t.replay.Shown().Err; err != nil {
		p.Taps.Err = sentence(err)
	}
}

func (t taps) changes() []<-chan struct{} { return []<-chan struct{}{t.replay.Refreshed()} }

func (t taps) draw(p *painter, _ changed) {
	var page views.Page
	t.fill(&page)
	p.replace("taps", views.TapsLine(*page.Taps))
}
