package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

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
