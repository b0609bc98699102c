package transport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// ofMessage returns Note.Of for a posted message: its method, or "response to" and the
// id; "" for no message.
func ofMessage(m wire.Message) string {
	if m.Method == "" && m.ID != nil {
		return "response to " + string(m.ID)
	}
	return m.Method
}

// statusText returns a status such as "404 Not Found", with the standard words instead
// of the server's.
func statusText(resp *http.Response) string {
	text := http.StatusText(resp.StatusCode)
	if text == "" {
		return strconv.Itoa(resp.StatusCode)
	}
	return strconv.Itoa(resp.StatusCode) + " " + text
}

func mediaType(resp *http.Response) string {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return media
}

func contentType(resp *http.Response) string {
	if media := resp.Header.Get("Content-Type"); media != "" {
		return media
	}
	return "no content type"
}

// quoted returns the beginning of a text, at most maxNoteText bytes of it.
func quoted(raw []byte) string {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(raw[:min(len(raw), maxNoteText)])), "\uFFFD")
	if text != "" && len(raw) > maxNoteText {
		text += " …"
	}
	return text
}

// errorText returns the beginning of an error body's message: the message of a JSON
// error, the text of a web page, or else the body itself.
func errorText(resp *http.Response, raw []byte) string {
	member := func(path ...string) string { return rawjson.Text(rawjson.Member(raw, path...)) }
	if said := cmp.Or(member("error", "message"), member("error"), member("message")); said != "" && rawjson.Valid(raw) {
		return quoted([]byte(said))
	}
	if mediaType(resp) == "text/html" {
		raw = pageText(raw)
	}
	return quoted(raw)
}

// pageText returns the visible text of a web page in one line.
func pageText(raw []byte) []byte {
	var words []string
	skip := false
	page := html.NewTokenizer(bytes.NewReader(raw))
	for {
		switch page.Next() {
		case html.ErrorToken: // end of the page; bytes in memory cannot fail to be read
			return []byte(strings.Join(words, " "))
		case html.TextToken:
			if !skip {
				words = append(words, strings.Fields(string(page.Text()))...)
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := page.TagName()
			skip = !skip && (string(name) == "script" || string(name) == "style")
		}
	}
}

// inWords describes why an HTTP request has no response.
func inWords(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection without an answer"
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("there is no host %q", dns.Name)
	case errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens on %s (connection refused)", op.Addr)
	case errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && op.Timeout():
		return fmt.Sprintf("%s does not answer", op.Addr)
	default:
		return err.Error()
	}
}
