// Package web serves the page of one inspection: it controls access, pushes changes to
// every open page, and turns the person's actions into calls and answers. Package views
// draws the HTML.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/judges/check"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/web/guard"
	"elicitation-inspector/web/push"
)

// Config configures a [Server].
type Config struct {
	Inspection *inspection.Inspection
	Logger     *slog.Logger
	Token      string // the secret of this run; see [guard.NewToken]
	Version    string
	MaxFrame   int64 // of the trials of a check; see [inspection.Config]
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

// Server is the page's server. Each panel of the page registers its endpoints, gives its part
// of the page, and draws what changes of it; the Server makes the panels and joins them.
//
// Actions of the person are POSTs. Their effects are drawn by pushes alone: the answer
// is 204, or 200 with the number of a new call, or with the form and its errors and X-Wrong.
// The answer draws only the state that one page has by itself: a form being filled in,
// and the call that the page has just made.
type Server struct {
	config Config
	in     *inspection.Inspection
	hub    *push.Hub
	echo   *echo.Echo
	source
	panels    []panel
	servers   *servers
	calls     *calls
	questions *questions
	wire      *wireLog
	checks    *checks
	composer  composer
	stirred   chan struct{} // see stir; capacity 1
	// lastFound is the text of the latest "Show all" of any page.
	lastFound atomic.Pointer[found]
}

// source is where the frames on show come from, if not from the inspection's own connections;
// empty for a live inspection.
type source struct {
	replay  *inspection.Replay
	player  *playback.Player // nil unless it is a transcript
	panel   watcher          // what the page shows of the source
	refusal string           // why nothing can be called, answered or changed
	play    *Playback        // of which it is a page; nil for none
}

// New returns a server. Serve starts it.
func New(c Config) *Server { return newServer(c, source{}, push.NewHub()) }

// complete fills in what has a default.
func (c Config) complete() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Redaction == nil {
		c.Redaction, _ = redact.New() // without rules, there is no error
	}
	if folder, err := filepath.Abs(c.RecordFolder); err == nil { // on error, keep it as given
		c.RecordFolder = folder
	}
	return c
}

func newServer(c Config, from source, hub *push.Hub) *Server {
	c = c.complete()
	if from.replay != nil {
		c.Inspection = from.replay.Inspection()
	}
	in := c.Inspection
	if c.Recording == nil {
		c.Recording = playback.NewRecording(in.Log(), c.Logger, c.Redaction, in.RecordingChanged)
	}
	s := &Server{config: c, in: in, hub: hub, echo: echo.New(), source: from, stirred: make(chan struct{}, 1)}
	marks, readOnly := in.Log(), from.replay != nil
	if from.player != nil {
		marks = from.player.Source() // its frames have the same numbers, and it stays when the playback starts over
	}
	shared := sharing{in, c.Redaction, c.Version}
	s.servers = &servers{in: in, hub: hub, put: c.Put}
	s.calls = &calls{in: in, hub: hub, replay: from.replay}
	s.questions = &questions{calls: s.calls, in: in, settled: settledLive, readOnly: readOnly}
	if readOnly {
		s.questions.settled = settledReplayed
	}
	s.wire = &wireLog{in: in, marks: marks, recording: c.Recording, stir: s.stir}
	s.checks = newChecks(shared, hub, c.MaxFrame, s.stir)
	s.panels = []panel{
		s.servers, &catalogs{in: in, hub: hub, readOnly: readOnly}, s.calls, s.wire,
		recordings{in.Log(), c.Recording, c.RecordFolder, c.Logger}, scripts{in}, s.checks,
		s.questions, // last, so that the cards have what is typed while the others are drawn
	}
	if from.panel != nil {
		s.panels = append(s.panels, from.panel)
	}
	e := s.echo
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.Use(timed, s.readOnly, posting)
	e.GET("/", s.page) // query tool=NAME (prompt, resource, template) with args and server, question=N or call=N choose what it shows; or server, kind, key, which are valid in this run; compose is the page on which a question is written
	s.composer = composer{in: in, refusal: from.refusal, turn: make(chan struct{}, 1)}
	s.composer.routes(e)
	e.GET("/middle", s.middle)                                                                 // the middle of the page; query as of the page
	e.GET("/live", func(c echo.Context) error { return hub.Serve(c.Response(), c.Request()) }) // websocket that pushes changes; query since=N resumes
	e.GET("/static/:name", staticFile)                                                         // style sheet, scripts, icons
	e.GET("/texts/:digest", s.text)                                                            // a text that the page has cut, or with from a piece of it; query as of the page
	for _, one := range s.panels {
		one.routes(e)
	}
	frames := &frames{rows: s.wire, sharing: shared, big: make(chan struct{}, 1)}
	frames.routes(e)
	ladders{shared}.routes(e)
	comparing{shared, from.play, make(chan struct{}, 1)}.routes(e)
	exports{shared, marks, c.Logger}.routes(e)
	return s
}

// stir wakes the pump for changes that no subscription reports: new frames, marks, checks.
func (s *Server) stir() {
	select {
	case s.stirred <- struct{}{}:
	default:
	}
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
	p := s.newPump(ctx)
	pumping.Go(p.run)
	pumping.Go(func() {
		log := s.in.Log()
		for more := true; more; {
			grown := log.Grown()
			s.hub.Count(log.Len(), keptWords(log))
			s.stir()
			more = again(ctx, watchEvery, [4]<-chan struct{}{grown})
		}
	})
	if s.replay != nil {
		pumping.Go(func() { s.replay.Follow(ctx) })
	}
	if s.source.panel != nil {
		pumping.Go(func() { s.watch(ctx, s.source.panel) })
	}
	return func() {
		pumping.Wait()
		if err := s.checks.lab.Close(); err != nil {
			s.config.Logger.Warn("removing the transcripts of a check", "error", err)
		}
	}
}

