package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/static"
)

// asset is one static file, ready to be sent. The file does not change while
// the program runs, so it is compressed once, at the first request.
type asset struct {
	kind  string
	plain []byte
	zip   []byte // nil where it is no smaller
	etag  string
}

var assets sync.Map // name → func() (*asset, error)

func loadAsset(name string) (*asset, error) {
	data, err := static.Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	a := &asset{kind: mime.TypeByExtension(path.Ext(name)), plain: data}
	if strings.HasSuffix(name, ".js") {
		a.kind = "text/javascript; charset=utf-8" // whatever the system's table says
	}
	a.etag = fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(sum[:9]))
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() < len(data) {
		a.zip = b.Bytes()
	}
	return a, nil
}

// static answers with an embedded file. The browser keeps it but asks each time
// whether it is still the same, so that another version of the inspector on the
// same port is not seen through old scripts.
func (s *Server) static(c echo.Context) error {
	name := c.Param("name")
	if strings.HasSuffix(name, ".go") {
		return echo.ErrNotFound
	}
	load, _ := assets.LoadOrStore(name, sync.OnceValues(func() (*asset, error) { return loadAsset(name) }))
	a, err := load.(func() (*asset, error))()
	if errors.Is(err, fs.ErrNotExist) {
		assets.Delete(name) // names that do not exist must not pile up
		return echo.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading static file %q: %w", name, err)
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	if c.Request().Header.Get("If-None-Match") == a.etag {
		return c.NoContent(http.StatusNotModified)
	}
	data := a.plain
	if a.zip != nil && strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = a.zip
	}
	return c.Blob(http.StatusOK, a.kind, data)
}
