package elicit

import (
	"encoding/json"
	"strings"
)

// LintOutput judges a line that a server has written to its standard output and
// that is no message. why is what keeps it from being one.
func LintOutput(line []byte, why, revision string) []Finding {
	l := newLinter(revision)
	switch {
	case strings.TrimSpace(string(line)) == "":
		l.find("stdout-noise", "", "An empty line on standard output is no message; clients may end the connection over it.")
	case !json.Valid(line):
		l.find("stdout-noise", "", "Standard output is for messages alone, and this line is none; clients may end the connection over it. Logs belong on standard error.")
	default:
		l.find("stdout-noise", "", "This line on standard output is JSON, but no message (%s); clients may end the connection over it.", shorten(why, 120))
	}
	return l.findings
}

// LintTakenID judges a request whose id is that of an earlier one which still
// waits for its response.
func LintTakenID(id json.RawMessage, revision string) []Finding {
	l := newLinter(revision)
	l.find("request-id-taken", "/id", "The id %s is that of an earlier request which still waits for its response; one response cannot answer two requests.", shorten(string(id), 60))
	return l.findings
}

// LintUndeclared judges a request that needs a client capability, sampling or
// roots, which was not declared. The pointer leads into the frame that asked.
func LintUndeclared(method, capability, at, revision string) []Finding {
	l := newLinter(revision)
	l.find(capability+"-undeclared", at, "%s needs the client capability %s, which this client has not declared; servers must not send it.", shorten(method, 60), quoted(capability))
	return l.findings
}
