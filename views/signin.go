package views

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// SignInState is the progress of a sign-in, in words for people.
type SignInState string

// These states change what a card shows; it shows the others as their text.
const (
	SignInHeld    SignInState = "held"    // a request waits for the person's decision
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
	Facts     []Fact
	Steps     []SignInStep
	Held      *HeldRequest
	Stepwise  bool
	FailedAt  string // the step at which a failed attempt ended
	Why       string // the reason
	Began     time.Time
	Took      time.Duration // from Began to the end; 0 before
}

// Fact is a named value: a property of a sign-in, a header, or a parameter.
type Fact struct{ Name, Value string }

// SignInStep is one exchange of the attempt.
type SignInStep struct {
	Name    string
	Method  string
	URL     string
	Outcome string // the response in a few words
	Took    time.Duration
	Why     string // why the exchange failed; "" if it did not
}

// HeldRequest is a request that is held before it goes out.
type HeldRequest struct {
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
func (c SignIn) ID() string { return "sign-in-" + c.Server.ID }

// ID is the id of the element that [TokenView] draws.
func (t Token) ID() string { return "token-" + t.Server }

func path(server, what string) string { return "/servers/" + server + "/signin/" + what }

func (c SignIn) path(what string) string { return path(c.Server.ID, what) }

func (c SignIn) title() string {
	if c.Refreshes {
		return "Refresh the token for " + c.Server.Label
	}
	return "Sign in to " + c.Server.Label
}

func (c SignIn) doing() string {
	switch c.State {
	case SignInHeld:
		return "holds a request for you"
	case SignInWaiting:
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

// FactsOf lists the values of headers, or of parameters, by name.
func FactsOf(h http.Header) (out []Fact) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, Fact{name, value})
		}
	}
	return out
}

// body is a body of a request or a response: a form, JSON, or other text.
type body struct {
	form []Fact
	json string
	text string
}

// bodyOf parses a body by its text and its Content-Type.
func bodyOf(h http.Header, text string) (b body) {
	switch values, err := url.ParseQuery(text); {
	case rawjson.Valid([]byte(text)):
		b.json = rawjson.Pretty([]byte(text))
	case strings.HasPrefix(h.Get("Content-Type"), "application/x-www-form-urlencoded") && err == nil:
		b.form = FactsOf(http.Header(values))
	default:
		b.text = text
	}
	return b
}

func answered(f *wire.Frame) string {
	if f.Status == 0 {
		return "There was no response."
	}
	return wording.Join(" · ", fmt.Sprintf("HTTP %d %s", f.Status, http.StatusText(f.Status)), wording.After("after ", f.Note.Took))
}

// byBrowser reports whether the browser makes the request of a step, so that only its URL is known.
func byBrowser(s wire.Step) bool { return s == wire.StepAuthorization || s == wire.StepRedirect }

func query(address string) []Fact {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	return FactsOf(http.Header(u.Query()))
}
