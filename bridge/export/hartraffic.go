package export

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"elicitation-inspector/bridge/wire"
)

// transfer is one HTTP request with its response.
type transfer struct {
	method string
	post   int64   // frame that was posted, 0 for others
	frames []int64 // all in order: what was posted, a note of the response, its messages
	url    string
	on     *httpSession
	call   int
	// streaming: a message came in its response.
	streaming bool
}

// unanswered reports whether nothing was heard of a POST.
func (t *transfer) unanswered() bool { return len(t.frames) == 1 }

// httpSession is what is known of a session over HTTP while its frames are read.
type httpSession struct {
	host    string
	url     string              // of its endpoint, "" if it is not known, or if it has several
	posts   map[int64]*transfer // by the frame that was posted, of requests
	open    []*transfer         // POSTs, the latest last
	stream  *transfer           // the latest event stream that answers a POST
	get     *transfer
	pending *transfer // the latest POST
	list    *[]*transfer
}

// traffic finds the HTTP requests among the chosen frames. Bytes are looked at
// one frame at a time.
func (x *export) traffic() ([]*transfer, error) {
	sessions := make(map[string]*httpSession)
	var out []*transfer
	for f, err := range x.frames() {
		if err != nil {
			return nil, err
		}
		if f.Transport != "http" && f.Transport != "sse" || f.Kind == wire.NoteFrame && f.Dir != wire.Meta {
			continue
		}
		s := sessions[f.Session]
		if s == nil {
			s = &httpSession{posts: make(map[int64]*transfer), list: &out}
			sessions[f.Session] = s
		}
		switch {
		case f.Dir == wire.ClientToServer:
			s.posted(&f)
		case f.Dir == wire.Meta && f.Status != 0:
			s.noted(&f)
		case f.Dir == wire.ServerToClient:
			t := s.carrier(&f)
			t.frames, t.streaming = append(t.frames, f.Seq), true
		}
	}
	return out, nil
}

func (s *httpSession) begin(t *transfer) *transfer {
	t.on = s
	*s.list = append(*s.list, t)
	return t
}

func (s *httpSession) posted(f *wire.Frame) {
	s.host = cmp.Or(f.Header.Get("Host"), s.host)
	if f.Transport == "http" { // HTTP+SSE has another one for GET
		s.url = cmp.Or(f.URL, s.url)
	}
	t := s.begin(&transfer{method: cmp.Or(f.HTTPMethod, http.MethodPost), post: f.Seq, frames: []int64{f.Seq}, url: f.URL, call: f.Call})
	s.pending = t
	if f.Kind == wire.Request {
		s.posts[f.Seq] = t
		s.open = append(s.open, t)
	}
}

// noted heeds what the inspector said of a response.
func (s *httpSession) noted(f *wire.Frame) {
	switch method := notedMethod(f); {
	case method == "":
	case method == http.MethodPost:
		if s.pending != nil && s.pending.unanswered() {
			s.pending.frames = append(s.pending.frames, f.Seq)
		}
	default:
		t := s.begin(&transfer{method: method, frames: []int64{f.Seq}})
		if method == http.MethodGet {
			s.get = t
		}
	}
}

// notedMethod is the method of the request whose response a note of the inspector's
// is about, "" if it is about something else.
func notedMethod(f *wire.Frame) string {
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

// carrier is the request whose response carried a message of the server's.
func (s *httpSession) carrier(f *wire.Frame) *transfer {
	if f.Stream == wire.StreamGetSSE {
		if s.get == nil || s.get.streaming && len(f.Header) > 0 {
			s.get = s.begin(&transfer{method: http.MethodGet})
		}
		s.get.url = cmp.Or(f.URL, s.get.url)
		return s.get
	}
	t := s.posts[f.Pair]
	if t == nil {
		t = s.streamOf(f)
	}
	if t == nil {
		t = s.begin(&transfer{method: http.MethodPost})
	}
	if f.Stream == wire.StreamPostSSE {
		s.stream = t
	}
	if f.Kind.IsResponse() && f.Pair == t.post {
		s.open = slices.DeleteFunc(s.open, func(p *transfer) bool { return p == t })
		if s.stream == t {
			s.stream = nil
		}
	}
	return t
}

// streamOf finds the POST whose event stream carried a message that does not
// answer it: that of the message's call; the first that nothing was heard of,
// where the message came with the headers of a response; else the latest
// stream.
func (s *httpSession) streamOf(f *wire.Frame) *transfer {
	if f.Call != 0 {
		for _, t := range slices.Backward(s.open) {
			if t.call == f.Call {
				return t
			}
		}
	}
	if len(f.Header) > 0 {
		if i := slices.IndexFunc(s.open, (*transfer).unanswered); i >= 0 {
			return s.open[i]
		}
	}
	return s.stream
}

// address is the URL of the request. Where it is not known it is guessed: no more
// than the host's root.
func (t *transfer) address() (url string, guessed bool) {
	if url := cmp.Or(t.url, t.on.url); url != "" {
		return url, false
	}
	return rootOf(t.on.host), true
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
