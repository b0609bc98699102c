package wire

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

const (
	// summaryRunes bounds a summary.
	summaryRunes = 200
	// summaryWindow is how far into a message a summary looks.
	summaryWindow = 64 << 10
)

// Summary says in a few words what the frame is about, for a row of the log:
// the tool's name, the question's message, "accept name: Ann", an error's code
// and message, "info: text", "3/10 message", "11 tools". What is to be said of
// a response depends on Frame.Method. The text is one line of at most 200
// characters, without control or bidirectional formatting characters, and
// takes no more time for a large frame than for one of 64 KiB.
func (f Frame) Summary() string {
	if f.Lost {
		return "not kept: storage failed"
	}
	if f.Dir == Meta && bytes.HasPrefix(f.Raw, markStart) {
		if m, number, ok := parseMark(f.Raw); ok {
			return tidy(m.words(f.about, number))
		}
	}
	if f.Note != nil && f.Dir == Meta && !isText(&f) { // of an older version, or of mcpsnoop
		if words := f.Note.Words(&f); words != "" {
			return tidy(words)
		}
	}
	if !f.Kind.IsMessage() {
		return tidy(string(f.Raw[:min(len(f.Raw), summaryWindow)]))
	}
	var text string
	switch f.Kind {
	case Request, Notification:
		text = requestWords(f.Method, f.part("params", f.Message.Params))
	case Result:
		text = resultWords(f.Method, f.part("result", f.Message.Result))
	case Error:
		text = errorWords(f.part("error", f.Message.Error))
	}
	return tidy(text)
}

// words say what a mark says: seq is its frame's in the log, 0 if that is not
// known, and number that in the session.
func (m Mark) words(seq, number int64) string {
	of := "frame " + strconv.FormatInt(number, 10) + " of the session"
	if seq != 0 {
		of = "#" + strconv.FormatInt(seq, 10)
	}
	pinned := ""
	if m.Pinned {
		pinned = "pinned"
	}
	what := join(", ", pinned, m.Colour)
	if what == "" && m.Note == "" {
		what = "no longer marked"
	}
	return join(": ", of, join(" — ", what, m.Note))
}

// Action is what an answer to elicitations says, "accept", "decline" or
// "cancel". It is known of the result of elicitation/create, and of a retry
// whose inputResponses all say the same; of other frames it is "".
func (f Frame) Action() string {
	var action string
	switch {
	case f.Kind == Result && f.Method == "elicitation/create":
		action = f.part("result", f.Message.Result).get("action").text()
	case f.Kind == Request && mcp.AsksForInput(f.Method):
		first := true
		f.part("params", f.Message.Params).get("inputResponses").each(func(_ string, answer peek) bool {
			one := answer.get("action").text()
			if first {
				action, first = one, false
			}
			if one != action {
				action = ""
			}
			return action != ""
		})
	}
	switch action {
	case "accept", "decline", "cancel":
		return action
	}
	return ""
}

// part is a part of the message; of a frame cut off, what is left of it.
func (f Frame) part(name string, whole []byte) peek {
	if whole != nil {
		return peekAt(whole)
	}
	if f.Truncated {
		return peekAt(f.Raw).get(name)
	}
	return nil
}

func requestWords(method string, params peek) string {
	switch method {
	case "initialize":
		return join(", ", implementation(params.get("clientInfo")), protocol(params.get("protocolVersion")))
	case "server/discover":
		meta := params.get("_meta")
		return join(", ", implementation(meta.get("io.modelcontextprotocol/clientInfo")),
			protocol(meta.get("io.modelcontextprotocol/protocolVersion")))
	case "tools/call", "prompts/get", "resources/read":
		name := params.get("name").text()
		if method == "resources/read" {
			name = params.get("uri").text()
		}
		if answers := params.get("inputResponses"); answers != nil {
			return join(" · ", name, "retry: "+answersWords(answers))
		}
		if params.get("requestState") != nil {
			return join(" · ", name, "retry")
		}
		return join(" ", name, params.get("arguments").filled())
	case "elicitation/create":
		return join(" — ", params.get("message").text(), params.get("url").text())
	case "sampling/createMessage":
		return contentWords(params.get("messages").last().get("content"))
	case "completion/complete":
		ref, argument := params.get("ref"), params.get("argument")
		return join(" ", ref.get("name").text(), ref.get("uri").text(),
			argument.get("name").text()+"="+argument.get("value").text())
	case "logging/setLevel":
		return params.get("level").text()
	case "resources/subscribe", "resources/unsubscribe", "notifications/resources/updated":
		return params.get("uri").text()
	case "notifications/message":
		return join(": ", join(" ", params.get("level").text(), params.get("logger").text()), params.get("data").text())
	case "notifications/progress":
		progress := params.get("progress").text()
		if total := params.get("total"); total != nil {
			progress += "/" + total.text()
		}
		return join(" ", progress, params.get("message").text())
	case "notifications/cancelled":
		return join(": ", join(" ", "request", params.get("requestId").text()), params.get("reason").text())
	case "notifications/elicitation/complete":
		return params.get("elicitationId").text()
	}
	if n, _ := params.count(); n == 1 && params.get("_meta") != nil {
		return "" // what every request carries since 2026-07-28
	}
	return params.filled()
}

