package transport

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
	"elicitation-inspector/bridge/wire/redact"
)

// post sends a message of the SDK, and returns the response for the SDK.
func (r *remote) post(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading the message to be sent: %w", err)
	}
	f, err := r.prepare(req)
	if err != nil {
		return nil, err
	}
	out := r.tap.replacement(req.Context(), body)
	u, ok, err := r.tap.sending(req.Context(), f.carry(out), req.Response != nil)
	if !ok {
		f.over()
		if err != nil {
			return nil, err
		}
		return standIn(req, http.StatusAccepted, nil, http.NoBody), nil
	}
	if r.legacy() && !r.own(req.URL) {
		f.over()
		err := fmt.Errorf("the endpoint event of %s names %s for messages, which is of another origin and is not used", r.spec.Address(), redact.WithoutQuery(address(req)))
		r.tap.observer.Undelivered(u, err)
		return nil, &Failure{Method: u.Message.Method, Text: err.Error()}
	}
	f.of = ofUnit(u)
	resp, err := f.do()
	if err != nil {
		if givenUp := req.Context().Err() != nil || r.life.Err() != nil; !givenUp || !f.wrote.Load() {
			r.tap.observer.Undelivered(u, err)
		}
		failure := new(Failure)
		if !errors.As(err, &failure) { // else one for a response that only asks for a token
			failure = &Failure{Text: inWords(err), cause: err}
		}
		failure.Method = u.Message.Method
		return nil, failure
	}
	switch {
	case followed(resp):
		return resp, nil
	case resp.StatusCode >= 300:
		resp, err = r.refused(req, u, resp)
	case u.Fault != "" && (out.Unasked || u.Kind == wire.Noise):
		return r.overhear(req, u, resp, out.Unasked)
	default:
		resp, err = r.accepted(req, u, resp)
	}
	if resp != nil && u.Message.Method == mcp.MethodDiscover {
		// A session begins with the response to initialize. The SDK would otherwise use
		// the session id of this response.
		resp.Header = resp.Header.Clone()
		resp.Header.Del(sessionHeader)
	}
	return resp, err
}

// carry makes a message the body of the request, and returns its unit.
func (f *flight) carry(out Outgoing) Tapped {
	message := out.Frame.Raw
	f.named(message)
	f.req.ContentLength = int64(len(message))
	f.req.GetBody = func() (io.ReadCloser, error) { // called again for a redirect
		if out.Pieces == nil {
			return io.NopCloser(bytes.NewReader(message)), nil
		}
		r, w := io.Pipe()
		stop := make(chan struct{})
		go func() { w.CloseWithError(out.slowly(w, stop)) }()
		return body{r, sync.OnceValue(func() error {
			close(stop)
			return r.Close()
		})}, nil
	}
	f.req.Body, _ = f.req.GetBody()
	u := Tapped{Frame: out.Frame}
	u.Stream, u.Header, u.HTTPMethod, u.URL = wire.StreamPost, f.sent(), f.req.Method, address(f.req)
	return u
}

