package views

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
	switch s.Policy {
	case "defaults":
		return "accepts with defaults"
	case "decline":
		return "declines"
	case "cancel":
		return "cancels"
	case "block":
		return "blocked"
	}
	return ""
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
