package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addRounds adds the stories that are best seen in 2026-07-28, where questions travel in results and answers in retries.
func (s *Server) addRounds() {
	s.addTool(tool{
		name: "plan_trip", title: "Plan a trip", tell: planTrip,
		description: "Asks for the train, the hotel and the days out, all at once. Shows several questions that are open at the same time: three requests, or one input-required result with three keys in 2026-07-28.",
	})
	s.addTool(tool{
		name: "pay_invoice", title: "Pay an invoice", tell: payInvoice,
		description: "Asks you to approve, a model to sum up, and the client for its folders, together, and then asks once more. Shows a mixed round of elicitation, sampling and roots; what the client has not declared is left out.",
	})
	s.addTool(tool{
		name: "export_photos", title: "Export photos", tell: exportPhotos,
		description: "Has you come back until the export is ready. Shows rounds with requestState alone in 2026-07-28, and a plain wait with progress before.",
		input: `{"type":"object","properties":{
			"rounds":{"type":"integer","title":"Rounds","minimum":1,"maximum":100,"default":3}
		},"additionalProperties":false}`,
	})
	s.addTool(tool{
		name: "haggle", title: "Haggle for a carpet", tell: haggle,
		description: "The price comes down by 20 each time you offer less, for more rounds than most clients have patience for. Shows many rounds of one question each, with a requestState that grows.",
		input: `{"type":"object","properties":{
			"rounds":{"type":"integer","title":"Rounds","minimum":1,"maximum":20,"default":12}
		},"additionalProperties":false}`,
	})
}

func planTrip(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	v.log(ctx, "info", "three offices are looking at your trip to Lisbon")
	answers, err := v.askAll(ctx,
		question{key: "train", message: "Which train to Lisbon?", schema: `{"type":"object","properties":{
			"leave":{"type":"string","title":"Leave","oneOf":[
				{"const":"early","title":"07:12, two changes"},{"const":"noon","title":"11:48, one change"},{"const":"night","title":"21:30, sleeper"}],"default":"noon"},
			"seat":{"type":"string","title":"Seat","enum":["window","aisle","table"]}
		},"required":["leave"]}`},
		question{key: "hotel", message: "Which room in Lisbon?", schema: `{"type":"object","properties":{
			"arrive":{"type":"string","title":"Arrive","format":"date"},
			"nights":{"type":"integer","title":"Nights","minimum":1,"maximum":21,"default":4},
			"breakfast":{"type":"boolean","title":"Breakfast","default":true}
		},"required":["arrive","nights"]}`},
		question{key: "days", message: "What would you like to see?", schema: `{"type":"object","properties":{
			"see":{"type":"array","title":"See","minItems":1,"maxItems":3,"items":{"anyOf":[
				{"const":"belem","title":"Belém"},{"const":"sintra","title":"Sintra"},{"const":"tiles","title":"The tile museum"},{"const":"fado","title":"An evening of fado"}]}}
		},"required":["see"]}`},
	)
	if err != nil {
		return nil, err
	}
	var (
		train struct{ Leave string }
		hotel struct {
			Arrive string
			Nights json.Number
		}
		days struct{ See []string }
	)
	var parts []string
	for i, into := range []any{&train, &hotel, &days} {
		if !answers[i].accepted() {
			continue
		}
		if err := answers[i].into(into); err != nil {
			return nil, err
		}
		switch i {
		case 0:
			parts = append(parts, "the "+train.Leave+" train")
		case 1:
			parts = append(parts, fmt.Sprintf("%s nights from %s", hotel.Nights, hotel.Arrive))
		case 2:
			parts = append(parts, "and days for "+strings.Join(days.See, ", "))
		}
	}
	if parts == nil {
		return said("You are staying at home."), nil
	}
	return said("To Lisbon: %s.", strings.Join(parts, ", ")), nil
}