// refused handles a response with a status of 300 or above. If its body is a JSON-RPC
// error for the request, that error is passed on as the server's answer.
func (r *remote) refused(req *http.Request, u Tapped, resp *http.Response) (*http.Response, error) {
	said := r.explanation(resp)
	reason := "HTTP " + statusText(resp)
	to := redact.WithoutQuery(resp.Header.Get("Location"))
	if to != "" {
		reason += " to " + to
	}
	reason += wording.After(": ", errorText(resp, said.Head))
	failure := &Failure{Method: u.Message.Method, Status: resp.StatusCode, Text: reason, Address: redact.WithoutQuery(u.URL), Challenge: challenge(resp), Elsewhere: r.elsewhere(resp)}
	if m, err := wire.ParseMessage(said.Head); err == nil && said.Whole() {
		_, deliver := r.tap.bytes(answerUnit(u.Message, resp), said)
		if m.Kind == wire.Error && u.Message.Kind == wire.Request && (m.ID == nil || bytes.Equal(m.ID, u.Message.ID)) {
			status := resp.StatusCode
			switch {
			case deliver == nil:
				return nil, &Failure{Method: failure.Method, Status: status, Text: droppedText}
			case status == http.StatusUnauthorized, status == http.StatusForbidden:
				return nil, failure // the SDK would keep only the message of the error
			case tryAgain(resp):
				status = http.StatusBadRequest // for these statuses the SDK ignores the body
			}
			return standIn(req, status, resp.Header, io.NopCloser(bytes.NewReader(deliver))), nil
		}
	} else {
		r.tap.failure(u.Message, noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: ofUnit(u), To: to, Said: quoted(said.Head)}))
	}
	u.Status = resp.StatusCode
	r.tap.observer.Undelivered(u, errors.New(reason))
	if sessionGone(resp) {
		return standIn(req, resp.StatusCode, resp.Header, http.NoBody), nil // the SDK handles the end of a session itself
	}
	return nil, failure
}

func answerUnit(posted wire.Message, resp *http.Response) Tapped {
	return Tapped{
		Frame:   wire.Frame{Stream: wire.StreamPost, Header: resp.Header, Status: resp.StatusCode},
		Related: posted.ID,
	}
}

func challenge(resp *http.Response) string {
	return strings.Join(resp.Header.Values("WWW-Authenticate"), ", ")
}

// elsewhere returns Failure.Elsewhere for a response.
func (r *remote) elsewhere(resp *http.Response) string {
	if r.own(resp.Request.URL) {
		return ""
	}
	return resp.Request.URL.Host
}

// explanation reads the body of a refusal, at most maxErrorBody bytes of it and for at
// most explainTime.
func (r *remote) explanation(resp *http.Response) lines.Clipped {
	defer resp.Body.Close()
	if coding := encoding(resp); coding != "" {
		return lines.Clipped{Head: []byte("(its body is encoded as " + coding + ")")}
	}
	defer time.AfterFunc(explainTime, func() { resp.Body.Close() }).Stop()
	k, _ := lines.Keep(io.LimitReader(resp.Body, maxErrorBody+1), min(r.tap.max, maxErrorBody)) // a partial body is better than none
	return k
}

// overhear observes the answer to a POST that is not a message, or whose sender waits for
// no response. If the SDK does wait, it gets a failure.
func (r *remote) overhear(req *http.Request, u Tapped, resp *http.Response, unasked bool) (*http.Response, error) {
	switch mediaType(resp) {
	case "application/json":
		if said, err := lines.Keep(resp.Body, r.tap.max); err == nil && said.Size > 0 {
			r.tap.receive(answerUnit(u.Message, resp), said)
		}
	case eventStreamMedia:
		resp.Body = r.events(resp, suspended{posted: u.Message})
		_, _ = io.Copy(io.Discard, resp.Body) // the end of the stream is noted by its reader
	}
	_ = resp.Body.Close()
	if !unasked {
		return nil, &Failure{Status: resp.StatusCode, Text: "the server answered HTTP " + statusText(resp) + ", and not the request"}
	}
	return standIn(req, http.StatusAccepted, nil, http.NoBody), nil
}

// ofUnit returns Note.Of for a sent unit. It is like ofMessage, but has words for
// deliberately invalid bytes.
func ofUnit(u Tapped) string {
	if u.Fault != "" && u.Kind == wire.Noise {
		return "bytes that are not a message"
	}
	return ofMessage(u.Message)
}

