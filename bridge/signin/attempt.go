package signin

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/wire"
)

// State is how far a sign-in has come.
type State int

// The states of a sign-in.
const (
	Running   State = iota // requests are on their way
	Held                   // a request waits for the person's decision; see [Attempt.Held]
	Waiting                // the person is to sign in at the authorization server
	Done                   // there is a token
	Declined               // by the person
	Cancelled              // by the person
	Failed                 // at a step, for a reason
	Withdrawn              // the connection that needed it has gone
)

var states = [...]string{"running", "held", "waiting", "signed in", "declined", "cancelled", "failed", "withdrawn"}

func (s State) String() string { return states[s] }

// Over reports whether the sign-in has ended.
func (s State) Over() bool { return s >= Done }

// Attempt is a copy of the state of one sign-in, without secrets. It is what a page shows
// of it.
type Attempt struct {
	Number int    // counts the sign-ins of a run from 1; frames have it in their notes
	Server string // the server's name
	State  State
	Began  time.Time
	Ended  time.Time // zero while it goes on
	// Refused is the status of the response that led to it: 401, or 403 for a step-up.
	// Challenge is its WWW-Authenticate header.
	Refused   int
	Challenge string

	Grant        Grant
	Issuer       string // of the authorization server, as its metadata or the resource's names it
	Endpoint     string // the authorization endpoint, without its query
	URL          string // the authorization URL, with its secrets masked
	Scopes       []string
	Resource     string
	RedirectURI  string
	ClientID     string
	Registration Registration

	Steps []Taken // in order; a step may be taken several times
	Held  *Request
	// At is the step that failed, and Why the reason, both in a Failed sign-in. Why is
	// also what a person or a server said for another end.
	At  wire.Step
	Why string
}

// Taken is one step that was taken.
type Taken struct {
	Step   wire.Step
	URL    string // with its secrets masked
	Status int    // of the response, 0 if there is none
	Took   time.Duration
	Why    string // what is wrong with its outcome; "" if nothing is
	Reused bool   // nothing was sent: the client was registered before
}

// Error is the error of a sign-in that did not succeed.
type Error struct {
	State State
	Step  wire.Step // the step that failed
	Why   string
}

func (e *Error) Error() string {
	switch e.State {
	case Failed:
		return fmt.Sprintf("signing in failed at the %s: %s", e.Step, e.Why)
	case Withdrawn:
		return "signing in was given up"
	}
	return fmt.Sprintf("signing in was %s", e.State)
}

// errEnded are the causes with which a person ends a sign-in.
var (
	errDeclined  = errors.New("declined")
	errCancelled = errors.New("cancelled")
)

func (a *Attempt) clone() Attempt {
	out := *a
	out.Scopes, out.Steps = slices.Clone(a.Scopes), slices.Clone(a.Steps)
	return out
}
