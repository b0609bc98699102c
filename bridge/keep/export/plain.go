package export

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// Visible returns text from another party with names in place of invisible characters
// and of characters that change how their neighbours are drawn. Line breaks and tabs
// stay.
func Visible(s string) string {
	return wording.ReplaceHidden(s, func(c wording.HiddenChar) string {
		switch {
		case c.Broken:
			return fmt.Sprintf("‹byte %02X›", s[c.At])
		case strings.HasPrefix(s[c.At:], "\r\n"):
			return ""
		}
		return fmt.Sprintf("‹U+%04X›", c.Rune)
	})
}

// Run is a piece of text that is drawn in one style.
type Run struct {
	Text string
	Mark string // if the text is invisible: the name to draw in its place
}

func Runs(s string) []Run {
	var out []Run
	from := 0
	plain := func(end int) {
		if end > from {
			out = append(out, Run{Text: s[from:end]})
		}
	}
	for c := range wording.HiddenIn(s) {
		plain(c.At)
		from = c.End
		switch r := c.Rune; {
		case c.Broken:
			out = append(out, Run{Mark: fmt.Sprintf(`\x%02x`, s[c.At])})
		case unicode.IsControl(r): // HTML has no references of these characters
			out = append(out, Run{Mark: fmt.Sprintf("U+%04X", r)})
		default:
			out = append(out, Run{s[c.At:c.End], fmt.Sprintf("U+%04X", r)})
		}
	}
	plain(len(s))
	return out
}

// Line returns s in one line, made visible, and cut to a number of columns.
func Line(s string, columns int) string {
	// Read only as many bytes as can be shown.
	s = wording.Head(s, 16*columns+64)
	s = strings.Join(strings.Fields(Visible(s)), " ")
	width := 0
	for i, r := range s {
		width += columnsOf(r)
		if width > columns-1 && i+utf8.RuneLen(r) < len(s) {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// columnsOf returns the approximate width of a character, in columns of Latin script.
func columnsOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f300, r >= 0xff00 && r <= 0xff60:
		return 2
	}
	return 1
}

const CutAt = 64 << 10 // bytes of one text before it is cut

// Cut returns the first CutAt bytes of a longer text, and a note that says so; "" for a
// text that fits.
func Cut(s string) (head, note string) {
	if len(s) <= CutAt {
		return s, ""
	}
	return strings.ToValidUTF8(s[:CutAt], ""), fmt.Sprintf("The first %d of %d bytes.", CutAt, len(s))
}

// Wrap returns s, which is one line, as lines of a number of columns, broken at spaces
// where possible; the last one is cut.
func Wrap(s string, columns, most int) []string {
	var lines []string
	for len(lines) < most-1 {
		head := Line(s, columns)
		if head == s {
			break
		}
		head = strings.TrimSuffix(head, "…")
		if at := strings.LastIndexByte(head, ' '); at > len(head)/3 {
			head = head[:at]
		}
		lines, s = append(lines, head), strings.TrimLeft(s[len(head):], " ")
	}
	return append(lines, Line(s, columns))
}

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

// SpanAfter returns intro and a code span; "" for no text.
func SpanAfter(intro, s string) string { return wording.Either(s != "", intro+Span(s), "") }

// plain is like Span for text that nothing takes for markup.
func plain(s string) string { return Line(s, 200) }

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
		if n++; s[i] != c {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

func clockOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05.000")
}

func wayOf(d wire.Direction) string {
	return cmp.Or(map[wire.Direction]string{wire.ClientToServer: "client → server", wire.ServerToClient: "server → client"}[d], d.String())
}

// DirectionWords describes the direction of a frame by its name in transcripts.
func DirectionWords(direction string) string {
	words := map[string]string{"c2s": wayOf(wire.ClientToServer), "s2c": wayOf(wire.ServerToClient), "meta": "note", "stderr": "standard error"}
	return cmp.Or(words[direction], direction)
}

// sentence describes the outcome of a call, and how its task stands. quote formats text
// that may be from the wire.
func sentence(c *conversation.Call, quote func(string) string) string {
	words := c.State.String()
	if took := c.Took(); took > 0 {
		since := " after "
		if c.State == conversation.Running {
			since = " for "
		}
		words += since + wording.Duration(took)
		var shares []string
		for _, p := range []conversation.Party{conversation.PersonParty, conversation.ServerParty, conversation.ClientParty} {
			who := p.String()
			if p == conversation.PersonParty {
				who = answerer(c.Foreign())
			}
			if d := c.With(p); d > 0 {
				shares = append(shares, fmt.Sprintf("%s with the %s", wording.Duration(d), who))
			}
		}
		if len(shares) > 1 {
			words += ": " + strings.Join(shares, ", ")
		}
	}
	var counts []string
	if n := len(c.Rounds); n > 1 {
		counts = append(counts, wording.Plural(n, "round"))
	}
	if n := len(c.Questions); n > 0 {
		counts = append(counts, wording.Plural(n, "question"))
	}
	counts = append(counts, wording.Plural(len(c.Frames)+c.Omitted, "frame"))
	words = wording.Sentence(words + "; " + strings.Join(counts, ", "))
	if c.Failure != "" {
		words += " " + wording.Sentence(quote(Line(c.Failure, 200)))
	}
	if c.Task != nil {
		words += " " + taskSentence(c.Task, quote)
	}
	return words
}

// taskSentence describes how the task of a call stands.
func taskSentence(t *conversation.CallTask, quote func(string) string) string {
	words, status := "The task", string(t.Status)
	if t.ID != "" {
		words += " " + quote(Line(t.ID, 60))
	}
	if !t.Status.Known() {
		status = quote(Line(status, 60))
	}
	words += " is " + status
	if t.Message != "" {
		words += ": " + quote(Line(t.Message, 200))
	}
	if t.Polls > 0 {
		words += ", and was asked about " + wording.Count(t.Polls, "time", "times")
	}
	words += "."
	if t.Problem != "" {
		words += " The task: " + quote(Line(t.Problem, 200)) + "."
	}
	return words
}

// story describes in two sentences how a question arrived and how it ended. quote
// formats text from the wire.
func story(q *conversation.Question, quote func(string) string) (how, end string) {
	how = "Asked by " + quote(q.Method)
	switch q.Via {
	case elicit.InRound:
		how += fmt.Sprintf(", in round %d as %s", q.Round, quote(q.Key))
	case elicit.InError:
		how += fmt.Sprintf(", in error %d", mcp.CodeURLElicitationRequired)
	}
	if q.Guessed {
		how += "; that it belongs to this call is a guess"
	}
	end = q.State.String()
	if q.State == conversation.Pending {
		end = "not answered"
	}
	if q.Action != "" {
		end += " with " + quote(q.Action)
	}
	if q.By != "" && q.By != conversation.ByServer { // ByServer is part of the reason
		end += " by " + quote(q.By)
	}
	if !q.Asked.IsZero() && q.Ended.After(q.Asked) {
		end += " after " + wording.Duration(q.Ended.Sub(q.Asked))
	}
	if q.Reason != "" {
		end += ": " + quote(q.Reason)
	}
	return how + ".", wording.Sentence(end)
}

// Followed returns the words that link a question to the frame in AnswerSeq.
func (q *question) Followed() string {
	if q.State == conversation.AnswerUnknown || q.State == conversation.Withdrawn && q.Via != elicit.ByRequest {
		return "followed by"
	}
	return "answered by"
}
