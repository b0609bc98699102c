package views

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// now is the clock that waiting times are counted against when they are drawn;
// the page goes on counting by itself.
var now = time.Now

// age is how long ago t was, in whole milliseconds, for the page's own clocks.
func age(t time.Time) string {
	return strconv.FormatInt(max(0, now().Sub(t).Milliseconds()), 10)
}

// clock words a waiting time as people read clocks: 0:18, 12:05, 3:00:41.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// lasted words a duration in one unit: 0.4 ms, 41 ms, 4.2 s, 3:07.
func lasted(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	}
	return clock(d)
}

// millis words a latency as a bare number of milliseconds, for a column.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	case ms >= 10_000: // a person's time, which needs no milliseconds
		return clock(d)
	}
	return grouped(int64(ms + 0.5))
}

// grouped writes a number with narrow spaces between groups of three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString("\u202f")
		}
		b.WriteRune(c)
	}
	return b.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}

// bytesWords words a size: 512 bytes, 64 kB, 1.5 MB. Units are powers of 1000,
// as in filters.
func bytesWords(n int64) string {
	if n < 1000 {
		return plural(int(n), "byte", "bytes")
	}
	size, unit := float64(n)/1000, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if size < 999.5 {
			break
		}
		size, unit = size/1000, next
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', digits, 64), ".0") + " " + unit
}

// colour is the class that gives a server its colour.
func colour(index int) string { return "s" + strconv.Itoa(index%6) }

// FramesOf is the filter that picks the frames of a call.
func FramesOf(call string) string { return "call:" + call }

// HoldsBack reports whether the server has a [HeldLine].
func (s Server) HoldsBack() bool { return s.Held > 0 || s.TurnedAway > 0 }

// heldWords say why questions of the server are held back, and whether there was
// room for all.
func (s Server) heldWords() string {
	text := "held back, because it asks too often"
	if s.Held > 0 && s.Room == 0 {
		text += ". Answer some of those on show to make room"
	}
	if s.TurnedAway > 0 {
		text += fmt.Sprintf(". %s refused, because so many wait already", plural(s.TurnedAway, "was", "were"))
	}
	return text
}

// showHeld is the name of the button that puts on show what there is room for; ""
// where there is none.
func (s Server) showHeld() string {
	switch {
	case s.Held == 0 || s.Room == 0:
		return ""
	case s.Room < s.Held:
		return "Show " + strconv.Itoa(s.Room)
	default:
		return "Show"
	}
}

// stateWord says in one word how a question ended.
func (q Question) stateWord() string {
	switch q.State {
	case QuestionPending:
		return "waiting"
	case QuestionAnswered:
		switch {
		case q.Completion == "completed":
			return "completed"
		case q.Completion == "marked":
			return "marked as done"
		}
		switch q.Action {
		case "accept":
			return "accepted"
		case "decline":
			return "declined"
		case "cancel":
			return "cancelled"
		case "error":
			return "error sent"
		}
		return "answered"
	case QuestionWithdrawn:
		return "withdrawn"
	case QuestionRefused:
		return "refused"
	case QuestionUndelivered:
		return "not delivered"
	}
	return string(q.State)
}

// by says who settled a question.
func (q Question) by() string {
	switch q.By {
	case "person":
		return "by you"
	case "script":
		return "by a script"
	case "policy":
		if q.State == QuestionRefused && q.Server.Policy == "ask" {
			return "by the inspector"
		}
		return "by policy"
	case "fault":
		return "because of a fault"
	case "server":
		return "by the server"
	}
	return Brief(q.By)
}

// ofCall names the call that a question belongs to.
func (q Question) ofCall() string {
	if q.Call == 0 {
		return ""
	}
	return "call " + strconv.Itoa(q.Call)
}

// completion says what is known of the outcome of a page that was agreed to.
func (q Question) completion() string {
	switch q.Completion {
	case "awaited":
		if q.Round > 0 {
			return "the outcome was left to a retry"
		}
		return "the server never said that it was done"
	case "completed":
		return "the server says it is done"
	case "marked":
		return "you marked it as done"
	}
	return ""
}

// digest tells in a few words what was answered, and what is not known of it.
func (q Question) digest() string {
	if q.Completion == "awaited" {
		return join(" · ", q.Digest, q.completion())
	}
	return q.Digest
}

// outcome is the class that colours how a question ended.
func (q Question) outcome() string {
	switch {
	case q.State == QuestionAnswered && q.Action == "accept":
		return "good"
	case q.State == QuestionAnswered && q.Action != "error":
		return "plain"
	case q.State == QuestionWithdrawn:
		return "wait"
	}
	return "bad"
}

// title is what names a question: its message, or a word where there is none.
func (q Question) title() string {
	if strings.TrimSpace(q.Message) != "" {
		return q.Message
	}
	switch q.Method {
	case "sampling/createMessage":
		return "Write a message, as a model would"
	case "roots/list":
		return "List the folders that may be used"
	}
	return "(no message)"
}

// elicits tells whether a question is an elicitation, rather than another
// request that a person answers in its place.
func (q Question) elicits() bool { return q.Method == "" || q.Method == "elicitation/create" }

