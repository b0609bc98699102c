package inspector

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"
)

// Frame is one line of a transcript. The field names are those of the design's
// section "Transcripts".
type Frame struct {
	SessionID   string          `json:"session_id"`
	ServerLabel string          `json:"server_label"`
	Seq         int64           `json:"seq"`
	TS          time.Time       `json:"ts"`
	Direction   string          `json:"direction"` // c2s, s2c, stderr, meta
	Transport   string          `json:"transport"`
	Raw         json.RawMessage `json:"raw"` // the message's own bytes
	Text        *string         `json:"text"`
	Status      json.RawMessage `json:"status"`
	Truncated   bool            `json:"truncated"`
	V           json.RawMessage `json:"v"`
	Stream      string          `json:"stream"`
	Headers     json.RawMessage `json:"headers"`
	Call        int             `json:"call"`
	Round       int             `json:"round"`
	Elicitation int             `json:"elicitation"`
	Actor       string          `json:"actor"`
	Base64      string          `json:"bytes"`

	Line    string  `json:"-"` // the whole line, unchanged
	Message Message `json:"-"` // zero if the bytes are not a message
}

// Message is the envelope of a JSON-RPC message.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Bytes returns the exact bytes of the frame.
func (f Frame) Bytes() []byte {
	switch {
	case f.Base64 != "":
		b, err := base64.StdEncoding.DecodeString(f.Base64)
		if err != nil {
			return nil
		}
		return b
	case f.Text != nil:
		return []byte(*f.Text)
	default:
		return f.Raw
	}
}

// IsResponse reports whether the frame is a response.
func (f Frame) IsResponse() bool {
	return f.Message.Method == "" && f.Message.ID != nil && (f.Message.Result != nil || f.Message.Error != nil)
}

// Wire returns the transcript so far, from GET /wire.jsonl.
func (p *Process) Wire() Frames {
	p.t.Helper()
	res, err := p.Client().Get(p.Base + "/wire.jsonl")
	if err != nil {
		p.t.Fatalf("reading the transcript: %v", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		p.t.Fatalf("reading the transcript: %s\n%s", res.Status, body)
	}
	return readFrames(p.t, res.Body)
}

// WireFile reads a transcript from a file.
func WireFile(t testing.TB, path string) Frames {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("reading the transcript: %v", err)
	}
	defer f.Close()
	return readFrames(t, f)
}

// Frames is a transcript in order.
type Frames []Frame

func readFrames(t testing.TB, r io.Reader) Frames {
	t.Helper()
	var frames Frames
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return frames
		}
		if err != nil {
			t.Fatalf("transcript, line %d: it does not end: %v: %q", n, err, line)
		}
		f := Frame{Line: string(bytes.TrimSuffix(line, []byte("\n")))}
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("transcript, line %d: %v: %q", n, err, line)
		}
		if bytes.HasPrefix(f.Raw, []byte("{")) {
			if err := json.Unmarshal(f.Raw, &f.Message); err != nil {
				t.Fatalf("transcript, line %d: raw is not a message: %v: %q", n, err, line)
			}
		}
		frames = append(frames, f)
	}
}

// Requests returns the requests and notifications of a method in one direction.
func (fs Frames) Requests(direction, method string) Frames {
	var found Frames
	for _, f := range fs {
		if f.Direction == direction && f.Message.Method == method {
			found = append(found, f)
		}
	}
	return found
}

// ResponseTo returns the response to a request; an error unless there is exactly one.
func (fs Frames) ResponseTo(request Frame) (Frame, error) {
	back := map[string]string{"c2s": "s2c", "s2c": "c2s"}[request.Direction]
	var found Frames
	for _, f := range fs {
		if f.Direction == back && f.SessionID == request.SessionID && f.Seq > request.Seq &&
			f.IsResponse() && bytes.Equal(f.Message.ID, request.Message.ID) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return Frame{}, fmt.Errorf("request %s %s has %d responses", request.Message.Method, request.Message.ID, len(found))
	}
	return found[0], nil
}

// In returns the frames of one direction.
func (fs Frames) In(direction string) Frames {
	var found Frames
	for _, f := range fs {
		if f.Direction == direction {
			found = append(found, f)
		}
	}
	return found
}
