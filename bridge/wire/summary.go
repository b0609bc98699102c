package wire

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
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
	if f.Note != nil && f.Dir == Meta && !f.IsText() { // note of mcpsnoop
		if words := f.Note.Words(&f); words != "" {
			return tidy(words)
		}
	}
	deliberate := ""
	if f.Fault != "" && f.Dir != Meta {
		deliberate = "deliberate " + f.Fault + ": "
	}
	if string(f.Raw) == ByteOrderMark {
		return "a byte order mark (U+FEFF) before a message"
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
		e := f.glance("error", f.Message.Error)
		text = wording.Join(" ", e.Get("code").Text(), e.Get("message").Text())
		asked := e.Get("data").Get("elicitations")
		if n, more := asked.Count(); n > 0 || more {
			text = wording.Join(" · ", asking(questionWords(asked.First()), max(n, 1), more), text)
		}
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
	what := m.Words()
	if what == "" && m.Note == "" {
		what = "no longer marked"
	}
	return wording.Join(": ", of, wording.Join(" — ", what, m.Note))
}

// Action returns the action of an answer to elicitations: "accept", "decline"
// or "cancel". It is known for a result of elicitation/create, and for a retry
// whose inputResponses all have the same action; for other frames it is "".
func (f Frame) Action() string {
	var action string
	switch {
	case f.Kind == Result && f.Method == mcp.MethodElicit:
		action = f.glance("result", f.Message.Result).Get("action").Text()
	case f.Kind == Request && mcp.AsksForInput(f.Method):
		first := true
		for _, answer := range f.glance("params", f.Message.Params).Get("inputResponses").Members() {
			one := answer.Get("action").Text()
			if first {
				action, first = one, false
			}
			if one != action {
				return ""
			}
		}
	}
	for _, known := range []string{"accept", "decline", "cancel"} { // one text for all frames
		if action == known {
			return known
		}
	}
	return ""
}

// part returns whole, or if that is nil and the frame is truncated, the rest of
// the member with that name.
func (f *Frame) part(name string, whole []byte) rawjson.Partial {
	if whole == nil && f.Unread() {
		return peekAt(f.Raw).Get(name)
	}
	return whole
}

func peekAt(b []byte) rawjson.Partial { return b[:min(len(b), summaryWindow)] }

// glance returns part, cut to summaryWindow.
func (f *Frame) glance(name string, whole []byte) rawjson.Partial { return peekAt(f.part(name, whole)) }

func requestWords(method string, params rawjson.Partial) string {
	switch method {
	case mcp.MethodInitialize:
		return wording.Join(", ", implementation(params.Get("clientInfo")), wording.After("protocol ", params.Get("protocolVersion").Text()))
	case mcp.MethodDiscover:
		meta := params.Get("_meta")
		return wording.Join(", ", implementation(meta.Get(mcp.MetaClient)), wording.After("protocol ", meta.Get(mcp.MetaProtocol).Text()))
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		name := params.Get("name").Text()
		if method == mcp.MethodReadResource {
			name = params.Get("uri").Text()
		}
		if answers := params.Get("inputResponses"); answers != nil {
			var said []string
			for key, answer := range answers.Members() {
				if answer.Get("action") != nil {
					key = answerWords(answer)
				}
				if said = append(said, key); len(said) == 10 {
					break
				}
			}
			return wording.Join(" · ", strings.Join(said, "; "), "retry of "+name)
		}
		if params.Get("requestState") != nil {
			return "retry of " + name
		}
		return wording.Join(" ", name, params.Get("arguments").Filled())
	case mcp.MethodElicit:
		return asking(questionWords(params), 1, false)
	case mcp.MethodSample:
		var last rawjson.Partial
		for last = range params.Get("messages").Elements() {
		}
		return contentWords(last.Get("content"))
	case mcp.MethodComplete:
		ref, argument := params.Get("ref"), params.Get("argument")
		return wording.Join(" ", ref.Get("name").Text(), ref.Get("uri").Text(),
			argument.Get("name").Text()+"="+argument.Get("value").Text())
	case mcp.MethodSetLevel:
		return params.Get("level").Text()
	case "resources/subscribe", "resources/unsubscribe", mcp.NotificationResourceUpdated:
		return params.Get("uri").Text()
	case mcp.NotificationMessage:
		return wording.Join(": ", wording.Join(" ", params.Get("level").Text(), params.Get("logger").Text()), params.Get("data").Text())
	case mcp.NotificationProgress:
		progress := params.Get("progress").Text() + wording.After("/", params.Get("total").Text())
		return wording.Join(" ", progress, params.Get("message").Text())
	case mcp.NotificationCancelled:
		return wording.Join(": ", wording.Join(" ", "request", params.Get("requestId").Text()), params.Get("reason").Text())
	case mcp.NotificationElicitComplete:
		return params.Get("elicitationId").Text()
	case mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask:
		return params.Get("taskId").Text()
	case mcp.MethodUpdateTask:
		var said []string
		for _, answer := range params.Get("inputResponses").Members() {
			if said = append(said, answerWords(answer)); len(said) == 10 {
				break
			}
		}
		return wording.Join(" · ", strings.Join(said, "; "), params.Get("taskId").Text())
	case mcp.NotificationTaskStatus, mcp.NotificationTask:
		return taskWords(params)
	case mcp.MethodListen, mcp.NotificationListening:
		return wantedWords(params.Get("notifications"))
	}
	if n, _ := params.Count(); n == 1 && params.Get("_meta") != nil {
		return "" // every request carries _meta since 2026-07-28
	}
	return params.Filled()
}

