package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// NoteKind is the kind of a note. Its texts are the values of "kind" in a
// transcript's "note".
type NoteKind string

// The kinds of note, each with the fields of Note that it uses besides those of
// its frame. Fields in brackets are optional.
const (
	// Of processes.
	NoteProcessStarted NoteKind = "process-started" // Program and PID, Command [Dir] [Env] [Derived]; in mcpsnoop's logs Command [Dir]
	NoteProcessExited  NoteKind = "process-exited"  // PID, Code or Signal, [By: "inspector"] [Why]
	NoteStillRuns      NoteKind = "still-runs"      // Took: time since its input was closed
	NotePipeHeld       NoteKind = "pipe-held"       // Of: the pipe that is no longer read
	NoteReadFailed     NoteKind = "read-failed"     // Of, Why

	NoteUnseen NoteKind = "unseen" // Of, Bytes: of a pipe or a body that were passed on and not looked at

	// Of messages.
	NoteNotPassedOn  NoteKind = "not-passed-on" // Why: reason for which a message was kept from the SDK
	NoteNotDelivered NoteKind = "not-delivered" // Why: reason for which a message did not reach the server

	// Of HTTP. Frame has HTTPMethod, Status and Header of the exchange.
	NoteHTTPStatus      NoteKind = "http-status"      // an answer that is not a message: Of [To] [Got] [Want] [Said]
	NoteRedirected      NoteKind = "redirected"       // To [Withheld]
	NoteHeadersKept     NoteKind = "headers-kept"     // headers of a client that a tap does not pass on: Of
	NoteRequestFailed   NoteKind = "request-failed"   // Of, Why
	NoteAnswerBroken    NoteKind = "answer-broken"    // Of, Bytes, Why
	NoteNoStream        NoteKind = "no-stream"        // the server has no stream to GET: [Said]
	NoteStreamRequested NoteKind = "stream-requested" // [Of] [After]
	NoteStreamAwaited   NoteKind = "stream-awaited"   // a GET has no answer yet
	NoteStreamOpened    NoteKind = "stream-opened"    //
	NoteStreamResumed   NoteKind = "stream-resumed"   // Of
	NoteResumeRefused   NoteKind = "resume-refused"   // Of [Said]
	NoteStreamBroken    NoteKind = "stream-broken"    // [Of] Why
	NoteStreamEnded     NoteKind = "stream-ended"     // without the response: Of
	NoteUnfinishedEvent NoteKind = "unfinished-event" // the stream ended within an event: [Of], Bytes, Said
	NoteStreamClosed    NoteKind = "stream-closed"    // Times: how often so far
	NoteEndpoint        NoteKind = "endpoint"         // To: where messages are posted, in HTTP+SSE
	NoteServerLost      NoteKind = "server-lost"      // Why
	NoteSessionGone     NoteKind = "session-gone"     // the server has ended the session, and a new one is begun
	NoteSentAgain       NoteKind = "sent-again"       // a request is sent once more, with the token of a sign-in: Of
	NoteSignIn          NoteKind = "sign-in"          // SignIn, Took, At [Bytes] [Why]: one exchange of a sign-in

	NoteSpan NoteKind = "span" // Span: a span that the server has sent

	NoteURLFetched NoteKind = "url-fetched" // To, [Said: user agent]: a page of the probe was fetched

	// Of the conversation.
	NoteProbeUnanswered  NoteKind = "probe-unanswered"   // Took: how long the client waited for server/discover
	NoteProbeFatal       NoteKind = "probe-fatal"        // the process ended at server/discover
	NoteStrayResponse    NoteKind = "stray-response"     // [ID] [Again] [Want]
	NoteCancelledByClose NoteKind = "cancelled-by-close" // a request is cancelled by closing its stream
	NoteAnswered         NoteKind = "answered"           // an answer that is not sent, or not yet: [Why] Answer, Pointer, [Completion] At
	NoteSettled          NoteKind = "settled"            // a question ended without a message: State [Why] [TurnedAway] Pointer, At
	NoteMisbehaved       NoteKind = "misbehaved"         // a question answered wrongly on purpose, by Frame.Fault: Why [Params Answer] Pointer, At
	NoteEnded            NoteKind = "ended"              // a call ended without a response: State [Why] At
	NoteClientSaid       NoteKind = "client-said"        // Why: remark of another client on a message
	NotePersonSaid       NoteKind = "person-said"        // Of: a probe, Why: a question about it, [Said: yes or no; "" takes the word back]
)

