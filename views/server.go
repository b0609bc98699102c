package views

import (
	"cmp"
	"fmt"
	"strconv"
)

// RowID and HeldID are the ids of the elements that [ServerRow] and [HeldLine] draw.
func (s Server) RowID() string  { return "server-" + s.ID }
func (s Server) HeldID() string { return "held-" + s.ID }

// shown tells how a server is known to people: its name and how it is reached.
func (s Server) shown() string {
	return join(" · ", Brief(s.Version), Brief(s.How))
}

// stateWord is the state of a server as text.
func (s Server) stateWord() string {
	return either(s.State == ServerConnecting, "connecting…", string(s.State))
}

// condition says in a sentence where a server stands that cannot be called.
func (s Server) condition() string {
	words := map[ServerState]string{
		ServerConnecting: "is still connecting", ServerFailed: "could not be connected", ServerEnded: "has ended",
	}
	return cmp.Or(words[s.State], "is "+s.stateWord())
}

// up tells whether there is a connection that could be ended.
func (s Server) up() bool { return s.State == ServerReady || s.State == ServerConnecting }

// HoldsBack reports whether the server has a [HeldLine].
func (s Server) HoldsBack() bool { return s.Held > 0 || s.TurnedAway > 0 }

// heldWords say why questions of the server are held back, and whether there was
// room for all.
func (s Server) heldWords() string {
	text := "held back, because it asks too often"
	if s.Held > 0 && s.Room == 0 {
		text += ". Answer some of those on show to make room"
	}
	if s.TurnedAway > 0 {
		text += fmt.Sprintf(". %s refused, because so many wait already", plural(s.TurnedAway, "was", "were"))
	}
	return text
}

// showHeld is the name of the button that puts on show what there is room for; ""
// where there is none.
func (s Server) showHeld() string {
	switch {
	case s.Held == 0 || s.Room == 0:
		return ""
	case s.Room < s.Held:
		return "Show " + strconv.Itoa(s.Room)
	}
	return "Show"
}

// option is one choice of a setting.
type option struct{ value, title string }

// rememberable is the revision that a browser can remember for a server: the last
// one in which servers ask by requests.
const rememberable = "2025-11-25"

// What a client can say of itself; see Settings.
var (
	protocols = []option{
		{"auto", "auto: the newest both know"}, {"2026-07-28", "2026-07-28"}, {"2025-11-25", "2025-11-25"}, {"2025-06-18", "2025-06-18"},
	}
	declarations = []option{
		{"form,url", "form and url"}, {"form", "form"}, {"url", "url"}, {"empty", "{}, which means form"}, {"none", "nothing"},
	}
)

// declared lists the capabilities that matter here and that the client declared,
// or says that there are none.
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
	if out == nil {
		return []string{"nothing"}
	}
	return out
}

// policies are what can become of a server's questions; see Server.Policy.
var policies = []option{
	{"ask", "Ask me"}, {"defaults", "Accept with defaults"}, {"decline", "Decline"}, {"cancel", "Cancel"}, {"block", "Block with an error"},
}

// policyWord says in short what becomes of a server's questions, "" if they are
// put to the person as usual.
func (s Server) policyWord() string {
	return map[string]string{
		"defaults": "accepts with defaults", "decline": "declines", "cancel": "cancels", "block": "blocked",
	}[s.Policy]
}

// summary says how much of what a server offers does not depend on what the
// client declares.
func (c Comparison) summary() string {
	both := plural(c.Both, "item is", "items are") + " offered either way"
	if len(c.OnlyWith)+len(c.OnlyWithout) == 0 {
		return both + ": what the client declares makes no difference."
	}
	return both + "."
}

// path is the address of what can be done with a server.
func (s Server) path(what string) string { return "/servers/" + s.ID + "/" + what }
