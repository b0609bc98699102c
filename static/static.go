// Package static holds the page's style sheets, scripts and icon. The browser gets the
// scripts as one file, bundle.js, which the task generate writes from the modules, since
// a request for each module would cost the first load a quarter of its time. The bundle
// is not minified: compressed it would be 5 kB smaller, but stack traces, breakpoints
// and the differences of a commit can be read without a source map.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"sync"
)

// Files are everything that is served below /static/.
//
//go:embed *.css bundle.js *.svg
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