// Note is a remark of the inspector: about the transport, or about an event
// that no message shows. It has a frame of direction Meta, or stands in the
// frame of the message that it is about. Its kind decides which fields are set.
type Note struct {
	Kind NoteKind `json:"kind"`

	Program string   `json:"program,omitempty"` // without folder and arguments
	Command []string `json:"command,omitempty"` // program and arguments as they were given
	Dir     string   `json:"cwd,omitempty"`
	Env     []string `json:"env,omitempty"` // names of the variables that were set for the process
	PID     int      `json:"pid,omitempty"`
	Derived bool     `json:"label_derived,omitempty"` // nobody named the server: its label is made from Command
	Code    *int     `json:"code,omitempty"`          // exit code
	Signal  string   `json:"signal,omitempty"`        // name of the signal that ended the process
	By      string   `json:"by,omitempty"`            // who asked for the end: "inspector", or "" for nobody

	// Of is the subject of the note: the method of a posted request, "response
	// to 3" for a response, the name of a pipe.
	Of       string `json:"of,omitempty"`
	To       string `json:"to,omitempty"`       // an address, without the values in its query
	Withheld string `json:"withheld,omitempty"` // the host whose session and credentials are not sent to To
	Got      string `json:"got,omitempty"`      // a content type that was not expected
	Want     string `json:"want,omitempty"`     // the status that was expected
	Said     string `json:"said,omitempty"`     // the beginning of the answer's body
	After    string `json:"after,omitempty"`    // an event's id
	Bytes    int64  `json:"bytes,omitempty"`
	Times    int    `json:"times,omitempty"`
	Why      string `json:"why,omitempty"`
	Took     string `json:"took,omitempty"` // as time.Duration writes it

	ID         json.RawMessage `json:"id,omitempty"`          // of a response
	Again      bool            `json:"again,omitempty"`       // its request had a response already
	State      string          `json:"state,omitempty"`       // of a call or a question
	Answer     json.RawMessage `json:"answer,omitempty"`      // as it is, or would have been, sent
	Params     json.RawMessage `json:"params,omitempty"`      // of a fault, as fault.Params writes them
	Pointer    string          `json:"pointer,omitempty"`     // to the question's params, in the frame that asked
	Completion string          `json:"completion,omitempty"`  // of a URL: "completed", "marked"
	TurnedAway bool            `json:"turned_away,omitempty"` // the question was refused because too many of its server waited
	SignIn     *SignIn         `json:"sign_in,omitempty"`
	Span       *Span           `json:"span,omitempty"`
	At         time.Time       `json:"at,omitzero"` // time of the event, if the note was made later
}

// kind returns the kind of the frame of direction Meta that holds the note; n may be nil.
func (n *Note) kind() Kind {
	if n != nil && n.Kind == NoteSpan && n.Span != nil {
		return SpanFrame
	}
	return NoteFrame
}

// ByInspector is Note.By where the inspector asked a process to end.
const ByInspector = "inspector"

// Words returns the note as text for people. f is the frame that holds it; its
// HTTPMethod, Status, Call, Question and Actor are part of the text. It is ""
// for an unknown kind.
func (n *Note) Words(f *Frame) string {
	switch n.Kind {
	case NoteProcessStarted:
		if n.Program != "" || len(n.Command) == 0 {
			return "started " + n.Program + wording.After(" as ", n.process())
		}
		return "started as " + strings.Join(n.Command, " ") + wording.After(" in ", n.Dir)
	case NoteProcessExited:
		return cmp.Or(n.process(), "the process") + " " + n.Exit()
	case NoteStillRuns:
		return "the process still runs " + n.Took + " after its input was closed, and is ended"
	case NotePipeHeld:
		return "the server's " + n.Of + " is held open by a process outside of its group, and is no longer read"
	case NoteReadFailed:
		return "reading " + n.Of + ": " + n.Why
	case NoteNotPassedOn:
		return "not passed on: " + n.Why
	case NoteNotDelivered:
		return "not delivered: " + n.Why
	case NoteUnseen:
		return wording.Grouped(n.Bytes) + " bytes of " + n.Of + " were passed on and not looked at, since the tap could not keep up"
	case NoteSpan:
		if n.Span != nil {
			return n.Span.words()
		}
	case NoteSessionGone:
		return "the server has ended the session (HTTP 404 to its id): a new one is begun, and nothing is sent again"
	case NoteServerLost:
		return n.Why
	case NoteProbeUnanswered:
		return "server/discover had no answer within " + n.Took + ": the server is taken to be of an older revision, and initialize is tried"
	case NoteProbeFatal:
		return "the process ended at server/discover: it is started again, and initialize is tried at once"
	case NoteCancelledByClose:
		return "the request is cancelled by closing its response stream, as revision 2026-07-28 has it"
	case NoteClientSaid:
		return "the client says: " + n.Why
	case NotePersonSaid:
		if n.Said == "" {
			return "a person takes the word back on probe " + n.Of + ": " + n.Why
		}
		return "a person says " + n.Said + " on probe " + n.Of + ": " + n.Why
	case NoteStrayResponse:
		switch {
		case n.ID == nil:
			return "a response came without an id, so that nothing tells what it answers"
		case n.Again:
			return "a second response came with id " + string(n.ID) + ", which had its response already"
		}
		return "a response came with id " + string(n.ID) + ", which nothing asked for" + wording.After("; the call waits for one with id ", n.Want)
	case NoteAnswered, NoteSettled, NoteMisbehaved, NoteEnded:
		return n.outcomeWords(f)
	}
	return n.httpWords(f)
}

