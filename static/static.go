// Package static holds the page's style sheets, scripts and icon. The browser gets the
// scripts as one file, bundle.js, since a request for each module would cost the first
// load a quarter of its time. Of the style sheets in css it gets those in sight at first
// in the page, as style.css, the others after it, as more.css, those of a transcript as
// transcript.css, and those of a check as check.css when it is opened. The task generate
// writes all these, minified.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"sync"
)

// Files are everything that is served below /static/.
//
//go:embed *.css bundle.js door.js *.svg
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
