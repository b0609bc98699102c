package faulty

import (
	"time"

	"elicitation-inspector/bridge/base/mcp"
)

// spoiling lists the tools that are unusable after a bad answer.
var spoiling = []*tool{
	{
		name: "lend_book", title: "Lend a book", does: "It fails for ever after a cancel.",
		asks: []question{{message: "Who borrows the book?", fields: `"reader":{"type":"string","title":"Reader"}`}},
		says: "Lent to {reader} for four weeks.", slips: on(cancelled, spoil),
		plants: onCancel("warn", "refuses-afterwards"),
	},
	{
		name: "reserve_court", title: "Reserve a court", does: "It never answers again after a decline.",
		asks: []question{{message: "Which court?", fields: `"court":{"type":"integer","title":"Court","minimum":1,"maximum":6}`}},
		says: "Court {court} is yours at six.", slips: on(declined, spoil), lost: true,
		plants: onDecline("fail", "unusable"),
	},
	{
		name: "tow_car", title: "Have a car towed", does: "It never answers again after one of its calls was cancelled.", before: mcp.Revision20260728,
		asks: []question{{message: "Where is the car?", fields: `"street":{"type":"string","title":"Street"}`}},
		says: "A truck is on its way to {street}.", spoiltByCancel: true, lost: true,
		plants: also(found("fail", "unusable", "response-after-cancel"), "*"),
	},
	{
		name: "mix_paint", title: "Mix paint", does: "It fails for ever after a number that is too large.",
		asks: []question{{message: "How many litres?", fields: `"litres":{"type":"number","title":"Litres","minimum":0.5,"maximum":20}`}},
		says: "{litres} l of paint are mixed.", slips: on(breaking("maximum"), spoil),
		plants: found("warn", "refuses-afterwards", "above-maximum"),
	},
}

