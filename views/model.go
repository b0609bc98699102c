// Package views holds the templ components of the page and the plain data that
// they show; what the page shows as it is, it has in the types of the packages
// that read it. It does no I/O and knows neither sessions nor the SDK; the same
// component draws the first page and every later push.
package views

import (
	"encoding/json"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/response"
)

// Page is everything that the first page shows.
type Page struct {
	Version   string // the inspector's own version
	Servers   []Server
	Catalogs  []Catalog // one per server, in the order of Servers
	Calls     []CallTab // the latest calls that are kept, oldest first
	Forgotten int       // the call that the address names, if only its frames are left; else 0
	Earlier   EarlierCalls
	Call      *Call     // the call on show, nil if none
	Form      *CallForm // the item on show, where no call is
	Questions []Question
	More      bool // there are more questions than these
	Log       LogStatus
	Seq       int64 // of the last push that this page contains
	ReadOnly  bool  // a transcript is on show: nothing can be called or answered
	Recording Recording
	Script    Script
	Replay    *Replay // the transcript on show, nil for a live inspection
}

// ServerState says where a server stands.
type ServerState string

// The states of a server.
const (
	ServerConnecting   ServerState = "connecting"
	ServerReady        ServerState = "ready"
	ServerFailed       ServerState = "failed"
	ServerEnded        ServerState = "ended"
	ServerDisconnected ServerState = "disconnected"
)

// Server is one target and what is known of it.
type Server struct {
	ID           string // stable for the run, safe in element ids: "s1"
	Index        int    // 0-based, picks its colour
	Label        string // the name it is configured under, as [Brief] cuts it
	Name         string // serverInfo.name; empty until ready
	Title        string
	Version      string
	How          string // "stdio", "HTTP", "SSE", "in process"
	Address      string // the command line or URL, for people
	Target       string // what is reached, under a name that is the same in every run; "" if nothing is
	State        ServerState
	Reason       string   // why it failed or ended, in words
	Stderr       []string // its last lines, oldest first; shown when failed or ended
	Protocol     string   // negotiated revision, "2025-11-25"
	Negotiated   string   // how: "server/discover", "initialize", "server/discover refused, then initialize"
	Instructions string
	Capabilities []string        // names of what the server offers: "tools", "prompts (list changes)" …
	Settings     client.Settings // under which it is connected, or will be next
	Policy       string          // what becomes of its questions: "ask", "defaults", "decline", "cancel", "block"
	Held         int             // questions that are held back because it asks too often
	Room         int             // how many of those can be shown now
	TurnedAway   int             // questions that were refused because too many wait
	Findings     Tally           // of the linter's
	Since        time.Time
}

// Comparison is what a server offers under two declarations of the client's.
type Comparison struct {
	Server        string // Server.ID
	With, Without string // the declarations, as JSON or in words; "" while it is being made
	OnlyWith      []catalog.Item
	OnlyWithout   []catalog.Item
	Both          int
	Problems      []string
	Err           string // why there is nothing to compare
}

// Item is one tool, prompt, resource or resource template of a server.
type Item struct {
	catalog.Item
	Server      string // Server.ID
	ServerIndex int
	Index       int // its 0-based place on its shelf
	Waiting     int // questions of its running calls that wait for the person
	Running     int // calls that run
}

// List is a part of a list of items.
type List struct {
	Items   []Item // from the 0-based place From on
	From    int
	Total   int
	Version uint64 // another one when the list is another
}

// Catalog is what one server offers.
type Catalog struct {
	Server  Server
	Lists   map[Shelf]List // resources are followed by templates
	Loading bool
	Err     string // why a list could not be read
}

// Field is one control of a form.
type Field struct {
	elicit.Field
	Index    int
	ID       string // element id of the control; the label, hint and error derive theirs from it
	Input    elicit.Input
	Problems []string // in words
	Changed  bool     // differs from the default, so that a reset makes sense
}

// Form is a set of controls drawn from a schema, with the JSON it amounts to.
type Form struct {
	ID       string // prefix of its element ids: "q3" or "args"
	Fields   []Field
	Extra    string   // JSON of members that no field stands for; "" if none
	JSON     bool     // the JSON tab is on show
	Content  string   // the text of the JSON tab
	Problems []string // of the whole, not of one field
	Checked  bool     // a check has failed: "Send anyway" is offered
	Preview  string   // the exact JSON that will be sent
	Trouble  string   // why there are no controls, in words; "" if the schema could be read
}

// CallForm is one item ready to be called.
type CallForm struct {
	Item     Item
	Server   Server
	Form     Form
	Timeout  string // seconds, as typed; "" for none
	ReadOnly bool   // of a transcript: it shows what the call was made with
	Call     int    // the call whose arguments these are, 0 if none
}

