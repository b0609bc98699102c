package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"elicitation-inspector/bridge/wire/lines"
)

func TestEvents(t *testing.T) {
	tests := []struct {
		name, in string
		want     []Event
	}{
		{"nothing", "", nil},
		{"blank lines", "\n\n\n", nil},
		{"one", "data: {}\n\n", []Event{{Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"all fields", "event: message\nid: 7\nretry: 10\ndata: {}\n\n", []Event{{name: "message", id: "7", hasID: true, retry: "10", Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"no space", "data:{}\n\n", []Event{{Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"one space goes, the rest stays", "data:  {} \t\n\n", []Event{{Data: lines.Clipped{Head: []byte(" {} \t"), Size: 5}, hasData: true}}},
		{"many lines", "data: {\ndata:\ndata: }\n\n", []Event{{Data: lines.Clipped{Head: []byte("{\n\n}"), Size: 4}, hasData: true}}},
		{"first line empty", "data\ndata: x\n\n", []Event{{Data: lines.Clipped{Head: []byte("\nx"), Size: 2}, hasData: true}}},
		{"no colon", "data\nid\n\n", []Event{{hasData: true, hasID: true}}},
		{"CRLF", "id: 1\r\ndata: {}\r\n\r\n", []Event{{id: "1", hasID: true, Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"CR", "id: 1\rdata: {}\r\r", []Event{{id: "1", hasID: true, Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"byte order mark", "\uFEFFdata: {}\n\n", []Event{{Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"comments", ": ping\n\ndata: {}\n: within\n\n:\n", []Event{{Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"unknown fields", "foo: bar\nbaz\ndata: {}\n\nfoo: bar\n\n", []Event{{Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"priming", "id: 1\ndata: \n\n", []Event{{id: "1", hasID: true, hasData: true}}},
		{"an id with NUL does not count", "id: a\x00b\ndata: {}\n\n", []Event{{Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"cut off", "data: {}\n\nid: 2\ndata: {}", []Event{{Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}, {id: "2", hasID: true, Data: lines.Clipped{Head: []byte("{}"), Size: 2}, hasData: true}}},
		{"just fits", "data: 12345\ndata: 789\n\n", []Event{{Data: lines.Clipped{Head: []byte("12345\n789"), Size: 9}, hasData: true}}},
		{"too large", "data: 1234567890\n\n", []Event{{Data: lines.Clipped{Head: []byte("123456789"), Size: 10}, hasData: true}}},
		{"too large by a line", "data: 12345678\ndata: 9\ndata: 0\n\n", []Event{{Data: lines.Clipped{Head: []byte("12345678\n"), Size: 12}, hasData: true}}},
		{"too large by a line end", "data: 123456789\ndata:\ndata: 1\n\n", []Event{{Data: lines.Clipped{Head: []byte("123456789"), Size: 12}, hasData: true}}},
	}
	for _, test := range tests {
		for how, reader := range map[string]func(io.Reader) io.Reader{
			"at once":     func(r io.Reader) io.Reader { return r },
			"by the byte": iotest.OneByteReader,
		} {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				got, cut, err := eventsOf(reader(strings.NewReader(test.in)), 9)
				if err != nil {
					t.Fatal(err)
				}
				if cut.hasData {
					got = append(got, cut)
				}
				for i := range got {
					got[i].Data.Tail = nil // has a test of its own
				}
				if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", test.want); a != b {
					t.Errorf("got  %s\nwant %s", a, b)
				}
			})
		}
	}
}

// eventsOf returns the events of a stream, and the one that its end cuts off.
func eventsOf(r io.Reader, most int64) (got []Event, cut Event, err error) {
	events := NewEvents(most, func(e Event) { got = append(got, e) })
	_, err = io.Copy(events, struct{ io.Reader }{r})
	return got, events.end(), err
}

// An event of any size takes no more memory than its kept bytes.
func TestEventOfAnySize(t *testing.T) {
	const size = 50 << 20
	got, _, err := eventsOf(io.MultiReader(
		strings.NewReader("data: "), io.LimitReader(forever{}, size), strings.NewReader("\ndata: x\n\ndata: next\n\n")), 1000)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d events, %v", len(got), err)
	}
	if e := got[0]; len(e.Data.Head) != 1000 || cap(e.Data.Head) > 1<<16 || e.Data.Size != size+2 || !strings.HasSuffix(string(e.Data.End()), "xxx\nx") {
		t.Errorf("kept %d of %d bytes", len(e.Data.Head), e.Data.Size)
	}
	if string(got[1].Data.Head) != "next" {
		t.Errorf("the next event: %q", got[1].Data.Head)
	}
}

// TestEventWithAMissingPart drops the event of which bytes are missing, and no other.
func TestEventWithAMissingPart(t *testing.T) {
	for before, after := range map[string]string{"data: a\n\nda": "ta: torn\n\ndata: b\n\n", "data: a\n\n: comment": "\n\ndata: b\n\n", "data: a\n\ndata: torn": "data: more\n\ndata: b\n\n"} {
		var got []string
		events := NewEvents(100, func(e Event) { got = append(got, string(e.Data.Head)) })
		_, _ = events.Write([]byte(before))
		events.Lose()
		if _, _ = events.Write([]byte(after)); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%q and %q: got %q", before, after, got)
		}
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
	const want = "id: 1\n\nevent: message\nid: 2\nretry: 5\ndata: {}\n\nid: 3\n\ndata: a\ndata: \ndata: b\n\n"
	var ended []error
	body := func() *eventBody {
		return newEventBody(strings.NewReader(in), 100, io.NopCloser(nil), func(e Event) ([]byte, bool) {
			switch string(e.Data.Head) {
			case "drop":
				return nil, false
			case "lines":
				return []byte("a\n\nb"), false
			case "vanish":
				return nil, true
			}
			return e.Data.Head, false
		}, func(cut Event, err error) {
			if string(cut.Data.Head) != "cut" {
				t.Errorf("the event that is cut off has %q", cut.Data.Head)
			}
			ended = append(ended, err)
		})
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
		parse := func(r io.Reader) []Event {
			got, _, err := eventsOf(r, 1000)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		whole := parse(bytes.NewReader(in))
		if bytewise := parse(iotest.OneByteReader(bytes.NewReader(in))); fmt.Sprint(whole) != fmt.Sprint(bytewise) {
			t.Fatalf("read at once:   %v\nread by the byte: %v", whole, bytewise)
		}
		body := newEventBody(bytes.NewReader(in), 1000, io.NopCloser(nil), func(e Event) ([]byte, bool) { return e.Data.Head, false }, func(Event, error) {})
		passed := parse(body)
		told := func(events []Event) string {
			var b strings.Builder
			for _, e := range events {
				if e.Data.Size > 0 || e.name != "" || e.hasID {
					fmt.Fprintf(&b, "%q %q %v %q %q\n", e.name, e.id, e.hasID, e.retry, e.Data.Head)
				}
			}
			return b.String()
		}
		if told(passed) != told(whole) {
			t.Fatalf("came:\n%spassed on:\n%s", told(whole), told(passed))
		}
	})
}
