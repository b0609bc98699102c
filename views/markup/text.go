package markup

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/wording"
)

// run is a piece of text in one style.
type run struct {
	Text  string
	Class string // "k", "s", "n", "b" for a key, string, number or literal of JSON; "" for plain text
	Mark  string // for an invisible character: mark to draw in front of it
	Name  string // for an invisible character: code point, or byte value
	bytes int    // length of the represented text
}

func (r run) write(b *strings.Builder) {
	switch text := templ.EscapeString(r.Text); {
	case r.Mark != "":
		b.WriteString(`<span class="inv" data-c="` + templ.EscapeString(r.Mark) + `" title="` + templ.EscapeString(r.Name) + `">` + text + "</span>")
	case r.Class != "":
		b.WriteString(`<span class="` + r.Class + `">` + text + "</span>")
	default:
		b.WriteString(text)
	}
}

func writeAll(b *strings.Builder, runs []run) {
	for _, r := range runs {
		r.write(b)
	}
}

// Marked draws a text without white space around it. The style sheet marks invisible
// characters, which stay in the text.
func Marked(s string) templ.Component {
	return component(func(b *strings.Builder) { writeAll(b, plainRuns(s)) })
}

// JSON draws JSON in colours, with an element for each line, so that wrapped lines
// are indented. Very long JSON is drawn without colours, with far fewer elements, and
// cut. A file in it stands by its size and hash: "Show all" then fetches all of the JSON as it is.
func JSON(text string) templ.Component {
	whole, text := text, wording.FoldFiles(text)
	return WithRest(whole, func(b *strings.Builder) (done int) {
		if text != whole {
			defer func() { done = 0 }()
		}
		if len(text) > maxColoured {
			return writeRuns(b, plainRuns(Head(text, codeMost)), codeMost)
		}
		for line := range strings.SplitAfterSeq(text, "\n") {
			if line == "" || b.Len() > codeMost {
				break
			}
			depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
			class := "i" + strconv.Itoa(depth)
			if depth > 8 { // no room to wrap in
				class = "deep"
			}
			b.WriteString(`<span class="l ` + class + `">`)
			done += writeRuns(b, jsonRuns(line), codeMost)
			b.WriteString("</span>")
		}
		return done
	})
}

func plainRuns(s string) []run { return appendRuns(nil, s, "") }

// appendRuns appends the runs of s, all of one class. A character that is invisible, or
// that changes how its neighbours are drawn, becomes a run of its own, which shows it and
// limits its effect.
func appendRuns(runs []run, s, class string) []run {
	start := 0
	flush := func(end int) {
		if end > start {
			runs = append(runs, run{Text: s[start:end], Class: class, bytes: end - start})
		}
	}
	for c := range wording.HiddenIn(s) {
		flush(c.At)
		start = c.End
		r := run{Text: s[c.At:c.End], Class: class, Name: fmt.Sprintf("U+%04X", c.Rune), bytes: c.End - c.At}
		switch {
		case c.Broken:
			r.Mark, r.Name = fmt.Sprintf(`\x%02x`, s[c.At]), fmt.Sprintf("byte %02X, not UTF-8", s[c.At])
		case c.Rune < ' ':
			r.Mark = controls[c.Rune]
		case c.Rune == 0x7f:
			r.Mark = "DEL"
		default:
			r.Mark = r.Name
		}
		// HTML cannot contain these: the parser would replace them.
		if c.Rune == 0 || c.Rune == '\r' || c.Broken {
			r.Text = ""
		}
		runs = append(runs, r)
	}
	flush(len(s))
	return runs
}

var controls = strings.Fields("NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US")

// jsonRuns colours one line of JSON. It reads tokens, not values, and returns all of the
// text even if it is not JSON.
func jsonRuns(s string) []run {
	var runs []run
	for i := 0; i < len(s); {
		end, class := i+1, ""
		switch c := s[i]; {
		case c == '"':
			end, class = stringEnd(s, i), "s"
			if rest := strings.TrimLeft(s[end:], " \t\r\n"); strings.HasPrefix(rest, ":") {
				class = "k"
			}
		case c == '-' || c >= '0' && c <= '9':
			end, class = spanEnd(s, i, "+-.eE0123456789"), "n"
		case c >= 'a' && c <= 'z':
			end = spanEnd(s, i, "abcdefghijklmnopqrstuvwxyz")
			if w := s[i:end]; w == "true" || w == "false" || w == "null" {
				class = "b"
			}
		default:
			for end < len(s) && s[end] != '"' && s[end] != '-' && (s[end] < '0' || s[end] > '9') && (s[end] < 'a' || s[end] > 'z') {
				end++
			}
		}
		runs = appendRuns(runs, s[i:end], class)
		i = end
	}
	return runs
}

func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func spanEnd(s string, i int, of string) int {
	for i < len(s) && strings.IndexByte(of, s[i]) >= 0 {
		i++
	}
	return i
}
