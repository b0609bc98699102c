package export

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// writeHAR writes an HTTP Archive 1.2
// (https://w3c.github.io/web-performance/specs/HAR/Overview.html) of the frames over
// HTTP: one entry for each POST, and for each event stream opened by GET.
//
// A transcript lacks some members of an archive: the headers of GET and DELETE
// requests, and the HTTP version. If it lacks the URL of a request, the URL of another
// request of the session takes its place, or else the host's root. A POST that needs no
// response body gets status 202 unless the transcript has another one. Event streams
// are written in two forms: as the text of the response, and message by message in
// _eventSourceMessages, as in Chromium's developer tools.
func writeHAR(w io.Writer, x *export) error {
	traffic, err := x.traffic()
	if err != nil {
		return err
	}
	if len(traffic) == 0 {
		return errNoHTTP
	}
	if err := x.follow(); err != nil {
		return err
	}
	whole := bufio.NewWriter(w)
	out := wording.EscapingWriter{To: whole}
	creator, err := rawjson.Encode(map[string]string{"name": wording.Product, "version": x.Version})
	if err != nil {
		return err
	}
	comment, err := rawjson.Encode(x.Title)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"log\":{\"version\":\"1.2\",\"creator\":%s,\"comment\":%s,\"entries\":[", creator, comment)
	separator := ""
	for i, t := range traffic {
		entry, err := x.entry(t)
		if err != nil {
			return fmt.Errorf("writing HTTP request %d: %w", i+1, err)
		}
		fmt.Fprintf(out, "%s\n%s", separator, entry)
		separator = ","
		if err := x.ctx.Err(); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "\n]}}\n")
	return whole.Flush()
}

