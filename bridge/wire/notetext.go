package wire

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Transcripts of earlier versions hold notes as text, or as JSON without
// "kind", and mcpsnoop notes as JSON how a server was started. Only this file
// parses the text of notes.

// noteTexts are the notes' texts of earlier versions. Each group is named after
// the member of a note's JSON that it holds; "method" is Frame.HTTPMethod.
var noteTexts = sync.OnceValue(func() []noteText {
	return []noteText{
		{NoteProcessStarted, regexp.MustCompile(`^started (?P<program>.+) as process (?P<pid>\d+)$`)},
		{NoteProcessExited, regexp.MustCompile(`^process (?P<pid>\d+) (?:exited with code (?P<code>\d+)|ended by signal: (?P<signal>[^;]*))(?:; (?P<why>.*))?$`)},
		{NoteProcessExited, regexp.MustCompile(`^process (?P<pid>\d+) (?P<why>process group \d+ could not be killed.*|its output did not end.*)$`)},
		{NotePipeHeld, regexp.MustCompile(`^the server's (?P<of>standard output|standard error) is held open by a process outside of its group, and is no longer read$`)},
		{NoteReadFailed, regexp.MustCompile(`^reading (?P<of>the server's standard output|the server's standard error|from the built-in server): (?P<why>.*)$`)},
		{NoteNotPassedOn, regexp.MustCompile(`^not passed on: (?P<why>.*)$`)},
		{NoteNotDelivered, regexp.MustCompile(`^not delivered: (?P<why>.*)$`)},
		{NoteHTTPStatus, regexp.MustCompile(`^(?P<method>POST|GET|DELETE) of (?:the response to request (?P<response>\S+)|the event stream|the session|(?P<of>\S+)) was answered with (?:HTTP )?\d*[^:;]*?(?: to (?P<to>[^:;\s]\S*?))?(?: and (?P<got>.+?) in place of JSON or an event stream)?(?:; (?P<want>.+) is called for)?(?:: (?P<said>(?s:.*)))?$`)},
		{NoteRedirected, regexp.MustCompile(`^(?P<method>[A-Z]+) redirected to (?P<to>\S+?)(?:, which is not told the session id and the headers that are set for (?P<withheld>.*))?$`)},
		{NoteRequestFailed, regexp.MustCompile(`^(?P<method>GET|DELETE) of (?:the session|the event stream) failed: (?P<why>.*)$`)},
		{NoteAnswerBroken, regexp.MustCompile(`^the answer to (?:the response to request (?P<response>\S+)|(?P<of>\S+)) broke off after (?P<bytes>\d+) bytes: (?P<why>.*)$`)},
		{NoteNoStream, regexp.MustCompile(`^the server has no GET event stream(?:: (?P<said>(?s:.*)))?$`)},
		{NoteStreamAwaited, regexp.MustCompile(`^GET of the event stream has no answer yet; the session goes on without$`)},
		{NoteStreamRequested, regexp.MustCompile(`^GET of the event stream(?: that answers (?P<of>[^,]+))?(?:, from behind event (?P<after>.*))?$`)},
		{NoteStreamOpened, regexp.MustCompile(`^the GET event stream is open$`)},
		{NoteStreamResumed, regexp.MustCompile(`^the event stream that answers (?P<of>\S+) goes on$`)},
		{NoteResumeRefused, regexp.MustCompile(`^the event stream that answers (?P<of>\S+) broke off, and going on with it was answered with (?:HTTP )?\d*[^:]*(?:: (?P<said>(?s:.*)))?$`)},
		{NoteStreamBroken, regexp.MustCompile(`^the event stream(?: that answers (?P<of>\S+))? broke off: (?P<why>.*)$`)},
		{NoteStreamEnded, regexp.MustCompile(`^the event stream that answers (?P<of>\S+) has ended without the response$`)},
		{NoteStreamClosed, regexp.MustCompile(`^the server has ended the GET event stream \((?P<times>\d+) times so far\); it is opened again$`)},
		{NoteEndpoint, regexp.MustCompile(`^the server's message endpoint is (?P<to>.*)$`)},
		{NoteServerLost, regexp.MustCompile(`^(?P<why>the server cannot be reached any more: .*|the event stream broke off and could not be opened again: .*|the event stream (?:broke off|has ended), and with it the session.*|the built-in server has ended its session)$`)},
		{NoteProbeUnanswered, regexp.MustCompile(`^server/discover had no answer within (?P<took>[^:]+): the server is taken to be of an older revision`)},
		{NoteProbeFatal, regexp.MustCompile(`^the process ended at server/discover: it is started again`)},
		{NoteStrayResponse, regexp.MustCompile(`^a response came without an id, `)},
		{NoteStrayResponse, regexp.MustCompile(`^a (?P<again>second )?response came with id (?P<id>.+), which `)},
		{NoteCancelledByClose, regexp.MustCompile(`^the request is cancelled by closing its response stream, `)},
		{NoteClientSaid, regexp.MustCompile(`^the client says: (?P<why>(?s:.*))$`)},
	}
})

type noteText struct {
	kind NoteKind
	text *regexp.Regexp
}

// noteTextMost is the greatest length in bytes of a text that is parsed as a
// note.
const noteTextMost = 16 << 10

// readNoteText sets f.Note from the frame's text, if it is a known note of an
// earlier version.
func (f *Frame) readNoteText() {
	if f.Dir != Meta || f.Note != nil || f.Truncated || len(f.Raw) > noteTextMost || len(f.Raw) == 0 {
		return
	}
	if f.Raw[0] == '{' {
		f.readNoteJSON()
		return
	}
	for _, known := range noteTexts() {
		found := known.text.FindSubmatch(f.Raw)
		if found == nil {
			continue
		}
		members := map[string]any{"kind": known.kind}
		for i, name := range known.text.SubexpNames() {
			text := string(found[i])
			switch {
			case found[i] == nil, name == "":
			case name == "method":
				f.HTTPMethod = text
			case name == "response":
				members["of"] = "response to " + text
			case name == "again":
				members[name] = true
			case slices.Contains([]string{"pid", "code", "bytes", "times", "id"}, name):
				members[name] = json.RawMessage(text)
			default:
				members[name] = text
			}
		}
		if raw, err := json.Marshal(members); err == nil { // fails if a matched number is no valid JSON
			f.Note = parseNote(raw)
		}
		return
	}
}

// readNoteJSON sets f.Note from a frame whose bytes are a note's JSON.
func (f *Frame) readNoteJSON() {
	var old struct {
		Answer     json.RawMessage `json:"answer"`
		Pointer    string          `json:"pointer"`
		Completion string          `json:"completion"`
		Ended      string          `json:"ended"`
		Reason     string          `json:"reason"`
		At         time.Time       `json:"at"`
		Command    []string        `json:"command"` // of mcpsnoop, as is cwd
		Dir        string          `json:"cwd"`
	}
	if f.IsMark() || json.Unmarshal(f.Raw, &old) != nil {
		return
	}
	switch {
	case old.Answer != nil:
		f.Note = &Note{Kind: NoteAnswered, Answer: old.Answer, Pointer: old.Pointer, Completion: old.Completion, At: old.At}
	case old.Ended != "":
		f.Note = &Note{Kind: NoteEnded, State: old.Ended, Why: old.Reason, At: old.At}
	case len(old.Command) > 0:
		f.Note = &Note{Kind: NoteProcessStarted, Command: old.Command, Dir: old.Dir}
	}
}
