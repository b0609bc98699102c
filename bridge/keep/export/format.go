package export

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/wording"
)

// Format is a way to write a T, which is a log or a report, for other programs or for people. Nothing
// but its value in a table knows of it: commands, their help, and the page read it there.
type Format[T any] struct {
	Name   string // in options and addresses
	Title  string // for people
	For    string // what it is, or whom it is for, in a few words
	Ending string // of its files, with the dot
	Media  string // its media type
	Write  func(io.Writer, T) error

	OverHTTP bool // it is of what went over HTTP alone
}

func (f *Format[T]) String() string { return f.Name }

// Formats is a table of formats, in the order in which people read them.
type Formats[T any] []*Format[T]

// Named returns the format with this name. The error goes on after words such as "the format".
func (fs Formats[T]) Named(name string) (*Format[T], error) {
	i := slices.IndexFunc(fs, func(f *Format[T]) bool { return f.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("must be %s, not %q", fs.Names(), name)
	}
	return fs[i], nil
}

// Of returns the format of a file, by the ending of its name, the longest if there are several;
// nil for none.
func (fs Formats[T]) Of(path string) (of *Format[T]) {
	for _, f := range fs {
		if f.Ending != "" && strings.HasSuffix(path, f.Ending) && (of == nil || len(f.Ending) > len(of.Ending)) {
			of = f
		}
	}
	return of
}

// Names names the formats: "json, junit or sarif".
func (fs Formats[T]) Names() string { return fs.any(func(f *Format[T]) string { return f.Name }) }

// Endings names the endings of files: ".json, .md or .html".
func (fs Formats[T]) Endings() string { return fs.any(func(f *Format[T]) string { return f.Ending }) }

func (fs Formats[T]) any(of func(*Format[T]) string) string {
	var names []string
	for _, f := range fs {
		names = append(names, of(f))
	}
	return wording.Alternatives(names)
}
