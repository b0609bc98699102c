// Package web serves the page of one inspection: it decides who may come in,
// pushes what happens to every open page, and turns what a person does on the
// page into calls and answers. It draws nothing itself; that is what package
// views is for.
package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// Config says what a [Server] shows and to whom.
type Config struct {
	Inspection *bridge.Inspection
	Logger     *slog.Logger
	Token      string // the secret of this run; see [NewToken]
	Version    string
	// Recording writes transcripts, in RecordFolder where the page begins one.
	Recording    *bridge.Recording
	RecordFolder string
	// Redaction says what transcripts that are downloaded leave out; nil means
	// the default.
	Redaction *wire.Redaction
	// Opened is called when the address that holds the token is first asked for;
	// nil if nobody wants to know.
	Opened func()
}

// Server is the page's server.
//
// What a person does is a POST. The push alone draws what comes of it: an answer
// is 204, or 200 with the number of the call that was made, or 422 with the form
// and its errors. Only what a page alone has, a form that is being filled in, is
// drawn in the answer.
//
// Its endpoints, each behind the guard:
//
//	GET  /                          the page; query call=N or server, kind, key choose what it shows
//	GET  /live                      websocket that pushes what changes; query since=N resumes
//	GET  /static/NAME               style sheet, scripts, icons
//	GET  /form                      one item ready to be called; query server, kind, key
//	GET  /form/choices              choices of one of its fields; query as above, field, search, from, count, near
//	POST /form/preview              the JSON that a call's form amounts to
//	POST /form/tab, /form/reset     the form in its other tab; a field back to its default
//	POST /calls                     make a call
//	GET  /calls/N                   one call
//	GET  /calls/N/steps             all steps of its timeline
//	POST /calls/N/stop, /retry      end it; go on with what there is, or by the clock
//	POST /calls/N/repeat            another call that goes on without what was refused
//	GET  /calls/N/parts/I           the bytes of an image or audio block in its result
//	GET  /questions                 those that a page lacks; query have, the numbers of those that it has
//	GET  /questions/N/past          all that is known of one that is settled
//	GET  /questions/N/choices       choices of one field; query field, search, from, count, near
//	POST /questions/N/draft         keep what is typed; says what it amounts to
//	POST /questions/N/tab, /reset   the other tab; a field back to its default
//	POST /questions/N/answer        accept, decline or cancel
//	POST /questions/N/complete      the person's word that a URL is done
//	POST /servers/ID/reconnect, /disconnect
//	POST /servers/ID/settings       how the client presents itself; connects anew
//	POST /servers/ID/remembered     the revision that the browser remembers of it; none to forget it
//	POST /servers/ID/policy         what becomes of its questions
//	POST /servers/ID/held           show or decline what is held back
//	POST /servers/ID/compare        what it offers with and without a capability
//	GET  /servers/ID/findings       all that the linter says of it
//	GET  /servers/ID/items          a window of what it offers; query shelf, search, from, count
//	GET  /texts/DIGEST              a text that the page has cut, or with from the piece there; query as of the page
//	GET  /findings.json             the same of every server, or of one (query server=ID), for other programs
//	POST /recording/start, /stop    write frames to a transcript from now on: name, fresh
//	GET  /wire/rows                 the window of the log; query filter, since, from, count, near, time
//	GET  /wire/complete             how a filter line can go on, and what is wrong in it; query line, at
//	GET  /wire/frames/N             one frame; query against compares it with another
//	GET  /wire/frames/N/raw         its exact bytes
//	GET  /wire/frames/N/more, /nodes, /string   more of its bytes, of its JSON, of a string in it
//	GET  /wire/frames/N/copy/FORM   it as text: raw, pretty, line, curl
//	POST /wire/frames/N/mark        pin, colour and note it
//	GET  /wire/frames/N/ladder, /calls/N/ladder   the exchange as a sequence diagram; query as=svg or mermaid saves it
//	GET  /wire.jsonl                the transcript so far; query filter
type Server struct {
	config Config
	in     *bridge.Inspection
	logger *slog.Logger
	hub    *hub
	echo   *echo.Echo
	stage  *Stage         // nil for a live inspection
	replay *bridge.Replay // what the stage shows
	drafts drafts
	// stirred tells the pump that there is more to look at; capacity 1.
	stirred chan struct{}
	filters filters
	// lastFound is the text that "Show all" has brought last, of all pages.
	lastFound atomic.Pointer[found]
	// conversation is looked at when somebody wants to see one.
	conversation *conversation.Conversation
	big          chan struct{} // held while a frame of many MiB is looked at, not while it is sent: one at a time
}

