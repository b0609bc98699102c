// Package target reaches MCP servers: a process over stdio, Streamable HTTP,
// legacy HTTP+SSE, or a server in this process. Each connection is tapped below
// the SDK, so that an [Observer] sees the exact bytes of every message before
// the SDK does and decides what the SDK is given.
package target

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wording"
)

// Spec says how one server is reached: by exactly one of Command, URL and Builtin.
type Spec struct {
	Name string // what people call it
	// Disabled is set for a server that its file leaves out. Nothing else of it
	// was read.
	Disabled bool
	// From is where its file describes the server, as "mcp.json:12"; "" if no file does.
	From string
	// Problem is why the server cannot be reached as its file describes it; nil if it can.
	Problem error
	// Protocol and Elicitation are how the client is to present itself, in the
	// words of the file, which are not checked here; "" where it does not say.
	Protocol, Elicitation string

	Command []string // program and arguments
	Env     []string // K=V, added to the inspector's own environment
	Dir     string   // working directory of the process; the inspector's own if empty

	URL       string
	Transport Transport
	// Header is added to each request to the URL's own origin (scheme, host and
	// port), and to no other. It replaces headers of the same name.
	Header http.Header

	Builtin func() *mcp.Server // makes a server to run in this process
}

// Transport is the protocol that is spoken to a URL.
type Transport string

// The transports.
const (
	TransportAuto Transport = ""     // Streamable HTTP, then HTTP+SSE; see [Spec.Candidates]
	TransportHTTP Transport = "http" // Streamable HTTP, revision 2025-03-26 and later
	TransportSSE  Transport = "sse"  // HTTP+SSE of revision 2024-11-05
)

// ParseTransport reads the command line's name of a transport. The empty
// string is auto.
func ParseTransport(s string) (Transport, error) {
	switch t := Transport(s); t {
	case TransportAuto, TransportHTTP, TransportSSE:
		return t, nil
	case "auto":
		return TransportAuto, nil
	default:
		return "", fmt.Errorf("unknown transport %q: want auto, http or sse", s)
	}
}

// How says in a word how the server is reached: "stdio", "HTTP", "SSE" or
// "in process", or "" where its file does not tell. For [TransportAuto] it is what is tried first.
func (s Spec) How() string {
	switch {
	case s.Builtin != nil:
		return "in process"
	case s.URL == "" && s.Problem != nil && len(s.Command) == 0:
		return "" // nothing says
	case s.URL == "":
		return "stdio"
	case s.Transport == TransportSSE:
		return "SSE"
	default:
		return "HTTP"
	}
}

// Address is the command line, or the URL without its password, for people.
func (s Spec) Address() string {
	switch {
	case s.Builtin != nil:
		return "built in"
	case s.URL == "":
		words := make([]string, len(s.Command))
		for i, word := range s.Command {
			words[i] = wording.ShellWord(word)
		}
		return strings.Join(words, " ")
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	return u.Redacted()
}

// Key names what is reached, the same in every run: a URL, or a command in its
// folder. Nothing of these can be read from it. It is "" where there is nothing
// to reach.
func (s Spec) Key() string {
	words := []string{s.URL}
	switch {
	case s.Builtin != nil:
		words = []string{s.How()}
	case len(s.Command) > 0:
		dir, err := filepath.Abs(s.Dir)
		if err != nil {
			dir = s.Dir
		}
		words = append([]string{dir}, s.Command...)
	case s.URL == "":
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// Candidates lists what is to be tried, in order, each with a transport of its
// own: for [TransportAuto] Streamable HTTP and then HTTP+SSE, otherwise the
// spec itself. The next one is worth trying only if [TryNext] says so.
func (s Spec) Candidates() []Spec {
	if s.URL == "" || s.Transport != TransportAuto {
		return []Spec{s}
	}
	modern, legacy := s, s
	modern.Transport, legacy.Transport = TransportHTTP, TransportSSE
	return []Spec{modern, legacy}
}

// TryNext reports whether err, from connecting a session over Streamable HTTP,
// is what a server that only knows HTTP+SSE answers: 400, 404 or 405 to the
// POST of initialize (specification 2025-11-25, Transports, Backwards
// Compatibility), without a JSON-RPC error of its own.
func TryNext(err error) bool {
	fault, ok := FaultOf(err)
	return ok && fault.Method == protocol.MethodInitialize && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}, fault.Status)
}