// acting lists the tools that act although nobody agreed.
var acting = []*tool{
	{
		name: "mail_newsletter", title: "Mail the newsletter", does: "It mails it though you decline.",
		asks: []question{{message: "Shall the newsletter go out?", fields: `"proofread":{"type":"boolean","title":"Somebody has proofread it"}`}},
		says: "The newsletter went to 340 readers.", slips: on(declined, act),
		plants: onDecline("fail", unagreed),
	},
	{
		name: "cancel_subscription", title: "Cancel a subscription", does: "It cancels the subscription though you close the question.",
		asks: []question{{message: "Cancel the subscription of the magazine?", fields: `"refund":{"type":"boolean","title":"I want the rest of the money back"}`}},
		says: "The subscription ends today.", slips: on(cancelled, act),
		plants: onCancelAct(),
	},
	{
		name: "transfer_points", title: "Transfer points", does: "It uses the content of a decline.",
		asks: []question{{message: "Who gets the points?", fields: `"member":{"type":"string","title":"Member"}`}},
		says: "500 points went to {member}.", slips: on(declinedWithContent, act),
		plants: found("fail", unagreed, "decline-with-content"),
	},
	{
		name: "rename_boat", title: "Rename the boat", does: "It uses the content of a cancel.",
		asks: []question{{message: "What should the boat be called?", fields: `"boat":{"type":"string","title":"Name"}`}},
		says: "The boat is now called {boat}.", slips: on(cancelledWithContent, act),
		plants: found("fail", unagreed, "cancel-with-content"),
	},
	{
		name: "link_calendar", title: "Link a calendar", does: "It links the calendar though you decline to open its page.", since: mcp.Revision20251125,
		asks: []question{{message: "Sign in to your calendar.", url: "https://calendar.example/link"}},
		says: "The calendar is linked as soon as you have signed in.", slips: on(declined, act),
		plants: onDecline("fail", unagreed),
	},
	{
		name: "run_query", title: "Run a query", does: "It takes any JSON-RPC error for a yes.", before: mcp.Revision20260728,
		asks: []question{{message: "The query reads 900 GB. Run it?", fields: ``}},
		says: "3 rows: Oslo, Bergen, Tromsø.", slips: on(anError, act),
		plants: found("fail", unagreed, "method-not-found", "invalid-params", "internal-error", "request-cancelled", "any-error"),
	},
	{
		name: "fell_tree", title: "Fell a tree", does: "It takes a result that is not an object for a yes.",
		asks: []question{{message: "Shall the oak be felled?", fields: `"confirm":{"type":"boolean","title":"Yes, fell it"}`}},
		says: "The oak is down.", slips: on(noObject, act),
		plants: found("fail", unagreed, "null-result", "string-result"),
	},
	{
		name: "empty_cellar", title: "Empty the cellar", does: "It empties it with the content of a decline, though the form is of one tick alone.",
		asks: []question{{message: "Empty the cellar?", fields: `"confirm":{"type":"boolean","title":"Yes, empty it"}`}},
		says: "The cellar is empty.", slips: on(declinedWithContent, act),
		plants: found("fail", unagreed, "decline-with-content"),
	},
	{
		name: "close_account", title: "Close the account", does: "It closes it though the tick in the accepted form says no.",
		asks: []question{{message: "Close your account?", fields: `"confirm":{"type":"boolean","title":"Yes, close it"}`}},
		says: "Your account is closed.", slips: on(saysNo, act), plants: found("fail", unagreed, "accept-no"),
	},
	{
		name: "shred_files", title: "Shred the files", does: "It takes an answer without the tick for a yes.",
		asks: []question{{message: "Shred the files?", fields: `"confirm":{"type":"boolean","title":"The office has approved it"}`}},
		says: "The files are shredded.", slips: on(breaking("required"), act),
		plants: found("fail", unagreed, "missing-field"),
	},
	{
		name: "order_bulbs", title: "Order tulip bulbs", does: "It takes an action that it does not know for a yes.",
		asks: []question{{message: "How many bulbs?", fields: `"bulbs":{"type":"integer","title":"Bulbs","minimum":5,"maximum":60}`}},
		says: "{bulbs} bulbs are ordered.", slips: on(unknownAction, act),
		plants: found("fail", unagreed, "unknown-action"),
	},
	{
		name: "pour_wine", title: "Pour the wine", does: "It takes an answer without an action for a yes.",
		asks: []question{{message: "How many glasses?", fields: `"glasses":{"type":"integer","title":"Glasses","minimum":1,"maximum":8}`}},
		says: "{glasses} glasses are on the table.", slips: on(noAction, act),
		plants: found("fail", unagreed, "no-action"),
	},
	{
		name: "launch_rocket", title: "Launch the rocket", does: "It waits a while for an answer, and then launches without one.", before: mcp.Revision20260728,
		asks: []question{{message: "Ready for launch?", fields: `"count":{"type":"integer","title":"Count down from","minimum":3,"maximum":10}`}},
		says: "The rocket is on its way.", patience: 2 * time.Second, hasty: true,
		plants: also(found("fail", unagreed, "never"), "answer-withdrawn", "late", "half-then-rest", "byte-by-byte", "wrong-id", "retyped-id", "invalid-json"),
	},
	{
		name: "open_sluice", title: "Open the sluice", does: "It opens it when a round brings no answer.", since: mcp.Revision20260728,
		asks: []question{{message: "Open the sluice?", fields: ``}},
		says: "The sluice is open.", lax: true,
		plants: found("fail", unagreed, "missing-key"),
	},
	{
		name: "sell_piano", title: "Sell the piano", does: "It sells it to a client that it cannot ask, without a question.",
		asks: []question{{message: "Sell the piano for 900 EUR?", fields: `"delivery":{"type":"boolean","title":"Bring it to the buyer"}`}},
		says: "The piano is sold.", presumes: true,
		plants: found("warn", "goes-on-unasked", "no-elicitation", "url-only"),
	},
	{
		name: "fax_report", title: "Fax the report", does: "It faxes it whatever is answered, though it asks for a yes.", before: mcp.Revision20260728,
		asks: []question{{message: "Den Bericht faxen?", fields: `"bestaetigen":{"type":"boolean","title":"Ja, faxen"}`}},
		says: "Der Bericht ist unterwegs.", slips: on(unaccepted, act),
		plants: also(found("warn", unagreed+"|"+afterCancel, "decline", "decline-with-content"), "*"),
	},
	{
		name: "trim_tree", title: "Trim the tree", does: "It trims it unasked in a session in which it was refused before.",
		asks: []question{{message: "Trim the tree?", fields: ``}},
		says: "The tree is trimmed.", forgets: true,
		plants: also(found("warn", "goes-on-unasked", "decline", "cancel"), "decline-with-content", "cancel-with-content", "cancel-then-accept", "decline-always"),
	},
}

