package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
)

func planTrip(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	v.log(ctx, "info", "three offices are looking at your trip to Lisbon")
	var (
		train struct{ Leave string }
		hotel struct {
			Arrive string
			Nights json.Number
		}
		days struct{ See []string }
	)
	if err := v.ask(ctx,
		question{key: "train", message: "Which train to Lisbon?", into: &train, schema: object(`
			"leave":{"type":"string","title":"Leave","oneOf":[
				{"const":"early","title":"07:12, two changes"},{"const":"noon","title":"11:48, one change"},{"const":"night","title":"21:30, sleeper"}],"default":"noon"},
			"seat":{"type":"string","title":"Seat","enum":["window","aisle","table"]}`, "leave")},
		question{key: "hotel", message: "Which room in Lisbon?", into: &hotel, schema: object(`
			"arrive":{"type":"string","title":"Arrive","format":"date"},
			"nights":{"type":"integer","title":"Nights","minimum":1,"maximum":21,"default":4},
			"breakfast":{"type":"boolean","title":"Breakfast","default":true}`, "arrive", "nights")},
		question{key: "days", message: "What would you like to see?", into: &days, schema: object(`
			"see":{"type":"array","title":"See","minItems":1,"maxItems":3,"items":{"anyOf":[
				{"const":"belem","title":"Belém"},{"const":"sintra","title":"Sintra"},{"const":"tiles","title":"The tile museum"},{"const":"fado","title":"An evening of fado"}]}}`, "see")},
	); err != nil {
		return nil, err
	}
	var parts []string
	if train.Leave != "" {
		parts = append(parts, "the "+train.Leave+" train")
	}
	if hotel.Nights != "" {
		parts = append(parts, fmt.Sprintf("%s nights from %s", hotel.Nights, hotel.Arrive))
	}
	if days.See != nil {
		parts = append(parts, "and days for "+strings.Join(days.See, ", "))
	}
	if parts == nil {
		return said("You are staying at home."), nil
	}
	return said("To Lisbon: %s.", strings.Join(parts, ", ")), nil
}

func payInvoice(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	const unpaid = "The invoice is not paid. Copper & Sons will write again."
	var approval struct{ Approve bool }
	questions := []question{{
		key: "approve", message: "Pay invoice 2026-118 of Copper & Sons, 4,380.00 EUR, due on Friday?", into: &approval,
		schema: object(`"approve":{"type":"boolean","title":"I approve"},
			"note":{"type":"string","title":"Note for the books","maxLength":200}`, "approve"),
		declined: unpaid, cancelled: "The invoice stays on the pile.",
	}}
	var summary, folders *answer
	sampling := question{key: "summary", method: protocol.MethodSample, params: json.RawMessage(`{` +
		`"messages":[{"role":"user","content":{"type":"text","text":"Say in one sentence what this invoice is for: 12 copper gutters, 4 downpipes, two days of work on the roof of the old mill."}}],` +
		`"systemPrompt":"You keep the books of a small mill.","maxTokens":120}`)}
	if v.missing(sampling) == "" {
		summary = new(answer)
		sampling.into = summary
		questions = append(questions, sampling)
	}
	roots := question{key: "folders", method: protocol.MethodListRoots, params: json.RawMessage(`{}`)}
	if v.missing(roots) == "" {
		folders = new(answer)
		roots.into = folders
		questions = append(questions, roots)
	}
	if err := v.ask(ctx, questions...); err != nil {
		return nil, err
	}
	if !approval.Approve {
		return said(unpaid), nil
	}
	var from struct{ Account string }
	if err := v.ask(ctx, question{
		key: "account", message: "From which account?", into: &from,
		schema: object(`"account":{"type":"string","title":"Account","oneOf":[{"const":"current","title":"Current account, 11,204.50 EUR"},{"const":"repairs","title":"Repairs, 6,000.00 EUR"}]},
			"on":{"type":"string","title":"On","format":"date"}`, "account"),
		declined: "The invoice is approved, but not paid.", cancelled: "The invoice is approved, and waits for an account.",
	}); err != nil {
		return nil, err
	}
	text := "4,380.00 EUR went to Copper & Sons from the account " + from.Account + "."
	if summary != nil {
		text += fmt.Sprintf(" In the books: %q.", summary.Text)
	}
	switch {
	case folders == nil:
	case len(folders.Roots) > 0:
		text += " Filed in " + folders.Roots[0] + "."
	default:
		text += " There is no folder to file it in."
	}
	return said("%s", text), nil
}

func exportPhotos(ctx context.Context, v *visit, args struct{ Rounds int }) (*mcp.CallToolResult, error) {
	v.log(ctx, "info", "the export is in the queue")
	if err := v.comeBack(ctx, "queue", args.Rounds); err != nil {
		return nil, err
	}
	v.log(ctx, "info", "the export is ready")
	return said("1,204 photos are ready, after %d rounds.", args.Rounds), nil
}

func haggle(ctx context.Context, v *visit, args struct{ Rounds int }) (*mcp.CallToolResult, error) {
	message, price := "A fine carpet, this one, all wool. 480, because it is you.", 480
	for round := 1; round <= args.Rounds; round++ {
		var o struct{ Offer json.Number }
		if err := v.ask(ctx, question{
			key: "offer " + strconv.Itoa(round), message: message, into: &o,
			schema:   object(`"offer":{"type":"integer","title":"Your offer","minimum":1}`, "offer"),
			declined: "You walked away, and he did not run after you.", cancelled: "You had a tea and said you would be back.",
		}); err != nil {
			return nil, err
		}
		offer, err := o.Offer.Float64()
		if err != nil {
			return nil, problem("The offer could not be read: %v", err)
		}
		if offer >= float64(price) {
			return said("Sold, for %s, in round %d. It is a fine carpet.", o.Offer, round), nil
		}
		price -= 20
		message = fmt.Sprintf("%s? My children have to eat. %d, and that is my last word.", o.Offer, price)
	}
	return said("After %d rounds he rolled the carpet up again.", args.Rounds), nil
}
