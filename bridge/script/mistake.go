package script

import (
	"fmt"
	"strings"
)

// Mistake is one mistake in a file.
type Mistake struct {
	Line, Column int // from 1
	Text         string
}

func (m Mistake) Error() string { return fmt.Sprintf("%d:%d: %s", m.Line, m.Column, m.Text) }

// Mistakes is the error of a file with mistakes; it lists all of them.
type Mistakes struct {
	File string
	List []Mistake
}

func (m *Mistakes) Error() string {
	lines := make([]string, len(m.List))
	for i, one := range m.List {
		lines[i] = m.File + ":" + one.Error()
	}
	return strings.Join(lines, "\n")
}
