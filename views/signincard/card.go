// Package signincard draws sign-ins to servers behind OAuth: the card of each, and what
// there is to do about the server's token.
package signincard

import (
	"time"

	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
)

// State is how far a sign-in has come. Its texts are words for people.
type State string

// The states of a sign-in that a card draws in a way of their own.
const (
	Held    State = "held"    // a request waits for the person's decision
	Waiting State = "waiting" // the person is to sign in at the authorization server
	Done    State = "signed in"
	Failed  State = "failed"
)

// Card is the latest sign-in to a server.
type Card struct {
	Server    views.Server
	Number    int
	State     State
	Over      bool
	Refreshes bool          // it replaces a token, and no person is needed
	Address   *link.Verdict // where the person signs in; nil as long as that is unknown
	Facts     []Fact
	Steps     []Step
	Held      *Request
	Stepwise  bool
	At        string // the step that failed
	Why       string // why it failed, or what was said for another end
	Began     time.Time
	Took      time.Duration // until it was over
}

// Fact is one thing that is known of a sign-in.
type Fact struct{ Name, Value string }

// Step is one step that was taken.
type Step struct {
	Name    string
	Method  string
	URL     string
	Outcome string // how it was answered, in a few words
	Took    time.Duration
	Why     string // what is wrong with its outcome; "" if nothing is
}

// Request is a request that is held before it goes out.
type Request struct {
	At                string // tells it from other requests that were held
	Step, Method, URL string
	Fixed             bool // the URL cannot be changed
	Fields            []Fact
	Body              string
	Changes           []Change
}

// Change is one way to send a held request with something wrong on purpose.
type Change struct{ ID, Name string }

// Token is what is known of a server's token.
type Token struct {
	Server    string // its id
	SignedIn  bool
	Expires   time.Time // zero if that is unknown
	Refreshes bool      // the token can be refreshed
	Scopes    string    // "" if they are unknown
	Stepwise  bool
	Busy      bool // a sign-in goes on
}

// ID is the id of the card's element.
func (c Card) ID() string { return "sign-in-" + c.Server.ID }

// ID is the id of the element that [TokenView] draws.
func (t Token) ID() string { return "token-" + t.Server }

func path(server, what string) string { return "/servers/" + server + "/signin/" + what }

func (c Card) path(what string) string { return path(c.Server.ID, what) }

// title says what it is for.
func (c Card) title() string {
	if c.Refreshes {
		return "Refresh the token for " + c.Server.Label
	}
	return "Sign in to " + c.Server.Label
}

// doing says what goes on.
func (c Card) doing() string {
	switch c.State {
	case Held:
		return "holds a request for you"
	case Waiting:
		return "waits for you to sign in"
	}
	return "requests are on their way"
}

// word describes the state of a sign-in that is over.
func (c Card) word() string {
	if c.Refreshes && c.State == Done {
		return "refreshed"
	}
	return string(c.State)
}

// outcome is the class of that word.
func (c Card) outcome() string {
	switch c.State {
	case Done:
		return "good"
	case Failed:
		return "bad"
	}
	return "plain"
}

// digest says how it ended.
func (c Card) digest() string {
	return wording.Join(": ", wording.After("at the ", c.At), c.Why)
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