// The types of an archive's objects. HAR 1.2 defines the names and order of their members.
type (
	harEntry struct {
		Started  string      `json:"startedDateTime"`
		Time     float64     `json:"time"` // milliseconds
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Comment  string      `json:"comment,omitempty"`
		Type     string      `json:"_resourceType"`
		Messages []harEvent  `json:"_eventSourceMessages,omitempty"`
		Frames   []int64     `json:"_frames"`
		Server   string      `json:"_server"`
		Session  string      `json:"_session"`
	}
	harRequest struct {
		Method      string     `json:"method"`
		URL         string     `json:"url"`
		Version     string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Query       []harPair  `json:"queryString"`
		Post        *harPosted `json:"postData,omitempty"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int64      `json:"bodySize"`
	}
	harPosted struct {
		MIME    string    `json:"mimeType"`
		Params  []harPair `json:"params"`
		Text    string    `json:"text"`
		Comment string    `json:"comment,omitempty"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		Version     string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		Redirect    string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int64      `json:"bodySize"`
		Comment     string     `json:"comment,omitempty"`
	}
	harContent struct {
		Size     int64  `json:"size"`
		MIME     string `json:"mimeType"`
		Text     string `json:"text,omitempty"`
		Encoding string `json:"encoding,omitempty"`
		Comment  string `json:"comment,omitempty"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harEvent struct {
		Time float64 `json:"time"` // seconds since 1970
		Name string  `json:"eventName"`
		ID   string  `json:"eventId"`
		Data string  `json:"data"`
	}
)

// httpVersion is the value of httpVersion, which transcripts do not record.
const httpVersion = "unknown"

func (x *export) entry(t *transfer) ([]byte, error) {
	var unknown []string
	address := cmp.Or(t.url, t.on.url)
	if address == "" {
		address = "http://" + cmp.Or(t.on.host, unknownHost) + "/"
		if name, ok := strings.CutSuffix(t.on.host, ":443"); ok {
			address = "https://" + name + "/"
		}
		unknown = append(unknown, "The path and scheme of the address are not recorded.")
	}
	e := &harEntry{Type: "fetch"}
	e.Request = harRequest{
		Method: t.method, URL: address, Version: httpVersion,
		Cookies: []harPair{}, Headers: []harPair{}, Query: queryOf(address), HeadersSize: -1, BodySize: -1,
	}
	e.Response = harResponse{Version: httpVersion, Cookies: []harPair{}, Headers: []harPair{}, HeadersSize: -1, BodySize: -1}
	if t.post == 0 && !t.signIn {
		unknown = append(unknown, "The headers of the request are not recorded.")
	}
	e.Comment = strings.Join(unknown, " ")
	if t.method == http.MethodGet && t.streaming {
		e.Type = "eventsource"
	}
	var began, first, last time.Time // times of the request, and of the first and last frame of the response
	var body bytes.Buffer
	answered := false
	for _, seq := range t.frames {
		f, err := x.frame(seq)
		if err != nil {
			return nil, err
		}
		e.Frames = append(e.Frames, seq)
		e.Server, e.Session = f.Server, f.Session
		if began.IsZero() {
			began = f.Time
		}
		if seq == t.post {
			e.posted(&f)
			continue
		}
		if t.signIn {
			in := f.Note.SignIn
			e.Request.Headers = pairs(in.Header)
			if in.Sent != "" {
				e.Request.BodySize = int64(len(in.Sent))
				e.Request.Post = &harPosted{MIME: in.Header.Get("Content-Type"), Params: []harPair{}, Text: in.Sent}
			}
			body.WriteString(in.Received)
			took, _ := time.ParseDuration(f.Note.Took) // stays 0 for a request of the browser
			began = f.Time.Add(-took)
		}
		if first.IsZero() {
			first = f.Time
		}
		last = f.Time
		if f.Dir == wire.Meta {
			e.answered(&f, Line(string(f.Raw), 500))
			continue
		}
		if !answered || len(f.Header) > 0 {
			e.answered(&f, "")
			answered = true
		}
		e.received(&f, &body)
	}
	e.content(body.Bytes())
	if !first.IsZero() && !began.IsZero() {
		e.Timings.Wait = milliseconds(first.Sub(began))
		e.Timings.Receive = milliseconds(last.Sub(first))
	}
	e.Time = e.Timings.Wait + e.Timings.Receive
	e.Started = began.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	return rawjson.Encode(e)
}

func (e *harEntry) posted(f *wire.Frame) {
	e.Request.BodySize, e.Request.Headers = f.Size, pairs(f.Header)
	p := &harPosted{MIME: cmp.Or(f.Header.Get("Content-Type"), "application/json"), Params: []harPair{}, Text: string(f.Raw)}
	if !utf8.Valid(f.Raw) {
		p.Text, p.Comment = strings.ToValidUTF8(p.Text, "\uFFFD"), "What is not UTF-8 was replaced."
	}
	if f.Truncated {
		p.Comment = strings.TrimSpace(p.Comment + " Only the head was kept.")
	}
	if f.Fault != "" {
		p.Comment = strings.TrimSpace(p.Comment + " Wrong on purpose: " + f.Fault + ".")
	}
	e.Request.Post = p
	if f.Kind == wire.Request && f.Transport == "http" {
		e.Response.Comment = "No response is recorded."
		return
	}
	e.Response.Status, e.Response.StatusText = http.StatusAccepted, http.StatusText(http.StatusAccepted)
	e.Response.Comment = "No response is recorded; none but this is called for."
}

func (e *harEntry) answered(f *wire.Frame, comment string) {
	e.Response.Comment = comment
	if f.Status != 0 {
		e.Response.Status, e.Response.StatusText = f.Status, http.StatusText(f.Status)
	}
	if len(f.Header) == 0 {
		return
	}
	e.Response.Headers = pairs(f.Header)
	e.Response.Content.MIME = f.Header.Get("Content-Type")
	e.Response.Redirect = f.Header.Get("Location")
}

// lineEnds replaces the line ends of event data, CRLF, LF or CR, by the start of
// another data line.
var lineEnds = strings.NewReplacer("\r\n", "\ndata: ", "\r", "\ndata: ", "\n", "\ndata: ")

func (e *harEntry) received(f *wire.Frame, body *bytes.Buffer) {
	c := &e.Response.Content
	c.Size += f.Size
	if f.Truncated {
		c.Comment = "Only the head of a message was kept."
	}
	if f.Stream == wire.StreamPost {
		body.Write(f.Raw)
		return
	}
	c.MIME = cmp.Or(c.MIME, "text/event-stream")
	// An event ends with an empty line, and each line of its data is a field of its own
	// (HTML, section 9.2, Server-sent events).
	body.WriteString("data: " + lineEnds.Replace(string(f.Raw)) + "\n\n")
	e.Messages = append(e.Messages, harEvent{
		Time: float64(f.Time.UnixMicro()) / 1e6, Name: "message", Data: strings.ToValidUTF8(string(f.Raw), "\uFFFD"),
	})
}

func (e *harEntry) content(body []byte) {
	c := &e.Response.Content
	c.MIME = cmp.Or(c.MIME, wording.Either(len(body) > 0, "application/json", "x-unknown"))
	if !utf8.Valid(body) {
		c.Text, c.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
		return
	}
	c.Text = string(body)
}

func queryOf(address string) []harPair {
	out := []harPair{}
	_, query, _ := strings.Cut(address, "?")
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if part == "" {
			continue
		}
		for _, text := range []*string{&name, &value} {
			if plain, err := url.QueryUnescape(*text); err == nil {
				*text = strings.ToValidUTF8(plain, "\uFFFD")
			}
		}
		out = append(out, harPair{name, value})
	}
	return out
}

func milliseconds(d time.Duration) float64 {
	return max(float64(d.Microseconds())/1000, 0)
}

func pairs(h http.Header) []harPair {
	out := []harPair{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, harPair{textproto.CanonicalMIMEHeaderKey(name), strings.ToValidUTF8(value, "\uFFFD")})
		}
	}
	return out
}
