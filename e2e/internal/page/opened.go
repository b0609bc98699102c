package page

import (
	"strings"

	"github.com/chromedp/chromedp"
)

// Opened waits for a tab that the page opens and whose address begins with address.
func (p *Page) Opened(address string) *Page {
	p.t.Helper()
	var found *Page
	p.Until(func() string { return "there is a tab at " + address }, func() bool {
		targets, err := chromedp.Targets(p.ctx)
		if err != nil {
			return false
		}
		for _, target := range targets {
			if target.Type == "page" && strings.HasPrefix(target.URL, address) {
				ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(target.TargetID))
				found = newPage(p.t, ctx, cancel)
				return true
			}
		}
		return false
	})
	return found
}
