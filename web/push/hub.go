// Package push sends what changed on the page to every open page, over a websocket each.
// A page that comes back gets what it missed, or draws itself anew.
package push

import (
	"context"
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/views/markup"
)

// Change is the new state of an element of the page. If a page lacks the element, it is
// inserted at the element At, if Op is set. Without HTML the element is removed.
type Change struct {
	ID   string `json:"id"`
	HTML string `json:"html,omitempty"`
	Op   string `json:"op,omitempty"` // "append" or "prepend" to the element At, or "after" it
	At   string `json:"at,omitempty"`
}

// Message is one message on the websocket. A page that has all pushes up to Seq is up to
// date, except for Frames. A push with only Frames and Kept has no Seq.
type Message struct {
	Seq     int64    `json:"seq,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	Anew    bool     `json:"anew,omitempty"` // the page must reload
	Frames  int64    `json:"frames,omitempty"`
	Kept    string   `json:"kept,omitempty"` // size and place of the frames, in words
	Time    int64    `json:"time,omitempty"` // transcript time of the changes in Unix milliseconds; 0 in a live inspection
}

const (
	pushesKept   = 256              // pushes kept for pages that reconnect
	bytesKept    = 4 << 20          // total bytes of the kept pushes
	pushedMost   = 5000             // elements whose latest push is known
	messageMost  = markup.PageMost  // bytes of one push
	pageBacklog  = 64               // pushes that may wait for one page before it is dropped
	writeTime    = 10 * time.Second // time for one push to one page
	pingInterval = 30 * time.Second
	readMost     = 1 << 10 // bytes of one message from a page, which has nothing to send
)

// Hub pushes changes to every open page. Publishing never blocks: a slow page is
// dropped, and catches up when it reconnects.
type Hub struct {
	mu     sync.Mutex
	seq    int64
	kept   []keptPush
	bytes  int
	frames int64
	store  string // size and place of the frames, in words
	pages  map[*page]struct{}
	closed bool

	// drawings counts the drawings of pages and parts of pages that run outside of
	// pushes. They may show a state that was never pushed. So pushed only has the
	// pushes since the last drawing: a hash of each element.
	drawings int
	pushed   map[string]uint64
}

type keptPush struct {
	seq  int64
	data []byte
}

type page struct {
	pushes  chan []byte
	dropped context.CancelFunc
}

// NewHub returns a hub that has pushed nothing yet.
func NewHub() *Hub { return &Hub{pages: map[*page]struct{}{}, pushed: map[string]uint64{}} }

// Drawing must be called before the state for drawing a page or a part is read, and
// done after the drawing. Changes in the meantime are pushed after seq.
func (h *Hub) Drawing() (seq int64, done func()) {
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

// Publish sends changes to every page, except those that all pages have. at is the time
// in a transcript at which they were drawn, or zero.
func (h *Hub) Publish(changes []Change, at time.Time) {
	p := Message{}
	if !at.IsZero() {
		p.Time = at.UnixMilli()
	}
	for _, p.Changes = range parted(changes) {
		h.send(p)
	}
}

// Anew makes every page reload.
func (h *Hub) Anew() { h.send(Message{Anew: true}) }

// parted distributes changes over pushes of at most messageMost bytes. A change that is
// larger by itself is replaced by an element that says so.
func parted(changes []Change) [][]Change {
	const around = 1 << 10 // size of a push without its changes
	var out [][]Change
	room := 0
	for _, ch := range changes {
		size := len(encode(ch))
		if size > messageMost-around {
			var b strings.Builder
			if err := markup.TooLarge(ch.ID).Render(context.Background(), &b); err != nil {
				panic("push: drawing into memory: " + err.Error())
			}
			ch.HTML, size = b.String(), b.Len()+around
		}
		if size > room {
			out, room = append(out, nil), messageMost-around
		}
		out[len(out)-1] = append(out[len(out)-1], ch)
		room -= size
	}
	return out
}

// send sends one push to every page, unless it has no new changes.
func (h *Hub) send(p Message) {
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

// toPages sends data to every page, and drops pages that are too slow. The caller holds
// h.mu.
func (h *Hub) toPages(data []byte) {
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

// fresh returns the changes that differ from the latest push of their element. The
// caller holds h.mu.
func (h *Hub) fresh(changes []Change) []Change {
	if len(h.pushed) > pushedMost {
		clear(h.pushed) // at worst, a push is repeated
	}
	var out []Change
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

// Count sends the number of frames in the log to every page, and their size and place
// in words.
func (h *Hub) Count(frames int64, store string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.frames == frames && h.store == store {
		return
	}
	h.frames, h.store = frames, store
	h.toPages(encode(Message{Frames: frames, Kept: store}))
}

// join adds a page that has all pushes up to since. It returns the pushes that the page
// missed, or one that makes it reload if they are no longer kept.
func (h *Hub) join(p *page, since int64) (missed [][]byte) {
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
		return [][]byte{encode(Message{Anew: true, Frames: h.frames, Kept: h.store})}
	}
	return append(h.after(since), encode(Message{Frames: h.frames, Kept: h.store}))
}

// after returns the kept pushes after since. The caller holds h.mu.
func (h *Hub) after(since int64) (pushes [][]byte) {
	for _, k := range h.kept {
		if k.seq > since {
			pushes = append(pushes, k.data)
		}
	}
	return pushes
}

// Since returns the kept pushes after since, and the number of the latest push.
func (h *Hub) Since(since int64) (pushes [][]byte, latest int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.after(since), h.seq
}

func (h *Hub) leave(p *page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, p)
}

// Close ends every page's socket.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for p := range h.pages {
		p.dropped()
	}
}

// Serve runs the socket of one page until it is closed. The query since is the latest
// push that the page has.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request) error {
	since, err := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
	if err != nil {
		since = -1
	}
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the guard has checked the Origin by stricter rules
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

// gone discards the error of a page that has closed its socket.
func gone(error) error { return nil }

func write(ctx context.Context, socket *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return socket.Write(ctx, websocket.MessageText, data)
}

func encode(v any) []byte {
	data, err := rawjson.Encode(v)
	if err != nil {
		panic("push: a push that JSON cannot hold: " + err.Error()) // strings and numbers always encode
	}
	return data
}
