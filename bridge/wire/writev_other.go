//go:build !linux

package wire

import (
	"bytes"
	"os"
)

// writeTogether writes the parts in one operation and says how many bytes were
// written.
func writeTogether(file *os.File, parts [][]byte) (int64, error) {
	all := parts[0]
	if len(parts) > 1 {
		all = bytes.Join(parts, nil)
	}
	n, err := file.Write(all)
	return int64(n), err
}
