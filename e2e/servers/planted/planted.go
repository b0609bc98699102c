// Package planted names the one thing that a build of a server does in another way than the build
// that was recorded. The servers of its folders are compared with themselves.
package planted

import (
	"os"
	"strings"
)

// Is reports whether the environment variable PLANTED names a change.
func Is(change string) bool { return os.Getenv("PLANTED") == change }

// Edits are changes of the texts of a server, by their names: an old text, and a new one.
type Edits map[string][2]string

// In returns a text of the server with the change that is planted.
func (e Edits) In(text string) string {
	change, ok := e[os.Getenv("PLANTED")]
	if !ok {
		return text
	}
	return strings.ReplaceAll(text, change[0], change[1])
}
