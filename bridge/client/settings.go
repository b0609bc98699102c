// Package client says how the inspector presents itself to a server: the revision
// that it asks for and the capabilities that it declares; and what follows from
// that for the requests that the server makes of it.
package client

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/mcp"
)

// Settings are how the client presents itself to a server. A change takes
// effect at the next connection.
type Settings struct {
	// Protocol pins a revision; empty means the newest that both sides know.
	Protocol string
	Choice   Choice // who chose Protocol
	// Elicitation is declared in initialize, or in each request under 2026-07-28.
	// Empty means both modes, or the empty object where 2025-06-18 is pinned.
	Elicitation Elicitation
	// Sampling and Roots declare those capabilities; their requests are then
	// answered by the person like questions.
	Sampling, Roots bool
}

// Choice says who chose the revision in [Settings.Protocol].
type Choice int

// The choices.
const (
	// ChoiceNone is nobody's: what a browser remembers of the server holds.
	ChoiceNone Choice = iota
	// ChoiceExplicit is that of the command line, of mcp.json, or of the person
	// in the server's settings. It comes before what a browser remembers.
	ChoiceExplicit
	// ChoiceRemembered is one that a browser remembers.
	ChoiceRemembered
)

// Elicitation is what the client declares of elicitation.
type Elicitation string

// What can be declared: both modes, one, the empty object (which means form
// only, and is all that 2025-06-18 knows), or nothing.
const (
	DeclareBoth  Elicitation = "form,url"
	DeclareForm  Elicitation = "form"
	DeclareURL   Elicitation = "url"
	DeclareEmpty Elicitation = "empty"
	DeclareNone  Elicitation = "none"
)

// Elicitations lists what can be declared.
func Elicitations() []Elicitation {
	return []Elicitation{DeclareBoth, DeclareForm, DeclareURL, DeclareEmpty, DeclareNone}
}

// ParseSettings checks the words of the command line. The empty string is for
// what nobody has said, and auto for the choice that the revision be negotiated.
func ParseSettings(protocol, elicitation string) (Settings, error) {
	var s Settings
	if protocol != "" {
		s.Choice = ChoiceExplicit
	}
	if protocol != "" && protocol != "auto" {
		if !slices.Contains(mcp.Revisions, protocol) {
			return Settings{}, fmt.Errorf("unknown protocol revision %q: want auto, %s", protocol, strings.Join(mcp.Revisions, ", "))
		}
		s.Protocol = protocol
	}
	if elicitation == "url,form" {
		elicitation = string(DeclareBoth)
	}
	s.Elicitation = Elicitation(elicitation)
	if elicitation != "" && !slices.Contains(Elicitations(), s.Elicitation) {
		return Settings{}, fmt.Errorf("unknown elicitation capability %q: want form,url, form, url, empty or none", elicitation)
	}
	return s, nil
}

// Declares is what is declared of elicitation, with the default resolved.
func (s Settings) Declares() Elicitation {
	switch {
	case s.Elicitation != "":
		return s.Elicitation
	case s.Protocol == mcp.Revision20250618:
		return DeclareEmpty
	default:
		return DeclareBoth
	}
}

// Declared is the elicitation capability as JSON, or "" where none is declared.
func (s Settings) Declared() string {
	switch s.Declares() {
	case DeclareBoth:
		return `{"form":{},"url":{}}`
	case DeclareForm:
		return `{"form":{}}`
	case DeclareURL:
		return `{"url":{}}`
	case DeclareEmpty:
		return `{}`
	default:
		return ""
	}
}

// Allows reports whether a question in the given mode was declared. The empty
// object stands for form only (specification 2025-11-25, Elicitation,
// Capabilities). 2025-06-18 has no modes, so there any object stands for it.
func (s Settings) Allows(mode, revision string) bool {
	if revision == mcp.Revision20250618 && mode == "form" {
		return s.Declares() != DeclareNone
	}
	switch s.Declares() {
	case DeclareBoth:
		return true
	case DeclareForm, DeclareEmpty:
		return mode != "url"
	case DeclareURL:
		return mode == "url"
	default:
		return false
	}
}

// Undeclared names the capability that a request needs and that is not declared,
// "" where there is none. What elicitation needs depends on its mode; see Allows.
func (s Settings) Undeclared(method string) string {
	switch {
	case method == mcp.MethodSample && !s.Sampling:
		return "sampling"
	case method == mcp.MethodListRoots && !s.Roots:
		return "roots"
	default:
		return ""
	}
}

// AsksPerson reports whether requests of this method are put to the person.
func (s Settings) AsksPerson(method string) bool {
	return mcp.IsInput(method) && s.Undeclared(method) == ""
}
