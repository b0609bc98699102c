package wire

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wording"
)

const (
	// summaryRunes is the greatest length of a summary in characters.
	summaryRunes = 200
	// summaryWindow is how many bytes of a message a summary reads.
	summaryWindow = 64 << 10
)

// Summary describes the frame in one line for the list of frames: the tool's
// name, "? Which build?" for a question, "accept name: Ann" for its answer, an
// error's code and message, "info: text", "3/10 message", "11 tools". The summary of a response
// depends on Frame.Method. That of a deliberately wrong frame begins with
// "deliberate" and the name of its fault. The text has at most 200 characters,
// without control or bidirectional formatting characters. A large frame takes
// no more time than one of 64 KiB.
func (f Frame) Summary() string {
	if f.Lost {
		return "not kept: storage failed"
	}
	if f.IsMark() {
		if m, number, ok := parseMark(f.Raw); ok {
			return tidy(m.words(f.about, number))
		}
	}
	if f.Note != nil && f.Dir == Meta && !f.IsText() { // note of an older version or of mcpsnoop
		if words := f.Note.Words(&f); words != "" {
			return tidy(words)
		}
	}
	deliberate := ""
	if f.Fault != "" && f.Dir != Meta {
		deliberate = "deliberate " + f.Fault + ": "
	}
	if !f.Kind.IsMessage() {
		return tidy(deliberate + string(f.Raw[:min(len(f.Raw), summaryWindow)]))
	}
	var text string
	switch f.Kind {
	case Request, Notification:
		text = requestWords(f.Method, f.glance("params", f.Message.Params))
	case Result:
		text = resultWords(f.Method, f.glance("result", f.Message.Result))
	case Error:
		text = errorWords(f.glance("error", f.Message.Error))
	}
	return tidy(deliberate + text)
}

// words describes a mark. seq is the marked frame's Seq in the log, 0 if
// unknown, and number is its number in the session.
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