// wantedWords describes the notifications that a subscription is for.
func wantedWords(notifications rawjson.Partial) string {
	var wanted []string
	for name, value := range notifications.Members() {
		of := ""
		for one := range value.Elements() {
			of = wording.Join(" ", of, one.Text())
		}
		if of != "" || string(value.Whole()) == "true" {
			wanted = append(wanted, wording.Join(" ", name, of))
		}
		if len(wanted) == 10 {
			break
		}
	}
	return cmp.Or(strings.Join(wanted, ", "), "nothing")
}

// requestedInput describes the inputRequests of a result or a task, "" if there are none.
func requestedInput(of rawjson.Partial) string {
	requests := of.Get("inputRequests")
	n, more := requests.Count()
	if n == 0 && !more {
		return ""
	}
	first := ""
	for _, request := range requests.Members() {
		method, params := request.Get("method").Text(), request.Get("params")
		if first = questionWords(params); method != mcp.MethodElicit {
			first = wording.Join(" ", method, requestWords(method, params))
		}
		break
	}
	return asking(first, max(n, 1), more)
}

// taskWords describes a task: "task working: Gathering sources...".
func taskWords(task rawjson.Partial) string {
	return wording.Join(": ", wording.After("task ", task.Get("status").Text()), task.Get("statusMessage").Text())
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

func resultWords(method string, result rawjson.Partial) string {
	if result.Get("resultType").Text() == "input_required" {
		if asks := requestedInput(result); asks != "" {
			return asks
		}
		if result.Get("inputRequests") == nil && result.Whole() == nil {
			return "input required" // inputRequests is beyond the visible part
		}
		return onlyRetry
	}
	for _, task := range []rawjson.Partial{result.Get("task"), result} {
		if task.Get("taskId") == nil || task.Get("status") == nil {
			continue
		}
		if first := requestedInput(task); first != "" {
			return wording.Join(" · ", first, taskWords(task))
		}
		return taskWords(task)
	}
	switch method {
	case mcp.MethodTaskResult:
		if result.Get("action") != nil {
			return answerWords(result)
		}
		return resultWords(mcp.MethodCallTool, result)
	case mcp.MethodElicit:
		return answerWords(result)
	case mcp.MethodInitialize:
		return wording.Join(", ", implementation(result.Get("serverInfo")), wording.After("protocol ", result.Get("protocolVersion").Text()))
	case mcp.MethodDiscover:
		var versions []string
		for version := range result.Get("supportedVersions").Elements() {
			if versions = append(versions, version.Text()); len(versions) == 20 {
				break
			}
		}
		return wording.Join(", ", implementation(result.Get("_meta").Get("io.modelcontextprotocol/serverInfo")),
			wording.After("knows ", strings.Join(versions, " ")))
	case mcp.MethodCallTool:
		text := cmp.Or(contentWords(result.Get("content")), result.Get("structuredContent").Filled())
		if string(result.Get("isError").Whole()) == "true" {
			return wording.Join(": ", "error", text)
		}
		return text
	case mcp.MethodGetPrompt:
		messages := result.Get("messages")
		return wording.Join(": ", counted(messages, "message"), contentWords(messages.First().Get("content")))
	case mcp.MethodReadResource:
		contents := result.Get("contents")
		return wording.Join(": ", counted(contents, "content"), contents.First().Get("text").Text())
	case mcp.MethodSample:
		return wording.Join(": ", result.Get("model").Text(), contentWords(result.Get("content")))
	case mcp.MethodComplete:
		values := result.Get("completion").Get("values")
		return wording.Join(": ", counted(values, "value"), values.Filled())
	}
	if list, ok := lists[method]; ok {
		text := counted(result.Get(list[0]), list[1])
		// Since 2026-07-28, in which every result has a resultType, an empty cursor is one.
		if cursor := result.Get("nextCursor"); rawjson.KindOf(cursor) == rawjson.String && (cursor.Text() != "" || result.Get("resultType") != nil) {
			text += ", more to come"
		}
		return text
	}
	for name, value := range result.Members() {
		if name != "_meta" && (name != "resultType" || value.Text() != "complete") {
			return result.Filled()
		}
	}
	if result.Get("resultType") != nil {
		return "" // every result carries these two since 2026-07-28
	}
	return result.Filled()
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
		n, more := f.glance("error", f.Message.Error).Get("data").Get("elicitations").Count()
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

func questionWords(params rawjson.Partial) string {
	return wording.Join(" — ", params.Get("message").Text(), params.Get("url").Text())
}

func answerWords(result rawjson.Partial) string {
	action, content := result.Get("action").Text(), result.Get("content")
	if action == "" {
		return result.Filled()
	}
	if len(content) == 0 || content[0] != '{' {
		return wording.Join(" ", action, content.Filled())
	}
	var fields []string
	for name, value := range content.Members() {
		text := value.Text()
		if head, _, isFile := strings.Cut(text, ";base64,"); isFile && strings.HasPrefix(text, "data:") {
			text = cmp.Or(rawjson.Text([]byte(wording.FoldFiles(string(value.Whole())))), head+";base64,…")
		}
		if fields = append(fields, name+": "+text); len(fields) == 20 {
			break
		}
	}
	return wording.Join(" ", action, strings.Join(fields, ", "))
}

func counted(p rawjson.Partial, one string) string {
	n, more := p.Count()
	if more {
		return "more than " + wording.Plural(n, one)
	}
	return wording.Plural(n, one)
}

func contentWords(content rawjson.Partial) string {
	rest := 0
	if len(content) > 0 && content[0] == '[' {
		n, _ := content.Count()
		rest = n - 1
		content = content.First()
	}
	kind := content.Get("type").Text()
	var text string
	switch kind {
	case "text":
		text = content.Get("text").Text()
	case "image", "audio":
		text = wording.Join(" ", kind, content.Get("mimeType").Text())
	case "resource_link":
		text = wording.Join(" ", "link", content.Get("uri").Text())
	case "resource":
		text = wording.Join(" ", "resource", content.Get("resource").Get("uri").Text())
	default:
		text = content.Filled()
	}
	if rest > 0 {
		text = wording.Shorten(tidy(text), summaryRunes-20) + " (and " + strconv.Itoa(rest) + " more)"
	}
	return text
}

func implementation(info rawjson.Partial) string {
	return wording.Join(" ", cmp.Or(info.Get("title").Text(), info.Get("name").Text()), info.Get("version").Text())
}

const tidyMost = 1 << 10

// ansi is a terminal control sequence (ECMA-48, CSI).
var ansi = lazy.Regexp("\x1b\\[[^@-~]*[@-~]?")

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
		s, more = wording.Head(s, tidyMost), "…"
	}
	if strings.Contains(s, "\x1b[") {
		s = ansi().ReplaceAllString(s, "")
	}
	s = strings.Map(func(r rune) rune {
		if r >= 0x80 && unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	return wording.Shorten(strings.Join(strings.Fields(s), " ")+more, summaryRunes)
}
