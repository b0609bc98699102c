package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/web/push"
)

// of makes a handler that first finds the object of a request, such as a question.
func of[T any](find func(echo.Context) (T, error), handle func(echo.Context, T) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		one, err := find(c)
		if err != nil {
			return err
		}
		return handle(c, one)
	}
}

// act makes a handler that does something with the object of a request.
func act[T any](find func(echo.Context) (T, error), do func(T) error) echo.HandlerFunc {
	return of(find, func(_ echo.Context, one T) error { return do(one) })
}

// number reads the path parameter n, which counts from 1.
func number(c echo.Context) (int, error) {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 {
		return 0, echo.ErrNotFound
	}
	return n, nil
}

// numbered makes a function that calls get with the number in the path.
func numbered[T any](get func(number int) (T, error)) func(echo.Context) (T, error) {
	return func(c echo.Context) (T, error) {
		n, err := number(c)
		if err != nil {
			var none T
			return none, err
		}
		return get(n)
	}
}

func queryNumber(c echo.Context, name string, otherwise int64) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("%s must be a number from 0, not %q.", name, text)
	}
	return n, nil
}

// posting is middleware for actions. It parses posted forms first, because a handler would take
// a form that is too large or invalid for an empty one. If the handler sends no answer, it
// answers 204, because pushes draw the outcome.
func posting(next echo.HandlerFunc) echo.HandlerFunc {
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
		if err := next(c); err != nil || c.Response().Committed {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	}
}

func sentence(err error) string { return wording.Sentence(err.Error()) }

func bad(format string, args ...any) error {
	return echo.NewHTTPError(http.StatusBadRequest, fmt.Sprintf(format, args...))
}

// refused returns an error that is answered with the status and the text of err; nil if err is nil.
func refused(status int, err error) error {
	if err == nil {
		return nil
	}
	return echo.NewHTTPError(status, sentence(err))
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

// judged answers with a form, drawn again. X-Wrong tells the page that something in it is wrong: a
// browser would report a status of 4xx as an error of the page.
func judged(c echo.Context, wrong bool, components ...templ.Component) error {
	if wrong {
		c.Response().Header().Set("X-Wrong", "true")
	}
	return html(c, components...)
}

func html(c echo.Context, components ...templ.Component) error {
	text, err := draw(c.Request().Context(), templ.Join(components...))
	if err != nil {
		return err
	}
	return sendHTML(c, http.StatusOK, text)
}

// current answers with a part of the page in its present state, which pushes draw as
// well.
func current(c echo.Context, hub *push.Hub, look func() (templ.Component, error)) error {
	_, done := hub.Drawing()
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

// saved answers with what write writes, as a file.
func saved(c echo.Context, name, kind string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	attach(c, name)
	return compressed(c, http.StatusOK, kind, text.Bytes())
}

func attach(c echo.Context, name string) {
	c.Response().Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
}

const compressMost = 1400

// compressLevel is for answers that are compressed each time. It takes hardly longer
// than gzip.BestSpeed, and makes the page a tenth smaller; more costs milliseconds.
const compressLevel = 2

// compressed answers with data, compressed if it is large enough and the client accepts
// gzip.
func compressed(c echo.Context, status int, kind string, data []byte) error {
	if len(data) > compressMost && takesGzip(c) {
		c.Response().Header().Set("Content-Encoding", "gzip")
		c.Response().Header().Set("Vary", "Accept-Encoding")
		data = zipped(data, compressLevel)
	}
	return c.Blob(status, kind, data)
}

func takesGzip(c echo.Context) bool {
	return strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip")
}

func zipped(data []byte, level int) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err == nil {
		_, err = w.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic("web: compressing into memory: " + err.Error())
	}
	return b.Bytes()
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
