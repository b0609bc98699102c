package lint

import (
	"encoding/json"
	"strings"

	"elicitation-inspector/bridge/wording"
)

// Output judges a line that a server has written to its standard output and
// that is no message. why is what keeps it from being one.
func Output(line []byte, why, revision string) []Finding {
	l := newLinter(revision)
	switch {
	case strings.TrimSpace(string(line)) == "":
		l.find("stdout-noise", "", "An empty line on standard output is no message; clients may end the connection over it.")
	case !json.Valid(line):
		l.find("stdout-noise", "", "Standard output is for messages alone, and this line is none; clients may end the connection over it. Logs belong on standard error.")
	default:
		l.find("stdout-noise", "", "This line on standard output is JSON, but no message (%s); clients may end the connection over it.", wording.Shorten(why, 120))
	}
	return l.findings
}

// TakenID judges a request whose id is that of an earlier one which still
// waits for its response.
func TakenID(id json.RawMessage, revision string) []Finding {
	l := newLinter(revision)
	l.find("request-id-taken", "/id", "The id %s is that of an earlier request which still waits for its response; one response cannot answer two requests.", wording.Shorten(string(id), 60))
	return l.findings
}

// Undeclared judges a request that needs a client capability, sampling or
// roots, which was not declared. The pointer leads into the frame that asked.
func Undeclared(method, capability, at, revision string) []Finding {
	l := newLinter(revision)
	l.find(capability+"-undeclared", at, "%s needs the client capability %s, which this client has not declared; servers must not send it.", wording.Shorten(method, 60), wording.Quoted(capability))
	return l.findings
}
