package export

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
)

// titledMost is how many calls Title reads for the names of their servers.
const titledMost = 20

// Title says what the chosen frames of a log are, as a heading: "deploy on demo, 2 questions,
// 2026-11-23". The date is that of the frame first, in UTC. A nil only chooses all frames.
func Title(ctx context.Context, c *conversation.Conversation, log *wire.Log, redaction *redact.Redaction, first int64, only func(seq int64) bool) (string, error) {
	what, servers := "frames", []string(nil)
	places := c.Places(only)
	for _, place := range places[:min(len(places), titledMost)] {
		call, err := c.Call(ctx, place, conversation.Reading{Redact: redaction, Only: only})
		if err != nil {
			return "", err
		}
		what = call.Name
		if what == "" {
			what = call.Method
		}
		if !slices.Contains(servers, call.Server) {
			servers = append(servers, call.Server)
		}
	}
	if len(places) > 1 {
		what = wording.Plural(len(places), "call")
	}
	var date time.Time
	if first >= 1 && first <= log.Len() {
		head := log.Head(first)
		if date = head.Time; len(places) == 0 && head.Server != "" {
			servers = []string{head.Server}
		}
	}
	_, all := c.Counts()
	questions := 0
	for number := 1; number <= all; number++ {
		if seq, _ := c.Asked(number); seq != 0 && (only == nil || only(seq)) {
			questions++
		}
	}
	return redaction.Text(Heading(what, servers, questions, date)), nil
}

// Heading joins what something is, its servers, how many questions it has, and its date in
// UTC; it leaves out what is none or zero.
func Heading(what string, servers []string, questions int, date time.Time) string {
	if len(servers) > 0 {
		what += " on " + strings.Join(servers[:min(len(servers), 3)], ", ")
	}
	if questions > 0 {
		what += ", " + wording.Plural(questions, "question")
	}
	if !date.IsZero() {
		what += ", " + date.UTC().Format(time.DateOnly)
	}
	return Line(what, 160)
}

// FileName returns a title as the name of a file, which every file system and every shell
// takes, with an extension that begins with a dot: "deploy-on-demo-2-questions-2026-11-23.html".
func FileName(title, extension string) string {
	words := strings.FieldsFunc(title, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.')
	})
	name := strings.Trim(strings.Join(words, "-"), ".-")
	if name == "" {
		name = "session"
	}
	return fmt.Sprintf("%.100s%s", name, extension)
}
