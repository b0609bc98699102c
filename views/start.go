package views

import (
	"strings"

	"elicitation-inspector/bridge/wording"
)

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

// offers counts what the server offers, in words.
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
	return f.Server.State == ServerReady && !f.Loading && f.Err == "" && f.offers() == ""
}

// what names the server for people: its title or its own name before the configured name.
func (f Found) what() string {
	for _, name := range []string{f.Server.Title, f.Server.Name} {
		if name != "" {
			return name
		}
	}
	return f.Server.Label
}

// remedy says what to do about a server without a connection.
func (s Server) remedy() string {
	switch {
	case s.State == ServerDisconnected:
		return "Reconnect to go on."
	case s.State == ServerEnded:
		return "Reconnect to start it again. The wire log keeps every byte that came before."
	case s.How == "stdio":
		return "Run its command in a terminal to see what it says there, then reconnect."
	}
	return "Check that the address is right and that the server runs, then reconnect."
}
