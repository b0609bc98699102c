package faulty

import (
	"time"

	"elicitation-inspector/bridge/base/mcp"
)

// hanging lists the tools that leave a call without a response.
var hanging = []*tool{
	{
		name: "hold_table", title: "Hold a table", does: "It takes its question back after a while, and then never answers the call.", before: mcp.Revision20260728,
		asks: []question{{message: "For how many people?", fields: `"people":{"type":"integer","title":"People","minimum":1,"maximum":12}`}},
		says: "A table for {people} is held until eight.", patience: 2 * time.Second, mute: true,
		plants: also(found("fail", "no-response", "never"), "answer-withdrawn", "late", "half-then-rest", "byte-by-byte", "wrong-id", "retyped-id", "invalid-json"),
	},
	{
		name: "order_lunch", title: "Order lunch", does: "It never answers after a decline.",
		asks: []question{{message: "What would you like for lunch?", fields: `"dish":{"type":"string","title":"Dish","enum":["Soup","Salad","Pie"]}`}},
		says: "{dish} will be at your desk at noon.", slips: on(declined, hang),
		plants: onDecline("fail", "no-response"),
	},
	{
		name: "borrow_bike", title: "Borrow a bicycle", does: "It never answers after a cancel.",
		asks: []question{{message: "For how many minutes do you need the bicycle?", fields: `"minutes":{"type":"integer","title":"Minutes","minimum":15,"maximum":240}`}},
		says: "Bicycle 7 is yours for {minutes} minutes.", slips: on(cancelled, hang),
		plants: onCancel("fail", "no-response"),
	},
	{
		name: "invite_speaker", title: "Invite a speaker", does: "It never answers after a JSON-RPC error.", before: mcp.Revision20260728,
		asks: []question{{message: "Who should speak in May?", fields: `"speaker":{"type":"string","title":"Speaker"}`}},
		says: "{speaker} has an invitation for May.", slips: on(anError, hang),
		plants: found("fail", "no-response", "method-not-found", "invalid-params", "internal-error", "request-cancelled", "any-error"),
	},
	{
		name: "frame_picture", title: "Frame a picture", does: "It never answers after an answer without content.",
		asks: []question{{message: "How wide is the picture, in centimetres?", fields: `"width":{"type":"integer","title":"Width","minimum":5,"maximum":200}`}},
		says: "A frame for {width} cm is ready on Friday.", slips: on(withoutContent, hang),
		plants: found("fail", "no-response", "no-content"),
	},
	{
		name: "tune_piano", title: "Have the piano tuned", does: "It never answers after an invalid date.",
		asks: []question{{message: "On which day may the tuner come?", fields: `"day":{"type":"string","title":"Day","format":"date"}`}},
		says: "The tuner comes on {day}.", slips: on(breaking("format"), hang),
		plants: found("fail", "no-response", "wrong-format"),
	},
	{
		name: "paint_fence", title: "Paint the fence", does: "It never answers after an action that it does not know.",
		asks: []question{{message: "In which colour?", fields: `"colour":{"type":"string","title":"Colour","enum":["Green","White","Brown"]}`}},
		says: "The fence will be {colour}.", slips: on(unknownAction, hang),
		plants: found("fail", "no-response", "unknown-action"),
	},
	{
		name: "post_parcel", title: "Post a parcel", does: "It never answers after a number that is too large.",
		asks: []question{{message: "What does the parcel weigh, in grams?", fields: `"grams":{"type":"integer","title":"Grams","minimum":1,"maximum":30000}`}},
		says: "The parcel of {grams} g is collected today.", slips: on(breaking("maximum"), hang),
		plants: found("fail", "no-response", "above-maximum"),
	},
	{
		name: "find_keys", title: "Find the keys", does: "It never answers after an accept.",
		asks: []question{{message: "Where did you have them last?", fields: `"room":{"type":"string","title":"Room","enum":["Kitchen","Hall"]}`}},
		says: "", slips: on(withContent, hang),
		plants: also(found("fail", "no-response|unusable", "accept"), "*"),
	},
	{
		name: "rent_costume", title: "Rent a costume", does: "It never answers a client that has not declared elicitation.",
		asks:   []question{{message: "Which costume?", fields: `"costume":{"type":"string","title":"Costume","enum":["Pirate","Ghost"]}`}},
		says:   "The costume is yours until Monday: {costume}.",
		begins: func(c *call) { c.hangUnless(c.declared("form") || c.declared("url")) },
		plants: found("fail", "no-response|unusable", "no-elicitation"),
	},
}

