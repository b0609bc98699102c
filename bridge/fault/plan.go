package fault

import (
	"encoding/json"
	"slices"
	"time"
)

// Plan is what goes out in place of an honest answer.
type Plan struct {
	Fault string // its name
	Field string // that it is about; "" for none
	Title string // what it is, inside a sentence: "wrong id"
	// Params are those that the plan was made with.
	Params Params
	// Result is the result that goes out, whole or not; nil where there is none.
	Result json.RawMessage
	// Steps are done one after the other. For a question in a round they come before
	// the next request of the call.
	Steps []Step
	// Retry is how the next request of the call differs from an honest one. It is
	// nil where the answer is a response of its own, and where there is to be none.
	Retry *Retry
}

// Do is what one step of a plan does.
type Do int

// The steps.
const (
	Send            Do = iota // write Raw
	Wait                      // let Time pass
	AwaitWithdrawal           // wait until the server takes the question back, or its call is over
	CancelCall                // cancel the call that asks; the server is told
	CloseConnection           // close it without a word, and see whether the server ends
	Kill                      // kill the process
	DropStream                // close the HTTP stream that carried the question
	StartSession              // end the session, and start another one
)

// Step is one step of a plan.
type Step struct {
	Do   Do
	Raw  []byte        // of Send: the bytes, without what the transport adds
	Pace Pace          // of Send
	Time time.Duration // of Wait
}

// Pace is how slowly bytes are written. The zero Pace is at once.
type Pace struct {
	Pieces int           // in so many pieces
	Total  time.Duration // that all pauses between them take together
}

// EachByte is Pace.Pieces for one byte at a time.
const EachByte = -1

// Split cuts bytes into the pieces of a pace, and says how long the pause between
// two of them is.
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

// Retry is how the request that answers a round differs from an honest one.
type Retry struct {
	// Value is what stands under the question's key; nil leaves the key out.
	Value json.RawMessage
	Extra []Member // further members of inputResponses
	// State stands in place of requestState where ChangeState is set; nil leaves it out.
	State       json.RawMessage
	ChangeState bool
	Tool        string // called in place of the call's own; "" for that
	SameID      bool   // under the id of the request before
	Cut         bool   // the last byte of the message is missing
	Twice       bool   // the same bytes go out twice
	AtOnce      bool   // without waiting for the outcome of a URL
	Pace        Pace
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}
