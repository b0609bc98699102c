// Package views holds the templ components of the page and the data that they show. Data
// that the page shows unchanged has the types of the packages that read it. The package
// does no I/O and knows neither sessions nor the SDK. The same component draws the first
// page and every later push.
package views

import (
	"time"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/wirelog"
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
	Log       wirelog.Status
	Seq       int64     // the last push that this page contains
	Now       time.Time // the present time of the inspection
	Start     Start
	ReadOnly  bool // a transcript is on show: nothing can be called or answered
	Recording Recording
	Script    Script
	Replay    *Replay         // the transcript on show, nil for a live inspection
	Replaying *Replaying      // the replay whose session is on show, nil for none
	Probe     *Probe          // the probes of clients, nil unless this is their page
	Taps      *Taps           // the taps on show, nil for others
	SignIns   templ.Component // the cards of the sign-ins
}

// Missing explains why a link leads to nothing that the page can show.
type Missing struct {
	Title, Text string
	Down        []Server // servers without a connection, which may have the item
	Meant       *Item    // an item with a similar name, nil if there is none
	Awaits      bool     // the item may come with a new list
	Address     string   // the query of the page's address that leads here; "" for the present one
}

// Server is one target with its state.
type Server struct {
	conversation.ServerStatus // its Label is cut by [markup.Brief]
	conversation.QuestionCounts
	Findings lint.Tally      // of the linter's
	SignIn   templ.Component // what there is to do about its token; nil if it has none
}

// NewServer is a server as a person types it, to be added or edited.
type NewServer struct {
	ID           string // of the server that is edited, "" for one to be added
	Address      string // a URL, or a command
	Name         string // "" for one that is made of Address
	Headers, Env string // one a line: "K: V", "K=V"
	Dir          string // working directory of the command
	Field        string // name of the field with the mistake that Problem describes
	Problem      string // "" if there is none
}

// Item is one tool, prompt, resource or resource template of a server.
type Item struct {
	conversation.Item
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
	Waits   string // the requests for a list that have no response after a moment
	Err     string // why a list could not be read
}

// CallForm is one item ready to be called.
type CallForm struct {
	Item     Item
	Server   Server
	Form     forms.Form
	Address  string // query of the page's address while it is on show
	Timeout  string // seconds, as typed; "" for none
	Tasks    conversation.TaskSupport
	AsTask   bool   // it is to be called as a task where it may be
	MayTask  bool   // the server may answer the call with a task (2026-07-28)
	Each     bool   // answers to the questions of a task go out one by one
	TTL      string // of the task, in seconds, as typed; "" to leave it to the server
	ReadOnly bool   // in a transcript: shows the arguments of the call
	Call     int    // the call with these arguments, 0 if none
}

// CallTab is one entry in the strip of calls.
type CallTab struct {
	Number      int
	Server      string
	ServerIndex int
	Name        string
	State       conversation.State
	Waiting     int
	Yours       bool // the call waits for the person, though no question is open
	Doubted     bool // it was answered in a way that does not fit the refusal of its question
}

// EarlierCalls describes the calls without a tab.
type EarlierCalls struct {
	Count  int
	Before int // their numbers are less than Before
}

// Call is one call, with its server and what the middle of the page needs.
type Call struct {
	conversation.Call
	conversation.Wait
	Item   Item
	Server Server
	Result *Result        // nil while running
	Unsent *Unsent        // nil if the server's requests are allowed
	After  []lint.Finding // what the response shows of a server whose question was refused
	Form   CallForm
}

// Unsent is a request that the server wanted to send during a call, and that the revision
// of its connection does not allow.
type Unsent struct {
	Method   string
	Revision string        // revision that allows it, for another call; "" if none is offered
	Finding  *lint.Finding // nil if the response has no finding
}

// Result is the outcome of a call.
type Result struct {
	Seq                 int64                  // frame in the wire log, 0 if none
	conversation.Result                        // for errors and invalid results, only Raw
	Failed              bool                   // there is no result, or it is invalid
	Failure             string                 // reason in words; "" if Error has it
	Error               *conversation.RPCError // nil if there is no error response
	Hint                string                 // reason of the failure, if more is known than the error says
	Repeats             bool                   // the person may go on without the refused input
	Undeclared          string                 // the capability that the failure says is lacking: "sampling", "roots"; "" if none
}

// Question is one question, with its server and what its card needs.
type Question struct {
	conversation.InputRequest
	Server       Server
	Form         forms.Form
	LeftByPolicy string // why the server's policy left the question to the person, "" if it did not
	Left         string // why the loaded script left it to the person, "" if it did not

	// Once settled:
	Waited          time.Duration     // from asked to settled
	Digest          string            // the answer in a few words: "build 2291"
	Next            conversation.Next // what the server did after a deliberately wrong answer
	ServerMayReport bool              // the server can still report the outcome of the URL
	CallWaits       bool              // the call waits for the outcome of this URL, or for the person
	OfferedAbove    bool              // an earlier card of the call offers to try again
	Every           time.Duration     // interval of the call's retries; 0 for none
	Address         *link.Verdict
	Findings        []lint.Finding
	ReadOnly        bool            // part of a transcript
	Unfolded        bool            // if settled: show the details at first
	Card            templ.Component // the card, if it is drawn already
}

// Script describes the script that answers questions before the person does.
type Script struct {
	Name    string // "" if none is loaded
	Rules   int
	Typed   string // the path that was to be loaded
	Problem string // why it was not loaded
}

// Recording describes where frames are kept: in the log, and in a transcript if one is
// being written.
type Recording struct {
	playback.RecordingState
	Lost  int64  // frames whose bytes are lost
	Where string // where the log is, in words

	Folder  string // folder for transcripts
	Typed   string // the requested or suggested name
	Fresh   bool   // do not append to an existing file
	Problem string // why the recording was not started
}
