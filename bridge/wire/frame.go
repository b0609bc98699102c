package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Direction says which way a frame travelled. The texts are those of the
// transcript's "direction" field.
type Direction uint8

// The directions.
const (
	ClientToServer Direction = iota + 1 // "c2s"
	ServerToClient                      // "s2c"
	Stderr                              // "stderr": a line that the server's process wrote there
	Meta                                // "meta": said by the inspector, not by either side
)

var directionNames = [...]string{ClientToServer: "c2s", ServerToClient: "s2c", Stderr: "stderr", Meta: "meta"}

func (d Direction) String() string { return directionNames[d] }

// Stream says which HTTP exchange carried a frame. It stays StreamNone for
// other transports.
type Stream uint8

// The streams. The texts are those of the transcript's "stream" field.
const (
	StreamNone    Stream = iota // ""
	StreamPost                  // "post": the body of a POST, or its JSON answer
	StreamPostSSE               // "post-sse": the event stream that answers a POST
	StreamGetSSE                // "get-sse": the event stream opened by GET
)

var streamNames = [...]string{StreamNone: "", StreamPost: "post", StreamPostSSE: "post-sse", StreamGetSSE: "get-sse"}

func (s Stream) String() string { return streamNames[s] }

// Kind says what a frame is.
type Kind uint8

// The kinds.
const (
	Request      Kind = iota + 1 // "request": has a method and an id
	Notification                 // "notification": has a method and no id
	Result                       // "result": answers a request
	Error                        // "error": answers a request with an error
	Noise                        // "noise": bytes between client and server that are not a JSON-RPC 2.0 message
	StderrLine                   // "stderr"
	NoteFrame                    // "note": a note of the inspector; see Note
	SpanFrame                    // "span": a note that holds a span of the server's own; see Span
)

var kindNames = [...]string{Request: "request", Notification: "notification", Result: "result", Error: "error",
	Noise: "noise", StderrLine: "stderr", NoteFrame: "note", SpanFrame: "span"}

func (k Kind) String() string { return kindNames[k] }

// IsNote reports whether frames of this kind hold a note, and nothing that either side has said to the other.
func (k Kind) IsNote() bool { return k == NoteFrame || k == SpanFrame }

// IsMessage reports whether frames of this kind hold a JSON-RPC message.
func (k Kind) IsMessage() bool { return k >= Request && k <= Error }

// IsResponse reports whether frames of this kind answer a request.
func (k Kind) IsResponse() bool { return k == Result || k == Error }

// Frame is one observed unit on the wire: a JSON-RPC message, a line of
// stderr, bytes that are not a message, or a note of the inspector's own.
//
// A frame's bytes are shared, not copied, wherever frames are passed on:
// nobody may change them.
type Frame struct {
	Seq     int64     // 1-based place in the log, assigned by Log.Append
	Time    time.Time // when it was observed
	Server  string    // label of the target; "server_label" in transcripts
	Session string    // id of the connection; "session_id" in transcripts
	Dir     Direction
	// Append derives Kind from Raw when Dir is ClientToServer or
	// ServerToClient, unless the caller has preset it to Noise or NoteFrame.
	Kind      Kind
	Transport string // "stdio", "http", "sse" or "memory"
	Stream    Stream
	Raw       []byte // exact bytes, without the line's or event's framing
	Size      int64  // full size on the wire in bytes: len(Raw) unless Truncated
	Truncated bool   // Raw holds only the head
	Lost      bool   // Raw is gone: storage failed and memory ran out, see Log.Err
	// Note is a note of the inspector, or its remark on the message in Raw; nil
	// if there is none. When Dir is Meta and Raw is nil, Append sets Raw to
	// Note.Words.
	Note *Note

	Header http.Header // HTTP headers that came with it, nil if none
	Status int         // HTTP status, 0 if none
	// HTTPMethod and URL name the HTTP request that carried Header, or whose
	// response carried Header; "" where they are unknown.
	HTTPMethod, URL string

	Call     int    // number of the call that the frame belongs to, 0 if none
	Guessed  bool   // Call is a guess: several calls ran, and the connection does not tell them apart
	Round    int    // multi round-trip round, 0 if none
	Question int    // number of the elicitation that the frame asks or answers, 0 if none
	Actor    string // who made an answer: "person", "script", "policy", "fault", "server"; else ""
	Fault    string // name of the fault of bridge/meaning/fault that made the frame deliberately wrong; else ""

	// Answers holds the exact bytes of the id of a request whose response this
	// frame replaces: in a note that no response will come, and in an HTTP
	// response body that is not the JSON-RPC response with that id. It is nil
	// for other frames.
	Answers json.RawMessage
	// Failed marks a frame that reports a failure: a JSON-RPC error, a tool
	// result with isError, an HTTP status of 400 or above, noise in place of a
	// response, or a note appended with Failed set.
	Failed bool

	// Message is the envelope parsed from Raw; zero unless Kind.IsMessage.
	// Append parses it unless the caller has set it.
	Message Message
	// Method is Message.Method; for a response, and for a frame with Answers,
	// it is the method of the request. It is "" where that is unknown.
	Method string
	// Pair is the Seq of the request for a response, and the Seq of the first
	// response so far for a request; 0 if there is none. A frame with Answers
	// counts as a response to the request that it names.
	Pair int64
	// Latency is the time since the request in Pair; 0 for a request, and for a
	// frame without Pair.
	Latency time.Duration
	// AsksInput marks a result that asks for input (MCP 2026-07-28,
	// InputRequiredResult).
	AsksInput bool
	// MakesTask marks a result that creates a task: of tools/call, or of
	// elicitation/create as the answer of a client (MCP 2025-11-25, Tasks; extension
	// tasks of 2026-07-28).
	MakesTask bool
	// Repeat marks a request tasks/get about a task that was polled before, and a response
	// to one that says what the response before it said.
	Repeat bool
	// Duplicate marks a request whose id its sender has used before in this
	// session, and a response to a request that was answered already.
	Duplicate bool
	// Orphan marks a response that answers no known request.
	Orphan bool
	// Redacted marks a frame read from a transcript that left secrets out.
	Redacted bool

	// about is the Seq of the frame that this mark is about; 0 if this is no
	// mark, or if the marked frame is not in the log.
	about int64
	// line is the frame's number within its session, "seq" in transcripts.
	line int64
}

