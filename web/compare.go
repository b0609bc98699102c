package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// comparing answers with two sessions or calls as a comparison, which is worked out when its address is
// asked for.
type comparing struct {
	sharing
	play *Playback     // nil for a live inspection alone
	turn chan struct{} // held by the request that compares
}

func (s comparing) routes(e *echo.Echo) {
	e.GET("/compare", s.compare) // queries old and new: what /compare lists; present for big type
}

// compared is a session or a call that can be compared.
type compared struct {
	views.Comparable
	log     *wire.Log
	file    string // to be opened, if there is no log
	session string // of the log; "" for all of it
	call    int64  // a frame of the only call; 0 for all
	of      string // the address of its frames, to be followed by a number; "" for none
}

// list lists what can be compared: sessions first, then calls, the latest first.
func (s comparing) list() (list []compared) {
	add := func(c compared, key, name string, of ...any) {
		c.Key, c.Name = fmt.Sprintf(key, of...), name
		list = append(list, c)
	}
	own, shown, prefix := s.in.Log(), "/?frame=", ""
	if s.play != nil {
		shown = "/?of=transcript&frame="
		add(compared{log: s.play.config.Player.Source(), of: shown}, "transcript", s.play.name())
		for i, file := range s.play.config.Files {
			if len(s.play.config.Files) > 1 {
				add(compared{file: file}, "file:%d", filepath.Base(file), i+1)
			}
		}
		for i, r := range s.play.replays() {
			c := compared{log: r.log, of: wording.Either(i == 0, "/?of=replay&frame=", "")}
			if add(c, "replay:%d", r.name(), r.number); r.log == own {
				shown, prefix = c.of, c.Key+":"
			}
		}
	} else {
		var seen []string
		for _, n := range own.AllNames() {
			if n.Session != "" && !slices.Contains(seen, n.Session) {
				seen = append(seen, n.Session)
				add(compared{log: own, session: n.Session, of: shown}, "session:%s", fmt.Sprintf("%s, session %d", s.in.Conversation().NameOf(n.Server), len(seen)), n.Session)
			}
		}
	}
	calls := s.in.Calls()
	for _, c := range slices.Backward(calls[max(0, len(calls)-views.TabsMost):]) {
		if c.LastRequest() != 0 {
			add(compared{log: own, call: c.LastRequest(), of: shown}, "%scall:%d", fmt.Sprintf("call %d, %s", c.Number, c.Name), prefix, c.Number)
		}
	}
	return list
}

// side reads the frames of one side. The caller closes what it has opened.
func (s comparing) side(ctx context.Context, c *compared) (side diff.Side, opened io.Closer, err error) {
	side = diff.Side{Name: c.Name, Log: c.log, Redact: s.redaction}
	var seqs []int64
	switch {
	case c.file != "":
		opened, err := playback.Open(c.file)
		if err != nil {
			return side, nil, err
		}
		side.Log = opened.Log
		return side, opened, opened.Wait(ctx)
	case c.call != 0:
		call, err := s.in.Conversation().CallOrExchange(ctx, c.call, conversation.Reading{})
		if err != nil {
			return side, nil, err
		}
		for i := range call.Frames {
			seqs = append(seqs, call.Frames[i].Seq)
		}
	case c.session != "":
		for seq := int64(1); seq <= c.log.Len(); seq++ {
			if c.log.Head(seq).Session == c.session {
				seqs = append(seqs, seq)
			}
		}
	default:
		return side, nil, c.log.Wait(ctx)
	}
	side, err = diff.Part(ctx, c.Name, c.log, seqs, s.redaction)
	return side, side.Log, err
}

// compare answers with what can be compared, and with the comparison of two of them.
func (s comparing) compare(c echo.Context) (err error) {
	ctx, list := c.Request().Context(), s.list()
	picked := views.Picker{Old: c.QueryParam("old"), New: c.QueryParam("new"), Present: c.QueryParam("present") != "", Theme: themeOf(c)}
	var two [2]*compared
	for i := range list {
		picked.List = append(picked.List, list[i].Comparable)
		for n, key := range []string{picked.Old, picked.New} {
			if list[i].Key == key {
				two[n] = &list[i]
			}
		}
	}
	var below templ.Component = templ.NopComponent
	switch {
	case two[0] != nil && two[1] != nil:
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
		case <-ctx.Done():
			return ctx.Err()
		}
		var sides [2]diff.Side
		for n, one := range two {
			side, opened, err := s.side(ctx, one)
			if opened != nil {
				defer func() { _ = opened.Close() }() // of what was only read
			}
			if err != nil {
				return err
			}
			sides[n] = side
		}
		r, err := diff.Compare(ctx, sides[0], sides[1], diff.Options{Carried: s.play.carried(two[1].log)})
		if err != nil {
			return err
		}
		page, err := r.NewPage(ctx)
		if err != nil {
			return err
		}
		page.Href = func(n int, seq int64) string { return wording.Either(two[n].of != "", fmt.Sprint(two[n].of, seq), "") }
		below, picked.Chosen = page.View(), true
	case picked.Old != "" && two[0] == nil, picked.New != "" && two[1] == nil:
		picked.Problem = "What this address names is not there any more."
	}
	var text strings.Builder
	if err := export.WritePage(ctx, &text, views.ComparePage(picked, below)); err != nil {
		return err
	}
	// The page has its own policy for styles in a meta element.
	c.Response().Header().Set("Content-Security-Policy", "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	return compressed(c, http.StatusOK, "text/html; charset=utf-8", []byte(text.String()))
}
