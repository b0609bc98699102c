// Package static holds the page's style sheet, scripts and icon, as they are
// served. There is no build step: what is in this folder is what the browser gets.
package static

import "embed"

// Files are everything that is served below /static/.
//
//go:embed *.css *.js *.svg
var Files embed.FS
