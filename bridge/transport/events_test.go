package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestEvents(t *testing.T) {
	tests := []struct {
		name, in string
		want     []event
	}{
		{"nothing", "", nil},
		{"blank lines", "\n\n\n", nil},
		{"one", "data: {}\n\n", []event{{data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"all fields", "event: message\nid: 7\nretry: 10\ndata: {}\n\n", []event{{name: "message", id: "7", hasID: true, retry: "10", data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"no space", "data:{}\n\n", []event{{data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"one space goes, the rest stays", "data:  {} \t\n\n", []event{{data: kept{head: []byte(" {} \t"), size: 5}, hasData: true}}},
		{"many lines", "data: {\ndata:\ndata: }\n\n", []event{{data: kept{head: []byte("{\n\n}"), size: 4}, hasData: true}}},
		{"first line empty", "data\ndata: x\n\n", []event{{data: kept{head: []byte("\nx"), size: 2}, hasData: true}}},
		{"no colon", "data\nid\n\n", []event{{hasData: true, hasID: true}}},
		{"CRLF", "id: 1\r\ndata: {}\r\n\r\n", []event{{id: "1", hasID: true, data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"CR", "id: 1\rdata: {}\r\r", []event{{id: "1", hasID: true, data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"byte order mark", "\uFEFFdata: {}\n\n", []event{{data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"comments", ": ping\n\ndata: {}\n: within\n\n:\n", []event{{data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"unknown fields", "foo: bar\nbaz\ndata: {}\n\nfoo: bar\n\n", []event{{data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"priming", "id: 1\ndata: \n\n", []event{{id: "1", hasID: true, hasData: true}}},
		{"an id with NUL does not count", "id: a\x00b\ndata: {}\n\n", []event{{data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"cut off", "data: {}\n\nid: 2\ndata: {}", []event{{data: kept{head: []byte("{}"), size: 2}, hasData: true}, {id: "2", hasID: true, data: kept{head: []byte("{}"), size: 2}, hasData: true}}},
		{"just fits", "data: 12345\ndata: 789\n\n", []event{{data: kept{head: []byte("12345\n789"), size: 9}, hasData: true}}},
		{"too large", "data: 1234567890\n\n", []event{{data: kept{head: []byte("123456789"), size: 10}, hasData: true}}},
		{"too large by a line", "data: 12345678\ndata: 9\ndata: 0\n\n", []event{{data: kept{head: []byte("12345678\n"), size: 12}, hasData: true}}},
		{"too large by a line end", "data: 123456789\ndata:\ndata: 1\n\n", []event{{data: kept{head: []byte("123456789"), size: 12}, hasData: true}}},
	}
	for _, test := range tests {
		for how, reader := range map[string]func(io.Reader) io.Reader{
			"at once":     func(r io.Reader) io.Reader { return r },
			"by the byte": iotest.OneByteReader,
		} {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				r := newEventReader(reader(strings.NewReader(test.in)), 9)
				var got []event
				for {
					e, err := r.next()
					if err == nil || e.hasData {
						got = append(got, e)
					}
					if err != nil {
						if !errors.Is(err, io.EOF) {
							t.Fatal(err)
						}
						break
					}
				}
				for i := range got {
					got[i].data.tail = nil // has a test of its own
				}
				if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", test.want); a != b {
					t.Errorf("got  %s\nwant %s", a, b)
				}
			})
		}
	}
}

// An event of any size takes no more memory than its kept bytes.
func TestEventOfAnySize(t *testing.T) {
	const size = 50 << 20
	r := newEventReader(io.MultiReader(
		strings.NewReader("data: "), io.LimitReader(forever{}, size), strings.NewReader("\ndata: x\n\ndata: next\n\n")), 1000)
	e, err := r.next()
	if err != nil || len(e.data.head) != 1000 || e.data.size != size+2 || !strings.HasSuffix(string(e.data.end()), "xxx\nx") {
		t.Errorf("kept %d of %d bytes, %v", len(e.data.head), e.data.size, err)
	}
	if r.lines.r.Size() > 1<<16 {
		t.Errorf("a buffer of %d bytes", r.lines.r.Size())
	}
	if e, err := r.next(); err != nil || string(e.data.head) != "next" {
		t.Errorf("the next event: %q, %v", e.data.head, err)
	}
}

type forever struct{}

func (forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEventBody(t *testing.T) {
	const in = "id: 1\ndata: \n\n: ping\n\nevent: message\nid: 2\nretry: 5\ndata: {}\n\nid: 3\ndata: drop\n\ndata: drop\n\ndata: lines\n\nid: 4\ndata: vanish\n\nid: 5\ndata: cut"
	const want = "id: 1\n\nevent: message\nid: 2\nretry: 5\ndata: {}\n\nid: 3\n\ndata: a\ndata: \ndata: b\n\nid: 5\ndata: cut\n\n"
	var ended []error
	body := func() *eventBody {
		return &eventBody{
			Closer: io.NopCloser(nil),
			events: newEventReader(strings.NewReader(in), 100),
			deliver: func(e event) ([]byte, bool) {
				switch string(e.data.head) {
				case "drop":
					return nil, false
				case "lines":
					return []byte("a\n\nb"), false
				case "vanish":
					return nil, true
				}
				return e.data.head, false
			},
			ended: func(err error) { ended = append(ended, err) },
		}
	}
	for how, reader := range map[string]func(io.Reader) io.Reader{
		"at once":     func(r io.Reader) io.Reader { return r },
		"by the byte": iotest.OneByteReader,
	} {
		t.Run(how, func(t *testing.T) {
			ended = nil
			got, err := io.ReadAll(reader(body()))
			if err != nil || string(got) != want {
				t.Errorf("got  %q, %v\nwant %q", got, err, want)
			}
			if len(ended) != 1 || !errors.Is(ended[0], io.EOF) {
				t.Errorf("ended: %v", ended)
			}
		})
	}
}

// FuzzEvents checks that the events passed on have the meaning of those received,
// however the stream is split into reads.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: a\rid: 1\r\ndata: {}\n\n: c\n\ndata\ndata:x\n\n"))
	f.Add([]byte("\uFEFFretry:1\n\nid: \x00\ndata: cut"))
	f.Fuzz(func(t *testing.T, in []byte) {
		parse := func(r io.Reader) (out []event) {
			events := newEventReader(r, 1000)
			for {
				e, err := events.next()
				if err == nil || e.data.size > 0 {
					out = append(out, e)
				}
				if err != nil {
					return out
				}
			}
		}
		whole := parse(bytes.NewReader(in))
		if bytewise := parse(iotest.OneByteReader(bytes.NewReader(in))); fmt.Sprint(whole) != fmt.Sprint(bytewise) {
			t.Fatalf("read at once:   %v\nread by the byte: %v", whole, bytewise)
		}
		body := &eventBody{
			Closer: io.NopCloser(nil), events: newEventReader(bytes.NewReader(in), 1000),
			deliver: func(e event) ([]byte, bool) { return e.data.head, false }, ended: func(error) {},
		}
		passed := parse(body)
		told := func(events []event) string {
			var b strings.Builder
			for _, e := range events {
				if e.data.size > 0 || e.name != "" || e.hasID {
					fmt.Fprintf(&b, "%q %q %v %q %q\n", e.name, e.id, e.hasID, e.retry, e.data.head)
				}
			}
			return b.String()
		}
		if told(passed) != told(whole) {
			t.Fatalf("came:\n%spassed on:\n%s", told(whole), told(passed))
		}
	})
}
