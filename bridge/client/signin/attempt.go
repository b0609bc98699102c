package signin

import (
	"errors"
	"fmt"
	"time"

	"elicitation-inspector/bridge/wire"
)

// State is the progress of a sign-in.
type State int

// The states of a sign-in.
const (
	Running   State = iota // requests are on their way
	Waiting                // the person is expected to sign in at the authorization server
	Done                   // the server has a token
	Declined               // by the person
	Cancelled              // by the person
	Failed                 // at [Attempt.FailedAt], because of [Attempt.Why]
	Withdrawn              // the connection that needed the token has ended
)

var states = [...]string{"running", "waiting", "signed in", "declined", "cancelled", "failed", "withdrawn"}

func (s State) String() string { return states[s] }

// Over reports whether the sign-in has ended.
func (s State) Over() bool { return s >= Done }

// Attempt is the state of one sign-in or refresh, without secrets, for a page to show.
type Attempt struct {
	Number int    // counts the attempts at a desk from 1; the notes of frames have it, too
	Server string // the server's name
	State  State
	Began  time.Time
	Ended  time.Time // zero until the attempt ends
	// Refused is the status of the server's response that led to the sign-in: 401, or 403
	// for a step-up; 0 for a refresh. Challenge is the WWW-Authenticate header of that response.
	Refused   int
	Challenge string

	Grant        Grant
	Issuer       string // of the authorization server, from its metadata or that of the resource
	Endpoint     string // the authorization endpoint, without its query
	URL          string // the authorization URL, with its secrets masked
	Scopes       []string
	Resource     string
	RedirectURI  string
	ClientID     string
	Registration Registration

	Steps []StepTaken // in order, after those of a refresh that failed just before; a step may be taken several times
	// FailedAt is the step at which a Failed attempt ended, and Why is the reason.
	FailedAt wire.Step
	Why      string
}

// StepTaken is one exchange of an attempt: a request of the inspector, or a visit of the browser.
type StepTaken struct {
	Step   wire.Step
	URL    string // with its secrets masked
	Status int    // of the response, 0 if there is none
	Took   time.Duration
	Why    string // why the exchange failed; "" if it did not
	Reused bool   // nothing was sent, because an earlier attempt registered the client
}

// Error is the error of an attempt that ended without a token.
type Error struct {
	State State
	Step  wire.Step // where a Failed attempt ended
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

// errDeclined and errCancelled are the causes with which a person ends an attempt.
var (
	errDeclined  = errors.New("declined")
	errCancelled = errors.New("cancelled")
)

func endedByPerson(err error) bool {
	failure := new(Error)
	return errors.As(err, &failure) && (failure.State == Declined || failure.State == Cancelled)
}
