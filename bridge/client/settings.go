// Package client defines how the inspector presents itself to a server: the revision that
// it requests and the capabilities that it declares. From these it decides which requests
// of the server it accepts.
package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
)

// Settings define how the client presents itself to a server. A change takes effect at
// the next connection.
type Settings struct {
	// Protocol pins a revision; empty means the newest revision that both sides support.
	Protocol string
	Choice   Choice // who chose Protocol
	// Elicitation is declared in initialize, or since 2026-07-28 in each request. Empty
	// means both modes, or the empty object if 2025-06-18 is pinned.
	Elicitation Elicitation
	// Sampling and Roots declare these capabilities. The person then answers their
	// requests like questions.
	Sampling, Roots bool
	// NoLogs asks for no log messages; otherwise the client asks for all of them.
	NoLogs bool
}

// Choice is the origin of the revision in [Settings.Protocol].
type Choice int

// The choices.
const (
	// ChoiceNone means that nobody chose a revision: one that a browser remembers
	// applies.
	ChoiceNone Choice = iota
	// ChoiceExplicit means a choice on the command line, in mcp.json, or by the person in
	// the server's settings. It takes precedence over one that a browser remembers.
	ChoiceExplicit
	// ChoiceRemembered means a revision that a browser remembers.
	ChoiceRemembered
)

// Elicitation is the elicitation capability that the client declares.
type Elicitation string

// The values of Elicitation: both modes, one mode, the empty object (form mode only, and
// the only value in 2025-06-18), or no capability.
const (
	DeclareBoth  Elicitation = "form,url"
	DeclareForm  Elicitation = "form"
	DeclareURL   Elicitation = "url"
	DeclareEmpty Elicitation = "empty"
	DeclareNone  Elicitation = "none"
)

// Elicitations lists the values of Elicitation.
func Elicitations() []Elicitation {
	return []Elicitation{DeclareBoth, DeclareForm, DeclareURL, DeclareEmpty, DeclareNone}
}

// ParseSettings parses the words of the command line. The empty string means no choice,
// and auto the explicit choice to negotiate the revision.
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

// SettingsOf returns the settings under which a client declares d.
func SettingsOf(d *conversation.Declared) Settings {
	s := Settings{Elicitation: DeclareNone, Sampling: d.Sampling != nil, Roots: d.Roots != nil}
	var modes map[string]json.RawMessage
	if d.Elicitation == nil || json.Unmarshal(d.Elicitation, &modes) != nil || modes == nil {
		return s
	}
	form, url := modes["form"] != nil, modes["url"] != nil
	switch {
	case form && url:
		s.Elicitation = DeclareBoth
	case form:
		s.Elicitation = DeclareForm
	case url:
		s.Elicitation = DeclareURL
	default:
		s.Elicitation = DeclareEmpty
	}
	return s
}

// Declares returns the declared elicitation capability, with the default resolved.
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

// Declared returns the elicitation capability as JSON, or "" if none is declared.
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

// Allows reports whether the declaration allows a question in the given mode. The empty
// object means form mode only (specification 2025-11-25, Elicitation, Capabilities).
// 2025-06-18 has no modes, so any declared object allows forms.
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

// Undeclared returns the capability that a request needs and that is not declared, "" if
// there is none. For elicitations see Allows.
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