// New prepares the server. Serve starts it.
func New(c Config) *Server {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Redaction == nil {
		c.Redaction, _ = wire.NewRedaction() // without rules, none can be wrong
	}
	s := &Server{config: c, in: c.Inspection, logger: c.Logger, hub: newHub(), echo: echo.New(), stirred: make(chan struct{}, 1)}
	s.drafts.kept = map[int]submission{}
	s.filters.in, s.filters.marks, s.filters.findings = c.Inspection, s.marks, func() []bridge.Found { return s.in.Findings("") }
	s.big = make(chan struct{}, 1)
	s.conversation = conversation.New(c.Inspection.Log())
	e := s.echo
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.Use(timed, s.readOnly, wholeForm)
	e.GET("/", s.page)
	e.GET("/live", s.live)
	e.GET("/static/:name", s.static)
	e.GET("/form", s.callForm)
	e.GET("/form/choices", s.formChoices)
	e.POST("/form/preview", s.formPreview)
	e.POST("/form/tab", s.formTab)
	e.POST("/form/reset", s.formReset)
	e.POST("/calls", s.beginCall)
	e.GET("/calls/:n", s.showCall)
	e.GET("/calls/:n/steps", s.callSteps)
	e.POST("/calls/:n/stop", s.stopCall)
	e.POST("/calls/:n/retry", s.retryCall)
	e.POST("/calls/:n/again", s.callAgain)
	e.POST("/calls/:n/repeat", s.repeatCall)
	e.GET("/calls/:n/parts/:i", s.part)
	e.GET("/questions", s.moreQuestions)
	e.GET("/questions/:n/past", s.past)
	e.GET("/questions/:n/choices", s.questionChoices)
	e.POST("/questions/:n/draft", s.draft)
	e.POST("/questions/:n/tab", s.questionTab)
	e.POST("/questions/:n/reset", s.resetField)
	e.POST("/questions/:n/answer", s.answer)
	e.POST("/questions/:n/complete", s.complete)
	e.POST("/servers/:id/reconnect", s.reconnect)
	e.POST("/servers/:id/disconnect", s.disconnect)
	e.POST("/servers/:id/settings", s.settings)
	e.POST("/servers/:id/remembered", s.remembered)
	e.POST("/servers/:id/policy", s.policy)
	e.POST("/servers/:id/held", s.held)
	e.POST("/servers/:id/compare", s.compare)
	e.GET("/servers/:id/findings", s.findings)
	e.GET("/servers/:id/items", s.items)
	e.GET("/texts/:digest", s.text)
	e.GET("/findings.json", s.findingsJSON)
	e.POST("/recording/start", s.startRecording)
	e.POST("/recording/stop", s.stopRecording)
	e.GET("/wire/rows", s.rows)
	e.GET("/wire/complete", s.completeFilter)
	e.GET("/wire/frames/:n", s.frame)
	e.GET("/wire/frames/:n/raw", s.raw)
	e.GET("/wire/frames/:n/more", s.rawMore)
	e.GET("/wire/frames/:n/nodes", s.nodes)
	e.GET("/wire/frames/:n/string", s.stringMore)
	e.GET("/wire/frames/:n/copy/:form", s.copied)
	e.POST("/wire/frames/:n/mark", s.mark)
	e.GET("/wire/frames/:n/ladder", s.frameLadder)
	e.GET("/calls/:n/ladder", s.callLadder)
	e.GET("/wire/ladder.css", s.ladderStyle)
	e.GET("/wire.jsonl", s.transcript)
	return s
}

// Limits on what a client may make the server hold or wait for.
const (
	bodyMost   = 16 << 20 // bytes of one POST
	headerMost = 64 << 10 // bytes of all headers
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	endTime    = 3 * time.Second // for requests that are under way when the server ends
)

// Serve answers on l until ctx ends, then lets running requests finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	working, stop := context.WithCancel(ctx)
	end := s.work(working)
	defer end()
	defer stop()
	return serve(ctx, l, s.config, s, s.hub.close)
}

// ServeHTTP answers a request that the guard has let in.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// work begins to push what changes, until ctx ends. end waits for that.
func (s *Server) work(ctx context.Context) (end func()) {
	var pumping sync.WaitGroup
	p := s.newPump(ctx) // before any page is drawn
	pumping.Go(p.run)
	pumping.Go(func() { s.pumpFrames(ctx) })
	if s.stage != nil {
		pumping.Go(func() { s.pumpPlayback(ctx) })
	}
	return pumping.Wait
}

