package web

import (
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/views"
	"elicitation-inspector/web/push"
)

// TapsConfig configures the page of what taps send.
type TapsConfig struct {
	Config
	Replay    *inspection.Replay // of the log to which the taps append
	Connected func() int         // how many taps are connected
	Socket    string             // where they connect
}

// NewTaps returns the server of the page that shows what taps send. Nothing can be called or
// answered on it, because another client speaks with the servers.
func NewTaps(c TapsConfig) *Server {
	return newServer(c.Config, source{
		replay: c.Replay, panel: taps{c.Replay, c.Connected, c.Socket},
		refusal: transcriptRefusal,
	}, push.NewHub())
}

// taps is the line that says how many taps are connected.
type taps struct {
	replay    *inspection.Replay
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

func (t taps) changes() [4]<-chan struct{} { return [4]<-chan struct{}{t.replay.Refreshed()} }

func (t taps) draw(p *painter, _ changed) {
	var page views.Page
	t.fill(&page)
	p.replace("taps", views.TapsLine(*page.Taps))
}
