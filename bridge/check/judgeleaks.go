package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wording"
)

var leak = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(leaks, "|")) })

// leaks lists patterns of texts that only a language runtime or a stack trace prints, and
// that nobody writes for a person.
var leaks = []string{
	// Go
	`goroutine \d+ \[[a-z ]+\]:`, `runtime error: `, `nil pointer dereference`, `interface conversion: (?:interface|\S+ )`, `assignment to entry in nil map`, `\.go:\d+ \+0x`,
	// JavaScript
	`(?m)^\s+at .+\(?(?:file://|node:|/|[A-Z]:\\)\S*:\d+:\d+\)?`, `Cannot (?:read|set) propert(?:y|ies) (?:\S+ )?of (?:undefined|null)`, `undefined is not (?:a function|an object|iterable)`,
	`[\w$]+(?:\.[\w$]+)+ is not a function`, `Cannot destructure property`, `Cannot convert undefined or null to object`, `\w+ is not defined$`,
	// Python
	`Traceback \(most recent call last\)`, `'NoneType' object`, `'\w+' object (?:has no attribute '|is not (?:subscriptable|iterable|callable))`, `File "[^"]+", line \d+, in `,
	`list index out of range`, `unsupported operand type\(s\) for`,
	// Java and Kotlin
	`(?m)^\s*at [\w$.]+\([\w$]+\.(?:java|kt):\d+\)`, `java\.lang\.\w+(?:Exception|Error)`,
	// .NET
	`(?m)^\s*at .+ in .+:line \d+`, `Object reference not set to an instance of an object`, `System\.\w+Exception`,
	// Rust
	`thread '[^']*' panicked at`, "called `(?:Option|Result)::unwrap\\(\\)` on ",
	// Ruby
	`undefined method .+ for nil`, `\.rb:\d+:in [` + "`" + `']`,
	// PHP
	`PHP (?:Fatal error|Warning|Notice):`, `(?m)^#\d+ .+\.php\(\d+\)`, `Call to a member function .+ on null`,
}

func isLeak(text string) bool { return leak().MatchString(text) }

// leaks judges whether a result or an error shows stack traces or runtime errors of the
// server.
func (j *judgement) leaks(m Made, what string) {
	raw := m.Result
	if m.Error != nil {
		raw = m.Error
	}
	for _, text := range textsIn(raw) {
		words := leak().FindString(text)
		if words == "" || j.expects(m, words) {
			continue
		}
		gravest := report.Inconclusive
		if m.Method == mcp.MethodCallTool && !(m.succeeded() && isAboutLogs(m)) {
			gravest = report.Fail
		}
		j.find(report.RuleLeaks, gravest, fmt.Sprintf("The words %s in %s are those of a runtime, and no message for the user: %s", wording.Quoted(strings.TrimSpace(words)), what, wording.Quoted(text)), m.began(), m.lastAnswer(), m.ResultSeq)
		return
	}
}

// logWords matches a word of a tool whose result may show logs and stack traces.
var logWords = regexp.MustCompile(`(?i)^(?:logs?|logging|journal|console|stderr|stdout|output|traces?|tracebacks?|stack|crash|crashes|errors?|exceptions?|panics?|debug|diagnostics?|diagnose)$`)

// isAboutLogs reports whether the name of a call or one of its questions speaks of logs or
// errors, so that stack traces can be what the user asked for.
func isAboutLogs(m Made) bool {
	words := nameWords(m.Name)
	for _, q := range m.Questions {
		words = append(words, nameWords(q.Message())...)
	}
	return slices.ContainsFunc(words, logWords.MatchString)
}

// expects reports whether words do not count as a leak of this trial, because the client
// sent them or an honest result has them. A failed call has no expected words, unless it
// fails with the same ones after honest answers.
func (j *judgement) expects(m Made, words string) bool {
	has := func(raw []byte) bool {
		return slices.ContainsFunc(textsIn(raw), func(text string) bool { return strings.Contains(text, words) })
	}
	if has(m.Arguments) || has(m.Call.Arguments) {
		return true
	}
	for _, q := range m.Questions {
		if has(q.Answer) || has(q.Error) {
			return true
		}
	}
	return slices.ContainsFunc(j.Honest, func(h Made) bool {
		return (h.succeeded() || j.Behaviour != behaviourAccept) && (has(h.Result) || has(h.Error))
	})
}
