package export

import (
	"cmp"
	"net/http"
	"slices"

	"elicitation-inspector/bridge/wire"
)

// transfer is one HTTP request with its response.
type transfer struct {
	method string
	post   int64   // frame of the posted message, 0 for GET and DELETE
	signIn bool    // an exchange of a sign-in, whose only frame has request and response
	frames []int64 // all frames in order: the posted message, a note of the response, its messages
	url    string
	on     *httpSession
	call   int
	// streaming is true once a frame of the response's messages was found.
	streaming bool
}

// unanswered reports whether the log has nothing but the POST itself.
func (t *transfer) unanswered() bool { return len(t.frames) == 1 }

// httpSession is the state of a session over HTTP while its frames are read.
type httpSession struct {
	host    string
	url     string              // latest URL that a frame over Streamable HTTP names, "" if none does
	posts   map[int64]*transfer // transfers of posted requests, by the frame of the request
	open    []*transfer         // POSTed requests without a response, the latest last
	stream  *transfer           // the latest POST whose response is an event stream
	get     *transfer
	pending *transfer // the latest POST
	list    *[]*transfer
}

// traffic finds the HTTP requests among the chosen frames. It holds the bytes of one
// frame at a time.
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
			s.host = cmp.Or(f.Header.Get("Host"), s.host)
			if f.Transport == "http" { // HTTP+SSE has different URLs for POST and GET
				s.url = cmp.Or(f.URL, s.url)
			}
			s.pending = s.begin(&transfer{method: cmp.Or(f.HTTPMethod, http.MethodPost), post: f.Seq, frames: []int64{f.Seq}, url: f.URL, call: f.Call})
			if f.Kind == wire.Request {
				s.posts[f.Seq] = s.pending
				s.open = append(s.open, s.pending)
			}
		case f.Dir == wire.Meta && f.Status != 0 && f.Note != nil:
			method := "" // of the request whose response the note is about
			switch f.Note.Kind {
			case wire.NoteHTTPStatus, wire.NoteRedirected:
				method = f.HTTPMethod
			case wire.NoteStreamOpened, wire.NoteNoStream, wire.NoteEndpoint:
				method = http.MethodGet
			}
			// To the latest POST if nothing else has answered it, or as a transfer of its own.
			switch {
			case f.Note.SignIn != nil:
				s.begin(&transfer{method: f.HTTPMethod, signIn: true, frames: []int64{f.Seq}, url: f.URL})
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

// streamOf finds the POST whose event stream carried a message that does not answer it:
// the POST of the message's call; else, if the message has the headers of a response,
// the first POST without an answer; else the latest stream.
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

// unknownHost takes the place of the host if no frame of the session names it. The
// top-level domain is reserved (RFC 2606).
const unknownHost = "unknown.invalid"