// Begins reports whether a frame begins its session anew: a process was started, or the endpoint
// of HTTP+SSE was named. Messages behind it have nothing to do with those before it.
func (f *Frame) Begins() bool {
	return f.Note != nil && (f.Note.Kind == NoteProcessStarted || f.Note.Kind == NoteEndpoint)
}

// Unread reports whether a bound of the inspector's keeps it from reading all of a frame, so
// that of a message nothing but the envelope is known, and nothing can be judged.
func (f *Frame) Unread() bool { return f.Truncated || f.Message.TooDeep }

// Bound says which bound of the inspector's makes a frame [Frame.Unread]; "" if none does.
func (f *Frame) Bound() string {
	switch {
	case f.Truncated:
		return fmt.Sprintf("only the first %d of %d bytes were kept", len(f.Raw), f.Size)
	case f.Message.TooDeep:
		return TooDeep
	}
	return ""
}

// TooDeep are the words for a message that is nested deeper than the inspector reads.
var TooDeep = "it is nested deeper than the " + wording.Grouped(rawjson.MaxDepth) + " levels that the inspector reads"

// IsText reports whether the frame's bytes do not even begin like a JSON message.
func (f *Frame) IsText() bool {
	kind := rawjson.KindOf(f.Raw)
	return f.Dir == Stderr || kind != rawjson.Object && kind != rawjson.Array
}

// Identify sets Kind, Message and Method from Raw; a Kind preset to Noise or
// NoteFrame stays.
func (f *Frame) Identify() {
	known := f.Message
	f.Message = Message{}
	switch {
	case f.Dir == Stderr:
		f.Kind = StderrLine
	case f.Dir == Meta:
		f.Kind = f.Note.kind()
		if command := rawjson.Strings(rawjson.Member(f.Raw, "command")); command != nil && f.Note == nil && !f.Truncated {
			// mcpsnoop notes in this form how a server was started.
			f.Note = &Note{Kind: NoteProcessStarted, Command: command, Dir: rawjson.Text(rawjson.Member(f.Raw, "cwd"))}
		}
	case f.Kind >= Noise:
	case f.Truncated:
		m, _ := parseEnvelope(rawjson.NewCursor(f.Raw)) // what the head has of it
		if f.Kind = cmp.Or(f.Kind, m.Kind, Noise); f.Kind.IsMessage() {
			f.Message = Message{Kind: f.Kind, ID: m.ID, Method: m.Method}
		}
	case known.Kind != 0:
		f.Kind, f.Message = known.Kind, known
	default:
		m, err := ParseMessage(f.Raw)
		if f.Kind, f.Message = m.Kind, m; err != nil {
			f.Kind = Noise
		}
	}
	f.Method = f.Message.Method
}
