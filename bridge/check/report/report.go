// Package report writes the report of a check in formats for people and for programs, and
// compares it with an earlier report.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"elicitation-inspector/bridge/wording"
)

var writers = map[string]func(io.Writer, *Report) error{
	"json": writeJSON, "junit": writeJUnit, "markdown": writeMarkdown, "html": writeHTML, "sarif": writeSARIF,
}

// Formats lists the names of the formats.
func Formats() []string { return slices.Sorted(maps.Keys(writers)) }

// Write writes a report in a format, without a character that is hidden or acts on a
// terminal: formats for programs have escapes of the same value.
func Write(w io.Writer, format string, r *Report) error { return WriteWith(writers, w, format, r) }

// WriteWith writes a report of any kind with the writer for a format.
func WriteWith[R any](writers map[string]func(io.Writer, R) error, w io.Writer, format string, r R) error {
	write := writers[format]
	if write == nil {
		return fmt.Errorf("unknown format %q: want one of %v", format, slices.Sorted(maps.Keys(writers)))
	}
	if format != "html" { // which has references
		w = wording.EscapingWriter{To: w}
	}
	if err := write(w, r); err != nil {
		return fmt.Errorf("writing the report as %s: %w", format, err)
	}
	return nil
}

func writeJSON(w io.Writer, r *Report) error { return WriteIndented(w, r) }

// WriteIndented writes a value as JSON for programs and for people.
func WriteIndented(w io.Writer, value any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}

// Read reads a report in the format json.
func Read(from io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(from).Decode(&r); err != nil {
		return nil, fmt.Errorf("reading the report of a check: %w", err)
	}
	if r.Format != 1 {
		return nil, fmt.Errorf("reading the report of a check: its format is %d, and only 1 is known", r.Format)
	}
	for _, one := range r.Results {
		if one.Call < 0 || one.Call >= len(r.Calls) {
			return nil, fmt.Errorf("reading the report of a check: a result is of call %d, and there are %d", one.Call, len(r.Calls))
		}
	}
	return &r, nil
}