func resultWords(method string, result peek) string {
	if result.get("resultType").text() == "input_required" {
		requests := result.get("inputRequests")
		n, more := requests.count()
		switch {
		case n > 0:
			return "input required: " + counted(n, more, "request")
		case more:
			return "input required: at least one request"
		case requests == nil && result.whole() == nil:
			return "input required" // what it asks is too far behind to be seen here
		}
		return "input required: nothing but a retry"
	}
	switch method {
	case "elicitation/create":
		return answerWords(result)
	case "initialize":
		return join(", ", implementation(result.get("serverInfo")), protocol(result.get("protocolVersion")))
	case "server/discover":
		versions := strings.Join(result.get("supportedVersions").texts(), " ")
		if versions != "" {
			versions = "knows " + versions
		}
		return join(", ", implementation(result.get("_meta").get("io.modelcontextprotocol/serverInfo")), versions)
	case "tools/list":
		return listWords(result, "tools", "tool")
	case "prompts/list":
		return listWords(result, "prompts", "prompt")
	case "resources/list":
		return listWords(result, "resources", "resource")
	case "resources/templates/list":
		return listWords(result, "resourceTemplates", "resource template")
	case "roots/list":
		return listWords(result, "roots", "root")
	case "tools/call":
		text := contentWords(result.get("content"))
		if text == "" {
			text = result.get("structuredContent").filled()
		}
		if string(result.get("isError").whole()) == "true" {
			return join(": ", "error", text)
		}
		return text
	case "prompts/get":
		messages := result.get("messages")
		n, more := messages.count()
		return join(": ", counted(n, more, "message"), contentWords(messages.first().get("content")))
	case "resources/read":
		contents := result.get("contents")
		n, more := contents.count()
		return join(": ", counted(n, more, "content"), contents.first().get("text").text())
	case "sampling/createMessage":
		return join(": ", result.get("model").text(), contentWords(result.get("content")))
	case "completion/complete":
		values := result.get("completion").get("values")
		n, more := values.count()
		return join(": ", counted(n, more, "value"), values.filled())
	}
	return result.filled()
}

func errorWords(e peek) string {
	text := join(" ", e.get("code").text(), e.get("message").text())
	if asked := e.get("data").get("elicitations"); asked != nil {
		n, more := asked.count()
		text = join(" · ", text, counted(n, more, "elicitation"))
	}
	return text
}

// answerWords says what an ElicitResult says.
func answerWords(result peek) string {
	action, content := result.get("action").text(), result.get("content")
	if action == "" {
		return result.filled()
	}
	if len(content) == 0 || content[0] != '{' {
		return join(" ", action, content.filled())
	}
	var fields []string
	content.each(func(name string, value peek) bool {
		fields = append(fields, name+": "+value.text())
		return len(fields) < 20
	})
	return join(" ", action, strings.Join(fields, ", "))
}

func answersWords(answers peek) string {
	var out []string
	answers.each(func(name string, answer peek) bool {
		if words := answerWords(answer); answer.get("action") != nil {
			out = append(out, words)
		} else {
			out = append(out, name)
		}
		return len(out) < 10
	})
	return strings.Join(out, "; ")
}

func listWords(result peek, member, one string) string {
	n, more := result.get(member).count()
	text := counted(n, more, one)
	if result.get("nextCursor") != nil {
		text += ", more to come"
	}
	return text
}

// contentWords describes a content block or a list of them by the first.
func contentWords(content peek) string {
	rest := 0
	if len(content) > 0 && content[0] == '[' {
		n, _ := content.count()
		rest = n - 1
		content = content.first()
	}
	kind := content.get("type").text()
	var text string
	switch kind {
	case "text":
		text = content.get("text").text()
	case "image", "audio":
		text = join(" ", kind, content.get("mimeType").text())
	case "resource_link":
		text = join(" ", "link", content.get("uri").text())
	case "resource":
		text = join(" ", "resource", content.get("resource").get("uri").text())
	default:
		text = content.filled()
	}
	if rest > 0 {
		text = tidy(text)
		if room := summaryRunes - 20; utf8.RuneCountInString(text) > room {
			text = string([]rune(text)[:room]) + "…"
		}
		text += " (and " + strconv.Itoa(rest) + " more)"
	}
	return text
}

