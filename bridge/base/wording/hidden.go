package wording

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
)

// HiddenChar is a hidden character in a text, from byte At to End.
type HiddenChar struct {
	Rune    rune
	At, End int
	Broken  bool // the byte is not valid UTF-8
}

// IsHidden reports whether a character by itself is invisible: controls, format characters
// (among them every bidi control), fillers, unusual white space, and characters that XML
// cannot contain. Line breaks, tabs, and the spaces of ordinary typography count as
// visible.
func IsHidden(r rune) bool {
	switch r {
	case '\n', '\t', ' ', '\u00a0', '\u202f', '\u3000':
		return false
	case '\ufffe', '\uffff':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// HiddenIn yields the hidden characters of a text, and the bytes that are not valid UTF-8. It
// leaves out what only gives the characters around it their shape: the joiners and
// variation selectors of an emoji, and the joiners of scripts that are written with them.
func HiddenIn(s string) iter.Seq[HiddenChar] {
	return func(yield func(HiddenChar) bool) {
		before := rune(0) // the last visible character that is no skin tone; 0 where nothing may shape it
		chosen := false   // a variation selector follows it
		for i := 0; i < len(s); {
			if c := s[i]; c >= ' ' && c < 0x7f {
				before, chosen = rune(c), false
				i++
				continue
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			broken := r == utf8.RuneError && n == 1
			switch {
			case broken || IsHidden(r):
				selects := r == asText || r == asEmoji
				if k := shapes(before, s[i:]); k > 0 && !(selects && chosen) {
					n = k
				} else if !yield(HiddenChar{r, i, i + n, broken}) {
					return
				}
				if chosen = selects; !selects {
					before = 0
				}
			case r < lightTone || r > darkestTone:
				before, chosen = r, false
			}
			i += n
		}
	}
}

// Escape returns a text with escapes as in JSON in place of hidden characters, and U+FFFD
// in place of bytes that are not UTF-8. A carriage return before a line feed is left out.
// The value of JSON stays the same.
func Escape(s string) string {
	return ReplaceHidden(s, func(c HiddenChar) string {
		if strings.HasPrefix(s[c.At:], "\r\n") {
			return ""
		}
		return escape(c)
	})
}

// EscapeJSON is like Escape for JSON, where a carriage return can stand between two values: it
// becomes a space.
func EscapeJSON(raw []byte) string { return Escape(strings.ReplaceAll(string(raw), "\r", " ")) }

// EscapeLine is like Escape for a place that has one line: it escapes line breaks and tabs too.
func EscapeLine(s string) string { return inLine.Replace(Escape(s)) }

var inLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// ReplaceHidden returns a text with other texts in place of its hidden characters.
func ReplaceHidden(s string, with func(HiddenChar) string) string {
	var out strings.Builder
	from := 0
	for c := range HiddenIn(s) {
		out.WriteString(s[from:c.At])
		out.WriteString(with(c))
		from = c.End
	}
	if from == 0 {
		return s
	}
	return out.String() + s[from:]
}

// The characters that shape others.
const (
	nonJoiner   = '\u200c'
	joiner      = '\u200d'
	asText      = '\ufe0e'
	asEmoji     = '\ufe0f'
	keycap      = '\u20e3'
	blackFlag   = '\U0001f3f4'
	lightTone   = '\U0001f3fb'
	darkestTone = '\U0001f3ff'
)

// regions are the flags that are written as a black flag and tags: those of England,
// Scotland and Wales. Other sequences of tags are texts that nobody sees.
var regions = []string{tags("gbeng"), tags("gbsct"), tags("gbwls")}

// tags returns a text as tag characters, with the one that ends them.
func tags(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(0xe0000 + r)
	}
	return b.String() + "\U000e007f"
}

// shapes returns the length of the characters at the start of a text that only give a
// shape to the character before them; 0 if there are none.
func shapes(before rune, text string) int {
	r, n := utf8.DecodeRuneInString(text)
	next, _ := utf8.DecodeRuneInString(text[n:])
	switch r {
	case asText, asEmoji:
		if isPictograph(before) || next == keycap && strings.ContainsRune("0123456789#*", before) {
			return n
		}
	case joiner:
		if isPictograph(before) && isPictograph(next) || unicode.In(before, joined...) {
			return n
		}
	case nonJoiner:
		if unicode.In(before, joined...) && unicode.In(next, joined...) {
			return n
		}
	}
	if before == blackFlag {
		for _, region := range regions {
			if strings.HasPrefix(text, region) {
				return len(region)
			}
		}
	}
	return 0
}

// isPictograph reports whether a character can be drawn as an emoji: a symbol, or one of
// the other characters that have both forms.
func isPictograph(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sm) || strings.ContainsRune("\u203c\u2049\u2139\u3030", r)
}

// joined holds the scripts in which joiners choose between forms of letters.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
}

// EscapingWriter writes text for a terminal, or a report that may be shown on one: no byte of it
// acts on the terminal, and no line is a command to a service that runs tests, such as
// GitHub's "::set-output" and the "##vso[" of Azure Pipelines. It writes escapes as in
// JSON. Each call of Write must have whole characters; several goroutines may write.
type EscapingWriter struct{ To io.Writer }

func (w EscapingWriter) Write(p []byte) (int, error) {
	text := Escape(string(p))
	if strings.Contains(text, "::") || strings.Contains(text, "##") {
		text = commands().ReplaceAllStringFunc(text, func(s string) string {
			at := strings.IndexAny(s, ":#")
			return s[:at] + escape(HiddenChar{Rune: rune(s[at])}) + s[at+1:]
		})
	}
	if _, err := io.WriteString(w.To, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// commands finds what runners take for a command: GitHub's at the start of a line, after
// white space, and those with a bracket anywhere.
var commands = lazy.Regexp(`(?m)^[\t ]*::[A-Za-z]|##[A-Za-z]*\[`)

// HTMLWriter writes HTML without hidden characters: those in a text become references. It
// writes up to a tag at a time, so that it sees each text as a whole; the rest is for Flush.
type HTMLWriter struct {
	To   io.Writer
	held []byte
}

// heldLeast is how many bytes a HTMLWriter writes at once, or more.
const heldLeast = 64 << 10

func (w *HTMLWriter) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	end := bytes.LastIndexByte(w.held, '<')
	if end < heldLeast {
		return len(p), nil
	}
	if _, err := io.WriteString(w.To, ReplaceHidden(string(w.held[:end]), reference)); err != nil {
		return 0, err
	}
	w.held = append(w.held[:0], w.held[end:]...)
	return len(p), nil
}

// Flush writes what is left.
func (w *HTMLWriter) Flush() error {
	_, err := io.WriteString(w.To, ReplaceHidden(string(w.held), reference))
	w.held = nil
	return err
}

// escape names a character by escapes of JSON.
func escape(c HiddenChar) string {
	switch r := c.Rune; {
	case c.Broken:
		return "\ufffd"
	case r > 0xffff:
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	default:
		return fmt.Sprintf(`\u%04x`, r)
	}
}

// reference names a character by a reference of HTML, which has none for controls.
func reference(c HiddenChar) string {
	if c.Broken || unicode.IsControl(c.Rune) {
		return "\ufffd"
	}
	return fmt.Sprintf("&#x%x;", c.Rune)
}
