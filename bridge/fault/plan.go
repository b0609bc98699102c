package fault

import (
	"encoding/json"
	"slices"
	"time"
)

// Plan describes what the client does instead of an honest answer.
type Plan struct {
	Fault string // name of the fault
	Field string // field that the fault is about; "" for none
	Title string // title inside a sentence: "wrong id"
	// Params are the parameters that the plan was built with.
	Params Params
	// Result is the result to send, even if only in part; nil for none.
	Result json.RawMessage
	// Steps are carried out in order. For a question in a round they come before the next
	// request of the call.
	Steps []Step
	// Retry describes how the next request of the call differs from an honest one. It is
	// nil if the answer is a response, or if there is no next request.
	Retry *Retry
}

// Do is the kind of a step.
type Do int

// The steps.
const (
	Send            Do = iota // write Raw
	Wait                      // wait for Time
	AwaitWithdrawal           // wait until the server cancels the question, or its call is over
	CancelCall                // cancel the call of the question
	CloseConnection           // close the connection without a message, and see whether the server ends
	Kill                      // kill the server's process
	DropStream                // close the HTTP stream that carried the question
	StartSession              // end the session, and start a new one
)

// Step is one step of a plan.
type Step struct {
	Do   Do
	Raw  []byte        // for Send: the bytes, without the framing of the transport
	Pace Pace          // for Send
	Time time.Duration // for Wait
}

// Pace describes how slowly bytes are written. The zero Pace means at once.
type Pace struct {
	Pieces int           // number of pieces
	Total  time.Duration // total time of the pauses between pieces
}

// EachByte is Pace.Pieces for one byte at a time.
const EachByte = -1

// Split cuts bytes into pieces, and returns the pause between two of them.
func (p Pace) Split(raw []byte) (pieces [][]byte, pause time.Duration) {
	n := p.Pieces
	if n == EachByte {
		n = len(raw)
	}
	if n < 2 {
		return [][]byte{raw}, 0
	}
	size := (len(raw) + n - 1) / n
	for piece := range slices.Chunk(raw, size) {
		pieces = append(pieces, piece)
	}
	return pieces, p.Total / time.Duration(max(len(pieces)-1, 1))
}

// Retry describes how the request that answers a round differs from an honest one.
type Retry struct {
	// Value is the value of the question's key in inputResponses; nil omits the key.
	Value json.RawMessage
	Extra []Member // further members of inputResponses
	// State replaces requestState if ChangeState is set; nil omits it.
	State       json.RawMessage
	ChangeState bool
	Tool        string // tool to call instead of the call's own; "" for the call's own
	SameID      bool   // use the id of the previous request
	Cut         bool   // omit the last byte of the message
	Twice       bool   // send the same bytes twice
	AtOnce      bool   // do not wait for the outcome of a URL
	Pace        Pace
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}
