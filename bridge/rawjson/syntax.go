package rawjson

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A SyntaxError is the place where a text stops being JSON in UTF-8, and the reason.
type SyntaxError struct {
	Line, Column int // from 1; columns count characters
	What         string
}

func (e *SyntaxError) Error() string {
	if e.Line == 1 {
		return fmt.Sprintf("column %d: %s", e.Column, e.What)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// mistake is the syntax error of a cursor. Its text is only built by Err.
type mistake struct {
	at   int
	how  fault
	what string
}

type fault uint8

const (
	nothing    fault = iota
	cut              // the text is truncated: "the text ends " + what
	unexpected       // another character was found: "expected " + what
	other            // the whole text is in what
)

// Err returns the syntax error as a [*SyntaxError]; nil if there is none so far.
func (c *Cursor) Err() error {
	w := c.wrong
	if w.how == nothing {
		return nil
	}
	before := c.text[:w.at]
	line := bytes.Count(before, []byte{'\n'}) + 1
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	what := w.what
	switch w.how {
	case cut:
		what = "the text ends " + w.what
	case unexpected:
		what = "expected " + w.what + ", found " + c.found(w.at)
	}
	return &SyntaxError{Line: line, Column: utf8.RuneCount(before) + 1, What: what}
}

func (c *Cursor) found(at int) string {
	r, n := utf8.DecodeRune(c.text[at:])
	if r == utf8.RuneError && n == 1 {
		return fmt.Sprintf("the byte 0x%02X", c.text[at])
	}
	return strconv.QuoteRune(r)
}

// Cut reports whether the text is truncated, and valid JSON up to its end.
func (c *Cursor) Cut() bool { return c.wrong.how == cut }

func (c *Cursor) fail(at int, what string) int {
	c.wrong = mistake{at, other, what}
	return -1
}

func (c *Cursor) unexpected(at int, want string) int {
	if at >= len(c.text) {
		return c.cut("where " + want + " should follow")
	}
	c.wrong = mistake{at, unexpected, want}
	return -1
}

func (c *Cursor) cut(where string) int {
	c.wrong = mistake{len(c.text), cut, where}
	return -1
}