// process names the process by its PID, "" if redaction left that out.
func (n *Note) process() string {
	if n.PID == 0 {
		return ""
	}
	return "process " + strconv.Itoa(n.PID)
}

// Exit says how a process ended: "exited with code 1", "ended by signal: killed".
func (n *Note) Exit() string {
	switch {
	case n.Signal != "":
		return "ended by signal: " + n.Signal + wording.After("; ", n.Why)
	case n.Code == nil && n.Why != "":
		return n.Why
	case n.Code == nil:
		return "ended"
	}
	return "exited with code " + strconv.Itoa(*n.Code) + wording.After("; ", n.Why)
}

func (n *Note) httpWords(f *Frame) string {
	switch n.Kind {
	case NoteHTTPStatus:
		return f.HTTPMethod + " of " + n.posted(f) + " was answered with HTTP " + n.answer(f)
	case NoteRedirected:
		text := f.HTTPMethod + " redirected to " + n.To
		if n.Withheld != "" {
			text += ", which is not told the session id and the headers that are set for " + n.Withheld
		}
		return text
	case NoteHeadersKept:
		return "the next request had headers that concern one connection alone, and did not go on: " + n.Of
	case NoteRequestFailed:
		return f.HTTPMethod + " of " + n.posted(f) + " failed: " + n.Why
	case NoteAnswerBroken:
		return fmt.Sprintf("the answer to %s broke off after %d bytes: %s", n.posted(f), n.Bytes, n.Why)
	case NoteNoStream:
		return "the server has no GET event stream" + wording.After(": ", n.Said)
	case NoteStreamRequested:
		return "GET of " + n.stream() + wording.After(", from behind event ", n.After)
	case NoteStreamAwaited:
		return "GET of the event stream has no answer yet; the session goes on without"
	case NoteStreamOpened:
		return "the GET event stream is open"
	case NoteStreamResumed:
		return n.stream() + " goes on"
	case NoteResumeRefused:
		return n.stream() + " broke off, and going on with it was answered with HTTP " + n.answer(f)
	case NoteStreamBroken:
		return n.stream() + " broke off: " + n.Why
	case NoteStreamEnded:
		return n.stream() + " has ended without the response"
	case NoteUnfinishedEvent:
		return fmt.Sprintf("%s ended within an event: %s bytes without the blank line that ends it, which are no message: %s", n.stream(), wording.Grouped(n.Bytes), n.Said)
	case NoteStreamClosed:
		return fmt.Sprintf("the server has ended the GET event stream (%d times so far); it is opened again", n.Times)
	case NoteSentAgain:
		return f.HTTPMethod + " of " + n.posted(f) + " is sent again, with an access token"
	case NoteSignIn:
		step, status := "a step", ""
		if n.SignIn != nil {
			step = n.SignIn.Step.String()
		}
		if f.Status != 0 {
			status = "HTTP " + statusWords(f) + " to "
		}
		return "sign-in, " + step + ": " + status + f.HTTPMethod + " " + f.URL + wording.After(": ", n.Why)
	case NoteURLFetched:
		return f.HTTPMethod + " of " + n.To + " by " + cmp.Or(n.Said, "a client without a user agent")
	case NoteEndpoint:
		return "the server's message endpoint is " + n.To
	}
	return ""
}