// hangUnless waits for the end of the call unless so is true.
func (c *call) hangUnless(so bool) {
	if !so {
		<-c.ctx.Done()
	}
}

// crashing lists the tools that end the process.
var crashing = []*tool{
	{
		name: "book_ferry", title: "Book the ferry", does: "It crashes on a decline.",
		asks: []question{{message: "Which ferry?", fields: `"ferry":{"type":"string","title":"Ferry","enum":["8:15","11:40"]}`}},
		says: "You are on the ferry at {ferry}.", slips: on(declined, crash("panic: unexpected action \"decline\"")),
		plants: onDecline("fail", "process-ended"),
	},
	{
		name: "count_stock", title: "Count the stock", does: "It crashes on an answer without content.",
		asks: []question{{message: "How many boxes are there?", fields: `"boxes":{"type":"integer","title":"Boxes","minimum":0,"maximum":999}`}},
		says: "{boxes} boxes are in the book.", slips: on(withoutContent, crash("TypeError: Cannot read properties of undefined (reading 'boxes')")),
		plants: found("fail", "process-ended", "no-content"),
	},
	{
		name: "mend_shoes", title: "Have shoes mended", does: "It crashes on content that is null.",
		asks: []question{{message: "What is wrong with them?", fields: `"damage":{"type":"string","title":"Damage","enum":["Heel","Sole","Seam"]}`}},
		says: "{damage} mended: ready on Thursday.", slips: on(withNull, crash("TypeError: Cannot read properties of null (reading 'damage')")),
		plants: found("fail", "process-ended", "null-content"),
	},
	{
		name: "water_garden", title: "Water the garden", does: "It crashes on content that is a list.",
		asks: []question{{message: "For how many minutes?", fields: `"minutes":{"type":"integer","title":"Minutes","minimum":1,"maximum":60}`}},
		says: "The sprinkler runs for {minutes} minutes.", slips: on(withList, crash("AttributeError: 'list' object has no attribute 'get'")),
		plants: found("fail", "process-ended", "array-content"),
	},
	{
		name: "print_badges", title: "Print name badges", does: "It crashes on a JSON-RPC error.", before: mcp.Revision20260728,
		asks: []question{{message: "Whose badge?", fields: `"guest":{"type":"string","title":"Guest"}`}},
		says: "A badge for {guest} is in the tray.", slips: on(anError, crash("Unhandled promise rejection: McpError")),
		plants: found("fail", "process-ended", "method-not-found", "invalid-params", "internal-error", "request-cancelled", "any-error"),
	},
	{
		name: "name_cat", title: "Name the cat", does: "It crashes on an action that it does not know.",
		asks: []question{{message: "What is the cat called?", fields: `"cat":{"type":"string","title":"Name"}`}},
		says: "The vet knows the cat as {cat}.", slips: on(unknownAction, crash("ValueError: 'perhaps' is not a valid Action")),
		plants: found("fail", "process-ended", "unknown-action"),
	},
	{
		name: "rent_tent", title: "Rent a tent", does: "It crashes on a second answer to its question.", before: mcp.Revision20260728,
		asks: []question{{message: "For how many people?", fields: `"people":{"type":"integer","title":"People","minimum":1,"maximum":8}`}},
		says: "A tent for {people} is waiting at the gate.", breaksOn: answered,
		plants: found("fail", "process-ended", "response-twice", "cancel-then-accept"),
	},
	{
		name: "hold_parcel", title: "Hold a parcel", does: "It gives up after a while, and crashes on an answer that comes later.", before: mcp.Revision20260728,
		asks: []question{{message: "At which counter?", fields: `"counter":{"type":"string","title":"Counter","enum":["Station","Market"]}`}},
		says: "The parcel waits at the counter: {counter}.", breaksOn: withdrawn, patience: 4 * time.Second,
		plants: also(found("fail", "process-ended", "answer-withdrawn", "response-after-cancel"), "late", "half-then-rest", "byte-by-byte"),
	},
	{
		name: "read_meter", title: "Read the meter", does: "It crashes on bytes that are not JSON.",
		asks: []question{{message: "What does the meter say?", fields: `"reading":{"type":"integer","title":"Reading","minimum":0}`}},
		says: "Noted: {reading} kWh.", breaksOn: garbled,
		plants: found("fail", "process-ended", "invalid-json"),
	},
	{
		name: "weigh_luggage", title: "Weigh the luggage", does: "It crashes on a value of another type.",
		asks: []question{{message: "What does the suitcase weigh?", fields: `"weight":{"type":"number","title":"Weight in kg","minimum":0,"maximum":50}`}},
		says: "{weight} kg is on the label.", slips: on(breaking("type"), crash("panic: interface conversion: interface {} is string, not float64")),
		plants: found("fail", "process-ended", "wrong-type", "number-as-text"),
	},
	{
		name: "sort_mail", title: "Sort the mail", does: "It crashes when it is called while its question waits.", before: mcp.Revision20260728,
		asks: []question{{message: "Which pile does it belong to?", fields: `"pile":{"type":"string","title":"Pile","enum":["Bills","Letters","Catalogues"]}`}},
		says: "One more among the {pile}.", alone: true,
		plants: found("fail", "process-ended", "several-at-once"),
	},
	{
		name: "wind_clock", title: "Wind the clock", does: "It crashes on a response under an id that it has not used.", before: mcp.Revision20260728,
		asks: []question{{message: "How many turns?", fields: `"turns":{"type":"integer","title":"Turns","minimum":1,"maximum":12}`}},
		says: "Wound with {turns} turns.", breaksOn: unknown,
		plants: found("fail", "process-ended", "wrong-id", "retyped-id"),
	},
	{
		name: "bake_bread", title: "Bake bread", does: "It ends the process without a word on a cancel.",
		asks: []question{{message: "Which loaf?", fields: `"loaf":{"type":"string","title":"Loaf","enum":["Rye","Wheat"]}`}},
		says: "{loaf} is in the oven.", slips: on(cancelled, crash("")),
		plants: onCancel("fail", "process-ended"),
	},
	{
		name: "pack_suitcase", title: "Pack the suitcase", does: "It crashes when a round brings no answer.", since: mcp.Revision20260728,
		asks: []question{{message: "For how many nights?", fields: `"nights":{"type":"integer","title":"Nights","minimum":1,"maximum":21}`}},
		says: "Shirts for {nights} nights are in.", needsKey: true,
		plants: found("fail", "process-ended", "missing-key"),
	},
	{
		name: "set_table", title: "Set the table", does: "It crashes when a round brings an answer that nothing asked for.", since: mcp.Revision20260728,
		asks: []question{{message: "For how many guests?", fields: `"guests":{"type":"integer","title":"Guests","minimum":1,"maximum":12}`}},
		says: "The table is set for {guests}.", needsNoOther: true,
		plants: found("fail", "process-ended", "extra-key"),
	},
	{
		name: "greet_guests", title: "Greet the guests", does: "It crashes when the client has not declared elicitation.",
		asks: []question{{message: "In which language?", fields: `"language":{"type":"string","title":"Language","enum":["Welsh","Dutch"]}`}},
		says: "The sign at the door is in {language}.", begins: crashUndeclared,
		plants: found("fail", "process-ended", "no-elicitation"),
	},
	{
		name: "connect_thermostat", title: "Connect the thermostat", does: "It crashes when the answer to a URL has content.", since: mcp.Revision20251125,
		asks: []question{{message: "Pair the thermostat on its page.", url: "https://heating.example/pair"}},
		says: "The thermostat can be paired for ten minutes.", slips: on(withContent, crash("fatal: unexpected member \"content\"")),
		plants: found("fail", "process-ended", "accept-with-content"),
	},
	{
		name: "move_house", title: "Move house", does: "It crashes when its second question is declined.",
		asks: []question{
			{message: "To which town do you move?", fields: `"town":{"type":"string","title":"Town","enum":["Elm","Oak"]}`},
			{message: "And how many boxes are there?", fields: `"boxes":{"type":"integer","title":"Boxes","minimum":1,"maximum":200}`},
		},
		says: "A van for {boxes} boxes drives to {town}.", slips: on(declined, crashLater),
		plants: also(found("fail", "process-ended", "decline"), "decline-with-content"),
	},
}

func crashUndeclared(c *call) {
	if !c.declared("form") && !c.declared("url") {
		c.crash("panic: runtime error: invalid memory address or nil pointer dereference", 2)
		<-c.ctx.Done()
	}
}