func implementation(info peek) string {
	name := info.get("title").text()
	if name == "" {
		name = info.get("name").text()
	}
	return join(" ", name, info.get("version").text())
}

func protocol(version peek) string {
	if v := version.text(); v != "" {
		return "protocol " + v
	}
	return ""
}

func counted(n int, more bool, one string) string {
	text := strconv.Itoa(n)
	if more {
		text = "more than " + text
	}
	if n != 1 || more {
		one += "s"
	}
	return text + " " + one
}

// join joins those of the parts that are not empty.
func join(sep string, parts ...string) string {
	var out string
	for _, part := range parts {
		switch {
		case part == "":
		case out == "":
			out = part
		default:
			out += sep + part
		}
	}
	return out
}

// tidy makes one line of text out of s, with nothing in it that moves the
// cursor or turns the writing round, and cuts it where it gets too long.
func tidy(s string) string {
	plain := len(s) <= summaryRunes
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7f && (s[i] != ' ' || i > 0 && i < len(s)-1 && s[i-1] != ' ')
	}
	if plain {
		return s
	}
	var b strings.Builder
	runes, gap := 0, false
	for i := 0; i < len(s); {
		if n := ansiLen(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			r = utf8.RuneError
		}
		if runes >= summaryRunes-1 {
			b.WriteRune('…')
			break
		}
		if gap {
			b.WriteByte(' ')
			runes, gap = runes+1, false
		}
		b.WriteRune(r)
		runes++
	}
	return b.String()
}

// ansiLen is the length of the terminal control sequence (ECMA-48, CSI) that s
// begins with, 0 if it begins with none.
func ansiLen(s string) int {
	if len(s) < 2 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// peek is valid JSON text from where a value begins. It may go on after the
// value, and end before it does.
type peek []byte

func peekAt(b []byte) peek { return b[:min(len(b), summaryWindow)] }

// get is the member with that name, nil if there is none to be seen.
func (p peek) get(name string) (found peek) {
	c := rawjson.NewCursor(p)
	for n := range c.Members() {
		if n.Is(name) {
			found = c.Rest()
			break
		}
	}
	return found
}

// each calls f for the members in order, until it returns false.
func (p peek) each(f func(name string, value peek) bool) {
	c := rawjson.NewCursor(p)
	for name := range c.Members() {
		if rest := c.Rest(); len(rest) == 0 || !f(name.String(), rest) {
			return
		}
	}
}

// count is the number of members or elements, and whether there are more than
// can be seen.
func (p peek) count() (n int, more bool) {
	c := rawjson.NewCursor(p)
	for range c.Members() {
		n++
	}
	for range c.Elements() {
		n++
	}
	if c.Cut() && n > 0 {
		n-- // the one that was cut off
	}
	return n, c.Cut()
}

func (p peek) first() (found peek) {
	c := rawjson.NewCursor(p)
	for range c.Elements() {
		found = c.Rest()
		break
	}
	return found
}

// last is the last element, or the last that can be seen.
func (p peek) last() (found peek) {
	c := rawjson.NewCursor(p)
	for range c.Elements() {
		if rest := c.Rest(); len(rest) > 0 {
			found = rest
		}
	}
	return found
}

// texts are the elements, the first of them, as text has them.
func (p peek) texts() (out []string) {
	const most = 20
	c := rawjson.NewCursor(p)
	for n := range c.Elements() {
		rest := c.Rest()
		if n == most || len(rest) == 0 {
			break
		}
		out = append(out, peek(rest).text())
	}
	return out
}

// whole is the value's text, nil if its end cannot be seen.
func (p peek) whole() []byte { return rawjson.NewCursor(p).Value() }

// text is a string decoded, or another value as it is written; either way as
// much of it as a summary can use.
func (p peek) text() string {
	const room = summaryRunes * len(`\ud83d\ude00`) * 2
	value, isString := p.whole(), rawjson.KindOf(p) == rawjson.String
	switch {
	case value == nil:
		value = p
	case isString:
		value = value[:len(value)-1]
	}
	value = value[:min(len(value), room)]
	if isString {
		return strings.ToValidUTF8(rawjson.Unescape(value[1:]), "")
	}
	return strings.ToValidUTF8(string(value), "")
}

// filled is text, but "" for an object or array with nothing in it, and for
// null.
func (p peek) filled() string {
	if len(p) == 0 || p[0] == 'n' {
		return ""
	}
	if n, more := p.count(); (p[0] == '{' || p[0] == '[') && n == 0 && !more {
		return ""
	}
	return p.text()
}
