package web

import (
	"context"
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/views"
)

// change says what an element of the page is now. Where a page lacks the element,
// it comes into or beside another one, if the change names one; without HTML it
// goes.
type change struct {
	ID   string `json:"id"`
	HTML string `json:"html,omitempty"`
	Op   string `json:"op,omitempty"` // "append" or "prepend" to the element At, or "after" it
	At   string `json:"at,omitempty"`
}

// push is one message on the websocket. A page that has seen all up to Seq
// is up to date but for Frames, which may also come alone, with no Seq.
type push struct {
	Seq     int64    `json:"seq,omitempty"`
	Changes []change `json:"changes,omitempty"`
	Anew    bool     `json:"anew,omitempty"` // the page has to fetch and draw all of itself
	Frames  int64    `json:"frames,omitempty"`
	Kept    string   `json:"kept,omitempty"` // how much of them is kept where, in words
	Time    int64    `json:"time,omitempty"` // that the changes were drawn at, of a transcript, in Unix milliseconds
}

const (
	pushesKept   = 256              // for pages that come back
	bytesKept    = 4 << 20          // of them, whichever is less
	pushedMost   = 5000             // elements of which it is known what they were pushed as
	pushMost     = views.PageMost   // bytes of one push
	pageBacklog  = 64               // pushes that wait for one page before it is dropped
	writeTime    = 10 * time.Second // for one push to one page
	pingInterval = 30 * time.Second
	readMost     = 1 << 10 // bytes: a page has nothing to say on this socket
)

// hub pushes changes to every open page. Publishing never blocks: a page that
// is too slow is dropped, and catches up when it comes back.
type hub struct {
	mu     sync.Mutex
	seq    int64
	kept   []keptPush
	bytes  int
	frames int64
	store  string // how much of them is kept where, in words
	pages  map[*page]struct{}
	closed bool

	// drawings counts the parts of pages that are being drawn outside of pushes.
	// They may show a state that was never pushed, so pushed knows only what was
	// pushed since the last of them: a hash for each element.
	drawings int
	pushed   map[string]uint64
}

type keptPush struct {
	seq  int64
	data []byte
}

// page is one open websocket.
type page struct {
	pushes  chan []byte
	dropped context.CancelFunc
}

func newHub() *hub { return &hub{pages: map[*page]struct{}{}, pushed: map[string]uint64{}} }

// drawing has to be called before the state is read that a page, or a part of
// one, is drawn from, and done when it is drawn. Whatever changes meanwhile is
// pushed after seq.
func (h *hub) drawing() (seq int64, done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drawings++
	return h.seq, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drawings--
		clear(h.pushed)
	}
}

// publish sends to every page those of the changes that it does not have yet. at
// is the time of a transcript that they were drawn at, or zero.
func (h *hub) publish(changes []change, at time.Time) {
	p := push{}
	if !at.IsZero() {
		p.Time = at.UnixMilli()
	}
	for _, p.Changes = range parted(changes) {
		h.send(p)
	}
}

// anew has every page draw all of itself.
func (h *hub) anew() { h.send(push{Anew: true}) }

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
			if err := views.TooLarge(ch.ID).Render(context.Background(), &b); err != nil {
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

// send sends one push to every page, unless there is nothing new in it.
func (h *hub) send(p push) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.Changes = h.fresh(p.Changes); len(p.Changes) == 0 && !p.Anew {
		return
	}
	h.seq++
	p.Seq, p.Frames, p.Kept = h.seq, h.frames, h.store
	data := encode(p)
	h.kept = append(h.kept, keptPush{h.seq, data})
	h.bytes += len(data)
	for len(h.kept) > pushesKept || (h.bytes > bytesKept && len(h.kept) > 1) {
		h.bytes -= len(h.kept[0].data)
		h.kept[0].data = nil
		h.kept = h.kept[1:]
	}
	h.toPages(data)
}

// toPages sends to every page, and drops those that are too slow. The caller holds
// h.mu.
func (h *hub) toPages(data []byte) {
	for page := range h.pages {
		select {
		case page.pushes <- data:
		default:
			page.dropped()
			delete(h.pages, page)
		}
	}
}

var pushSeed = maphash.MakeSeed()

// fresh picks the changes that make an element another one than it was last
// pushed as. The caller holds h.mu.
func (h *hub) fresh(changes []change) []change {
	if len(h.pushed) > pushedMost {
		clear(h.pushed) // to forget costs a push or two
	}
	var out []change
	for _, ch := range changes {
		hash := maphash.String(pushSeed, ch.HTML)
		last, known := h.pushed[ch.ID]
		if known && last == hash && h.drawings == 0 {
			continue
		}
		h.pushed[ch.ID] = hash
		out = append(out, ch)
	}
	return out
}

// count tells every page how many frames the log holds, and in words where.
func (h *hub) count(frames int64, store string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.frames == frames && h.store == store {
		return
	}
	h.frames, h.store = frames, store
	h.toPages(encode(push{Frames: frames, Kept: store}))
}

// join adds a page that has seen everything up to since. It returns what the page
// missed. Where that is no longer known, the page draws itself anew.
func (h *hub) join(p *page, since int64) (missed [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		p.dropped()
		return nil
	}
	h.pages[p] = struct{}{}
	ofEarlierRun := since > h.seq
	forgotten := since < h.seq && (len(h.kept) == 0 || h.kept[0].seq > since+1)
	if since < 0 || ofEarlierRun || forgotten {
		return [][]byte{encode(push{Anew: true, Frames: h.frames, Kept: h.store})}
	}
	for _, k := range h.kept {
		if k.seq > since {
			missed = append(missed, k.data)
		}
	}
	return append(missed, encode(push{Frames: h.frames, Kept: h.store}))
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

// serve runs one page's socket until it is closed. Query since says what the page
// has seen.
func (h *hub) serve(w http.ResponseWriter, r *http.Request) error {
	since, err := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
	if err != nil {
		since = -1
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

	p := &page{pushes: make(chan []byte, pageBacklog), dropped: dropped}
	defer h.leave(p)
	for _, data := range h.join(p, since) {
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

// encode writes a push as JSON.
func encode(v any) []byte {
	data, err := rawjson.Encode(v)
	if err != nil {
		panic("web: a push that JSON cannot hold: " + err.Error()) // strings and numbers only
	}
	return data
}