// Action returns the action of an answer to elicitations: "accept", "decline"
// or "cancel". It is known for a result of elicitation/create, and for a retry
// whose inputResponses all have the same action; for other frames it is "".
func (f Frame) Action() string {
	var action string
	switch {
	case f.Kind == Result && f.Method == mcp.MethodElicit:
		action = f.glance("result", f.Message.Result).get("action").text()
	case f.Kind == Request && mcp.AsksForInput(f.Method):
		first := true
		f.glance("params", f.Message.Params).get("inputResponses").each(func(_ string, answer peek) bool {
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

// part returns whole, or if that is nil and the frame is truncated, the rest of
// the member with that name.
func (f *Frame) part(name string, whole []byte) peek {
	if whole == nil && f.Truncated {
		return peekAt(f.Raw).get(name)
	}
	return whole
}

// glance returns part, cut to summaryWindow.
func (f *Frame) glance(name string, whole []byte) peek { return peekAt(f.part(name, whole)) }

func requestWords(method string, params peek) string {
	switch method {
	case mcp.MethodInitialize:
		return join(", ", implementation(params.get("clientInfo")), protocol(params.get("protocolVersion")))
	case mcp.MethodDiscover:
		meta := params.get("_meta")
		return join(", ", implementation(meta.get("io.modelcontextprotocol/clientInfo")),
			protocol(meta.get("io.modelcontextprotocol/protocolVersion")))
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		name := params.get("name").text()
		if method == mcp.MethodReadResource {
			name = params.get("uri").text()
		}
		if answers := params.get("inputResponses"); answers != nil {
			return join(" · ", answersWords(answers), "retry of "+name)
		}
		if params.get("requestState") != nil {
			return "retry of " + name
		}
		return join(" ", name, params.get("arguments").filled())
	case mcp.MethodElicit:
		return asking(questionWords(params), 1, false)
	case mcp.MethodSample:
		return contentWords(params.get("messages").last().get("content"))
	case mcp.MethodComplete:
		ref, argument := params.get("ref"), params.get("argument")
		return join(" ", ref.get("name").text(), ref.get("uri").text(),
			argument.get("name").text()+"="+argument.get("value").text())
	case mcp.MethodSetLevel:
		return params.get("level").text()
	case "resources/subscribe", "resources/unsubscribe", mcp.NotificationResourceUpdated:
		return params.get("uri").text()
	case mcp.NotificationMessage:
		return join(": ", join(" ", params.get("level").text(), params.get("logger").text()), params.get("data").text())
	case mcp.NotificationProgress:
		progress := params.get("progress").text() + wording.After("/", params.get("total").text())
		return join(" ", progress, params.get("message").text())
	case mcp.NotificationCancelled:
		return join(": ", join(" ", "request", params.get("requestId").text()), params.get("reason").text())
	case mcp.NotificationElicitComplete:
		return params.get("elicitationId").text()
	}
	if n, _ := params.count(); n == 1 && params.get("_meta") != nil {
		return "" // every request carries _meta since 2026-07-28
	}
	return params.filled()
}

// lists maps the methods that return a list to the result's member that holds
// it, and to the singular of its elements.
var lists = map[string][2]string{
	mcp.MethodListTools:     {"tools", "tool"},
	mcp.MethodListPrompts:   {"prompts", "prompt"},
	mcp.MethodListResources: {"resources", "resource"},
	mcp.MethodListTemplates: {"resourceTemplates", "resource template"},
	mcp.MethodListRoots:     {"roots", "root"},
}

func resultWords(method string, result peek) string {
	if result.get("resultType").text() == "input_required" {
		requests := result.get("inputRequests")
		switch n, more := requests.count(); {
		case n > 0 || more:
			return asking(requests.firstMember().requestedWords(), max(n, 1), more)
		case requests == nil && result.whole() == nil:
			return "input required" // inputRequests is beyond the visible part
		}
		return onlyRetry
	}
	switch method {
	case mcp.MethodElicit:
		return answerWords(result)
	case mcp.MethodInitialize:
		return join(", ", implementation(result.get("serverInfo")), protocol(result.get("protocolVersion")))
	case mcp.MethodDiscover:
		versions := wording.After("knows ", strings.Join(result.get("supportedVersions").texts(), " "))
		return join(", ", implementation(result.get("_meta").get("io.modelcontextprotocol/serverInfo")), versions)
	case mcp.MethodCallTool:
		text := cmp.Or(contentWords(result.get("content")), result.get("structuredContent").filled())
		if string(result.get("isError").whole()) == "true" {
			return join(": ", "error", text)
		}
		return text
	case mcp.MethodGetPrompt:
		messages := result.get("messages")
		return join(": ", messages.counted("message"), contentWords(messages.first().get("content")))
	case mcp.MethodReadResource:
		contents := result.get("contents")
		return join(": ", contents.counted("content"), contents.first().get("text").text())
	case mcp.MethodSample:
		return join(": ", result.get("model").text(), contentWords(result.get("content")))
	case mcp.MethodComplete:
		values := result.get("completion").get("values")
		return join(": ", values.counted("value"), values.filled())
	}
	if list, ok := lists[method]; ok {
		return listWords(result, list[0], list[1])
	}
	return result.filled()
}

func errorWords(e peek) string {
	text := join(" ", e.get("code").text(), e.get("message").text())
	asked := e.get("data").get("elicitations")
	if n, more := asked.count(); n > 0 || more {
		return join(" · ", asking(questionWords(asked.first()), max(n, 1), more), text)
	}
	return text
}

// elicits reports whether the frame asks the person something, in any of the
// ways of the protocol's revisions. Its summary then begins with "? ".
func (f Frame) elicits() bool {
	switch {
	case f.Dir == ClientToServer:
		return false
	case f.Kind == Request:
		return f.Method == mcp.MethodElicit
	case f.Kind == Error:
		n, more := f.glance("error", f.Message.Error).get("data").get("elicitations").count()
		return n > 0 || more
	}
	return f.AsksInput && !strings.HasPrefix(f.Summary(), onlyRetry)
}

// onlyRetry is the summary of a result that asks for nothing but another request.
const onlyRetry = "input required: nothing but a retry"

// asking formats the first of n questions; more says that n is only a minimum.
func asking(first string, n int, more bool) string {
	rest := ""
	if n > 1 {
		rest = " +" + strconv.Itoa(n-1)
	}
	if more {
		rest += " …"
	}
	first = cmp.Or(first, "(no message)")
	if rest != "" {
		first = wording.Shorten(tidy(first), summaryRunes-20)
	}
	return "? " + first + rest
}

// questionWords describes the params of elicitation/create.
func questionWords(params peek) string {
	return join(" — ", params.get("message").text(), params.get("url").text())
}

// requestedWords describes one request of an input-required result.
func (p peek) requestedWords() string {
	method, params := p.get("method").text(), p.get("params")
	if method == mcp.MethodElicit {
		return questionWords(params)
	}
	return join(" ", method, requestWords(method, params))
}

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
	text := result.get(member).counted(one)
	if result.get("nextCursor") != nil {
		text += ", more to come"
	}
	return text
}

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
		text = wording.Shorten(tidy(text), summaryRunes-20) + " (and " + strconv.Itoa(rest) + " more)"
	}
	return text
}

func implementation(info peek) string {
	return join(" ", cmp.Or(info.get("title").text(), info.get("name").text()), info.get("version").text())
}

func protocol(version peek) string { return wording.After("protocol ", version.text()) }

func join(sep string, parts ...string) (out string) {
	for _, part := range parts {
		switch {
		case out == "":
			out = part
		case part != "":
			out += sep + part
		}
	}
	return out
}

// tidyMost is how many bytes of a text tidy reads.
const tidyMost = 1 << 10

// ansi is a terminal control sequence (ECMA-48, CSI).
var ansi = regexp.MustCompile("\x1b\\[[^@-~]*[@-~]?")

// tidy makes one line of s, replaces control and bidirectional formatting
// characters, and shortens it to summaryRunes.
func tidy(s string) string {
	plain := len(s) <= summaryRunes
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7f && (s[i] != ' ' || i > 0 && i < len(s)-1 && s[i-1] != ' ')
	}
	if plain {
		return s
	}
	s = strings.TrimSpace(s)
	more := ""
	if len(s) > tidyMost {
		s, more = s[:wholeRunes([]byte(s[:tidyMost]))], "…"
	}
	if strings.Contains(s, "\x1b[") {
		s = ansi.ReplaceAllString(s, "")
	}
	s = strings.Map(func(r rune) rune {
		if r >= 0x80 && unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	return wording.Shorten(strings.Join(strings.Fields(s), " ")+more, summaryRunes)
}
