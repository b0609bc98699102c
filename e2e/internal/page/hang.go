package page

import (
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/chromedp"
)

// Hang blocks the page's main thread, like an endless script, until back is called.
func (p *Page) Hang() (back func()) {
	p.t.Helper()
	hangs := make(chan struct{})
	var once sync.Once
	if err := chromedp.Listen(p.ctx, func(event any) {
		if _, ok := event.(*debugger.EventPaused); ok {
			once.Do(func() { close(hangs) })
		}
	}); err != nil {
		p.t.Fatalf("watching the debugger: %v", err)
	}
	if _, err := call(p, debugger.Enable, debugger.EnableParams{}); err != nil {
		p.t.Fatalf("enabling the debugger: %v", err)
	}
	Eval[bool](p, "(setTimeout(() => { debugger }), true)")
	select {
	case <-hangs:
	case <-time.After(Wait):
		p.t.Fatalf("after %v the page still does not hang", Wait)
	}
	return func() {
		p.t.Helper()
		if _, err := call(p, debugger.Resume, debugger.ResumeParams{}); err != nil {
			p.t.Fatalf("letting the page go on: %v", err)
		}
		if _, err := call(p, debugger.Disable, cdp.Empty{}); err != nil {
			p.t.Fatalf("disabling the debugger: %v", err)
		}
	}
}
