package torture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// The numbers of sockets in one storm, 200 together.
const (
	goodSockets    = 20
	slowSockets    = 40 // never read
	junkSockets    = 50
	refusedSockets = 90
)

// last is a text in the last push of a storm.
const last = "the storm is over"

// TestSockets opens many sockets at once: unauthorized ones must be refused, those that
// send junk or never read must be closed, and those that read must get every push.
func TestSockets(t *testing.T) {
	g := begin(t, "sockets", 5, 0.2)
	for g.more() {
		storm(g)
	}
}

func storm(g *group) {
	rude := servers.NewRude(g.T, []servers.Question{{Name: "ask_much", Params: manyFields()}})
	p := inspector.Start(g.T, append([]string{"--elicit-rate", "0", "--"}, rude.Command...)...)
	defer p.Stop()
	if err := untilOffered(p, "ask_much"); err != nil {
		g.Fatal(err)
	}
	at := address(p)
	var refused, dropped, slow, good []func()
	var pushed atomic.Int64 // bytes that the first good socket has read
	for i := range refusedSockets {
		name, ask := at.wrong(i)
		refused = append(refused, func() { g.judge(name, refusedWith(ask)) })
	}
	for i := range junkSockets {
		name, junk := junkFor(g, i)
		dropped = append(dropped, func() { g.judge("junk: "+name, droppedFor(at, junk)) })
	}
	var joined sync.WaitGroup
	over := make(chan struct{})
	joined.Add(slowSockets + goodSockets)
	for range slowSockets {
		slow = append(slow, func() { g.judge("a socket that never reads", neverReads(at, &joined, over)) })
	}
	for i := range goodSockets {
		count := new(atomic.Int64)
		if i == 0 {
			count = &pushed
		}
		good = append(good, func() { g.judge("a good socket", readsAll(at, &joined, count)) })
	}
	all := append(append(append(good, slow...), refused...), dropped...)
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var running sync.WaitGroup
	for _, visit := range all {
		running.Go(visit)
	}
	joined.Wait()
	err := blow(p, &pushed)
	close(over)
	running.Wait()
	if err != nil {
		g.Errorf("making the page change: %v", err)
	}
}

// manyFields returns the params of a question whose card makes a large push.
func manyFields() string {
	var fields []string
	for i := range 150 {
		fields = append(fields, fmt.Sprintf(`"field_%d":{"type":"string","title":"Field %d","description":"%s"}`, i, i, strings.Repeat("lorem ipsum ", 20)))
	}
	return `{"message":"Much to fill in","requestedSchema":{"type":"object","properties":{` + strings.Join(fields, ",") + `}}}`
}

// blow changes the page until a socket that does not read must have been closed: the
// pushes exceed all buffers of the system and of the inspector.
func blow(p *inspector.Process, pushed *atomic.Int64) error {
	const enough, most = 20 << 20, 400
	for n := 1; n <= most && pushed.Load() < enough; n++ {
		before := pushed.Load()
		if err := call(p, "s1", "ask_much", "{}"); err != nil {
			return err
		}
		if err := until("the question is pushed", func() bool { return pushed.Load() > before+1000 }); err != nil {
			return err
		}
		answer := url.Values{"action": {"decline"}}
		if err := until("it can be answered", func() bool { return post(p, fmt.Sprintf("/questions/%d/answer", n), answer) == nil }); err != nil {
			return err
		}
	}
	return call(p, "s1", "echo", `{"title":"`+last+`"}`)
}

// entrance holds the address and the cookie with which a page opens its socket.
type entrance struct{ host, cookie string }

func address(p *inspector.Process) entrance {
	u, err := url.Parse(p.Base)
	if err != nil {
		panic(err) // the URL comes from the ready line
	}
	c := p.Client().Jar.Cookies(u)[0]
	return entrance{u.Host, c.Name + "=" + c.Value}
}

// ask returns a function that sends a websocket request with further header lines.
func (e entrance) ask(host, lines string) func() (net.Conn, *bufio.Reader, *http.Response, error) {
	return func() (net.Conn, *bufio.Reader, *http.Response, error) {
		conn, err := net.Dial("tcp", e.host)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := conn.SetDeadline(time.Now().Add(4 * inspector.Patience)); err != nil {
			return conn, nil, nil, err
		}
		if _, err := fmt.Fprintf(conn, "GET /live?since=-1 HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n", host, lines); err != nil {
			return conn, nil, nil, err
		}
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		return conn, in, res, err
	}
}

// enter opens a socket like a page.
func (e entrance) enter() (net.Conn, *bufio.Reader, error) {
	conn, in, res, err := e.ask(e.host, "Origin: http://"+e.host+"\r\nCookie: "+e.cookie+"\r\n")()
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = fmt.Errorf("it is answered with %s", res.Status)
	}
	return conn, in, err
}

