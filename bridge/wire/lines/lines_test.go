package lines

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	type line struct {
		head string
		size int64
	}
	long := strings.Repeat("x", 40)
	tests := []struct {
		name string
		in   string
		max  int64
		cr   bool
		want []line
	}{
		{"none", "", 9, false, nil},
		{"one", "ab\n", 9, false, []line{{"ab", 2}}},
		{"no end", "ab\ncd", 9, false, []line{{"ab", 2}, {"cd", 2}}},
		{"empty lines", "\n\na\n", 9, false, []line{{"", 0}, {"", 0}, {"a", 1}}},
		{"CRLF", "ab\r\ncd\r\n", 9, false, []line{{"ab", 2}, {"cd", 2}}},
		{"CRLF alone", "\r\n", 9, false, []line{{"", 0}}},
		{"CR within", "a\rb\n", 9, false, []line{{"a\rb", 3}}},
		{"CR at the very end", "ab\r", 9, false, []line{{"ab\r", 3}}},
		{"just fits", "abc\n", 3, false, []line{{"abc", 3}}},
		{"just fits with CRLF", "abc\r\n", 3, false, []line{{"abc", 3}}},
		{"too long", "abcd\nef\n", 3, false, []line{{"abc", 4}, {"ef", 2}}},
		{"too long with CRLF", "abcd\r\n", 3, false, []line{{"abc", 4}}},
		{"too long without end", "abcde", 3, false, []line{{"abc", 5}}},
		{"longer than the buffer", long + "\r\n" + long[:15] + "\r\n" + long[:16] + "\n", 99, false, []line{{long, 40}, {long[:15], 15}, {long[:16], 16}}},
		{"longer than the buffer and too long", long + "\r\n" + long, 20, false, []line{{long[:20], 40}, {long[:20], 40}}},
		{"CR ends", "a\rb\r\rc", 9, true, []line{{"a", 1}, {"b", 1}, {"", 0}, {"c", 1}}},
		{"CRLF ends once", "a\r\n\r\nb\n", 9, true, []line{{"a", 1}, {"", 0}, {"b", 1}}},
		{"LFCR ends twice", "a\n\rb", 9, true, []line{{"a", 1}, {"", 0}, {"b", 1}}},
	}
	readers := map[string]func(io.Reader) io.Reader{
		"at once":     func(r io.Reader) io.Reader { return struct{ io.Reader }{r} },
		"in pieces":   func(r io.Reader) io.Reader { return pieces{r, 16} },
		"by the byte": iotest.OneByteReader,
		"with EOF":    iotest.DataErrReader,
	}
	for _, test := range tests {
		for how, reader := range readers {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				var got []line
				lines := Lines{Most: test.max, CR: test.cr, Each: func(l Clipped) { got = append(got, line{string(l.Head), l.Size}) }}
				if _, err := io.Copy(&lines, reader(strings.NewReader(test.in))); err != nil {
					t.Fatal(err)
				}
				if lines.End(); !slices.Equal(got, test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		}
	}
}

// pieces reads at most size bytes at a time.
type pieces struct {
	io.Reader
	size int
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), p.size)]) }

func TestLinesKeepWhatCameBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	var got []string
	err := Read(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)), 9, func(l Clipped) { got = append(got, string(l.Head)) })
	if !slices.Equal(got, []string{"a", "half"}) || !errors.Is(err, broken) {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestLinesAreTheirOwnMemory(t *testing.T) {
	var got []Clipped
	if err := Read(pieces{strings.NewReader("aaaa\nbbbb\n"), 5}, 9, func(l Clipped) { got = append(got, l) }); err != nil {
		t.Fatal(err)
	}
	if string(got[0].Head) != "aaaa" {
		t.Errorf("the first line has become %q", got[0].Head)
	}
}

// FuzzLines compares the reader with a simple split that holds everything.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\r\n\n a\rb"), uint8(3), uint16(2))
	f.Fuzz(func(t *testing.T, in []byte, size uint8, max uint16) {
		var lines []Clipped
		err := Read(pieces{bytes.NewReader(in), int(size) + 1}, int64(max), func(l Clipped) { lines = append(lines, l) })
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range bytes.Split(in, []byte("\n")) {
			last := i == bytes.Count(in, []byte("\n"))
			if last && len(want) == 0 {
				break
			}
			if !last {
				want = bytes.TrimSuffix(want, []byte("\r"))
			}
			if i == len(lines) {
				t.Fatalf("there are %d lines, want %q", i, want)
			}
			got := lines[i]
			if !bytes.Equal(got.Head, want[:min(len(want), int(max))]) || got.Size != int64(len(want)) {
				t.Fatalf("line %d: got %q of %d, want %q", i, got.Head, got.Size, want)
			}
			if end := want[len(want)-min(len(want), TailSize):]; !bytes.HasSuffix(end, got.Tail) || len(got.Head)+len(got.Tail) < len(end) || got.Whole() != (len(got.Tail) == 0) {
				t.Fatalf("line %d: got the end %q of %q", i, got.Tail, want)
			}
		}
		if n := bytes.Count(in, []byte("\n")); len(lines) > n+1 || len(lines) == n+1 && len(lines[n].Head) == 0 && lines[n].Size == 0 {
			t.Fatalf("there are %d lines in %q", len(lines), in)
		}
	})
}