// circumstances say in which call, round and mode a question came.
func (q Question) circumstances() string {
	round := ""
	switch {
	case q.Error != 0:
		round = "error " + strconv.Itoa(q.Error)
	case q.Round > 0:
		round = "round " + strconv.Itoa(q.Round)
	}
	return join(" · ", q.ofCall(), round, Brief(q.Key), Brief(q.Mode))
}

// shown tells how a server is known to people: its name and how it is reached.
func (s Server) shown() string {
	return join(" · ", Brief(s.Version), Brief(s.How))
}

// stateWord is the state of a server as text.
func (s Server) stateWord() string {
	if s.State == ServerConnecting {
		return "connecting…"
	}
	return string(s.State)
}

// condition says in a sentence where a server stands that cannot be called.
func (s Server) condition() string {
	switch s.State {
	case ServerConnecting:
		return "is still connecting"
	case ServerFailed:
		return "could not be connected"
	case ServerEnded:
		return "has ended"
	case ServerDisconnected:
		return "is disconnected"
	case ServerReady:
	}
	return "is " + s.stateWord()
}

// up tells whether there is a connection that could be ended.
func (s Server) up() bool { return s.State == ServerReady || s.State == ServerConnecting }

func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// capital is a text with a capital letter first.
func capital(s string) string {
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + s[size:]
}

// --- timeline

// major tells whether a step belongs in the short line over a call.
func (s Step) major() bool {
	switch s.Kind {
	case "progress", "log", "list":
		return false
	}
	return true
}

// word says in a word what happened; about says the rest.
func (s Step) word() string {
	switch s.Kind {
	case "retry":
		return s.Text
	case StepToolError:
		return "tool error"
	case "answered":
		word, _, _ := strings.Cut(s.Text, ": ")
		return cmp.Or(settlings[word], word, s.Kind)
	}
	return s.Kind
}

func (s Step) about() string {
	switch s.Kind {
	case "retry":
		return ""
	case "answered":
		_, rest, _ := strings.Cut(s.Text, ": ")
		return rest
	}
	return s.Text
}

// settlings word what became of a question, by what the step of it says.
var settlings = map[string]string{
	"accept": "accepted", "decline": "declined", "cancel": "cancelled", "error": "error sent", "undelivered": "not delivered",
}

// repeated is a step in the line over a call, with how many like it came in a row;
// what they say is the last one's.
type repeated struct {
	Step
	n int
}

// short words a step for the line over a call: "asked +41 ms", "asked ×3 +2.1 s".
func (c Call) short(s repeated) string {
	if s.Kind == "called" {
		return "called " + s.At.Format(time.TimeOnly)
	}
	times := ""
	if s.n > 1 {
		times = "×" + grouped(int64(s.n))
	}
	return join(" ", s.word(), times, "+"+lasted(s.At.Sub(c.Started)))
}

// line is the part of a timeline that fits over a call: the first step and the last few.
func (c Call) line() (steps []repeated, left int) {
	const most = 6
	for _, s := range c.Steps {
		last := len(steps) - 1
		switch {
		case !s.major():
		case last > 0 && steps[last].word() == s.word():
			steps[last] = repeated{s, steps[last].n + 1}
		default:
			steps = append(steps, repeated{s, 1})
		}
	}
	if over := len(steps) - most; over > 0 {
		steps, left = append(steps[:1:1], steps[over+1:]...), over
	}
	return steps, left
}

// logged counts the log messages that are steps of the timeline.
func (c Call) logged() int {
	n := 0
	for _, s := range c.Steps {
		if s.Kind == "log" {
			n++
		}
	}
	return n
}

// stateWord is the state of a call as text.
func (c CallTab) stateWord() string {
	switch {
	case c.Waiting > 0:
		return "waiting for you"
	case c.Yours:
		return "your turn"
	case c.State == CallDone && c.IsError:
		return "tool error"
	}
	return string(c.State)
}

// clockTime is a wall-clock time to the second.
func clockTime(t time.Time) string { return t.Format(time.TimeOnly) }

// number writes a progress value without needless digits.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// --- forms

func (f Form) tab() string {
	if f.JSON {
		return "json"
	}
	return "form"
}

func (f Form) sendName() string {
	if f.ID == "args" {
		return "Arguments"
	}
	return "Will send"
}

func tabIndex(chosen bool) string {
	if chosen {
		return "0"
	}
	return "-1"
}

// wrong counts the fields that have to be put right.
func (f Form) wrong() int {
	n := 0
	for _, field := range f.Fields {
		if field.invalid() {
			n++
		}
	}
	return n
}

// --- calls

// ID is the id of the element.
func (c Call) ID() string { return "call-" + strconv.Itoa(c.Number) }

// ResultID is the id of the element of what came back.
func (c Call) ResultID() string { return "result-" + strconv.Itoa(c.Number) }

// ID is the id of the element.
func (c CallTab) ID() string { return "call-tab-" + strconv.Itoa(c.Number) }

// ready tells whether the server can be called now.
func (f CallForm) ready() bool { return f.Server.State == ServerReady }

// takesArguments tells whether there is anything to fill in, or any schema that
// arguments could be written for as JSON.
func (f CallForm) takesArguments() bool {
	return len(f.Form.Fields) > 0 || f.Form.JSON || f.Form.Trouble != "" || f.Form.Extra != ""
}

// squeezed is JSON in one line, for where there is room for no more.
func squeezed(s string) string {
	s = strings.Join(strings.Fields(s[:min(len(s), proseMost)]), " ")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}