// wrong returns the i-th kind of websocket request that must be refused.
func (e entrance) wrong(i int) (name string, ask func() (net.Conn, *bufio.Reader, *http.Response, error)) {
	own, cookie := "Origin: http://"+e.host+"\r\n", "Cookie: "+e.cookie+"\r\n"
	_, port, _ := strings.Cut(e.host, ":")
	ways := []struct{ name, host, lines string }{
		{"foreign Origin", e.host, "Origin: https://evil.example\r\n" + cookie},
		{"Origin null", e.host, "Origin: null\r\n" + cookie},
		{"another port's Origin", e.host, "Origin: http://127.0.0.1:1\r\n" + cookie},
		{"two Origins", e.host, own + "Origin: http://evil.example\r\n" + cookie},
		{"rebinding Host", "evil.example:" + port, "Origin: http://evil.example:" + port + "\r\n" + cookie},
		{"Host without a port", "127.0.0.1", own + cookie},
		{"no token", e.host, own},
		{"another token", e.host, own + "Cookie: inspector_" + port + "=" + strings.Repeat("x", 43) + "\r\n"},
		{"half a token", e.host, own + "Cookie: " + e.cookie[:len(e.cookie)-20] + "\r\n"},
		{"another Bearer", e.host, own + "Authorization: Bearer " + strings.Repeat("x", 43) + "\r\n"},
	}
	way := ways[i%len(ways)]
	return way.name, e.ask(way.host, way.lines)
}

func refusedWith(ask func() (net.Conn, *bufio.Reader, *http.Response, error)) error {
	conn, _, res, err := ask()
	if conn != nil {
		defer conn.Close()
	}
	if err == nil && res.StatusCode < 400 {
		err = fmt.Errorf("it is let in with %s", res.Status)
	}
	return err
}

// junkFor returns bytes that must make the inspector close the socket.
func junkFor(g *group, i int) (name string, junk []byte) {
	noise := make([]byte, 1+g.IntN(5000))
	for i := range noise {
		noise[i] = byte(g.Uint32())
	}
	noise[0] |= 0x70 // sets reserved bits, so that the noise is never a valid frame
	switch i % 5 {
	case 0:
		return "noise", noise
	case 1:
		return "a frame that is not masked", append([]byte{0x81, 5}, "hello"...)
	case 2:
		return "a large message", masked(0x1, bytes.Repeat([]byte("x"), 2<<20))
	case 3:
		return "a message", masked(0x1, []byte(`{"seq":1}`))
	default:
		return "a control frame that is too long", masked(0x9, make([]byte, 1000))
	}
}

// masked returns a websocket frame from a client, masked with zeros.
func masked(op byte, data []byte) []byte {
	frame := append([]byte{0x80 | op, 0x80 | 127}, binary.BigEndian.AppendUint64(nil, uint64(len(data)))...)
	return append(append(frame, 0, 0, 0, 0), data...)
}

// droppedFor sends junk and waits until the inspector closes the socket.
func droppedFor(at entrance, junk []byte) error {
	conn, in, err := at.enter()
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() { _, _ = conn.Write(junk) }() // the inspector may close the socket meanwhile
	_, err = io.Copy(io.Discard, in)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("the socket stays open")
	}
	return nil
}

// neverReads opens a socket and reads nothing until the storm is over. By then the
// inspector must have closed the socket.
func neverReads(at entrance, joined *sync.WaitGroup, over <-chan struct{}) error {
	conn, in, err := at.enter()
	joined.Done()
	if err != nil {
		return err
	}
	defer conn.Close()
	<-over
	for {
		data, err := message(conn, in)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return errors.New("the socket stays open")
		}
		if err != nil {
			return nil
		}
		if bytes.Contains(data, []byte(last)) {
			return errors.New("it was kept for all of the storm, and has been sent the end of it")
		}
	}
}

// readsAll reads every push up to the last, and returns an error if one is missing. It
// adds their sizes to count.
func readsAll(at entrance, joined *sync.WaitGroup, count *atomic.Int64) error {
	conn, in, err := at.enter()
	joined.Done()
	if err != nil {
		return err
	}
	defer conn.Close()
	for seq := int64(-1); ; {
		data, err := message(conn, in)
		if err != nil {
			return fmt.Errorf("after push %d: %w", seq, err)
		}
		count.Add(int64(len(data)))
		var push struct {
			Seq int64 `json:"seq"`
		}
		if err := json.Unmarshal(data, &push); err != nil {
			return fmt.Errorf("after push %d: %w", seq, err)
		}
		if push.Seq != 0 {
			if seq >= 0 && push.Seq != seq+1 {
				return fmt.Errorf("push %d comes after %d", push.Seq, seq)
			}
			seq = push.Seq
		}
		if bytes.Contains(data, []byte(last)) {
			return nil
		}
	}
}

// message reads the next text message, and answers pings. Every message of the
// inspector is a single frame.
func message(conn net.Conn, in *bufio.Reader) ([]byte, error) {
	for {
		var head [2]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return nil, err
		}
		size := uint64(head[1] & 0x7f)
		if wide := map[uint64]int{126: 2, 127: 8}[size]; wide > 0 {
			var b [8]byte
			if _, err := io.ReadFull(in, b[8-wide:]); err != nil {
				return nil, err
			}
			size = binary.BigEndian.Uint64(b[:])
		}
		if size > 64<<20 {
			return nil, fmt.Errorf("a message of %d bytes", size)
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, err
		}
		switch head[0] & 0xf {
		case 0x0, 0x1:
			return data, nil
		case 0x8:
			return nil, fmt.Errorf("the socket was closed: %q", data)
		case 0x9:
			if _, err := conn.Write(masked(0xa, data)); err != nil {
				return nil, err
			}
		}
	}
}