func payInvoice(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	questions := []question{{
		key: "approve", message: "Pay invoice 2026-118 of Copper & Sons, 4,380.00 EUR, due on Friday?", schema: `{"type":"object","properties":{
			"approve":{"type":"boolean","title":"I approve"},
			"note":{"type":"string","title":"Note for the books","maxLength":200}
		},"required":["approve"]}`,
	}}
	summary, folders := -1, -1
	if v.samples() {
		summary = len(questions)
		questions = append(questions, question{key: "summary", method: methodSample, params: json.RawMessage(`{` +
			`"messages":[{"role":"user","content":{"type":"text","text":"Say in one sentence what this invoice is for: 12 copper gutters, 4 downpipes, two days of work on the roof of the old mill."}}],` +
			`"systemPrompt":"You keep the books of a small mill.","maxTokens":120}`)})
	}
	if v.roots() {
		folders = len(questions)
		questions = append(questions, question{key: "folders", method: methodRoots})
	}
	answers, err := v.askAll(ctx, questions...)
	if err != nil {
		return nil, err
	}
	if !answers[0].accepted() {
		return instead(answers[0], "The invoice is not paid. Copper & Sons will write again.", "The invoice stays on the pile."), nil
	}
	var first struct{ Approve bool }
	if err := answers[0].into(&first); err != nil {
		return nil, err
	}
	if !first.Approve {
		return said("The invoice is not paid. Copper & Sons will write again."), nil
	}
	a, err := v.ask(ctx, question{key: "account", message: "From which account?", schema: `{"type":"object","properties":{
		"account":{"type":"string","title":"Account","oneOf":[{"const":"current","title":"Current account, 11,204.50 EUR"},{"const":"repairs","title":"Repairs, 6,000.00 EUR"}]},
		"on":{"type":"string","title":"On","format":"date"}
	},"required":["account"]}`})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return instead(a, "The invoice is approved, but not paid.", "The invoice is approved, and waits for an account."), nil
	}
	var second struct{ Account string }
	if err := a.into(&second); err != nil {
		return nil, err
	}
	text := "4,380.00 EUR went to Copper & Sons from the account " + second.Account + "."
	if summary > 0 {
		text += fmt.Sprintf(" In the books: %q.", answers[summary].Text)
	}
	if folders > 0 {
		if r := answers[folders].Roots; len(r) > 0 {
			text += " Filed in " + r[0] + "."
		} else {
			text += " There is no folder to file it in."
		}
	}
	return said("%s", text), nil
}

// later has the client come back this many times before the story goes on.
// Before 2026-07-28, when a request can simply take long, it waits.
func (v *visit) later(ctx context.Context, key string, times int) error {
	if !v.rounds() {
		for i := range times {
			v.progress(ctx, float64(i), float64(times), "Not yet")
			if err := v.pause(ctx, time.Second); err != nil {
				return err
			}
		}
		return nil
	}
	been, err := strconv.Atoi(v.memo(key, func() string { return "0" }))
	if err != nil {
		return fmt.Errorf("reading %s from requestState: %w", key, err)
	}
	if been < times {
		v.notes.Memos[key] = strconv.Itoa(been + 1)
		return &inputRequired{}
	}
	v.memo(key+" over", func() string { v.retold = false; return "yes" })
	return nil
}

func exportPhotos(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Rounds int }{3}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	v.log(ctx, "info", "the export is in the queue")
	if err := v.later(ctx, "queue", args.Rounds); err != nil {
		return nil, err
	}
	v.log(ctx, "info", "the export is ready")
	return said("1,204 photos are ready, after %d rounds.", args.Rounds), nil
}

func haggle(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Rounds int }{12}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	message, price := "A fine carpet, this one, all wool. 480, because it is you.", 480
	for round := 1; round <= args.Rounds; round++ {
		a, err := v.ask(ctx, question{
			key: "offer " + strconv.Itoa(round), message: message,
			schema: `{"type":"object","properties":{"offer":{"type":"integer","title":"Your offer","minimum":1}},"required":["offer"]}`,
		})
		if err != nil {
			return nil, err
		}
		if !a.accepted() {
			return instead(a, "You walked away, and he did not run after you.", "You had a tea and said you would be back."), nil
		}
		var o struct{ Offer json.Number }
		if err := a.into(&o); err != nil {
			return nil, err
		}
		offer, err := o.Offer.Float64()
		if err != nil {
			return nil, problem("The offer could not be read: " + err.Error())
		}
		if offer >= float64(price) {
			return said("Sold, for %s, in round %d. It is a fine carpet.", o.Offer, round), nil
		}
		price -= 20
		message = fmt.Sprintf("%s? My children have to eat. %d, and that is my last word.", o.Offer, price)
	}
	return said("After %d rounds he rolled the carpet up again.", args.Rounds), nil
}
