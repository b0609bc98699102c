package export

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Curlable reports whether a frame is the body of a POST from the client.
func Curlable(f *wire.Frame) bool {
	return f.Dir == wire.ClientToServer && f.Stream == wire.StreamPost && !f.Truncated && !f.Lost
}

// ownHeaders are the headers that curl sets itself.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "Transfer-Encoding"}

// Curl returns the command that sends the frame again.
func Curl(f *wire.Frame) string {
	address, header := f.URL, f.Header
	var b strings.Builder
	b.WriteString("curl -sS -g -N -X " + cmp.Or(f.HTTPMethod, http.MethodPost))
	if header.Get("Accept-Encoding") != "" {
		b.WriteString(" --compressed")
	}
	names := make([]string, 0, len(header))
	for name := range header {
		if !slices.Contains(ownHeaders, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if u, err := url.Parse(address); err == nil && header.Get("Host") != "" && header.Get("Host") != u.Host && address != "" {
		names = append(names, "Host")
	}
	for _, name := range names {
		for _, value := range header[name] {
			b.WriteString(" \\\n  -H " + wording.ShellWord(name+": "+value))
		}
	}
	b.WriteString(" \\\n  --data-binary " + wording.ShellWord(string(f.Raw)))
	if address == "" {
		// Transcripts of other tools and of earlier versions have no URL.
		return b.String() + " \\\n  \"$MCP_ENDPOINT\"\n"
	}
	return b.String() + " \\\n  " + wording.ShellWord(address) + "\n"
}
