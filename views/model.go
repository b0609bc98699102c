// Package views holds the templ components of the page and the data that they show. Data
// that the page shows unchanged has the types of the packages that read it. The package
// does no I/O and knows neither sessions nor the SDK. The same component draws the first
// page and every later push.
package views

import (
	"encoding/json"
	"time"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/views/forms"
)

// Page holds everything that the first page shows.
type Page struct {
	Version   string // the inspector's own version
	Theme     string // "light" or "dark", if the person has chosen one
	Servers   []Server
	Catalogs  []Catalog // one per server, in the order of Servers
	Calls     []CallTab // the latest calls that are kept, oldest first
	Forgotten int       // the call in the address, if only its frames are left; else 0
	Earlier   EarlierCalls
	Call      *Call     // the call on show, nil if none
	Form      *CallForm // the item on show, if no call is
	Missing   *Missing  // why the address leads to nothing, nil if it does not
	Questions []Question
	More      bool // there are further questions
	Log       LogStatus
	Seq       int64     // the last push that this page contains
	Now       time.Time // the present time of the inspection
	Start     Start
	ReadOnly  bool // a transcript is on show: nothing can be called or answered
	Recording Recording
	Script    Script
	Replay    *Replay         // the transcript on show, nil for a live inspection
	SignIns   templ.Component // the cards of the sign-ins
}

// Missing explains why a link leads to nothing that the page can show.
type Missing struct {
	Title, Text string
	Down        []Server // servers without a connection, which may have the item
	Meant       *Item    // an item with a similar name, nil if there is none
	Awaits      bool     // the item may come with a new list
}

// ServerState is the state of a server's connection.
type ServerState string

// The states of a server.
const (
	ServerConnecting   ServerState = "connecting"
	ServerReady        ServerState = "ready"
	ServerFailed       ServerState = "failed"
	ServerEnded        ServerState = "ended"
	ServerDisconnected ServerState = "disconnected"
)

// Server is one target with its state.
type Server struct {
	ID           string // stable for the run, safe in element ids: "s1"
	Index        int    // 0-based, picks its colour
	Label        string // the configured name, cut by [Brief]
	Name         string // serverInfo.name; empty until ready
	Title        string
	Version      string
	How          string // "stdio", "HTTP", "SSE", "in process"
	Address      string // the command line or URL, for people
	Target       string // an id of the target that is the same in every run; "" if there is no target
	State        ServerState
	Reason       string   // why it failed or ended, in words
	Stderr       []string // last lines of stderr, oldest first; shown when failed or ended
	Protocol     string   // negotiated revision, "2025-11-25"
	Negotiated   string   // how: "server/discover", "initialize", "server/discover refused, then initialize"
	Instructions string
	Capabilities []string        // names of what the server offers: "tools", "prompts (list changes)" …
	Settings     client.Settings // settings of the present connection, or of the next one
	Policy       string          // policy for its questions: "ask", "defaults", "decline", "cancel", "block"
	Held         int             // questions held back because the server asks too often
	Room         int             // how many held questions can be shown now
	TurnedAway   int             // questions that were refused because too many wait
	Findings     Tally           // of the linter's
	Since        time.Time
	SignIn       templ.Component // what there is to do about its token; nil if it has none
}

// Comparison compares what a server offers under two declarations of the client.
type Comparison struct {
	Server        string // Server.ID
	With, Without string // the declarations, as JSON or in words; "" while the comparison is running
	OnlyWith      []catalog.Item
	OnlyWithout   []catalog.Item
	Both          int
	Problems      []string
	Err           string // why the comparison failed
}

// Item is one tool, prompt, resource or resource template of a server.
type Item struct {
	catalog.Item
	Server      string // Server.ID
	ServerIndex int
	Index       int // its 0-based place on its shelf
	Waiting     int // questions of the item's running calls that wait for the person
	Running     int // running calls
}

// List is a part of a list of items.
type List struct {
	Items   []Item // from the 0-based place From on
	From    int
	Total   int
	Version uint64 // changes whenever the list changes
}

// Catalog holds the lists of one server.
type Catalog struct {
	Server  Server
	Lists   map[Shelf]List // resources are followed by templates
	Loading bool
	Err     string // why a list could not be read
}

// CallForm is one item ready to be called.
type CallForm struct {
	Item     Item
	Server   Server
	Form     forms.Form
	Address  string // query of the page's address while it is on show
	Timeout  string // seconds, as typed; "" for none
	ReadOnly bool   // in a transcript: shows the arguments of the call
	Call     int    // the call with these arguments, 0 if none
}

// CallState is the state of a call.
type CallState string

// The states of a call.
const (
	CallRunning CallState = "running"
	CallDone    CallState = "done"
	CallFailed  CallState = "failed"  // a JSON-RPC error, or the connection was lost
	CallStopped CallState = "stopped" // by the person
)

// CallTab is one entry in the strip of calls.
type CallTab struct {
	Number      int
	Server      string
	ServerIndex int
	Name        string
	State       CallState
	Waiting     int
	Yours       bool // the call waits for the person, though no question is open
	IsError     bool
}

