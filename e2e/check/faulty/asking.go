package faulty

import (
	"slices"

	"elicitation-inspector/bridge/base/mcp"
)

// undeclared lists the tools that ask in a mode that the client has not declared.
var undeclared = []*tool{
	{
		name: "pick_team", title: "Pick a team", does: "It asks a client that has not declared elicitation.",
		asks: []question{{message: "Which team?", fields: `"team":{"type":"string","title":"Team","enum":["Red","Blue"]}`}},
		says: "You play for the team: {team}.", may: func(*call) bool { return true },
		plants: also(found("fail", undeclaredMode, "no-elicitation"), "url-only"),
	},
	{
		name: "pay_fine", title: "Pay a fine", does: "It sends you to a page though the client has not declared URL mode.", since: mcp.Revision20251125,
		asks: []question{{message: "Pay the fine on the page of the library.", url: "https://library.example/fines"}},
		says: "The fine is gone as soon as it is paid.", may: func(c *call) bool { return c.declared("form") || c.declared("url") },
		plants: found("fail", undeclaredMode, "form-only"),
	},
}

// undeclaredMode holds the IDs of the rules on that defect: the linter's and the check's.
const undeclaredMode = "mode-undeclared|undeclared-mode"

// endless lists the tools that ask again after a refusal.
var endless = []*tool{
	{
		name: "rate_hotel", title: "Rate the hotel", does: "It asks again and again until you accept.",
		asks: []question{{message: "How many stars?", fields: `"stars":{"type":"integer","title":"Stars","minimum":1,"maximum":5}`}},
		says: "{stars} stars, thank you.", slips: on(declined, askAgain),
		plants: in(found("warn", "asks-for-ever", "decline-always"), mcp.Revision20251125, mcp.Revision20250618),
	},
}

// crossing lists the tools that handle simultaneous calls wrongly.
var crossing = []*tool{
	{
		name: "assign_desk", title: "Assign a desk", does: "It takes an answer for that to its oldest question, so that a call can go without a response.", before: mcp.Revision20260728,
		asks: []question{{message: "Who gets the desk?", fields: `"colleague":{"type":"string","title":"Colleague"}`}},
		says: "The desk belongs to {colleague}.", inOrder: true,
		plants: found("fail", "crossed-answers|no-response", "several-at-once"),
	},
	{
		name: "leave_message", title: "Leave a message", does: "It takes the first answer of a session for all calls.",
		asks: []question{{message: "What is the message?", fields: `"message":{"type":"string","title":"Message"}`}},
		says: "The machine has recorded: {message}.", remembers: true,
		plants: found("fail", "crossed-answers", "several-at-once"),
	},
	{
		name: "brew_coffee", title: "Brew a coffee", does: "It takes an acceptance without content for the one before.", before: mcp.Revision20260728,
		asks: []question{{message: "Which coffee?", fields: `"coffee":{"type":"string","title":"Coffee"}`}},
		says: "Here is your {coffee}.", recalls: true, slips: on(withoutContent, recall),
		plants: found("warn", "uses-invalid-content", "no-content-again"),
	},
	{
		name: "watch_oven", title: "Watch the oven", does: "It lets the server do nothing else while its question waits.", before: mcp.Revision20260728,
		asks: []question{{message: "How many minutes?", fields: `"minutes":{"type":"integer","title":"Minutes","minimum":1,"maximum":90}`}},
		says: "The oven is off after {minutes} minutes.", deaf: true,
		plants: slices.Concat(found("fail", "no-response", "several-at-once"), found("fail", "ping-unanswered", "late")),
	},
}

