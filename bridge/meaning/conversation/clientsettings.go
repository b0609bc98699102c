package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// ClientSettings define how the client presents itself to a server. A change takes effect at
// the next connection.
type ClientSettings struct {
	// Protocol pins a revision; empty means the newest revision that both sides support.
	Protocol string
	Choice   RevisionChoice // who chose Protocol
	// DeclaredElicitation is declared in initialize, or since 2026-07-28 in each request. Empty
	// means both modes, or the empty object if 2025-06-18 is pinned.
	Elicitation DeclaredElicitation
	// Sampling and Roots declare these capabilities. The person then answers their
	// requests like questions.
	Sampling, Roots bool
	// NoTasks leaves undeclared that elicitations are taken as tasks (2025-11-25), and that
	// calls may be answered with tasks (extension of 2026-07-28).
	NoTasks bool
	// Apps declares that apps of the server may draw questions, which the inspector does not
	// let them do: it shows what servers then send.
	Apps bool
	// Traces receives the spans that the server tells of its own work.
	Traces bool
	// NoLogs asks for no log messages; otherwise the client asks for all of them.
	NoLogs bool
}

// RevisionChoice is the origin of the revision in [ClientSettings.Protocol].
type RevisionChoice int

// The choices.
const (
	// ChoiceNone means that nobody chose a revision: one that a browser remembers
	// applies.
	ChoiceNone RevisionChoice = iota
	// ChoiceExplicit means a choice on the command line, in mcp.json, or by the person in
	// the server's settings. It takes precedence over one that a browser remembers.
	ChoiceExplicit
	// ChoiceRemembered means a revision that a browser remembers.
	ChoiceRemembered
)

// DeclaredElicitation is the elicitation capability that the client declares.
type DeclaredElicitation string

// The values of Elicitation: both modes, one mode, the empty object (form mode only, and
// the only value in 2025-06-18), or no capability.
const (
	DeclareBoth  DeclaredElicitation = "form,url"
	DeclareForm  DeclaredElicitation = "form"
	DeclareURL   DeclaredElicitation = "url"
	DeclareEmpty DeclaredElicitation = "empty"
	DeclareNone  DeclaredElicitation = "none"
)

// ParseClientSettings parses the words of the command line. The empty string means no choice,
// and auto the explicit choice to negotiate the revision.
func ParseClientSettings(protocol, elicitation string) (ClientSettings, error) {
	var s ClientSettings
	if protocol != "" {
		s.Choice = ChoiceExplicit
	}
	if protocol != "" && protocol != "auto" {
		if !slices.Contains(mcp.Revisions, protocol) {
			return ClientSettings{}, fmt.Errorf("unknown protocol revision %q: want auto, %s", protocol, strings.Join(mcp.Revisions, ", "))
		}
		s.Protocol = protocol
	}
	words := strings.Split(elicitation, ",")
	s.Apps, s.NoTasks = slices.Contains(words, "apps"), slices.Contains(words, "no-tasks")
	modes := slices.DeleteFunc(words, func(w string) bool { return w == "apps" || w == "no-tasks" })
	if len(modes) == 2 && modes[0] == "url" {
		slices.Reverse(modes)
	}
	s.Elicitation = DeclaredElicitation(strings.Join(modes, ","))
	if s.Elicitation != "" && !slices.Contains([]DeclaredElicitation{DeclareBoth, DeclareForm, DeclareURL, DeclareEmpty, DeclareNone}, s.Elicitation) {
		return ClientSettings{}, fmt.Errorf("unknown elicitation capability %q: want form,url, form, url, empty or none, and with it no-tasks to declare no tasks, or apps to declare that apps may draw questions", elicitation)
	}
	return s, nil
}

// ClientSettingsOf returns the settings under which a client declares d.
func ClientSettingsOf(d *Declared) ClientSettings {
	s := ClientSettings{Elicitation: DeclareNone, Sampling: d.Sampling != nil, Roots: d.Roots != nil}
	s.Apps = rawjson.Member(d.Extensions, mcp.AppsExtension, "elicitation") != nil
	s.NoTasks = d.Tasks == nil && rawjson.Member(d.Extensions, mcp.TasksExtension) == nil
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
func (s ClientSettings) Declares() DeclaredElicitation {
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
func (s ClientSettings) Declared() string {
	return map[DeclaredElicitation]string{
		DeclareBoth: `{"form":{},"url":{}}`, DeclareForm: `{"form":{}}`, DeclareURL: `{"url":{}}`, DeclareEmpty: `{}`,
	}[s.Declares()]
}

// DeclaredTasks is the capability tasks that a client of 2025-11-25 declares, as JSON:
// the server may send elicitations as tasks, and list and cancel them.
const DeclaredTasks = `{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}}}}`

// TakesTasks reports whether the client declares in this revision that it takes
// elicitations as tasks.
func (s ClientSettings) TakesTasks(revision string) bool {
	return revision == mcp.Revision20251125 && !s.NoTasks && s.Declares() != DeclareNone
}

// TakesCallTasks reports whether the client declares in this revision that its calls may be
// answered with tasks: the extension, which it declares whatever it says of elicitation.
func (s ClientSettings) TakesCallTasks(revision string) bool {
	return revision >= mcp.Revision20260728 && !s.NoTasks
}

// Allows reports whether the declaration allows a question in the given mode. The empty
// object means form mode only (specification 2025-11-25, Elicitation, Capabilities).
// 2025-06-18 has no modes, so any declared object allows forms.
func (s ClientSettings) Allows(mode, revision string) bool {
	declared := s.Declares()
	if mode == "url" {
		return declared == DeclareBoth || declared == DeclareURL
	}
	return declared != DeclareNone && (declared != DeclareURL || revision == mcp.Revision20250618)
}

// Undeclared reports whether a request needs a capability that is not declared. For
// elicitations see Allows.
func (s ClientSettings) Undeclared(method string) bool {
	return method == mcp.MethodSample && !s.Sampling || method == mcp.MethodListRoots && !s.Roots
}

// AsksPerson reports whether requests of this method are put to the person.
func (s ClientSettings) AsksPerson(method string) bool {
	return mcp.IsInput(method) && !s.Undeclared(method)
}
