// Package static holds the page's style sheet, scripts and icon, as they are
// served. There is no build step: what is in this folder is what the browser gets.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"sync"
)

// Files are everything that is served below /static/.
//
//go:embed *.css *.js *.svg
var Files embed.FS

// Sheet is the style sheet. The page carries it in its head, so that a browser
// can paint as soon as it has the page: a request of its own costs the first
// paint 20 to 30 ms.
//
//go:embed style.css
var Sheet string

// SheetSource is what a content-security policy calls Sheet in a style element
// (CSP Level 3, hash-source).
var SheetSource = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(Sheet))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
})
