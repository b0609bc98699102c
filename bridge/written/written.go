// Package written reads files that people write, such as answers files and mcp.json. It
// bounds their size and how deep they are nested.
package written

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tailscale/hujson"
)

// Bounds on a file.
const (
	SizeMost  = 16 << 20 // bytes
	DepthMost = 64       // levels of objects and lists
)

// ErrDepth is the error for a text that is nested too deep.
var ErrDepth = fmt.Errorf("it is nested more than %d levels deep", DepthMost)

// ReadFile reads a file. Its errors name the file.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := ReadAll(path, f)
	return text, errors.Join(err, f.Close())
}

// ReadAll reads a file that is open. Errors call it name.
func ReadAll(name string, from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, SizeMost+1))
	if err == nil && len(text) > SizeMost {
		err = fmt.Errorf("reading %s: it has more than %d MiB", name, SizeMost>>20)
	}
	return text, err
}

// ParseJSON parses JSON with comments and trailing commas.
func ParseJSON(text []byte) (hujson.Value, error) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > DepthMost {
				return hujson.Value{}, ErrDepth
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i = afterComment(text, i) - 1
		}
	}
	return hujson.Parse(text)
}

// afterComment returns the index after the comment that may begin at i.
func afterComment(text []byte, i int) int {
	end := "\n"
	switch {
	case bytes.HasPrefix(text[i:], []byte("/*")):
		end = "*/"
	case !bytes.HasPrefix(text[i:], []byte("//")):
		return i + 1
	}
	n := bytes.Index(text[i+2:], []byte(end))
	if n < 0 {
		return len(text)
	}
	return i + 2 + n + len(end)
}
