package paper

import "strings"

// Fenced returns a code block of a language.
func Fenced(language, s string) string {
	s, note := Cut(Visible(s))
	if note != "" {
		note += "\n\n"
	}
	fence := strings.Repeat("`", max(3, longest(s, '`')+1))
	return fence + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence + "\n\n" + note
}

// Span returns a code span in one line.
func Span(s string) string {
	s = Line(s, 400)
	if s == "" {
		return "–"
	}
	ticks := strings.Repeat("`", longest(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// Cell is like Span for a table cell, where a bar must be escaped even within code.
func Cell(s string) string {
	if s == "" {
		return ""
	}
	return strings.ReplaceAll(Span(s), "|", `\|`)
}

func longest(s string, c byte) int {
	most, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}
