package wording

import (
	"regexp"
	"strings"
)

// Crash finds, among the lines that a program writes to its standard error, the one that
// says why it crashed. The zero Crash has read no lines.
type Crash struct {
	cause     string
	traceback bool // the lines of a Python traceback, which ends with the exception
	panicked  bool // the message of a Rust panic comes next
}

// Cause returns the latest line that says why the program crashed; "" if none does.
func (c *Crash) Cause() string { return c.cause }

// Line reads the next line, and reports whether it belongs to the cause.
func (c *Crash) Line(line string) bool {
	line = strings.TrimRight(line, " \t\r")
	switch {
	case line == "":
		return false
	case tracebackLine.MatchString(line):
		c.traceback = true
		return false
	case c.panicked:
		c.cause, c.panicked = c.cause+" "+strings.TrimSpace(line), false
		return true
	case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
		return false
	case !c.traceback && !crashLine.MatchString(line):
		return false
	}
	c.cause, c.traceback, c.panicked = line, false, rustPanic.MatchString(line)
	return true
}

var (
	// Python's frames, also without the header, as SyntaxError has them.
	tracebackLine = regexp.MustCompile(`^(?:Traceback \(most recent call last\):|\s+File "[^"]*", line \d+)`)
	rustPanic     = regexp.MustCompile(`^thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:$`)
	// crashLine matches lines with which a runtime, or a program that gives up, says why.
	crashLine = regexp.MustCompile(strings.Join([]string{
		`^panic: `, `^fatal error: `, // Go
		`^(?:Uncaught )?(?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?: `, // JavaScript and others
		`^thread '.*' (?:\(\d+\) )?panicked at `,                         // Rust
		`^Exception in thread "`, `^Unhandled exception\. `,              // Java, .NET
		`\.rb:\d+:in .*\(\w*(?:Error|Exception)\)$`, // Ruby
		`^PHP Fatal error: `,
	}, "|"))
)
