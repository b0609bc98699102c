package views

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views/markup"
)

// RowID and HeldID are the ids of the elements that [ServerRow] and [HeldLine] draw.
func (s Server) RowID() string  { return "server-" + s.ID }
func (s Server) HeldID() string { return "held-" + s.ID }

// Colour is the class of the server's colour.
func (s Server) Colour() string { return markup.Colour(s.Index) }

func (s Server) shown() string {
	return wording.Join(" · ", markup.Brief(s.Info.Version), markup.Brief(s.How))
}

// tappedClient names the client of a tapped server, "" for others: that is the inspector.
func (s Server) tappedClient() string {
	if s.State != conversation.ServerTapped || s.Info.Client == "" {
		return ""
	}
	return "client " + s.Info.Client
}

func (s Server) stateWord() string {
	if s.State == conversation.ServerReady && s.Reason != "" { // the server has ended the session before
		return "ready, in a new session"
	}
	return wording.Either(s.State == conversation.ServerConnecting, "connecting…", s.State.String())
}

// condition describes the state of a server that cannot be called, as part of a sentence.
func (s Server) condition() string {
	words := map[conversation.ServerState]string{
		conversation.ServerConnecting: "is still connecting", conversation.ServerFailed: "could not be reached", conversation.ServerEnded: wording.Either(s.How == "stdio", "has exited", "is no longer connected"),
		conversation.ServerRemoved: "was removed",
	}
	if s.Refused {
		return "has answered, and refused"
	}
	return wording.Either(s.Unusable, "is described wrongly in its file", cmp.Or(words[s.State], "is "+s.stateWord()))
}

// up reports whether the server has a connection that can be closed.
func (s Server) up() bool {
	return s.State == conversation.ServerReady || s.State == conversation.ServerConnecting
}

// returns reports whether the server has no connection and can be connected again.
func (s Server) returns() bool {
	return !s.up() && !s.Unusable && s.State != conversation.ServerRemoved
}

// id is the prefix of the ids in the form of a server.
func (n NewServer) id() string { return wording.Either(n.ID == "", "add", "edit-"+n.ID) }

// HoldsBack reports whether the server has a [HeldLine].
func (s Server) HoldsBack() bool { return s.Held > 0 || s.TurnedAway > 0 }

func (s Server) heldWords() string {
	text := "held back, because it asks too often"
	if s.Held > 0 && s.Room == 0 {
		text += ". Answer some of the questions here to make room"
	}
	if s.TurnedAway > 0 {
		text += fmt.Sprintf(". %s refused, because so many wait already", wording.Count(s.TurnedAway, "was", "were"))
	}
	return text
}

// showHeld returns the name of the button that shows held questions; "" if there is no
// room for any.
func (s Server) showHeld() string {
	switch {
	case s.Held == 0 || s.Room == 0:
		return ""
	case s.Room < s.Held:
		return "Show " + strconv.Itoa(s.Room)
	}
	return "Show"
}

type option struct{ value, title string }

// rememberable is the revision that a browser can remember for a server: the last one in
// which servers ask by requests.
const rememberable = mcp.Revision20251125

// The settings of a client; see Settings.
var (
	protocols = []option{
		{"auto", "auto: the newest that both know"}, {mcp.Revision20260728, mcp.Revision20260728},
		{mcp.Revision20251125, mcp.Revision20251125}, {mcp.Revision20250618, mcp.Revision20250618},
	}
	declarations = []option{
		{"form,url", "form and url"}, {"form", "form"}, {"url", "url"}, {"empty", "{}, which means form"}, {"none", "nothing"},
	}
)

// declared returns the capabilities that the client declares in the server's revision.
func (s Server) declared() []string {
	var out []string
	if declared := s.Settings.Declared(); declared != "" {
		out = append(out, "elicitation "+declared)
	}
	if s.Settings.Sampling {
		out = append(out, "sampling")
	}
	if s.Settings.Roots {
		out = append(out, "roots")
	}
	if s.Settings.TakesTasks(s.Info.Protocol) {
		out = append(out, "tasks "+conversation.DeclaredTasks)
	}
	if s.Settings.TakesCallTasks(s.Info.Protocol) {
		out = append(out, mcp.TasksExtension)
	}
	if s.Settings.Apps {
		out = append(out, mcp.AppsExtension+` {"elicitation":{}}`)
	}
	if out == nil {
		return []string{"nothing"}
	}
	return out
}

// policies are the choices of a server's policy; see Server.Policy.
var policies = []option{
	{"ask", "Ask me"}, {"defaults", "Accept with defaults"}, {"decline", "Decline"}, {"cancel", "Cancel"}, {"block", "Block with an error"},
}

// policyWord describes a server's policy, "" if the person is asked.
func (s Server) policyWord() string {
	return map[conversation.Policy]string{
		conversation.PolicyDefaults: "accepts with defaults", conversation.PolicyDecline: "declines", conversation.PolicyCancel: "cancels", conversation.PolicyBlock: "blocked",
	}[s.Policy]
}

func (s Server) path(what string) string { return "/servers/" + s.ID + "/" + what }

// Start is the data of the start panel, which the page shows before the first call.
type Start struct {
	Servers []Found
	MayAdd  bool // the page can connect to further servers
}

// Found is one server, and what it was found to offer.
type Found struct {
	Server  Server
	Counts  map[Shelf]int
	Loading bool   // its lists are being read
	Waits   string // the requests for them that have no response after a moment, in words
	Err     string // why a list could not be read
	Stories []Story
	Asking  []Item // the first items whose descriptions speak of asking the user
}

// Story is a tool of the demo server that can be called with one click.
type Story struct {
	Tool         string
	Title, About string
	Item         Item
}

// Stories are the tools of the demo server to begin with.
var Stories = []Story{
	{Tool: "deploy", Title: "A deployment", About: "Several questions in a row, each depending on the last"},
	{Tool: "plan_trip", Title: "A trip", About: "Several questions at once, answered in any order"},
	{Tool: "suspicious_link", Title: "A suspicious link", About: "An address to look at twice before you open it"},
}

// AskingMost is how many items that may ask are named.
const AskingMost = 5

func (f Found) offers() string {
	var parts []string
	for _, k := range Shelves {
		if n := f.Counts[k]; n > 0 {
			parts = append(parts, wording.Count(n, strings.TrimSuffix(string(k), "s"), string(k)))
		}
	}
	return wording.Join(", ", parts...)
}

// empty reports whether the server is known to offer nothing.
func (f Found) empty() bool {
	return f.Server.State == conversation.ServerReady && !f.Loading && f.Err == "" && f.offers() == ""
}

// what names the server for people: its title or its own name before the configured name.
func (f Found) what() string {
	return cmp.Or(f.Server.Info.Title, f.Server.Info.Name, f.Server.Label)
}

// remedy says what to do about a server without a connection.
func (s Server) remedy() string {
	switch {
	case s.Unusable:
		return "Correct its entry, then start the inspector again."
	case s.State == conversation.ServerDisconnected:
		return "Reconnect to go on."
	case s.State == conversation.ServerEnded:
		return "Reconnect to start it again. The wire log keeps every byte that came before."
	case s.Refused:
		return "It can be reached. If it refuses what the client declares, have the client declare {} or form alone: choose the server in the bar at the top. Then reconnect."
	case s.How == "stdio":
		return "Run its command in a terminal to see what it says there, then reconnect."
	}
	return "Check that the address is right and that the server runs, then reconnect."
}
