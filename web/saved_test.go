package web

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
)

// TestNoPartIsTakenForTheWhole checks that a client sees when a file that is sent while it
// is written cannot be completed.
func TestNoPartIsTakenForTheWhole(t *testing.T) {
	for written, want := range map[string]int{"": http.StatusInternalServerError, "half of it": http.StatusOK} {
		e := echo.New()
		e.GET("/", func(c echo.Context) error {
			attach(c, "session.json")
			return selection{exports: exports{logger: slog.New(slog.DiscardHandler)}}.stream(c, "application/json", func(w io.Writer) error {
				var err error
				if written != "" {
					_, err = io.WriteString(w, written)
				}
				return errors.Join(err, errors.New("the log cannot be read"))
			})
		})
		server := httptest.NewServer(e)
		res, err := http.Get(server.URL)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("after %q: %s, want %d", written, res.Status, want)
			}
			if named := res.Header.Get("Content-Disposition") != ""; named && want != http.StatusOK {
				t.Errorf("after %q: the error would be saved as a file", written)
			}
		}
		if cut := err != nil; cut != (written != "") {
			t.Errorf("after %q: %v", written, err)
		}
		server.Close()
	}
}
