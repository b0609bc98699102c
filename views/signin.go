package views

import (
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/views/wirelog"
)

// SignInState is the progress of a sign-in, in words for people.
type SignInState string

// These states change what a card shows; it shows the others as their text.
const (
	SignInWaiting SignInState = "waiting" // the person is expected to sign in at the authorization server
	SignInDone    SignInState = "signed in"
	SignInFailed  SignInState = "failed"
)

// SignIn is the latest attempt to sign in to a server.
type SignIn struct {
	Server    Server
	Number    int
	State     SignInState
	Over      bool
	Refreshes bool          // the attempt only refreshes a token
	Address   *link.Verdict // of the page where the person signs in; nil until that is known
	Facts     []wirelog.Fact
	Steps     []SignInStep
	FailedAt  string // the step at which a failed attempt ended
	Why       string // the reason
	Began     time.Time
	Took      time.Duration // from Began to the end; 0 before
}

// SignInStep is one exchange of the attempt.
type SignInStep struct {
	Name    string
	Method  string
	URL     string
	Outcome string // the response in a few words
	Took    time.Duration
	Why     string // why the exchange failed; "" if it did not
}

// Token describes a server's token.
type Token struct {
	Server    string // its id
	SignedIn  bool
	Expires   time.Time // zero if that is unknown
	Refreshes bool      // the token can be refreshed
	Scopes    string    // "" if they are unknown
	Busy      bool      // an attempt is under way
}

// ID is the id of the card's element.
func (c SignIn) ID() string { return "sign-in-" + c.Server.ID }

// ID is the id of the element that [TokenView] draws.
func (t Token) ID() string { return "token-" + t.Server }

func path(server, what string) string { return "/servers/" + server + "/signin/" + what }

func (c SignIn) path(what string) string { return path(c.Server.ID, what) }

func (c SignIn) title() string {
	if c.Refreshes {
		return "Refresh the token for " + c.Server.DisplayName()
	}
	return "Sign in to " + c.Server.DisplayName()
}

func (c SignIn) doing() string {
	if c.State == SignInWaiting {
		return "waits for you to sign in"
	}
	return "requests are on their way"
}

func (c SignIn) word() string {
	if c.Refreshes && c.State == SignInDone {
		return "refreshed"
	}
	return string(c.State)
}

func (c SignIn) outcome() string {
	switch c.State {
	case SignInDone:
		return "good"
	case SignInFailed:
		return "bad"
	}
	return "plain"
}

// digest says at which step the sign-in failed, and why.
func (c SignIn) digest() string {
	return wording.Join(": ", wording.After("at the ", c.FailedAt), c.Why)
}

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
