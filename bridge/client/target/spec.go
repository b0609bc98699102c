// Package target describes how MCP servers are reached, and reads that from an mcp.json file.
package target

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/signin"
)

// Spec describes how one server is reached: by exactly one of Command, URL and Builtin.
type Spec struct {
	Name string // in frames
	// Derived is set if nobody named the server, and Name is made from its command or URL.
	Derived bool
	// Disabled is set for a server that its file disables. Its other members were not
	// read.
	Disabled bool
	// From is the place of the server in its configuration file, as "mcp.json:12"; ""
	// without a file.
	From string
	// Problem is why the server cannot be reached as its file describes it; nil if
	// there is no problem.
	Problem error
	// Added is set for a server that a person added on the page.
	Added bool
	// Protocol and Elicitation are the members of the file that say how the client
	// presents itself, unchecked; "" if absent.
	Protocol, Elicitation string

	Command []string // program and arguments
	Env     []string // K=V, added to the inspector's own environment
	Dir     string   // working directory of the process; the inspector's own if empty

	URL       string
	Transport Transport
	// Header is added to each request to the URL's own origin (scheme, host and port),
	// and to no other origin. It replaces headers of the same name.
	Header http.Header
	// SignIn says how to sign in to the server if it requires that.
	SignIn signin.Config
	// Access provides the tokens for requests to the URL's own origin; nil if requests
	// need none.
	Access *signin.Flow

	// Builtin serves lines in this process, until in ends.
	Builtin func(ctx context.Context, in io.Reader, out io.Writer) error
}

// Transport is the protocol spoken with a URL.
type Transport string

// The transports.
const (
	TransportAuto Transport = ""     // Streamable HTTP, then HTTP+SSE; see [Spec.Candidates]
	TransportHTTP Transport = "http" // Streamable HTTP, revision 2025-03-26 and later
	TransportSSE  Transport = "sse"  // HTTP+SSE of revision 2024-11-05
)

// ParseTransport returns the transport with this name on the command line. An empty
// string means auto.
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

// Ways has the words for how a server is reached, by the transport of its frames.
var Ways = map[string]string{"stdio": "stdio", "http": "HTTP", "sse": "SSE", "memory": "in process"}

// How names the transport in the words of Ways; "" if the server's file does not tell.
func (s Spec) How() string { return Ways[s.OfFrames()] }

// OfFrames returns the transport as it stands in [wire.Frame]; "" if the server's file does not
// tell. For [TransportAuto] it is the one that is tried first.
func (s Spec) OfFrames() string {
	switch {
	case s.Builtin != nil:
		return "memory"
	case s.URL == "" && s.Problem != nil && len(s.Command) == 0:
		return "" // unknown
	case s.URL == "":
		return "stdio"
	case s.Transport == TransportSSE:
		return "sse"
	default:
		return "http"
	}
}

// Address returns the command line, or the URL without its password, for display.
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

// Key returns a hash that identifies the server across runs: by its URL, or by its
// command and folder. It reveals neither. It is "" if there is no server to reach.
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

// Candidates lists the specs to try, in order, each with one transport: for
// [TransportAuto] Streamable HTTP and then HTTP+SSE, otherwise only the spec itself.
// The next candidate is worth trying only if transport.TryNext says so.
func (s Spec) Candidates() []Spec {
	if s.URL == "" || s.Transport != TransportAuto {
		return []Spec{s}
	}
	modern, legacy := s, s
	modern.Transport, legacy.Transport = TransportHTTP, TransportSSE
	return []Spec{modern, legacy}
}

// CommandLine returns the arguments of an inspector command line that select the
// server, quoted for a shell; "" for the built-in server. Values of headers and of the
// environment may be secret, so shell variables stand for them.
func (s Spec) CommandLine() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		words = append(words, "--header", `"`+name+": $"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+`"`)
	}
	for _, pair := range s.Env {
		name, _, _ := strings.Cut(pair, "=")
		words = append(words, "--env", name+`="$`+name+`"`)
	}
	if s.Dir != "" {
		words = append(words, "--cwd", wording.ShellWord(s.Dir))
	}
	if s.Transport != TransportAuto {
		words = append(words, "--transport", string(s.Transport))
	}
	switch {
	case s.URL != "":
		words = append(words, wording.ShellWord(s.URL))
	case s.Command != nil:
		words = append(words, "--", s.Address())
	}
	return strings.Join(words, " ")
}
