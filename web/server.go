// Package web serves the page of one inspection: it controls access, pushes changes to
// every open page, and turns the person's actions into calls and answers. Package views
// draws the HTML.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/probe"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/web/guard"
	"elicitation-inspector/web/push"
)

// Config configures a [Server].
type Config struct {
	Inspection *bridge.Inspection
	Logger     *slog.Logger
	Token      string // the secret of this run; see [guard.NewToken]
	Version    string
	MaxFrame   int64 // of the trials of a check; see [bridge.Config]
	// Recording writes transcripts, into RecordFolder if the page starts one; nil means
	// a new Recording.
	Recording    *playback.Recording
	RecordFolder string
	// Redaction redacts transcripts that are downloaded; nil means the default.
	Redaction *redact.Redaction
	// Put connects to the server that a person has typed, in place of the added one with the ID
	// if there is one. With an error, field is the name of the form's field with the mistake. It
	// is nil unless the command line allows this, because it lets the page start programs.
	Put func(ctx context.Context, typed views.NewServer) (field string, err error)
	// Callback takes browsers that come back from an authorization server, at
	// [signin.CallbackPath]. It admits them itself; nil if there are none.
	Callback http.Handler
	// Opened is called when the address with the token is first requested; may be nil.
	Opened func()
}

// Server is the page's server.
//
// Actions of the person are POSTs. Their effects are drawn by pushes alone: the answer
// is 204, or 200 with the number of a new call, or 422 with the form and its errors.
// The answer draws only the state that one page has by itself: a form being filled in,
// and the call that the page has just made.
type Server struct {
	config   Config
	in       *bridge.Inspection
	logger   *slog.Logger
	hub      *push.Hub
	echo     *echo.Echo
	playback *Playback      // nil for a live inspection
	replay   *bridge.Replay // the replay of a playback, of a probe or of taps; nil for a live inspection
	probe    *probe.Server  // nil unless this is the page of a probe
	tapped   *TapsConfig    // nil unless taps are on show
	drafts   drafts
	// stirred wakes the pump; capacity 1.
	stirred chan struct{}
	filters filters
	lab     *check.Lab  // makes checks
	checked atomic.Bool // a check has changed since the pump drew it
	// lastFound is the text of the latest "Show all" of any page.
	lastFound atomic.Pointer[found]
	big       chan struct{} // a lock, held while a frame of many MiB is read, but not while it is sent
}

// New returns a server. Serve starts it.
func New(c Config) *Server {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Redaction == nil {
		c.Redaction, _ = redact.New() // without rules, there is no error
	}
	if folder, err := filepath.Abs(c.RecordFolder); err == nil { // on error, keep it as given
		c.RecordFolder = folder
	}
	if c.Recording == nil {
		c.Recording = playback.NewRecording(c.Inspection.Log(), c.Logger, c.Redaction, c.Inspection.RecordingChanged)
	}
	s := &Server{config: c, in: c.Inspection, logger: c.Logger, hub: push.NewHub(), echo: echo.New(), stirred: make(chan struct{}, 1)}
	s.drafts.kept = map[int]forms.Submission{}
	s.lab = check.NewLab(func() {
		s.checked.Store(true)
		s.stir()
	})
	s.big = make(chan struct{}, 1)
	e := s.echo
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.Use(timed, s.readOnly, wholeForm)
	s.route(e)
	return s
}

// Limits on what a client may make the server hold or wait for.
const (
	bodyMost   = 16 << 20 // body of one POST, in bytes
	headerMost = 64 << 10 // all headers, in bytes
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	endTime    = 3 * time.Second // for running requests when the server ends
)

// Serve answers on l until ctx ends, then lets running requests finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	working, stop := context.WithCancel(ctx)
	end := s.work(working)
	defer end()
	defer stop()
	return serve(ctx, l, s.config, s, s.hub.Close)
}

// ServeHTTP answers a request that the guard has admitted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// work pushes changes until ctx ends. end waits for the end of the pushes, and ends the
// check that goes on.
func (s *Server) work(ctx context.Context) (end func()) {
	var pumping sync.WaitGroup
	p := s.newPump(ctx) // must come before any page is drawn
	pumping.Go(p.run)
	pumping.Go(func() { s.pumpFrames(ctx) })
	if s.playback != nil {
		pumping.Go(func() { s.pumpPlayback(ctx) })
	}
	if s.replay != nil {
		pumping.Go(func() { s.replay.Follow(ctx) })
	}
	if s.probe != nil {
		pumping.Go(func() { s.pumpProbe(ctx) })
	}
	if s.tapped != nil {
		pumping.Go(func() { s.pumpTaps(ctx) })
	}
	return func() {
		pumping.Wait()
		if err := s.lab.Close(); err != nil {
			s.logger.Warn("removing the transcripts of a check", "error", err)
		}
	}
}

