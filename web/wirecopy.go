package web

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
)

// copyMost is the largest frame in bytes that can be copied. Larger ones can be saved.
const copyMost = 8 << 20

// copied answers with a frame as plain text in the form that the path names: raw,
// pretty, line (of a transcript) or curl. The last two are redacted, unless the query
// secrets is set.
func (s *Server) copied(c echo.Context, seq int64) error {
	f, done, err := s.readFrame(c, seq)
	if err != nil {
		return err
	}
	if done(); len(f.Raw) > copyMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("A frame of more than %d MiB is not copied. Save it.", copyMost>>20))
	}
	redaction, err := s.redaction(c)
	if err != nil {
		return err
	}
	switch c.Param("form") {
	case "raw":
		return c.Blob(http.StatusOK, echo.MIMETextPlainCharsetUTF8, f.Raw)
	case "pretty":
		return c.String(http.StatusOK, rawjson.Pretty(f.Raw))
	case "line":
		var line bytes.Buffer
		if err := wire.WriteFrames(&line, s.in.Log(), slices.Values([]int64{f.Seq}), redaction); err != nil {
			return err
		}
		return c.String(http.StatusOK, line.String())
	case "curl":
		if !s.curlable(f) {
			return bad("Frame %d was not sent over HTTP.", f.Seq)
		}
		return c.String(http.StatusOK, curl(*redaction.Frame(&f)))
	}
	return echo.ErrNotFound
}

// redaction returns the redaction for copies, which has learned all frames. The query
// secrets turns it off.
func (s *Server) redaction(c echo.Context) (*redact.Redaction, error) {
	if c.QueryParam("secrets") != "" {
		return redact.Nothing(), nil
	}
	return s.config.Redaction, s.config.Redaction.Learn(c.Request().Context(), s.in.Log())
}

// curlable reports whether a frame is the body of a POST from the client.
func (s *Server) curlable(f wire.Frame) bool {
	return f.Dir == wire.ClientToServer && f.Stream == wire.StreamPost && !f.Truncated && !f.Lost
}

// ownHeaders are the headers that curl sets itself.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "Transfer-Encoding"}

// curl returns the command that sends the frame again.
func curl(f wire.Frame) string {
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
