// Package signincard draws sign-ins to servers behind OAuth: the card of each, its exchanges,
// and the buttons for the server's token.
package signincard

import (
	"time"

	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
)

// State is the progress of a sign-in, in words for people.
type State string

// These states change what a card shows; it shows the others as their text.
const (
	Held    State = "held"    // a request waits for the person's decision
	Waiting State = "waiting" // the person is expected to sign in at the authorization server
	Done    State = "signed in"
	Failed  State = "failed"
)

// Card is the latest attempt to sign in to a server.
type Card struct {
	Server    views.Server
	Number    int
	State     State
	Over      bool
	Refreshes bool          // the attempt only refreshes a token
	Address   *link.Verdict // of the page where the person signs in; nil until that is known
	Facts     []Fact
	Steps     []Step
	Held      *Request
	Stepwise  bool
	FailedAt  string // the step at which a failed attempt ended
	Why       string // the reason
	Began     time.Time
	Took      time.Duration // from Began to the end; 0 before
}

// Fact is a named value: a property of a sign-in, a header, or a parameter.
type Fact struct{ Name, Value string }

// Step is one exchange of the attempt.
type Step struct {
	Name    string
	Method  string
	URL     string
	Outcome string // the response in a few words
	Took    time.Duration
	Why     string // why the exchange failed; "" if it did not
}

// Request is a request that is held before it goes out.
type Request struct {
	Key               string // no other request of the run has it
	Step, Method, URL string
	Fixed             bool // the person cannot change the URL
	Fields            []Fact
	Body              string
	Changes           []Change
}

// Change is a button that sends a held request with something wrong on purpose.
type Change struct{ ID, Name string }

// Token describes a server's token.
type Token struct {
	Server    string // its id
	SignedIn  bool
	Expires   time.Time // zero if that is unknown
	Refreshes bool      // the token can be refreshed
	Scopes    string    // "" if they are unknown
	Stepwise  bool
	Busy      bool // an attempt is under way
}

// ID is the id of the card's element.
func (c Card) ID() string { return "sign-in-" + c.Server.ID }

// ID is the id of the element that [TokenView] draws.
func (t Token) ID() string { return "token-" + t.Server }

func path(server, what string) string { return "/servers/" + server + "/signin/" + what }

func (c Card) path(what string) string { return path(c.Server.ID, what) }

// title returns the heading of the card.
func (c Card) title() string {
	if c.Refreshes {
		return "Refresh the token for " + c.Server.Label
	}
	return "Sign in to " + c.Server.Label
}

// doing says what a sign-in that is not over does at the moment.
func (c Card) doing() string {
	switch c.State {
	case Held:
		return "holds a request for you"
	case Waiting:
		return "waits for you to sign in"
	}
	return "requests are on their way"
}

// word returns the state of the sign-in in the words of the card.
func (c Card) word() string {
	if c.Refreshes && c.State == Done {
		return "refreshed"
	}
	return string(c.State)
}

// outcome returns the style class of the word.
func (c Card) outcome() string {
	switch c.State {
	case Done:
		return "good"
	case Failed:
		return "bad"
	}
	return "plain"
}

// digest says at which step the sign-in failed, and why.
func (c Card) digest() string {
	return wording.Join(": ", wording.After("at the ", c.FailedAt), c.Why)
}

// state describes a token.
func (t Token) state() string {
	if !t.SignedIn {
		return "There is no token. The inspector signs in when the server asks for that."
	}
	text := "Signed in"
	if !t.Expires.IsZero() {
		text += "; the token expires at " + wording.TimeOfDay(t.Expires)
	}
	if !t.Refreshes {
		text += " and cannot be refreshed"
	}
	return text + wording.After("; scopes: ", t.Scopes) + "."
}