// unagreed is the ID of the rule on tools that act although nobody agreed.
const unagreed = "acts-without-consent"

// afterCancel is the ID of the rule on tools that act on an answer after the end of the question.
const afterCancel = "acts-after-cancel"

// careless lists the tools that use content that breaks its schema.
var careless = []*tool{
	{
		name: "apply_code", title: "Apply a code", does: "It takes a code of any length, and shows it in capitals.",
		asks: []question{{message: "Which code is on the card?", fields: `"code":{"type":"string","title":"Code on the card","minLength":6,"maxLength":8}`}},
		says: "The code {code} takes 10 % off.", shouts: true, slips: on(breaking("minLength", "maxLength"), act),
		plants: found("warn", "uses-invalid-content", "too-short", "too-long"),
	},
	{
		name: "charter_ship", title: "Charter a ship", does: "It fails when a round lacks the answer, and does not ask again.", since: mcp.Revision20260728,
		asks: []question{{message: "For how many days?", fields: `"days":{"type":"integer","title":"Days","minimum":1,"maximum":30}`}},
		says: "The ship is yours for {days} days.", scolds: true,
		plants: found("warn", "fails-on-missing-answer", "missing-key"),
	},
	{
		name: "book_cabin", title: "Book a cabin", does: "It fails for a client that it cannot ask, and does not say by error -32021 what it needs.", since: mcp.Revision20260728,
		asks: []question{{message: "Which deck?", fields: `"deck":{"type":"string","title":"Deck","enum":["Upper","Lower"]}`}},
		says: "Your cabin is on the {deck} deck.", terse: true,
		plants: also(found("fail", "capability-error-missing", "no-elicitation"), "url-only"),
	},
	{
		name: "unlock_bike", title: "Unlock the bicycle", does: "It asks for a PIN in a form, and only the description says so.",
		asks: []question{{message: "The bicycle is locked.", fields: `"code":{"type":"string","title":"Code","description":"Enter your 4-digit PIN."}`}},
		says: "The bicycle is unlocked.", plants: found("fail", "secret-in-form", "accept"),
	},
	{
		name: "choose_seat", title: "Choose a seat", does: "It takes a seat that it has not offered.",
		asks: []question{{message: "Window or aisle?", fields: `"seat":{"type":"string","title":"Seat","enum":["Window","Aisle"]}`}},
		says: "Your seat: {seat}.", slips: on(breaking("enum"), act),
		plants: found("warn", "uses-invalid-content", "not-in-enum"),
	},
	{
		name: "buy_tickets", title: "Buy tickets", does: "It takes a number below the minimum.",
		asks: []question{{message: "How many tickets?", fields: `"tickets":{"type":"integer","title":"Tickets","minimum":1,"maximum":10}`}},
		says: "{tickets} tickets are at the box office.", slips: on(breaking("minimum"), act),
		plants: found("warn", "uses-invalid-content", "below-minimum"),
	},
	{
		name: "fill_tank", title: "Fill the tank", does: "It takes a number above the maximum.",
		asks: []question{{message: "How many litres?", fields: `"litres":{"type":"integer","title":"Litres","minimum":1,"maximum":60}`}},
		says: "{litres} litres are in the tank.", slips: on(breaking("maximum"), act),
		plants: found("warn", "uses-invalid-content", "above-maximum"),
	},
	{
		name: "label_jar", title: "Label a jar", does: "It takes a value of another type.",
		asks: []question{{message: "What is in the jar?", fields: `"jam":{"type":"string","title":"Jam"}`}},
		says: "The label says: {jam}.", slips: on(breaking("type"), act),
		plants: found("warn", "uses-invalid-content", "wrong-type"),
	},
	{
		name: "join_choir", title: "Join the choir", does: "It takes an answer without a field that it requires.",
		asks: []question{{
			message:  "Which voice do you sing, and have you paid?",
			fields:   `"voice":{"type":"string","title":"Voice","enum":["Alto","Bass"]},"paid":{"type":"boolean","title":"I have paid"}`,
			required: []string{"paid"},
		}},
		says: "Welcome to the choir. We rehearse on Tuesdays.", slips: on(breaking("required"), act),
		plants: found("warn", "uses-invalid-content", "missing-field"),
	},
	{
		name: "send_card", title: "Send a card", does: "It takes an invalid e-mail address.",
		asks: []question{{message: "Where should the card go?", fields: `"address":{"type":"string","title":"Address","format":"email"}`}},
		says: "A card is on its way to {address}.", slips: on(breaking("format"), act),
		plants: found("warn", "uses-invalid-content", "wrong-format"),
	},
	{
		name: "engrave_ring", title: "Engrave a ring", does: "It takes a text that is too long.",
		asks: []question{{message: "What should the ring say?", fields: `"words":{"type":"string","title":"Words","maxLength":24}`}},
		says: "Engraved: {words}.", slips: on(breaking("maxLength"), act),
		plants: found("warn", "uses-invalid-content", "too-long"),
	},
	{
		name: "check_coat", title: "Check a coat", does: "It takes a text that is too short.",
		asks: []question{{message: "In whose name?", fields: `"owner":{"type":"string","title":"Name","minLength":3}`}},
		says: "The coat of {owner} hangs on hook 12.", slips: on(breaking("minLength"), act),
		plants: found("warn", "uses-invalid-content", "too-short"),
	},
	{
		name: "park_car", title: "Park the car", does: "It takes a text that does not match its pattern.", since: mcp.Revision20251125,
		asks: []question{{message: "Which number plate?", fields: `"plate":{"type":"string","title":"Number plate","pattern":"^[A-Z]{2}-[0-9]{4}$","default":"AB-1234"}`}},
		says: "{plate} may park until midnight.", slips: on(breaking("pattern"), act),
		plants: found("warn", "uses-invalid-content", "pattern-mismatch"),
	},
	{
		name: "seat_guests", title: "Seat the guests", does: "It takes a fraction for a whole number.",
		asks: []question{{message: "How many guests are there?", fields: `"guests":{"type":"integer","title":"Guests","minimum":1,"maximum":40}`}},
		says: "There are chairs for {guests} guests.", slips: on(fractional, act),
		plants: found("warn", "uses-invalid-content", "fraction"),
	},
	{
		name: "park_bus", title: "Park the bus", does: "It takes digits in a text for a number.",
		asks: []question{{message: "For how many hours?", fields: `"hours":{"type":"integer","title":"Hours","minimum":1,"maximum":48}`}},
		says: "The bus may stay for {hours} hours.", slips: on(numberAsText, act),
		plants: found("warn", "uses-invalid-content", "number-as-text"),
	},
	{
		name: "top_pizza", title: "Top a pizza", does: "It takes more toppings than it allows.", since: mcp.Revision20251125,
		asks: []question{{message: "Up to two toppings?", fields: `"toppings":{"type":"array","title":"Toppings","maxItems":2,"items":{"type":"string","enum":["Olives","Capers","Onions","Ham"]}}`}},
		says: "On the pizza: {toppings}.", slips: on(breaking("maxItems"), act),
		plants: found("warn", "uses-invalid-content", "too-many-items"),
	},
	{
		name: "order_firewood", title: "Order firewood", does: "It takes an answer without content for one with.",
		asks: []question{{message: "How many baskets?", fields: `"baskets":{"type":"integer","title":"Baskets","minimum":1,"maximum":20}`}},
		says: "The firewood comes on Wednesday.", slips: on(withoutContent, act),
		plants: found("warn", "uses-invalid-content", "no-content"),
	},
}