// serve answers on l until ctx ends. Then it closes the open pages and lets running
// requests finish.
func serve(ctx context.Context, l net.Listener, c Config, handler http.Handler, closePages func()) error {
	door := guard.New(c.Token, l.Addr(), http.MaxBytesHandler(handler, bodyMost))
	if both, ok := l.(*guard.Listener); ok && !both.Named {
		door.Unnamed()
		c.Logger.Warn("another program listens at the other loopback address of this port, so the page is served at its address alone, whose cookie all servers on this computer get: do not open any there that you do not trust", "listen", l.Addr().String())
	}
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
	case errors.Is(err, live.ErrUnknownRevision):
		status, text = http.StatusBadRequest, sentence(err)
	case errors.Is(err, live.ErrSettled):
		status, text = http.StatusConflict, "This question was settled elsewhere."
	case errors.Is(err, live.ErrUnknownServer), errors.Is(err, conversation.ErrUnknownItem),
		errors.Is(err, live.ErrUnknownCall), errors.Is(err, live.ErrForgotten), errors.Is(err, live.ErrUnknownQuestion), errors.Is(err, check.ErrUnknown):
		status, text = http.StatusNotFound, sentence(err)
	case errors.Is(err, live.ErrNotReady), errors.Is(err, live.ErrNotAdded), errors.Is(err, conversation.ErrLoading), errors.Is(err, live.ErrClosed), errors.Is(err, live.ErrReconnect):
		status, text = http.StatusConflict, sentence(err)
	}
	if status >= http.StatusInternalServerError {
		s.config.Logger.Error("answering a request", "method", c.Request().Method, "path", c.Request().URL.Path, "error", err)
	}
	if err := c.String(status, text); err != nil {
		s.config.Logger.Debug("answering with an error", "error", err)
	}
}

func (s *Server) page(c echo.Context) error {
	if c.QueryParams().Has("compose") {
		return s.composer.page(c)
	}
	seq, done := s.hub.Drawing()
	p := s.whole()
	p.Seq = seq
	p.Theme = themeOf(c)
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

// themeOf returns the theme that this browser has chosen; "" for the system's.
func themeOf(c echo.Context) string {
	if theme, err := c.Cookie("inspector_theme"); err == nil && (theme.Value == "light" || theme.Value == "dark") {
		return theme.Value
	}
	return ""
}

// whole returns the page without its middle, which shows a call or a form.
func (s *Server) whole() views.Page {
	p := views.Page{Version: s.config.Version, Now: s.in.Now(), ReadOnly: s.replay != nil}
	for _, one := range s.panels {
		one.fill(&p)
	}
	return p
}

func (s *Server) middle(c echo.Context) error {
	return current(c, s.hub, func() (templ.Component, error) {
		p := views.Page{ReadOnly: s.replay != nil, Start: s.servers.start()}
		s.calls.fill(&p)
		s.choose(c, &p)
		return views.Middle(p), nil
	})
}

// text answers with more of a text that the page has cut, for "Show all". The text is
// named by its digest and the query of the page's address. Without the query from, the
// answer is the whole text as a download.
func (s *Server) text(c echo.Context) error {
	text, err := s.cutText(c, c.Param("digest"))
	if err != nil {
		return err
	}
	if c.QueryParam("from") == "" {
		attach(c, export.FileName("text "+export.Line(text, 60), ".txt"))
		return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
	}
	from, err := queryNumber(c, "from", 0)
	if err != nil {
		return err
	}
	return html(c, markup.Piece(text, int(min(from, int64(len(text))))))
}

type found struct{ digest, text string }

// cutText finds a text by its digest: it draws the page again, with the parts that the
// page fetches on demand. It keeps the last text found, because a page requests the
// pieces one after the other.
func (s *Server) cutText(c echo.Context, digest string) (string, error) {
	if last := s.lastFound.Load(); last != nil && last.digest == digest {
		return last.text, nil
	}
	p := s.whole()
	s.choose(c, &p)
	parts := []templ.Component{views.PageView(p)}
	if p.Call != nil {
		parts = append(parts, views.CallSteps(*p.Call))
	}
	for i, q := range p.Questions {
		p.Questions[i].Card = nil
		parts = append(parts, views.QuestionPast(q))
	}
	for _, server := range p.Servers {
		parts = append(parts, findingsView(s.in, server.ID))
	}
	text, ok, err := markup.Find(c.Request().Context(), digest, templ.Join(parts...))
	if err == nil && !ok {
		err = echo.NewHTTPError(http.StatusNotFound, "This text is not on the page any more. The wire log has it.")
	}
	if err != nil {
		return "", err
	}
	s.lastFound.Store(&found{digest, text})
	return text, nil
}

// readOnly is middleware that refuses changes of what is not the inspection's own.
func (s *Server) readOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path := c.Request().URL.Path
		if s.replay == nil || c.Request().Method == http.MethodGet ||
			strings.HasPrefix(path, "/playback/") || strings.HasPrefix(path, "/probe/") || strings.HasPrefix(path, "/wire/") || strings.HasPrefix(path, "/compose") {
			return next(c)
		}
		return echo.NewHTTPError(http.StatusConflict, s.refusal)
	}
}