// serve answers on l until ctx ends. Then it has the open pages closed, and lets
// running requests finish.
func serve(ctx context.Context, l net.Listener, c Config, handler http.Handler, closePages func()) error {
	door := newGuard(c.Token, l.Addr(), http.MaxBytesHandler(handler, bodyMost))
	if c.Opened != nil {
		door.opened = sync.OnceFunc(c.Opened)
	}
	server := &http.Server{
		Handler:           door,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerMost,
		ErrorLog:          slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving the page on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	closePages()
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	err := server.Shutdown(finish)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-ended
	return err
}

// fail answers a request whose handler returned an error: a status and a
// sentence for the person, the cause for the log.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed || c.Request().Context().Err() != nil {
		return // nobody waits for an answer any more
	}
	status, text := http.StatusInternalServerError, "Something went wrong in the inspector: "+err.Error()
	var known *echo.HTTPError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		status, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("More than %d MiB at once is not taken.", bodyMost>>20)
	case errors.As(err, &known):
		status, text = known.Code, fmt.Sprint(known.Message)
	case errors.Is(err, bridge.ErrUnknownServer), errors.Is(err, bridge.ErrUnknownItem),
		errors.Is(err, bridge.ErrUnknownCall), errors.Is(err, bridge.ErrForgottenCall), errors.Is(err, bridge.ErrUnknownQuestion):
		status, text = http.StatusNotFound, sentence(err)
	case errors.Is(err, bridge.ErrNotReady), errors.Is(err, bridge.ErrClosed), errors.Is(err, bridge.ErrReconnect):
		status, text = http.StatusConflict, sentence(err)
	}
	if status >= http.StatusInternalServerError {
		s.logger.Error("answering a request", "method", c.Request().Method, "path", c.Request().URL.Path, "error", err)
	}
	if err := c.String(status, text); err != nil {
		s.logger.Debug("answering with an error", "error", err)
	}
}

// wholeForm reads what is posted before its handler looks at it, because to that a
// form that is too large or broken would be one that is empty.
func wholeForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().Method != http.MethodPost {
			return next(c)
		}
		var large *http.MaxBytesError
		switch _, err := c.FormParams(); {
		case errors.As(err, &large):
			return err
		case err != nil:
			return bad("The form cannot be read: %v.", err)
		}
		return next(c)
	}
}

// sentence makes an error's text one that a person can read by itself.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func bad(format string, args ...any) error {
	return echo.NewHTTPError(http.StatusBadRequest, fmt.Sprintf(format, args...))
}

// draw renders a component. Nothing is sent before all of it is drawn, so that
// a page that fails is an error and never half a page.
func draw(ctx context.Context, component templ.Component) (string, error) {
	var b bytes.Buffer
	if err := component.Render(ctx, &b); err != nil {
		return "", fmt.Errorf("drawing: %w", err)
	}
	return b.String(), nil
}

// html answers with a component.
func html(c echo.Context, component templ.Component) error {
	text, err := draw(c.Request().Context(), component)
	if err != nil {
		return err
	}
	return sendHTML(c, http.StatusOK, text)
}

// current answers with a part of the page as things stand, which pushes draw as
// well.
func (s *Server) current(c echo.Context, look func() (templ.Component, error)) error {
	_, done := s.hub.drawing()
	component, err := look()
	text := ""
	if err == nil {
		text, err = draw(c.Request().Context(), component)
	}
	done()
	if err != nil {
		return err
	}
	return sendHTML(c, http.StatusOK, text)
}

// drawn answers a POST with elements of the form that was posted.
func drawn(c echo.Context, status int, components ...templ.Component) error {
	text, err := draw(c.Request().Context(), templ.Join(components...))
	if err != nil {
		return err
	}
	return sendHTML(c, status, text)
}

func sendHTML(c echo.Context, status int, text string) error {
	if len(text) > views.PageMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, "This takes too much to be drawn: "+strconv.Itoa(len(text))+" bytes of markup.")
	}
	return compressed(c, status, "text/html; charset=utf-8", []byte(text))
}

// compressMost is the size up to which an answer is not worth compressing.
const compressMost = 1400

func compressed(c echo.Context, status int, kind string, data []byte) error {
	if len(data) > compressMost && strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip") {
		c.Response().Header().Set("Content-Encoding", "gzip")
		c.Response().Header().Set("Vary", "Accept-Encoding")
		var b bytes.Buffer
		zip, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := zip.Write(data); err != nil {
			return err
		}
		if err := zip.Close(); err != nil {
			return err
		}
		data = b.Bytes()
	}
	return c.Blob(status, kind, data)
}

// page answers with the whole page, as things stand.
func (s *Server) page(c echo.Context) error {
	seq, done := s.hub.drawing()
	p := s.whole()
	p.Seq = seq
	err := s.choose(c, &p)
	text := ""
	if err == nil {
		text, err = draw(c.Request().Context(), views.PageView(p))
	}
	if err == nil && len(text) > views.PageMost {
		p.Questions, p.More = nil, true // they come right after it
		text, err = draw(c.Request().Context(), views.PageView(p))
	}
	done()
	if err != nil {
		return err
	}
	if p.Forgotten > 0 && !c.QueryParams().Has("filter") {
		query := c.QueryParams()
		query.Set("filter", views.FramesOf(strconv.Itoa(p.Forgotten)))
		return c.Redirect(http.StatusSeeOther, "/?"+query.Encode())
	}
	return sendHTML(c, http.StatusOK, text)
}

func (s *Server) live(c echo.Context) error { return s.hub.serve(c.Response(), c.Request()) }

// publish sends changes to every page.
func (s *Server) publish(changes []change) {
	var at time.Time
	if s.stage != nil {
		at = s.in.Now()
	}
	s.hub.publish(changes, at)
}
