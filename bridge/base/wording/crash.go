package wording

import (
	"strings"

	"elicitation-inspector/bridge/base/lazy"
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
	case tracebackLine().MatchString(line):
		c.traceback = true
		return false
	case c.panicked:
		c.cause, c.panicked = c.cause+" "+strings.TrimSpace(line), false
		return true
	case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
		return false
	case !c.traceback && !crashLine().MatchString(line):
		return false
	}
	c.cause, c.traceback, c.panicked = line, false, rustPanic().MatchString(line)
	return true
}

var (
	// Python's frames, also without the header, as SyntaxError has them.
	tracebackLine = lazy.Regexp(`^(?:Traceback \(most recent call last\):|\s+File "[^"]*", line \d+)`)
	rustPanic     = lazy.Regexp(`^thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:$`)
	// crashLine matches lines with which a runtime, or a program that gives up, says why.
	crashLine = lazy.Regexp(strings.Join([]string{
		`^panic: `, `^fatal error: `, // Go
		`^(?:Uncaught )?(?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?: `, // JavaScript and others
		`^thread '.*' (?:\(\d+\) )?panicked at `,                         // Rust
		`^Exception in thread "`, `^Unhandled exception\. `,              // Java, .NET
		`\.rb:\d+:in .*\(\w*(?:Error|Exception)\)$`, // Ruby
		`^PHP Fatal error: `,
	}, "|"))
)

// RuntimeWords returns the pattern of texts that only a language runtime or a stack trace
// prints, and that nobody writes for a person.
var RuntimeWords = lazy.Regexp(strings.Join(runtimeWords, "|"))

var runtimeWords = []string{
	// Go
	`goroutine \d+ \[[a-z ]+\]:`, `runtime error: `, `nil pointer dereference`, `interface conversion: (?:interface|\S+ )`, `assignment to entry in nil map`, `\.go:\d+ \+0x`,
	// JavaScript
	`(?m)^\s+at .+\(?(?:file://|node:|/|[A-Z]:\\)\S*:\d+:\d+\)?`, `Cannot (?:read|set) propert(?:y|ies) (?:\S+ )?of (?:undefined|null)`, `undefined is not (?:a function|an object|iterable)`,
	`[\w$]+(?:\.[\w$]+)+ is not a function`, `Cannot destructure property`, `Cannot convert undefined or null to object`, `\w+ is not defined$`,
	// Python
	`Traceback \(most recent call last\)`, `'NoneType' object`, `'\w+' object (?:has no attribute '|is not (?:subscriptable|iterable|callable))`, `File "[^"]+", line \d+, in `,
	`list index out of range`, `unsupported operand type\(s\) for`, `\bKeyError: `,
	// Java and Kotlin
	`(?m)^\s*at [\w$.]+\([\w$]+\.(?:java|kt):\d+\)`, `java\.lang\.\w+(?:Exception|Error)`, `Cannot invoke ".+" because ".+" is null`,
	// .NET
	`(?m)^\s*at .+ in .+:line \d+`, `Object reference not set to an instance of an object`, `System\.\w+Exception`, `The given key '.*' was not present in the dictionary`,
	// Rust
	`thread '[^']*' panicked at`, "called `(?:Option|Result)::unwrap\\(\\)` on ",
	// Ruby
	`undefined method .+ for nil`, `\.rb:\d+:in [` + "`" + `']`,
	// PHP
	`PHP (?:Fatal error|Warning|Notice):`, `(?m)^#\d+ .+\.php\(\d+\)`, `Call to a member function .+ on null`, `Undefined array key`, `Trying to access array offset on`,
}
