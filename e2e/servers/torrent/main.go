// Command torrent is an MCP server over stdio that sends a given number of messages at
// a given rate, or one message of a given size. Each message has its number and the
// total, so that tests can check that none is missing.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"
)

var (
	measureN   = flag.Int("measure", 0, "once the tools have been listed, see how long the client takes for `N` messages, and say so in the report")
	reportPath = flag.String("report", "", "write what was measured to `FILE`, as JSON")
	gate       = flag.String("gate", "", "hold back the last tenth of what send sends, until `ADDRESS` closes the connection that is made to it then")
	answered   = flag.String("answered", "", "append the id of each answer that has come to `FILE`, a line each")
)

func main() {
	flag.Parse()
	s := &server{answers: make(chan string, window)}
	if *answered != "" {
		f, err := os.OpenFile(*answered, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			log.Fatal(err)
		}
		s.answered = f
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 && err == nil {
			s.receive(line)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// server is one session over standard input and output.
type server struct {
	out     sync.Mutex  // one line at a time
	answers chan string // ids of this server's requests that were answered
	listed  sync.Once

	answered *os.File // from -answered
}

// window is the maximum number of this server's requests that wait for an answer.
const window = 64

func (s *server) writeLine(line []byte) {
	s.out.Lock()
	defer s.out.Unlock()
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(0) // the client has closed the pipe
	}
}

func (s *server) write(format string, args ...any) { s.writeLine(fmt.Appendf(nil, format, args...)) }

func (s *server) reply(id json.RawMessage, result string) {
	s.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

const tools = `{"tools":[` +
	`{"name":"send","description":"Sends messages, so many a second, or as fast as it can for 0; every hundredth is a ping.","inputSchema":{"type":"object","properties":{"messages":{"type":"integer","title":"Messages"},"rate":{"type":"integer","title":"Rate","default":0}},"required":["messages"]}},` +
	`{"name":"huge","description":"Sends one line of so many bytes: a log message, or its result.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer","title":"Bytes"},"as":{"type":"string","title":"As","enum":["message","result"],"default":"message"}},"required":["bytes"]}}` +
	`]}`

// receive handles one line from the client.
func (s *server) receive(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			ProtocolVersion string `json:"protocolVersion"`
			Name            string `json:"name"`
			Arguments       struct {
				Messages, Rate, Bytes int
				As                    string
			} `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		log.Fatalf("not understood: %v: %q", err, line)
	}
	args := m.Params.Arguments
	switch m.Method {
	case "":
		if s.answered != nil {
			if _, err := fmt.Fprintf(s.answered, "%s\n", m.ID); err != nil {
				log.Fatal(err)
			}
		}
		s.answers <- string(m.ID)
	case "initialize":
		version := "2025-11-25"
		if m.Params.ProtocolVersion == "2025-06-18" {
			version = m.Params.ProtocolVersion
		}
		s.reply(m.ID, `{"protocolVersion":"`+version+`","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"torrent","version":"1"}}`)
	case "tools/list":
		s.reply(m.ID, tools)
		if *measureN > 0 {
			s.listed.Do(func() { go s.measure(*measureN) })
		}
	case "tools/call":
		go func() {
			switch m.Params.Name {
			case "send":
				s.send(args.Messages, args.Rate)
				s.reply(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":"sent %d messages"}]}`, args.Messages))
			case "huge":
				s.huge(m.ID, args.Bytes, args.As)
			}
		}()
	case "ping", "logging/setLevel":
		s.reply(m.ID, `{}`)
	default:
		if m.ID != nil {
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID)
		}
	}
}

// send sends n messages, every hundredth of them a request, and returns when all
// requests are answered.
func (s *server) send(n, rate int) {
	begun := time.Now()
	waiting := 0
	for i := 1; i <= n; i++ {
		if *gate != "" && i == n-n/10+1 {
			waitAt(*gate)
			begun = time.Now().Add(-time.Duration(i) * time.Second / time.Duration(max(rate, 1)))
		}
		if i%100 == 0 {
			if waiting == window {
				<-s.answers
				waiting--
			}
			waiting++
			s.write(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
		} else {
			s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"logger":"torrent","data":"message %d of %d"}}`, level(i), i, n)
		}
		if rate > 0 {
			if ahead := time.Duration(i)*time.Second/time.Duration(rate) - time.Since(begun); ahead > 5*time.Millisecond {
				time.Sleep(ahead)
			}
		}
	}
	for range waiting {
		<-s.answers
	}
}

// waitAt connects to an address, and returns when the other side closes the connection.
func waitAt(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.Copy(io.Discard, conn) // a lost connection counts as closed
}

// level returns the log level of message i: every twentieth is a warning.
func level(i int) string {
	if i%20 == 0 {
		return "warning"
	}
	return "info"
}

// huge sends one line of the given size, without its line feed, and answers the call.
func (s *server) huge(id json.RawMessage, bytes int, as string) {
	head, tail := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"head `, ` tail"}}`
	if as == "result" {
		head, tail = `{"jsonrpc":"2.0","id":`+string(id)+`,"result":{"content":[{"type":"text","text":"head `, ` tail"}]}}`
	}
	line := make([]byte, 0, bytes+1)
	line = append(line, head...)
	for i := 0; len(line)+len(tail) < bytes; i++ {
		line = append(line, "0123456789abcdef"[i%16])
	}
	s.writeLine(append(line, tail...))
	if as != "result" {
		s.reply(id, fmt.Sprintf(`{"content":[{"type":"text","text":"sent %d bytes"}]}`, len(line)+len(tail)))
	}
}

// measure measures how long the client takes to read n messages, and to answer n
// requests.
func (s *server) measure(n int) {
	s.messages(n / 10) // a warm-up
	s.pings(n / 10)
	report := struct {
		Messages, Pings time.Duration
	}{s.messages(n), s.pings(n)}
	raw, err := json.Marshal(report)
	if err != nil {
		log.Fatal(err)
	}
	// The file is renamed into place, so that a reader never sees a part of it.
	if err := os.WriteFile(*reportPath+".new", raw, 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(*reportPath+".new", *reportPath); err != nil {
		log.Fatal(err)
	}
}

func (s *server) messages(n int) time.Duration {
	begun := time.Now()
	for i := range n {
		s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"torrent","data":"message %d of %d"}}`, i+1, n)
	}
	s.pings(1) // the client reads in order, so an answer shows that it has read all messages before
	return time.Since(begun)
}

func (s *server) pings(n int) time.Duration {
	begun := time.Now()
	waiting := 0
	for i := range n {
		if waiting == window {
			<-s.answers
			waiting--
		}
		waiting++
		s.write(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
	}
	for range waiting {
		<-s.answers
	}
	return time.Since(begun)
}
