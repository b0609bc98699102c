package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"elicitation-inspector/views"
)

// change is one edit of the page: an element, by its id, is replaced, removed,
// or gets another child.
type change struct {
	Op     string `json:"op"` // "replace", "append" or "remove"
	Target string `json:"target"`
	HTML   string `json:"html,omitempty"`
}

// push is one message on the websocket. A page that has seen all up to Seq
// is up to date but for Frames, which may also come alone, with no Seq.
type push struct {
	Seq     int64    `json:"seq,omitempty"`
	Changes []change `json:"changes,omitempty"`
	Frames  int64    `json:"frames,omitempty"`
	Kept    string   `json:"kept,omitempty"` // how much of them is kept where, in words
	Time    int64    `json:"time,omitempty"` // that the changes were drawn at, of a transcript, in Unix milliseconds
}

const (
	pushesKept   = 256              // for pages that come back
	bytesKept    = 4 << 20          // of them, whichever is less
	pushMost     = views.PageMost   // bytes of one push
	pageBacklog  = 64               // pushes that wait for one page before it is dropped
	writeTime    = 10 * time.Second // for one push to one page
	pingInterval = 30 * time.Second
	readMost     = 1 << 10 // bytes: a page has nothing to say on this socket
)

// hub pushes changes to every open page. Publishing never blocks: a page that
// is too slow is dropped, and catches up when it comes back.
type hub struct {
	clock func() time.Time // of a transcript; nil for the present

	mu     sync.Mutex
	seq    int64
	kept   []keptPush
	bytes  int
	frames int64
	store  string // how much of them is kept where, in words
	pages  map[*page]struct{}
	closed bool
}

type keptPush struct {
	seq  int64
	data []byte
}

// page is one open websocket.
type page struct {
	pushes  chan []byte
	counted chan struct{} // the number of frames changed; capacity 1
	dropped context.CancelFunc
}

func newHub() *hub { return &hub{pages: map[*page]struct{}{}} }

// Seq is the number of the latest push.
func (h *hub) Seq() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seq
}

// startAfter begins to count where another hub, which is about to be closed, has
// not come to: pages that have seen its pushes have seen none of this one's.
func (h *hub) startAfter(old *hub) {
	const apart = 1 << 20
	seq := old.Seq() + apart
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq = seq
}

// now is the time that the pages' clocks go by; 0 for the present.
func (h *hub) now() int64 {
	if h.clock == nil || h.clock().IsZero() {
		return 0
	}
	return h.clock().UnixMilli()
}

// publish sends changes to every page.
func (h *hub) publish(changes []change) {
	for _, part := range parted(changes) {
		h.send(part)
	}
}

// parted shares changes out, so that no push has more than pushMost bytes. One
// that has more by itself is replaced by an element that says so.
func parted(changes []change) [][]change {
	const around = 1 << 10 // what a push says beside its changes
	var out [][]change
	room := 0
	for _, ch := range changes {
		size := len(encode(ch))
		if size > pushMost-around {
			var b strings.Builder
			if err := views.TooLarge(ch.Target).Render(context.Background(), &b); err != nil {
				panic("web: drawing into memory: " + err.Error())
			}
			ch.HTML, size = b.String(), b.Len()+around
		}
		if size > room {
			out, room = append(out, nil), pushMost-around
		}
		out[len(out)-1] = append(out[len(out)-1], ch)
		room -= size
	}
	return out
}

// send sends one push to every page.
func (h *hub) send(changes []change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	data := encode(push{Seq: h.seq, Changes: changes, Frames: h.frames, Kept: h.store, Time: h.now()})
	h.kept = append(h.kept, keptPush{h.seq, data})
	h.bytes += len(data)
	for len(h.kept) > pushesKept || (h.bytes > bytesKept && len(h.kept) > 1) {
		h.bytes -= len(h.kept[0].data)
		h.kept[0].data = nil
		h.kept = h.kept[1:]
	}
	for p := range h.pages {
		select {
		case p.pushes <- data:
		default:
			p.dropped()
			delete(h.pages, p)
		}
	}
}

// count tells every page how many frames the log holds, and in words where.
func (h *hub) count(frames int64, store string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.frames == frames && h.store == store {
		return
	}
	h.frames, h.store = frames, store
	for p := range h.pages {
		select {
		case p.counted <- struct{}{}:
		default:
		}
	}
}

// join adds a page that has seen everything up to since. It returns what the
// page missed, or false where that is no longer known.
func (h *hub) join(p *page, since int64) (missed [][]byte, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		p.dropped()
		return nil, true
	}
	h.pages[p] = struct{}{}
	select {
	case p.counted <- struct{}{}:
	default: // it is told already
	}
	if since > h.seq {
		return nil, false // it belongs to an earlier run
	}
	if since < h.seq && (len(h.kept) == 0 || h.kept[0].seq > since+1) {
		return nil, false
	}
	for _, k := range h.kept {
		if k.seq > since {
			missed = append(missed, k.data)
		}
	}
	return missed, true
}

func (h *hub) leave(p *page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, p)
}

// close ends every page's socket.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for p := range h.pages {
		p.dropped()
	}
}

// serve runs one page's socket until it is closed. snapshot renders everything
// anew, for a page that cannot be brought up to date otherwise.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, snapshot func() ([]push, error)) error {
	since, err := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
	if err != nil {
		since = -1 // leads to a snapshot
	}
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the guard has judged the Origin, by stricter rules
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return err
	}
	defer socket.CloseNow()
	socket.SetReadLimit(readMost)
	ctx, dropped := context.WithCancel(socket.CloseRead(r.Context()))
	defer dropped()

	p := &page{pushes: make(chan []byte, pageBacklog), counted: make(chan struct{}, 1), dropped: dropped}
	missed, ok := h.join(p, since)
	defer h.leave(p)
	if !ok || since < 0 {
		now, err := snapshot()
		if err != nil {
			return err
		}
		missed = nil
		for _, p := range now {
			missed = append(missed, encode(p))
		}
	}
	for _, data := range missed {
		if err := write(ctx, socket, data); err != nil {
			return gone(err)
		}
	}
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	for {
		select {
		case data := <-p.pushes:
			err = write(ctx, socket, data)
		case <-p.counted:
			h.mu.Lock()
			now := push{Frames: h.frames, Kept: h.store}
			h.mu.Unlock()
			err = write(ctx, socket, encode(now))
		case <-ping.C:
			alive, cancel := context.WithTimeout(ctx, writeTime)
			err = socket.Ping(alive)
			cancel()
		case <-ctx.Done():
			return gone(socket.Close(websocket.StatusGoingAway, "come back"))
		}
		if err != nil {
			return gone(err)
		}
	}
}

// gone hides the error of a page that has left, which is no fault.
func gone(error) error { return nil }

func write(ctx context.Context, socket *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return socket.Write(ctx, websocket.MessageText, data)
}

// encode writes a push or a reply as JSON.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // it is nearly all markup, and goes to JSON.parse
	if err := enc.Encode(v); err != nil {
		panic("web: a push that JSON cannot hold: " + err.Error()) // strings and numbers only
	}
	return b.Bytes()
}
