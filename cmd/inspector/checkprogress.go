package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/wording"
)

// progressLine prints the progress of a check on standard error: on a terminal as one
// line that changes, elsewhere as a new line every few seconds.
type progressLine struct {
	out    io.Writer
	live   bool
	shown  int       // characters of the line on the terminal
	latest time.Time // time of the last line
}

// toldEvery is the time between two lines of progress outside of a terminal.
const toldEvery = 5 * time.Second

func newProgressLine(out io.Writer) *progressLine {
	p := &progressLine{out: out, latest: time.Now()}
	if isTerminal(out) && os.Getenv("TERM") != "dumb" {
		p.out, p.live = exact(out), true // the line begins with a carriage return
	}
	return p
}

func isTerminal(out io.Writer) bool {
	file, ok := exact(out).(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// chosen prints which calls the check will make, and which it will not make.
func (p *progressLine) chosen(calls []check.Call, skipped []check.Skipped) {
	for _, c := range calls {
		arguments := ""
		if c.Arguments != nil {
			arguments = " with " + wording.Shorten(string(c.Arguments), 200)
		}
		if c.MadeUp {
			arguments += " (made up)"
		}
		if c.Destructive {
			arguments += ", which is annotated with destructiveHint and allowed"
		}
		fmt.Fprintf(p.out, "will call %s %s%s\n", c.Kind, wording.EscapeLine(c.Key), wording.EscapeLine(arguments))
	}
	for _, s := range skipped {
		fmt.Fprintf(p.out, "will not call %s %s: %s\n", s.Kind, wording.EscapeLine(s.Key), wording.EscapeLine(s.Why))
	}
}

func (p *progressLine) tell(at check.Progress) {
	now := time.Now()
	if !p.live && now.Sub(p.latest) < toldEvery {
		return
	}
	p.latest = now
	left := "the time left is not known yet"
	if at.Left > 0 {
		left = "about " + wording.Duration(at.Left.Round(time.Second)) + " left"
	}
	line := fmt.Sprintf("%d of %d trials, %s", at.Done, at.Total, left)
	if at.Now != "" && at.Done < at.Total {
		line += ": " + wording.EscapeLine(at.Now)
	}
	if !p.live {
		fmt.Fprintln(p.out, line)
		return
	}
	const most = 78
	line = wording.Shorten(line, most)
	length := len([]rune(line))
	fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(p.shown-length, 0)))
	p.shown = length
}

// end clears the line on the terminal.
func (p *progressLine) end() {
	if p.shown > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.shown))
	}
}
