package demo

import (
	"net/http"
)

const signInPath = "/sign-in/"

// desk is where people sign in.
type desk struct{ base string }

func newDesk(base string) *desk { return &desk{base: base} }

func (d *desk) close() error { return nil }

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
