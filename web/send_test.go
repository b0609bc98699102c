package web

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"
)

// pipes is a listener whose connections have no buffer.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// TestAnswersHaveADeadline checks that a slow reader gets the whole response, and that
// the connection of a client that reads nothing is closed.
func TestAnswersHaveADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := bytes.Repeat([]byte("x"), 4*pieceMost)
		e := echo.New()
		e.Use(timed)
		e.GET("/", func(c echo.Context) error { return c.Blob(http.StatusOK, "text/plain", large) })
		l := make(pipes)
		server := &http.Server{Handler: e}
		go server.Serve(l)
		defer server.Close()
		defer close(l)

		ask := func(read func(io.Reader) (int, error)) (int, error) {
			here, there := net.Pipe()
			defer here.Close()
			l <- there
			if _, err := io.WriteString(here, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			return read(here)
		}
		slow, err := ask(func(r io.Reader) (n int, err error) {
			for piece := make([]byte, pieceMost); err == nil; {
				var got int
				got, err = io.ReadFull(r, piece)
				n += got
				time.Sleep(pieceTime - time.Second)
			}
			return n, err
		})
		if slow < len(large) {
			t.Errorf("who reads slowly got %d of %d bytes: %v", slow, len(large), err)
		}
		begun := time.Now()
		none, err := ask(func(r io.Reader) (int, error) {
			time.Sleep(pieceTime + time.Second)
			rest, err := io.ReadAll(r)
			return len(rest), err
		})
		if none >= pieceMost || time.Since(begun) > 2*pieceTime {
			t.Errorf("who read nothing got %d bytes after %v: %v", none, time.Since(begun), err)
		}
	})
}
