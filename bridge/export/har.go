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

	"elicitation-inspector/bridge/wire"
)

// har writes an HTTP Archive 1.2
// (https://w3c.github.io/web-performance/specs/HAR/Overview.html) of what went
// over HTTP: an entry for each POST and for each event stream opened by GET.
//
// A transcript does not hold all that an archive has room for: neither the
// headers of GET and DELETE requests, nor the protocol's version. Where it does
// not say the URL of a request, that of another request of the session stands
// for it, or else the host's root. A POST to which nothing but an empty response is called for is shown with 202
// unless the transcript says otherwise. Event streams are shown as their data:
// as the text of the response, and message by message in
// _eventSourceMessages, as Chromium's developer tools have it.
func (x *export) har(w io.Writer) error {
	traffic, err := x.traffic()
	if err != nil {
		return err
	}
	if len(traffic) == 0 {
		return ErrNoHTTP
	}
	out := bufio.NewWriter(w)
	head, err := encode(map[string]any{"name": x.Tool, "version": x.Version})
	if err != nil {
		return err
	}
	comment, err := encode(x.Title)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"log\":{\"version\":\"1.2\",\"creator\":%s,\"comment\":%s,\"entries\":[", head, comment)
	for i, t := range traffic {
		entry, err := x.entry(t)
		if err != nil {
			return fmt.Errorf("writing HTTP request %d: %w", i+1, err)
		}
		raw, err := encode(entry)
		if err != nil {
			return fmt.Errorf("writing HTTP request %d: %w", i+1, err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(raw)
		if err := x.ctx.Err(); err != nil {
			return err
		}
	}
	out.WriteString("\n]}}\n")
	return out.Flush()
}

// transfer is one HTTP request with its response, as numbers of frames.
type transfer struct {
	method   string
	post     int64 // frame that was posted, 0 for others
	began    int64 // first frame or note of the response, 0 if there is none
	messages []int64
	note     int64 // what the inspector said of the response, 0 if nothing
	url      string
	guessed  bool // url is no more than the host's root
	call     int
}

// traffic finds the HTTP requests among the chosen frames. Bytes are looked at
// one frame at a time.
func (x *export) traffic() ([]*transfer, error) {
	type connection struct {
		host    string
		url     string              // of its endpoint, "" if it is not known, or if it has several
		posts   map[int64]*transfer // by the frame that was posted, of requests
		open    []*transfer         // POSTs, the latest last
		stream  *transfer           // the latest event stream that answers a POST
		get     *transfer
		pending *transfer // the latest POST of which nothing was heard
		all     []*transfer
	}
	connections := make(map[string]*connection)
	var out []*transfer
	began := func(s *connection, t *transfer) {
		out = append(out, t)
		s.all = append(s.all, t)
	}
	for f, err := range x.frames() {
		if err != nil {
			return nil, err
		}
		if f.Transport != "http" && f.Transport != "sse" || f.Kind == wire.NoteFrame && f.Dir != wire.Meta {
			continue
		}
		s := connections[f.Session]
		if s == nil {
			s = &connection{posts: make(map[int64]*transfer)}
			connections[f.Session] = s
		}
		switch {
		case f.Dir == wire.ClientToServer && f.Kind != wire.NoteFrame:
			if host := f.Header.Get("Host"); host != "" {
				s.host = host
			}
			t := &transfer{method: cmp.Or(f.HTTPMethod, http.MethodPost), post: f.Seq, url: f.URL, call: f.Call}
			if f.Transport == "http" { // HTTP+SSE has another one for GET
				s.url = cmp.Or(f.URL, s.url)
			}
			began(s, t)
			s.pending = t
			if f.Kind == wire.Request {
				s.posts[f.Seq] = t
				s.open = append(s.open, t)
			}
		case f.Dir == wire.Meta && f.Status != 0:
			switch method := noted(&f); {
			case method == "":
			case method != http.MethodPost:
				t := &transfer{method: method, note: f.Seq, began: f.Seq}
				began(s, t)
				if method == http.MethodGet {
					s.get = t
				}
			case s.pending != nil && s.pending.began == 0:
				s.pending.note, s.pending.began = f.Seq, f.Seq
			}
		case f.Dir == wire.ServerToClient && f.Stream == wire.StreamGetSSE:
			if s.get == nil || len(s.get.messages) > 0 && len(f.Header) > 0 {
				s.get = &transfer{method: http.MethodGet, began: f.Seq}
				began(s, s.get)
			}
			if f.URL != "" {
				s.get.url = f.URL
			}
			s.get.messages = append(s.get.messages, f.Seq)
		case f.Dir == wire.ServerToClient:
			t := s.posts[f.Pair]
			if t == nil {
				t = streamOf(&f, s.open, s.stream)
			}
			if t == nil {
				t = &transfer{method: http.MethodPost}
				began(s, t)
			}
			if t.began == 0 {
				t.began = f.Seq
			}
			t.messages = append(t.messages, f.Seq)
			if f.Stream == wire.StreamPostSSE {
				s.stream = t
			}
			if f.Kind.IsResponse() && f.Pair == t.post {
				s.open = slices.DeleteFunc(s.open, func(p *transfer) bool { return p == t })
				if s.stream == t {
					s.stream = nil
				}
			}
		}
	}
	for _, s := range connections {
		for _, t := range s.all {
			if t.url = cmp.Or(t.url, s.url); t.url == "" {
				t.url, t.guessed = rootOf(s.host), true
			}
		}
	}
	return out, nil
}

// unknownHost is put where no frame of the session says which host it was. The
// top-level domain is reserved (RFC 2606).
const unknownHost = "unknown.invalid"

// rootOf is the root of a host, as the header Host names it.
func rootOf(host string) string {
	if name, ok := strings.CutSuffix(host, ":443"); ok {
		return "https://" + name + "/"
	}
	return "http://" + cmp.Or(host, unknownHost) + "/"
}

// noted is the method of the request whose response a note of the inspector's
// is about, "" if it is about something else.
func noted(f *wire.Frame) string {
	if f.Note == nil {
		return ""
	}
	switch f.Note.Kind {
	case wire.NoteHTTPStatus, wire.NoteRedirected:
		return f.HTTPMethod
	case wire.NoteStreamOpened, wire.NoteNoStream, wire.NoteEndpoint:
		return http.MethodGet
	}
	return ""
}

// streamOf finds the POST whose event stream carried a message that does not
// answer it: that of the message's call; the first that nothing was heard of,
// where the message came with the headers of a response; else the latest
// stream.
func streamOf(f *wire.Frame, open []*transfer, latest *transfer) *transfer {
	if f.Call != 0 {
		for _, t := range slices.Backward(open) {
			if t.call == f.Call {
				return t
			}
		}
	}
	if len(f.Header) > 0 {
		if i := slices.IndexFunc(open, func(t *transfer) bool { return t.began == 0 }); i >= 0 {
			return open[i]
		}
	}
	return latest
}

// The members of an archive, in the order and with the names of HAR 1.2.
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

// httpVersion is what is known of it.
const httpVersion = "unknown"

// entry reads the frames of a transfer.
func (x *export) entry(t *transfer) (*harEntry, error) {
	e := &harEntry{Type: "fetch"}
	e.Request = harRequest{
		Method: t.method, URL: t.url, Version: httpVersion,
		Cookies: []harPair{}, Headers: []harPair{}, Query: queryOf(t.url), HeadersSize: -1, BodySize: -1,
	}
	e.Response = harResponse{Version: httpVersion, Cookies: []harPair{}, Headers: []harPair{}, HeadersSize: -1, BodySize: -1}
	if t.guessed {
		e.Comment = "The path and scheme of the address are not recorded."
	}
	var began, first, last time.Time
	if t.post != 0 {
		f, err := x.frame(t.post)
		if err != nil {
			return nil, err
		}
		began = f.Time
		e.posted(&f)
		e.Response.Status, e.Response.StatusText = http.StatusAccepted, http.StatusText(http.StatusAccepted)
		e.Response.Comment = "No response is recorded; none but this is called for."
		if f.Kind == wire.Request && f.Transport == "http" {
			e.Response.Status, e.Response.StatusText, e.Response.Comment = 0, "", "No response is recorded."
		}
	} else {
		e.Comment = strings.TrimSpace(e.Comment + " The headers of the request are not recorded.")
	}
	if t.note != 0 {
		f, err := x.frame(t.note)
		if err != nil {
			return nil, err
		}
		e.answered(&f)
		e.Response.Comment = line(string(f.Raw), 500)
		first, last = f.Time, f.Time
		if began.IsZero() {
			began = f.Time
		}
	}
	var text bytes.Buffer
	for i, seq := range t.messages {
		f, err := x.frame(seq)
		if err != nil {
			return nil, err
		}
		if began.IsZero() {
			began = f.Time
		}
		if first.IsZero() {
			first = f.Time
		}
		last = f.Time
		if i == 0 || len(f.Header) > 0 {
			e.answered(&f)
			e.Response.Comment = ""
		}
		e.received(&f, &text)
	}
	if t.method == http.MethodGet && len(t.messages) > 0 {
		e.Type = "eventsource"
	}
	e.content(text.Bytes())
	if !first.IsZero() && !began.IsZero() {
		e.Timings.Wait = milliseconds(first.Sub(began))
		e.Timings.Receive = milliseconds(last.Sub(first))
	}
	e.Time = e.Timings.Wait + e.Timings.Receive
	e.Started = began.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	return e, nil
}

// queryOf are the parameters in a URL, in order.
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

// note takes down what frame it is.
func (e *harEntry) note(f *wire.Frame) {
	e.Frames = append(e.Frames, f.Seq)
	e.Server, e.Session = f.Server, f.Session
}

func (e *harEntry) posted(f *wire.Frame) {
	e.note(f)
	e.Request.BodySize, e.Request.Headers = f.Size, pairs(f.Header)
	p := &harPosted{MIME: f.Header.Get("Content-Type"), Params: []harPair{}, Text: string(f.Raw)}
	if p.MIME == "" {
		p.MIME = "application/json"
	}
	if !utf8.Valid(f.Raw) {
		p.Text, p.Comment = strings.ToValidUTF8(p.Text, "\uFFFD"), "What is no UTF-8 was replaced."
	}
	if f.Truncated {
		p.Comment = strings.TrimSpace(p.Comment + " Only the head was kept.")
	}
	e.Request.Post = p
}

// answered takes the status and the headers of a response from a frame.
func (e *harEntry) answered(f *wire.Frame) {
	if f.Dir == wire.Meta {
		e.note(f)
	}
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

func (e *harEntry) received(f *wire.Frame, body *bytes.Buffer) {
	e.note(f)
	e.Response.Content.Size += f.Size
	if f.Truncated {
		e.Response.Content.Comment = "Only the head of a message was kept."
	}
	if f.Stream == wire.StreamPost {
		body.Write(f.Raw)
		return
	}
	if e.Response.Content.MIME == "" {
		e.Response.Content.MIME = "text/event-stream"
	}
	// An event ends with an empty line, and has its data line by line (HTML,
	// section 9.2, Server-sent events).
	data := bytes.ReplaceAll(bytes.ReplaceAll(f.Raw, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for _, l := range bytes.Split(data, []byte("\n")) {
		body.WriteString("data: ")
		body.Write(l)
		body.WriteByte('\n')
	}
	body.WriteByte('\n')
	e.Messages = append(e.Messages, harEvent{
		Time: float64(f.Time.UnixMicro()) / 1e6, Name: "message", Data: strings.ToValidUTF8(string(f.Raw), "\uFFFD"),
	})
}

// content sets the body of the response.
func (e *harEntry) content(body []byte) {
	c := &e.Response.Content
	if c.MIME == "" {
		c.MIME = "x-unknown"
		if len(body) > 0 {
			c.MIME = "application/json"
		}
	}
	if !utf8.Valid(body) {
		c.Text, c.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
		return
	}
	c.Text = string(body)
}

// pairs are the headers in the order of their names.
func pairs(h http.Header) []harPair {
	out := []harPair{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, harPair{textproto.CanonicalMIMEHeaderKey(name), strings.ToValidUTF8(value, "\uFFFD")})
		}
	}
	return out
}