// posted names the message that an HTTP request carried, or the session or
// event stream that it was about.
func (n *Note) posted(f *Frame) string {
	switch id, response := strings.CutPrefix(n.Of, "response to "); {
	case response:
		return "the response to request " + id
	case n.Of != "":
		return n.Of
	case f.HTTPMethod == http.MethodDelete:
		return "the session"
	}
	return "the event stream"
}

func (n *Note) stream() string {
	if n.Of == "" {
		return "the event stream"
	}
	return "the event stream that answers " + n.posted(&Frame{})
}

func (n *Note) answer(f *Frame) string {
	text := statusWords(f) + wording.After(" to ", n.To)
	if n.Got != "" {
		text += " and " + n.Got + " in place of "
		if f.HTTPMethod == http.MethodPost {
			text += "JSON or "
		}
		text += "an event stream"
	}
	if n.Want != "" {
		text += "; " + n.Want + " is called for"
	}
	return text + wording.After(": ", n.Said)
}

func statusWords(f *Frame) string {
	return strconv.Itoa(f.Status) + wording.After(" ", http.StatusText(f.Status))
}

func (n *Note) outcomeWords(f *Frame) string {
	question, call, by := "a question", "a call", ""
	if f.Question > 0 {
		question = "question " + strconv.Itoa(f.Question)
	}
	if f.Call > 0 {
		call = "call " + strconv.Itoa(f.Call)
	}
	if f.Actor != "" {
		by = "by the " + f.Actor
	}
	switch n.Kind {
	case NoteEnded:
		return call + " " + n.State + wording.After(": ", n.Why)
	case NoteMisbehaved:
		return question + ": deliberate: " + n.Why
	case NoteSettled:
		return question + ": " + wording.Join(", ", n.State, by) + wording.After(": ", n.Why)
	}
	completion := map[string]string{"marked": "marked as done", "completed": "completed, says the server"}[n.Completion]
	return question + ": " + wording.Join(", ", answerWords(peekAt(n.Answer)), by, cmp.Or(completion, n.Completion))
}

// JSON returns the note as a transcript's "note" holds it.
func (n *Note) JSON() []byte {
	raw, err := rawjson.Encode(n)
	if err != nil {
		// Only Answer, Params and ID can hold invalid JSON.
		plain := *n
		plain.Answer, plain.Params, plain.ID = nil, nil, nil
		return plain.JSON()
	}
	return raw
}

// SignIn is one HTTP exchange of a sign-in, without its secrets. The frame has the
// request's HTTPMethod and URL, and the response's Status and Header. Its time is that of
// the response; Note.At is that of the request.
type SignIn struct {
	Number   int         `json:"number"` // of the sign-in, counted from 1 in each run
	Step     Step        `json:"step"`
	Header   http.Header `json:"request_headers,omitempty"`
	Sent     string      `json:"sent,omitempty"`     // body of the request
	Received string      `json:"received,omitempty"` // body of the response
	// JWTs holds the decoded JWTs among the masked values, by the names of the values.
	JWTs map[string]JWT `json:"jwts,omitempty"`
}

// JWT is the decoded header and claims of a JSON Web Token, without its signature.
type JWT struct {
	Header json.RawMessage `json:"header"`
	Claims json.RawMessage `json:"claims"`
}

// Step is a step of a sign-in. Its texts are the values of "step" in a transcript.
type Step string

// The steps, in their order.
const (
	StepResource      Step = "resource-metadata"      // metadata of the protected resource (RFC 9728)
	StepServer        Step = "authorization-metadata" // metadata of the authorization server (RFC 8414, OpenID Connect Discovery)
	StepRegistration  Step = "registration"           // dynamic client registration (RFC 7591)
	StepAuthorization Step = "authorization"          // the browser is sent to the authorization server
	StepRedirect      Step = "redirect"               // the browser comes back
	StepToken         Step = "token"
	StepRefresh       Step = "refresh"
)

var stepWords = map[Step]string{
	StepResource: "resource metadata", StepServer: "authorization server metadata", StepRegistration: "client registration",
	StepAuthorization: "authorization", StepRedirect: "redirect", StepToken: "token", StepRefresh: "token refresh",
}

// Method returns the HTTP method of the step's request.
func (s Step) Method() string {
	switch s {
	case StepRegistration, StepToken, StepRefresh:
		return http.MethodPost
	}
	return http.MethodGet
}

// String names the step for people.
func (s Step) String() string {
	return cmp.Or(stepWords[s], string(s))
}
