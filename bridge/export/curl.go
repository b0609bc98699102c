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

// Curlable reports whether a frame is the body of a POST from the client, or a request of
// a sign-in that is not the browser's.
func Curlable(f *wire.Frame) bool {
	return f.Dir == wire.ClientToServer && f.Stream == wire.StreamPost && !f.Truncated && !f.Lost || ofSignIn(f)
}

func ofSignIn(f *wire.Frame) bool {
	return f.Note != nil && f.Note.SignIn != nil && f.Note.SignIn.Step != wire.StepAuthorization && f.Note.SignIn.Step != wire.StepRedirect
}

// ownHeaders are the headers that curl sets itself.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "Transfer-Encoding"}

// Curl returns the command that sends the frame again. The secrets of a sign-in are
// placeholders there.
func Curl(f *wire.Frame) string {
	address, header, body := f.URL, f.Header, string(f.Raw)
	if ofSignIn(f) {
		header, body = f.Note.SignIn.Header, f.Note.SignIn.Sent
	}
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
	if body != "" || f.HTTPMethod != http.MethodGet {
		b.WriteString(" \\\n  --data-binary " + wording.ShellWord(body))
	}
	if address == "" {
		// Transcripts of other tools and of earlier versions have no URL.
		return b.String() + " \\\n  \"$MCP_ENDPOINT\"\n"
	}
	return b.String() + " \\\n  " + wording.ShellWord(address) + "\n"
}
