// Package written reads files that people name, such as answers files, mcp.json and keys. It
// bounds their size, and reads what people write by hand as values with their positions.
package written

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Bounds on a file.
const (
	SizeMost   = 16 << 20 // bytes
	DepthMost  = 64       // levels of objects and lists
	ValuesMost = 50_000   // values, names included; in YAML also what looks as if it began one
)

// The errors for a text that is nested too deep, or has too many values.
var (
	ErrDepth  = fmt.Errorf("it is nested more than %d levels deep", DepthMost)
	ErrValues = fmt.Errorf("it has more than %d values", ValuesMost)
)

// ReadFile reads a file of at most SizeMost bytes. Its errors name the file. Every file that
// people name is read by it, unless it is read line by line.
func ReadFile(path string) ([]byte, error) { return ReadLarge(path, SizeMost) }

// ReadLarge is like ReadFile for a file of at most most bytes.
func ReadLarge(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := readAll(path, f, most)
	return text, errors.Join(err, f.Close())
}

// ReadAll reads a file that is open, and returns it as UTF-8 without a byte order mark: editors of
// Windows write UTF-16. Errors call it name.
func ReadAll(name string, from io.Reader) ([]byte, error) { return readAll(name, from, SizeMost) }

func readAll(name string, from io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("reading %s: it has more than %d MiB", name, most>>20)
	}
	if decoded, _, wrong := transform.Bytes(unicode.BOMOverride(transform.Nop), text); err == nil && wrong == nil {
		text = decoded
	}
	return text, err
}
