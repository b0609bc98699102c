// Package static holds the page's style sheets, scripts and icon. The browser gets the
// scripts as one file, bundle.js, since a request for each module would cost the first
// load a quarter of its time. Of the style sheets in css it gets those in sight at first
// in the page, as style.css; those of what is shown when it is asked for, more.css, are in
// the bundle; those of a transcript come as transcript.css, and those of a check as
// check.css when it is opened, and those of a question in other clients as seen.css. The page Compose has a sheet and a script of its own. The task generate writes all these, minified.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/url"
	"sync"
)

// Files are everything that is served below /static/.
//
//go:embed check.css compose.css seen.css transcript.css bundle.js compose.js door.js
var Files embed.FS

// Sheet is the style sheet. The page carries it in its head, so that a browser
// can paint as soon as it has the page: a request of its own costs the first
// paint 20 to 30 ms.
//
//go:embed style.css
var Sheet string

// Main is the script that fetches the others after the first paint. The page carries it.
//
//go:embed main.js
var Main string

// Door is the script of the page that leads to the page's own host, which carries it.
//
//go:embed door.js
var Door string

//go:embed icon.svg
var icon string

// Icon is the address of the page's icon, which holds the icon.
var Icon = sync.OnceValue(func() string { return "data:image/svg+xml," + url.PathEscape(icon) })

// Source is what a content-security policy calls a style element or a script element with
// this text (CSP Level 3, hash-source).
func Source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
