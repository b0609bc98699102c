package wire

import (
	"encoding/json"
	"net/http"
	"strconv"

	"elicitation-inspector/bridge/wording"
)

// SignIn is one HTTP exchange of a sign-in, without its secrets. The frame has the
// request's HTTPMethod and URL, and the response's Status and Header. Its time is that of
// the response; Note.At is that of the request.
type SignIn struct {
	Number   int         `json:"number"` // of the sign-in, counted from 1 in each run
	Step     Step        `json:"step"`
	Header   http.Header `json:"request_headers,omitempty"`
	Sent     string      `json:"sent,omitempty"`     // body of the request
	Received string      `json:"received,omitempty"` // body of the response
	// JWTs holds the decoded JWTs among the masked values, by the names of the values.
	JWTs map[string]JWT `json:"jwts,omitempty"`
}

// JWT is the decoded header and claims of a JSON Web Token, without its signature.
type JWT struct {
	Header json.RawMessage `json:"header"`
	Claims json.RawMessage `json:"claims"`
}

// Step is a step of a sign-in. Its texts are the values of "step" in a transcript.
type Step string

// The steps, in their order.
const (
	StepResource      Step = "resource-metadata"      // metadata of the protected resource (RFC 9728)
	StepServer        Step = "authorization-metadata" // metadata of the authorization server (RFC 8414, OpenID Connect Discovery)
	StepRegistration  Step = "registration"           // dynamic client registration (RFC 7591)
	StepAuthorization Step = "authorization"          // the browser is sent to the authorization server
	StepRedirect      Step = "redirect"               // the browser comes back
	StepToken         Step = "token"
	StepRefresh       Step = "refresh"
)

// Steps are all steps, in their order.
var Steps = []Step{StepResource, StepServer, StepRegistration, StepAuthorization, StepRedirect, StepToken, StepRefresh}

var stepWords = map[Step]string{
	StepResource: "resource metadata", StepServer: "authorization server metadata", StepRegistration: "client registration",
	StepAuthorization: "authorization", StepRedirect: "redirect", StepToken: "token", StepRefresh: "token refresh",
}

// String names the step for people.
func (s Step) String() string {
	if words, ok := stepWords[s]; ok {
		return words
	}
	return string(s)
}

// signInWords describes an exchange of a sign-in.
func (n *Note) signInWords(f *Frame) string {
	step := "a step"
	if n.SignIn != nil {
		step = n.SignIn.Step.String()
	}
	text := "sign-in, " + step + ": "
	if f.Status != 0 {
		text += "HTTP " + strconv.Itoa(f.Status) + wording.After(" ", http.StatusText(f.Status)) + " to "
	}
	return text + f.HTTPMethod + " " + f.URL + wording.After(": ", n.Why)
}