// EarlierCalls describes the calls without a tab.
type EarlierCalls struct {
	Count  int
	Before int // their numbers are less than Before
}

// Call is one request of the person, with its progress and result.
type Call struct {
	Number   int
	Item     Item
	Server   Server
	State    CallState
	Started  time.Time
	Duration time.Duration // once it has ended
	Rounds   int           // multi round-trip rounds so far; 0 or 1 needs no mention
	Steps    []Step        // the timeline, oldest first; bounded
	Dropped  int           // steps left out of the timeline's middle
	Logs     int           // log messages in all; only the first few are steps
	Waiting  int           // number of questions that wait for the person
	Asked    time.Time     // start of the wait; zero if no question waits
	Yours    bool          // the call waits for the person: a question is open, a URL is being visited, or Paused is set
	Waited   time.Duration // total time of waiting for a person so far
	// WaitedSince is, while Yours is set, the time at which Waited would have begun
	// without a break.
	WaitedSince time.Time
	Timeout     time.Duration // limit without that time; 0 for none
	Every       time.Duration // interval of retries while a URL's outcome is open; 0 for none
	Paused      bool          // after many rounds, the call waits for the person's decision to go on
	Open        int           // waiting questions of the present round
	Asks        int           // all questions of the present round
	Progress    *Progress
	Result      *Result // nil while running
	Unsent      *Unsent // nil if the server's requests are allowed
	Form        CallForm
}

// Unsent is a request that the server wanted to send during a call, and that the revision
// of its connection does not allow.
type Unsent struct {
	Method   string
	Revision string        // revision that allows it, for another call; "" if none is offered
	Finding  *lint.Finding // nil if the response has no finding
}

// StepToolError is the kind of a step whose result has isError.
const StepToolError = "tool-error"

// Step is one event in a call.
type Step struct {
	At   time.Time
	Kind string // "called", "asked", "answered", "progress", "log", "list", "retry", "result", StepToolError, "error", "stopped", "cancelled"
	Text string
	Seq  int64 // frame in the wire log, 0 if none
}

// Progress is the latest progress notification of a call.
type Progress struct {
	Value, Total float64 // Total 0: unknown
	Message      string
}

// Result is the outcome of a call.
type Result struct {
	Seq             int64              // frame in the wire log, 0 if none
	response.Result                    // for errors and invalid results, only Raw
	Failed          bool               // there is no result, or it is invalid
	Failure         string             // reason in words; "" if Error has it
	Error           *response.RPCError // nil if there is no error response
	Hint            string             // reason of the failure, if more is known than the error says
	Repeats         bool               // the person may go on without the refused input
}

// QuestionState is the state of an elicitation.
type QuestionState string

// The states of an elicitation.
const (
	QuestionPending     QuestionState = "pending"
	QuestionAnswered    QuestionState = "answered"
	QuestionWithdrawn   QuestionState = "withdrawn"
	QuestionRefused     QuestionState = "refused"
	QuestionUndelivered QuestionState = "undelivered"
)

// Question is one elicitation.
type Question struct {
	Number   int
	State    QuestionState
	Server   Server
	Call     int    // number of the question's call, 0 if unknown
	CallName string // the item's name
	Guessed  bool   // Call is a guess: several calls run, and the connection does not identify one
	Round    int    // multi round-trip round, 0 for a request
	Error    int    // code of the error that asked, 0 if none
	Key      string // its key in inputRequests
	Origin   string // how the question came, in words: "request over the POST event stream", "round 2", "error -32042"
	Method   string // "elicitation/create", or another method that a person answers
	Mode     string // "form", "url", or what the server said
	Message  string
	ID       string // its elicitationId
	Asked    time.Time
	Form     forms.Form
	Schema   json.RawMessage // requestedSchema
	Params   json.RawMessage // params, if they are not a valid elicitation
	Seq      int64           // frame in the wire log, 0 if none
	Handed   string          // why the server's policy left the question to the person, "" if it did not
	Left     string          // why the loaded script left it to the person, "" if it did not

	// Once settled:
	Action  string          // "accept", "decline", "cancel", or "error"
	By      string          // person, script, policy, fault, server
	Reason  string          // why it was withdrawn, refused or not delivered
	Waited  time.Duration   // from asked to settled
	Sent    json.RawMessage // the answer that was sent
	Digest  string          // the answer in a few words: "build 2291"
	SentSeq int64           // frame of the answer, 0 if none
	Wrong   string          // the deliberate fault of the answer, inside a sentence; "" if none
	Fault   string          // name of the fault
	Next    Next            // what the server did after the answer
	// Completion is the outcome of an accepted URL: "" if it has none, "awaited",
	// "completed" as the server reported, "marked" by the person.
	Completion string
	Told       bool          // the server can still report the outcome of the URL
	Waits      bool          // the call waits for the outcome of this URL, or for the person
	Behind     bool          // an earlier card of the call offers to try again
	Every      time.Duration // interval of the call's retries; 0 for none
	Address    *link.Verdict
	Findings   []lint.Finding
	ReadOnly   bool // part of a transcript
	Unfolded   bool // if settled: show the details at first
}
