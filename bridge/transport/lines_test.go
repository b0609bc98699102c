package transport

import (
	"bytes"
	"errors"
	"io"
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
		"at once":     func(r io.Reader) io.Reader { return r },
		"by the byte": iotest.OneByteReader,
		"with EOF":    iotest.DataErrReader,
	}
	for _, test := range tests {
		for how, reader := range readers {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				for _, size := range []int{16, 64} {
					in := reader(strings.NewReader(test.in))
					if test.cr {
						in = &lfReader{r: in}
					}
					l := newLineReader(in, size)
					var got []line
					for {
						k, err := l.next(test.max)
						if err != nil {
							if !errors.Is(err, io.EOF) {
								t.Fatal(err)
							}
							break
						}
						got = append(got, line{string(k.head), k.size})
					}
					if len(got) != len(test.want) {
						t.Fatalf("buffer of %d: got %v, want %v", size, got, test.want)
					}
					for i := range got {
						if got[i] != test.want[i] {
							t.Errorf("buffer of %d, line %d: got %v, want %v", size, i, got[i], test.want[i])
						}
					}
				}
			})
		}
	}
}

func TestLinesKeepWhatCameBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	l := newLineReader(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)), 64)
	for _, want := range []string{"a", "half"} {
		if got, err := l.next(9); err != nil || string(got.head) != want {
			t.Fatalf("got %q, %v, want %q", got.head, err, want)
		}
	}
	if _, err := l.next(9); !errors.Is(err, broken) {
		t.Fatalf("got %v, want %v", err, broken)
	}
}

func TestLinesAreTheirOwnMemory(t *testing.T) {
	l := newLineReader(strings.NewReader("aaaa\nbbbb\n"), 5)
	first, err := l.next(9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.next(9); err != nil {
		t.Fatal(err)
	}
	if string(first.head) != "aaaa" {
		t.Errorf("the first line has become %q", first.head)
	}
}

// FuzzLines compares the reader with a simple split that holds everything.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\r\n\n a\rb"), uint8(3), uint16(2))
	f.Fuzz(func(t *testing.T, in []byte, size uint8, max uint16) {
		l := newLineReader(bytes.NewReader(in), int(size)+1)
		for i, want := range bytes.Split(in, []byte("\n")) {
			last := i == bytes.Count(in, []byte("\n"))
			if last && len(want) == 0 {
				break
			}
			if !last {
				want = bytes.TrimSuffix(want, []byte("\r"))
			}
			got, err := l.next(int64(max))
			if err != nil || !bytes.Equal(got.head, want[:min(len(want), int(max))]) || got.size != int64(len(want)) {
				t.Fatalf("line %d: got %q of %d, %v, want %q", i, got.head, got.size, err, want)
			}
			if end := want[len(want)-min(len(want), tailSize):]; !bytes.HasSuffix(end, got.tail) || len(got.head)+len(got.tail) < len(end) || got.whole() != (len(got.tail) == 0) {
				t.Fatalf("line %d: got the end %q of %q", i, got.tail, want)
			}
		}
		if line, err := l.next(9); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %q, %v", line.head, err)
		}
	})
}
