package web

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"sync"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/static"
)

type asset struct {
	kind  string
	plain func() ([]byte, error)
	zip   func() ([]byte, error)
	etag  string
}

// assets returns the static files and the style sheet of ladders by name.
var assets = sync.OnceValues(func() (map[string]asset, error) {
	plain := map[string]func() ([]byte, error){"ladder.css": func() ([]byte, error) { return []byte(export.LadderStyle), nil }}
	entries, err := static.Files.ReadDir(".")
	for _, e := range entries {
		plain[e.Name()] = func() ([]byte, error) { return static.Files.ReadFile(e.Name()) }
	}
	out := map[string]asset{}
	for name, read := range plain {
		data, readErr := read()
		err = errors.Join(err, readErr)
		sum := sha256.Sum256(data)
		etag := fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(sum[:9]))
		zip := sync.OnceValues(func() ([]byte, error) {
			data, err := read()
			return zipped(data, gzip.DefaultCompression), err
		})
		out[name] = asset{kinds[path.Ext(name)], read, zip, etag}
	}
	return out, err
})

var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
}

// staticFile answers with an embedded file. The browser caches it but revalidates it each
// time, so that another version of the inspector on the same port never gets old
// scripts.
func staticFile(c echo.Context) error {
	known, err := assets()
	a, ok := known[c.Param("name")]
	if err != nil || !ok {
		return errors.Join(err, echo.ErrNotFound)
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	if c.Request().Header.Get("If-None-Match") == a.etag {
		return c.NoContent(http.StatusNotModified)
	}
	read := a.plain
	if takesGzip(c) {
		h.Set("Content-Encoding", "gzip")
		read = a.zip
	}
	data, err := read()
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, a.kind, data)
}