// serve answers on l until ctx ends. Then it closes the open pages and lets running
// requests finish.
func serve(ctx context.Context, l net.Listener, c Config, handler http.Handler, closePages func()) error {
	door := guard.New(c.Token, l.Addr(), http.MaxBytesHandler(handler, bodyMost))
	door.Callback = c.Callback
	if c.Opened != nil {
		door.Opened = sync.OnceFunc(c.Opened)
	}
	door.Shared = func() {
		c.Logger.Warn("the browser cannot find the page's own host, so the page has an address whose cookie all servers on this computer get: do not open any there that you do not trust")
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

// fail answers a request whose handler returned an error, with a status and a sentence
// for the person. Internal errors are also logged.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed || c.Request().Context().Err() != nil {
		return // the client has its answer or has gone
	}
	status, text := http.StatusInternalServerError, "Something went wrong in the inspector: "+err.Error()
	var known *echo.HTTPError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		status, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("This is too much at once: the limit is %d MiB.", bodyMost>>20)
	case errors.As(err, &known):
		status, text = known.Code, fmt.Sprint(known.Message)
	case errors.Is(err, live.ErrUnknownServer), errors.Is(err, conversation.ErrUnknownItem),
		errors.Is(err, live.ErrUnknownCall), errors.Is(err, live.ErrForgotten), errors.Is(err, live.ErrUnknownQuestion):
		status, text = http.StatusNotFound, sentence(err)
	case errors.Is(err, live.ErrNotReady), errors.Is(err, live.ErrNotAdded), errors.Is(err, conversation.ErrLoading), errors.Is(err, live.ErrClosed), errors.Is(err, live.ErrReconnect):
		status, text = http.StatusConflict, sentence(err)
	}
	if status >= http.StatusInternalServerError {
		s.logger.Error("answering a request", "method", c.Request().Method, "path", c.Request().URL.Path, "error", err)
	}
	if err := c.String(status, text); err != nil {
		s.logger.Debug("answering with an error", "error", err)
	}
}

// wholeForm is middleware that parses posted forms, because handlers would take a form
// that is too large or invalid for an empty one.
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

func sentence(err error) string { return wording.Sentence(err.Error()) }

func bad(format string, args ...any) error {
	return echo.NewHTTPError(http.StatusBadRequest, fmt.Sprintf(format, args...))
}

// draw renders a component completely before anything is sent, so that a failure never
// leaves half a page.
func draw(ctx context.Context, component templ.Component) (string, error) {
	var b bytes.Buffer
	if err := component.Render(ctx, &b); err != nil {
		return "", fmt.Errorf("drawing: %w", err)
	}
	return b.String(), nil
}

func html(c echo.Context, components ...templ.Component) error {
	return drawn(c, http.StatusOK, components...)
}

func drawn(c echo.Context, status int, components ...templ.Component) error {
	text, err := draw(c.Request().Context(), templ.Join(components...))
	if err != nil {
		return err
	}
	return sendHTML(c, status, text)
}

// current answers with a part of the page in its present state, which pushes draw as
// well.
func (s *Server) current(c echo.Context, look func() (templ.Component, error)) error {
	_, done := s.hub.Drawing()
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

func sendHTML(c echo.Context, status int, text string) error {
	if len(text) > markup.PageMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, "This is too large to draw: "+strconv.Itoa(len(text))+" bytes of markup.")
	}
	return compressed(c, status, "text/html; charset=utf-8", []byte(text))
}

func (s *Server) page(c echo.Context) error {
	seq, done := s.hub.Drawing()
	p := s.whole()
	p.Seq = seq
	if theme, err := c.Cookie("inspector_theme"); err == nil && (theme.Value == "light" || theme.Value == "dark") {
		p.Theme = theme.Value
	}
	s.choose(c, &p)
	text, err := draw(c.Request().Context(), views.PageView(p))
	if err == nil && len(text) > markup.PageMost {
		p.Questions, p.More = nil, true // the page fetches them afterwards
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

func (s *Server) live(c echo.Context) error { return s.hub.Serve(c.Response(), c.Request()) }

func (s *Server) publish(changes []push.Change) {
	var at time.Time
	if s.playback != nil {
		at = s.in.Now()
	}
	s.hub.Publish(changes, at)
}

// A client must accept each piece of an answer in time. Otherwise the request is
// aborted, so that it holds neither memory nor a connection.
const (
	pieceMost = 256 << 10
	pieceTime = time.Minute
)

// timed is middleware that sets a deadline for each piece of an answer. Handlers must
// hold no shared lock while they send.
func timed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		control := http.NewResponseController(c.Response().Writer)
		// Clear the deadline of the previous answer on the same connection.
		err := control.SetWriteDeadline(time.Time{})
		if errors.Is(err, http.ErrNotSupported) {
			return next(c) // a recorder in a test
		}
		if err != nil {
			return err
		}
		c.Response().Writer = timedWriter{c.Response().Writer, control}
		return next(c)
	}
}

// timedWriter gives the client pieceTime for each piece of an answer.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w timedWriter) Write(data []byte) (n int, err error) {
	for first := true; first || len(data) > 0; first = false {
		piece := data[:min(len(data), pieceMost)]
		if err := w.control.SetWriteDeadline(time.Now().Add(pieceTime)); err != nil {
			return n, err
		}
		wrote, err := w.ResponseWriter.Write(piece)
		n += wrote
		if err != nil {
			return n, err
		}
		data = data[wrote:]
	}
	return n, nil
}

// Unwrap lets a websocket take over the connection, which ends the deadlines.
func (w timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