// accepted prepares a response with a status below 300 for the SDK.
func (r *remote) accepted(req *http.Request, u Tapped, resp *http.Response) (*http.Response, error) {
	if u.Message.Kind != wire.Request || r.legacy() {
		// No JSON-RPC response is due here, and the SDK ignores the body.
		if resp.StatusCode != http.StatusAccepted && resp.StatusCode != http.StatusNoContent && !r.legacy() {
			r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: ofMessage(u.Message), Want: "202 Accepted"}))
		}
		return resp, nil
	}
	switch media := mediaType(resp); media {
	case "application/json":
		answer := sync.OnceValues(func() (io.Reader, error) { return bytes.NewReader(r.jsonAnswer(resp, u.Message)), nil })
		return standIn(req, resp.StatusCode, resp.Header, body{lazyReader(answer), resp.Body.Close}), nil
	case eventStreamMedia:
		resp.Body = r.events(resp, suspended{posted: u.Message})
		return resp, nil
	default:
		_ = resp.Body.Close() // the body was not read
		note := noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: ofMessage(u.Message), Got: contentType(resp)})
		r.tap.failure(u.Message, note)
		return nil, &Failure{Method: u.Message.Method, Status: resp.StatusCode, Text: note.Note.Words(&note)}
	}
}

// jsonAnswer reads a JSON response to its end and returns the bytes for the SDK. It is
// never empty, because the SDK would end the session over an empty response.
func (r *remote) jsonAnswer(resp *http.Response, posted wire.Message) []byte {
	failure := &Failure{Method: posted.Method, Status: resp.StatusCode}
	u := answerUnit(posted, resp)
	said, err := lines.Keep(resp.Body, r.tap.max)
	if err != nil {
		if said.Size > 0 {
			r.tap.show(u, said, noRequest)
		}
		r.tap.failure(posted, wire.Frame{Status: resp.StatusCode, Note: &wire.Note{Kind: wire.NoteAnswerBroken, Of: ofMessage(posted), Bytes: said.Size, Why: err.Error()}})
		failure.Text = fmt.Sprintf("the answer broke off after %d bytes: %v", said.Size, err)
		return encoded(failure.response(posted.ID))
	}
	if _, deliver := r.tap.bytes(u, said); deliver != nil {
		return deliver
	}
	failure.Text = droppedText
	m, err := wire.ParseMessage(said.Head)
	if !said.Whole() {
		failure.Text = r.tap.notTaken(&wire.Frame{Truncated: true, Size: said.Size})
	} else if err == nil && m.Kind.IsResponse() && !bytes.Equal(m.ID, posted.ID) {
		failure.Text = fmt.Sprintf("the answer has the id %s, and the request %s", m.ID, posted.ID)
	} else if err != nil {
		failure.Text = fmt.Sprintf("the answer is not a JSON-RPC message: %v", err)
	}
	return encoded(failure.response(posted.ID))
}

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
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// encoding returns the content coding of a body that is not decoded, which is any but gzip
// (RFC 9110, section 8.4); "" for a body that can be read.
func encoding(resp *http.Response) string {
	return strings.TrimPrefix(strings.ToLower(resp.Header.Get("Content-Encoding")), "identity")
}

// mediaType returns the media type of a body; "" if it has none, or cannot be read.
func mediaType(resp *http.Response) string {
	if encoding(resp) != "" {
		return ""
	}
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return media
}

func contentType(resp *http.Response) string {
	return cmp.Or(resp.Header.Get("Content-Type"), "no content type") + wording.After(" encoded as ", encoding(resp))
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
		text := html.UnescapeString(string(noText().ReplaceAll(raw, []byte(" "))))
		raw = []byte(strings.Join(strings.Fields(text), " "))
	}
	return quoted(raw)
}

// noText matches the parts of a web page that are not text: comments, tags, scripts and style
// sheets.
var noText = lazy.Regexp(`(?is)<!--.*?(?:-->|\z)|<(?:script\b.*?(?:</script|\z)|style\b.*?(?:</style|\z)|[/!?a-z])[^>]*>?`)

// inWords describes why an HTTP request has no response.
func inWords(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "the server's certificate is signed by an authority that this machine does not know. If it is a private one, " +
			wording.Either(runtime.GOOS == "windows" || runtime.GOOS == "darwin", "add its certificate to those that the system trusts", "have the environment variable SSL_CERT_FILE name a file with its certificate (PEM)")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
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