// trusting lists the tools that accept a requestState that the server did not send them.
var trusting = []*tool{
	{
		name: "sell_house", title: "Sell the house", does: "It takes a requestState that was changed.", since: mcp.Revision20260728,
		asks: []question{
			{message: "Who shows the house?", fields: `"agent":{"type":"string","title":"Agent","format":"email"}`},
			{message: "For how much?", fields: `"price":{"type":"integer","title":"Price","minimum":1}`},
		},
		says: "The house is on the market for {price}, and {agent} shows it.", takes: errChanged,
		plants: found("fail", "forged-state", "changed-state", "changed-state-start", "changed-state-end", "changed-state-inside"),
	},
	{
		name: "deploy_site", title: "Deploy the site", does: "Its requestState is the earlier answer in plain text, which it believes.", since: mcp.Revision20260728,
		asks: []question{
			{message: "Where to?", fields: `"place":{"type":"string","title":"Place"}`},
			{message: "When?", fields: `"hour":{"type":"integer","title":"Hour","minimum":0,"maximum":23}`},
		},
		says: "Deployed to {place} at {hour}.", plain: true,
		plants: found("fail", "forged-state", "invented-state", "changed-state", "changed-state-start", "changed-state-end"),
	},
	{
		name: "grant_access", title: "Grant access", does: "It reads its requestState, and does not look at the signature.", since: mcp.Revision20260728,
		asks: []question{
			{message: "Who gets in?", fields: `"person":{"type":"string","title":"Person"}`},
			{message: "For how many days?", fields: `"days":{"type":"integer","title":"Days","minimum":1,"maximum":30}`},
		},
		says: "{person} gets in for {days} days.", unsigned: true,
		plants: also(found("fail", "forged-state", "changed-state-inside", "changed-state-end"), "changed-state"),
	},
	{
		name: "rent_hall", title: "Rent a hall", does: "Its requestState is good for every hall.", since: mcp.Revision20260728, argument: "hall",
		asks:   []question{{message: "For how many hours?", fields: `"hours":{"type":"integer","title":"Hours","minimum":1,"maximum":12}`}},
		says:   "The hall {hall} is yours for {hours} hours.",
		plants: found("warn", "foreign-state", "other-arguments-state"),
	},
	{
		name: "open_safe", title: "Open the safe", does: "It takes a requestState that it never made.", since: mcp.Revision20260728,
		asks: []question{
			{message: "Who opens it?", fields: `"keeper":{"type":"string","title":"Keeper","format":"email"}`},
			{message: "For how many minutes?", fields: `"minutes":{"type":"integer","title":"Minutes","minimum":1,"maximum":60}`},
		},
		says: "The safe is open to {keeper} for {minutes} minutes.", takes: errInvented,
		plants: found("fail", "forged-state", "invented-state"),
	},
	{
		name: "sign_lease", title: "Sign the lease", does: "It goes on without a requestState that should hold an earlier answer.", since: mcp.Revision20260728,
		asks: []question{
			{message: "Who signs?", fields: `"tenant":{"type":"string","title":"Tenant","format":"email"}`},
			{message: "For how many years?", fields: `"years":{"type":"integer","title":"Years","minimum":1,"maximum":30}`},
		},
		says: "The lease is signed by {tenant} for {years} years.", takes: errNoState,
		plants: found("fail", "forged-state", "no-state"),
	},
	{
		name: "cut_hedge", title: "Cut the hedge", does: "Its requestState says whether it was agreed to, and it believes that.", since: mcp.Revision20260728,
		asks: []question{{message: "Cut the hedge?", fields: ``}},
		says: "The hedge is cut.", unsigned: true, believes: true,
		plants: also(found("fail", "forged-state", "forged-state-declined"), "forged-state-alone", "changed-state", "changed-state-start", "changed-state-end", "changed-state-inside"),
	},
	{
		name: "draw_lots", title: "Draw lots", does: "Its requestState is good for every tool.", since: mcp.Revision20260728,
		asks: []question{{message: "What is the prize?", fields: `"prize":{"type":"string","title":"Prize"}`}},
		says: "The winner gets this: {prize}.", wanders: true,
		plants: found("warn", "foreign-state", "other-tool"),
	},
	{
		name: "lift_bridge", title: "Lift the bridge", does: "Its requestState is good for every tool, which then does not ask its own question.", since: mcp.Revision20260728,
		asks: []question{{message: "Lift the bridge?", fields: ``}},
		says: "The bridge is up.", wanders: true,
		plants: found("warn", "foreign-state", "other-tool"),
	},
}

