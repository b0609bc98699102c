//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package bridge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/target"
)

// The protocol revisions that know elicitation, newest first.
const (
	Revision20260728 = "2026-07-28"
	Revision20251125 = "2025-11-25"
	Revision20250618 = "2025-06-18"
)

// Revisions lists the protocol revisions that can be asked for, newest first.
func Revisions() []string {
	return []string{Revision20260728, Revision20251125, Revision20250618}
}

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

// ParseSettings checks the words of the command line. The empty string is for
// what nobody has said, and auto for the choice that the revision be negotiated.
func ParseSettings(protocol, elicitation string) (Settings, error) {
	var s Settings
	if protocol != "" {
		s.Choice = ChoiceExplicit
	}
	if protocol != "" && protocol != "auto" {
		if !slices.Contains(Revisions(), protocol) {
			return s, fmt.Errorf("unknown protocol revision %q: want auto, %s", protocol, strings.Join(Revisions(), ", "))
		}
		s.Protocol = protocol
	}
	if elicitation != "" {
		if elicitation == "url,form" {
			elicitation = string(DeclareBoth)
		}
		if !slices.Contains(Elicitations(), Elicitation(elicitation)) {
			return s, fmt.Errorf("unknown elicitation capability %q: want form,url, form, url, empty or none", elicitation)
		}
		s.Elicitation = Elicitation(elicitation)
	}
	return s, nil
}

// with adds what a file says of one server. What is set already, on the command
// line, comes first.
func (s Settings) with(spec target.Spec) (Settings, error) {
	own, err := ParseSettings(spec.Protocol, spec.Elicitation)
	if err != nil {
		return s, fmt.Errorf("%s: server %q: %w", spec.From, spec.Name, err)
	}
	if s.Choice == ChoiceNone && own.Choice != ChoiceNone {
		s.Protocol, s.Choice = own.Protocol, own.Choice
	}
	s.Elicitation = cmp.Or(s.Elicitation, own.Elicitation)
	return s, nil
}

// Declares is what is declared of elicitation, with the default resolved.
func (s Settings) Declares() Elicitation {
	switch {
	case s.Elicitation != "":
		return s.Elicitation
	case s.Protocol == Revision20250618:
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

// allows reports whether a question in the given mode was declared. The empty
// object stands for form only (specification 2025-11-25, Elicitation,
// Capabilities). 2025-06-18 has no modes, so there any object stands for it.
func (s Settings) allows(mode, revision string) bool {
	if revision == Revision20250618 && mode == string(elicit.ModeForm) {
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

// undeclares names the capability that a request needs and that is not declared,
// "" where there is none. What elicitation needs depends on its mode; see allows.
func (s Settings) undeclares(method string) string {
	switch {
	case method == MethodSampling && !s.Sampling:
		return "sampling"
	case method == MethodRoots && !s.Roots:
		return "roots"
	default:
		return ""
	}
}

func (s Settings) capabilities() *mcp.ClientCapabilities {
	c := &mcp.ClientCapabilities{}
	switch s.Declares() {
	case DeclareBoth:
		c.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	case DeclareForm:
		c.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
	case DeclareURL:
		c.Elicitation = &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}
	case DeclareEmpty:
		c.Elicitation = &mcp.ElicitationCapabilities{}
	case DeclareNone:
	}
	if s.Sampling {
		c.Sampling = &mcp.SamplingCapabilities{}
	}
	if s.Roots {
		c.RootsV2 = &mcp.RootCapabilities{}
	}
	return c
}
