package export

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// visible makes text out of what somebody else wrote: what cannot be seen, or
// changes how its neighbours are drawn, is named instead. Line breaks and tabs
// stay.
func visible(s string) string {
	if !strange(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "‹byte %02X›", s[i])
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case hidden(r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// strange reports whether there is anything in s that visible changes.
func strange(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || hidden(r) {
			return true
		}
		i += n
	}
	return false
}

// hidden reports whether a character draws nothing of its own: controls, format
// characters (among them every bidi control), white space that looks like a
// space and is none, and what XML cannot hold.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', ' ':
		return false
	case '\u034f', '\u3164', '\ufffe', '\uffff':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs) || unicode.Is(unicode.Variation_Selector, r)
}

// line is s in one line, made visible, and cut to so many columns.
func line(s string, columns int) string {
	// Not more is looked at than can be shown.
	if most := 16*columns + 64; len(s) > most {
		for k := 0; k < utf8.UTFMax && !utf8.RuneStart(s[most]); k++ {
			most--
		}
		s = s[:most]
	}
	s = strings.Join(strings.Fields(visible(s)), " ")
	width := 0
	for i, r := range s {
		width += columnsOf(r)
		if width > columns-1 && i+utf8.RuneLen(r) < len(s) {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// columnsOf is about how wide a character is, in those of Latin script.
func columnsOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f300, r >= 0xff00 && r <= 0xff60:
		return 2
	}
	return 1
}

// duration is a time in words that fit a drawing: "1 h 2 min", "59 min 48 s",
// "12.3 s", "450 ms", "0.12 ms".
func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + duration(-d)
	case d.Round(time.Second) >= time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d >= 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d >= time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	case d >= 10*time.Millisecond:
		return strconv.FormatInt(int64(d.Round(time.Millisecond)/time.Millisecond), 10) + " ms"
	case d == 0:
		return "0 ms"
	}
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'g', 2, 64) + " ms"
}

// counted is "1 frame", "2 frames".
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// members are the members of a JSON object; nil for anything else.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// text decodes a JSON string; it is "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// nothing reports whether arguments are none: absent, null, or an empty object.
func nothing(raw json.RawMessage) bool {
	return string(raw) == "" || string(raw) == "null" || strings.HasPrefix(string(raw), "{") && len(members(raw)) == 0
}