// unruly lists the tools whose questions or results break a rule of the linter.
var unruly = []*tool{
	{
		name: "join_wifi", title: "Join the Wi-Fi", does: "It asks for a password in a form.",
		asks: []question{{message: "How do you get into the network?", fields: `"password":{"type":"string","title":"Password of the network"}`}},
		says: "You are in the network.", plants: found("fail", "secret-in-form", "accept"),
	},
	{
		name: "ship_crate", title: "Ship a crate", does: "Its form has an object inside the object.",
		asks: []question{{
			message:  "How large is the crate?",
			fields:   `"label":{"type":"string","title":"Label"},"size":{"type":"object","title":"Size","properties":{"width":{"type":"integer"}}}`,
			required: []string{"label"},
		}},
		says: "The crate is shipped as {label}.", plants: found("fail", "nested-object", "accept"),
	},
	{
		name: "ring_bell", title: "Ring the bell", does: "Its question has no message.",
		asks: []question{{fields: `"times":{"type":"integer","title":"Times","minimum":1,"maximum":12}`}},
		says: "The bell rang {times} times.", plants: found("fail", "message-missing", "accept"),
	},
	{
		name: "call_taxi", title: "Call a taxi", does: "Its form has a format that the specification does not have.",
		asks: []question{{
			message: "Which number can the driver call?",
			fields:  `"phone":{"type":"string","title":"Telephone","format":"phone"}`,
		}},
		says: "A taxi is on its way; the driver calls {phone}.", plants: found("fail", "format-unsupported", "accept"),
	},
	{
		name: "visit_museum", title: "Visit the museum", does: "It sends you to a page without HTTPS.", since: mcp.Revision20251125,
		asks: []question{{message: "Choose an hour on the page of the museum.", url: "http://museum.example/hours"}},
		says: "The museum expects you.", plants: found("warn", "url-insecure", "accept"),
	},
	{
		name: "fix_roof", title: "Have the roof fixed", does: "Its message has a URL that should be followed.", since: mcp.Revision20251125,
		asks: []question{{message: "Open https://roofs.example/tiles to see which you have. How many are missing?", fields: `"tiles":{"type":"integer","title":"Tiles","minimum":1,"maximum":500}`}},
		says: "A roofer brings {tiles} tiles.", plants: found("warn", "url-in-form", "accept"),
	},
	{
		name: "connect_scale", title: "Connect the scale", does: "Its URL has no elicitationId.", since: mcp.Revision20251125, before: mcp.Revision20260728,
		asks: []question{{message: "Pair the scale on its page.", url: "https://scales.example/pair", noID: true}},
		says: "The scale can be paired for ten minutes.", plants: found("fail", "id-missing", "accept"),
	},
	{
		name: "feed_fish", title: "Feed the fish", does: "Its result has a resultType that does not exist.", since: mcp.Revision20260728,
		asks: []question{{message: "How many spoons?", fields: `"spoons":{"type":"integer","title":"Spoons","minimum":1,"maximum":3}`}},
		says: "{spoons} spoons are in the water.", kind: "done",
		plants: also(found("fail", "result-type-unknown", "accept"), "*"),
	},
	{
		name: "wake_up", title: "Set the alarm", does: "It also asks in a request of its own, which servers must not send any more.", since: mcp.Revision20260728,
		asks: []question{{message: "At what hour?", fields: `"hour":{"type":"integer","title":"Hour","minimum":0,"maximum":23}`}},
		says: "The alarm rings at {hour}.", begins: askTheOldWay,
		plants: found("fail", "request-removed", "accept"),
	},
}

// askTheOldWay sends an elicitation request and does not wait for its answer.
func askTheOldWay(c *call) {
	if len(c.answers) == 0 && c.declared("form") {
		loud := question{message: "How loud may it be?", fields: `"volume":{"type":"integer","title":"Volume","minimum":1,"maximum":10}`}
		c.send(`{"jsonrpc":"2.0","id":"of call %s","method":%q,"params":%s}`, c.id, mcp.MethodElicit, loud.params(c.revision))
	}
}