// CallState says where a call stands.
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
	Yours       bool // it is the person's turn, though no question waits
	IsError     bool
}

// EarlierCalls are those that have no tab.
type EarlierCalls struct {
	Count  int
	Before int // their numbers are lower
}

// Call is one request that the person made, with all that came of it.
type Call struct {
	Number   int
	Item     Item
	Server   Server
	State    CallState
	Started  time.Time
	Behind   time.Duration // how far the session's clock is behind the present, where a transcript is on show
	Duration time.Duration // once it has ended
	Rounds   int           // multi round-trip rounds so far; 0 or 1 needs no mention
	Steps    []Step        // the timeline, oldest first; bounded
	Dropped  int           // steps left out of the timeline's middle
	Logs     int           // log messages in all; only the first few are steps
	Waiting  int           // its questions that wait for the person
	Asked    time.Time     // when the oldest of those came; zero if none waits
	Yours    bool          // it is the person's turn: a question waits, a URL is being visited, or it asks whether to go on
	Waited   time.Duration // how long a person was waited for in all, so far
	Timeout  time.Duration // without that time; 0: none
	Every    time.Duration // how often it tries again while a URL's outcome is open; 0: not
	Paused   bool          // many rounds: it waits for the person's word to go on
	Open     int           // questions of its present round that wait
	Asks     int           // questions of its present round in all
	Progress *Progress
	Result   *Result // nil while running
	Unsent   *Unsent // nil where the server's requests are in order
	Form     CallForm
}

// Unsent is a request that the server wanted to make during a call, and that the
// revision of its connection does not have.
type Unsent struct {
	Method   string
	Revision string        // that has it, to call again in; "" where that is not on offer
	Finding  *lint.Finding // nil where there is none for the response
}

// StepToolError is the kind of a result which says that the tool failed.
const StepToolError = "tool-error"

// Step is one thing that happened in a call.
type Step struct {
	At   time.Time
	Kind string // "called", "asked", "answered", "progress", "log", "list", "retry", "result", StepToolError, "error", "stopped", "cancelled"
	Text string
	Seq  int64 // its frame in the wire log, 0 if none
}

// Progress is the latest progress notification of a call.
type Progress struct {
	Value, Total float64 // Total 0: unknown
	Message      string
}

// Result is what came back from a call.
type Result struct {
	Seq             int64              // its frame in the wire log
	response.Result                    // of what is no use, and of an error, Raw alone
	Failed          bool               // there is none, or it is of no use
	Failure         string             // why, in words; "" where Error says it
	Error           *response.RPCError // nil if none came
	Hint            string             // why it failed, where more is known than the error says
	Repeats         bool               // the person may go on without what was refused
}

// QuestionState is one of the states in which an elicitation can be.
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
	Call     int    // number of the call it belongs to, 0 if it cannot be told
	CallName string // the item's name
	Guessed  bool   // Call is a guess: several run, and the connection does not tell
	Round    int    // multi round-trip round, 0 if it came as a request
	Error    int    // code of the error that it came with, 0 if it did not
	Key      string // its key in inputRequests
	Origin   string // how it came, in words: "request over the POST event stream", "round 2", "error -32042"
	Method   string // "elicitation/create", or another method that a person answers
	Mode     string // "form", "url", or what the server said
	Message  string
	ID       string // its elicitationId
	Asked    time.Time
	Form     Form
	Schema   json.RawMessage // requestedSchema
	Params   json.RawMessage // where they are no elicitation that can be read
	Seq      int64           // its frame in the wire log
	Handed   string          // why its server's policy left it to the person, "" if it did not
	Left     string          // why the script that is loaded did

	// Once settled:
	Action  string          // "accept", "decline", "cancel", or "error"
	By      string          // person, script, policy, fault, server
	Reason  string          // why it was withdrawn, refused or not delivered
	Waited  time.Duration   // from asked to settled
	Sent    json.RawMessage // that went back
	Digest  string          // the answer in a few words: "build 2291"
	SentSeq int64           // frame of the answer, 0 if none
	Wrong   string          // what is wrong with the answer on purpose, inside a sentence; "" for nothing
	Fault   string          // its name
	Next    Next            // what the server did then
	// Completion says what is known of an accepted URL's outcome: "" where it is
	// no matter, "awaited", "completed" by the server's word, "marked" by the person's.
	Completion string
	Told       bool          // its server can still say that an awaited URL is done
	Waits      bool          // the call goes on when this URL is completed, or at the person's word
	Behind     bool          // an earlier card of that call offers to try again
	Every      time.Duration // how often that call tries again meanwhile; 0: not
	Address    *link.Verdict
	Findings   []lint.Finding
	ReadOnly   bool // of a transcript
	Unfolded   bool // where it is settled: begin with its details on show
}
