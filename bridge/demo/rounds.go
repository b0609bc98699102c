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
		form("train", &train),
		form("hotel", &hotel),
		form("days", &days),
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
	var approval struct{ Approve bool }
	questions := []question{form("approve", &approval)}
	var summary, folders answer
	sampling := question{key: "summary", method: protocol.MethodSample, into: &summary, params: json.RawMessage(`{` +
		`"messages":[{"role":"user","content":{"type":"text","text":"Say in one sentence what this invoice is for: 12 copper gutters, 4 downpipes, two days of work on the roof of the old mill."}}],` +
		`"systemPrompt":"You keep the books of a small mill.","maxTokens":120}`)}
	roots := question{key: "folders", method: protocol.MethodListRoots, into: &folders, params: json.RawMessage(`{}`)}
	for _, q := range []question{sampling, roots} {
		if v.missing(q) == "" {
			questions = append(questions, q)
		}
	}
	if err := v.ask(ctx, questions...); err != nil {
		return nil, err
	}
	if !approval.Approve {
		return said("The invoice is not paid. Copper & Sons will write again."), nil
	}
	var from struct{ Account string }
	if err := v.ask(ctx, form("account", &from)); err != nil {
		return nil, err
	}
	text := "4,380.00 EUR went to Copper & Sons from the account " + from.Account + "."
	if v.missing(sampling) == "" {
		text += fmt.Sprintf(" In the books: %q.", summary.Text)
	}
	switch {
	case v.missing(roots) != "":
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
		q := form("offer", &o, message)
		q.key = "offer " + strconv.Itoa(round)
		if err := v.ask(ctx, q); err != nil {
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
