package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// A client has to take a piece of an answer within some time. If it does not, it
// is given up, so that it keeps neither memory nor a connection.
const (
	pieceMost = 256 << 10
	pieceTime = time.Minute
)

// timed answers requests with a deadline for each piece that is written. Nothing
// that others wait for may be held while an answer is on its way.
func timed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		control := http.NewResponseController(c.Response().Writer)
		// The deadline of the answer before, on the same connection, is over.
		err := control.SetWriteDeadline(time.Time{})
		if errors.Is(err, http.ErrNotSupported) {
			return next(c) // not a connection: a test
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

// Unwrap lets a websocket take the connection over, which ends the deadline.
func (w timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
