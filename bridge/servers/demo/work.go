package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

type deployment struct {
	Service     string      `json:"service"`
	Build       string      `json:"build,omitempty"`
	Environment string      `json:"environment,omitempty"`
	Ticket      string      `json:"ticket,omitempty"`
	Share       json.Number `json:"share,omitempty"`
	Notified    []string    `json:"notified,omitempty"`
	SmokeTests  string      `json:"smokeTests,omitempty"`
	Outcome     string      `json:"outcome"`
}

func deploy(ctx context.Context, v *visit, args struct{ Service string }) (*mcp.CallToolResult, error) {
	const steps = 6
	o := &deployment{Service: args.Service, Outcome: "not deployed"}
	v.outcome = o
	v.log("info", "looking for builds of "+o.Service)
	v.progress(0, steps, "Looking for builds")

	var chosen struct{ Build string }
	if err := v.ask(ctx, form("build", &chosen)); err != nil {
		return nil, err
	}
	o.Build = chosen.Build
	v.progress(1, steps, "Build "+o.Build+" chosen")
	v.log("info", "holding the release lock for build "+o.Build)

	if err := askForRelease(ctx, v, o); err != nil {
		return nil, err
	}
	for i, name := range []string{o.Service, o.Service + "-worker", "gateway"} {
		if err := v.pause(ctx, 400*time.Millisecond); err != nil {
			return nil, err
		}
		v.progress(2+i, steps, "Restarting "+name)
		v.log("info", "restarted "+name+" in "+o.Environment)
	}
	o.Outcome = "deployed"
	if o.SmokeTests == "passed" {
		v.log("info", "38 of 38 smoke tests passed")
	}
	v.log("warning", "p95 latency is 212 ms, 4% above the last build")

	var last struct{ Keep bool }
	if err := v.ask(ctx, form("keep", &last, o.Build, o.Environment)); err != nil {
		return nil, err
	}
	is := "is"
	if !last.Keep {
		is, o.Outcome = "was", "rolled back"
		v.log("notice", "rolled back to build 2280")
	}
	v.progress(steps, steps, "Done")
	return said("Build %s of %s %s %s in %s.", o.Build, o.Service, is, o.Outcome, o.Environment), nil
}

func askForRelease(ctx context.Context, v *visit, o *deployment) error {
	var release struct {
		Environment, Ticket string
		Share               json.Number
		Notify              []string
		Smoke               bool
	}
	q := form("release", &release, o.Build, o.Service)
	a, err := v.answer(ctx, q)
	if err != nil {
		return err
	}
	if !a.accepted() {
		v.log("notice", "the release lock was given back")
	}
	if err := q.read(a); err != nil {
		return err
	}
	o.Environment, o.Ticket, o.Share, o.Notified = release.Environment, release.Ticket, release.Share, release.Notify
	o.SmokeTests = "skipped"
	if release.Smoke {
		o.SmokeTests = "passed"
	}
	return nil
}

type transferArgs struct {
	To       string
	Amount   json.Number
	Currency string
}

func transfer(ctx context.Context, v *visit, args transferArgs) (*mcp.CallToolResult, error) {
	o := &struct {
		Status    string      `json:"status"`
		To        string      `json:"to"`
		Amount    json.Number `json:"amount"`
		Confirmed json.Number `json:"confirmed,omitempty"`
		Invoice   json.Number `json:"invoice,omitempty"`
		Currency  string      `json:"currency"`
	}{Status: "not sent", To: args.To, Amount: args.Amount, Currency: args.Currency}
	v.outcome = o
	var c struct{ Amount, Invoice json.Number }
	if err := v.ask(ctx, form("confirm", &c, o.Amount, o.Currency, o.To)); err != nil {
		return nil, err
	}
	o.Confirmed, o.Invoice = c.Amount, c.Invoice
	if !rawjson.Same([]byte(o.Amount), []byte(o.Confirmed)) {
		return failed("You were asked for %s %s and confirmed %s. No money was sent.", o.Amount, o.Currency, o.Confirmed), nil
	}
	o.Status = "sent"
	text := fmt.Sprintf("%s %s went to %s.", o.Amount, o.Currency, o.To)
	if o.Invoice == "9007199254740992" {
		text += " This server reads numbers as doubles, so it took the invoice for number 9007199254740992. What was sent is in the wire log."
	}
	return said("%s", text), nil
}

var restaurants = map[string]string{"lantern": "The Paper Lantern", "harbour": "Harbour Kitchen", "nonna": "Da Nonna"}

type reservation struct {
	Booked     bool        `json:"booked"`
	Code       string      `json:"code,omitempty"`
	Restaurant string      `json:"restaurant"`
	Arrival    string      `json:"arrival,omitempty"`
	Party      json.Number `json:"party,omitempty"`
	Seating    string      `json:"seating,omitempty"`
	Allergies  []string    `json:"allergies,omitempty"`
}

func bookTable(ctx context.Context, v *visit, args struct{ Restaurant string }) (*mcp.CallToolResult, error) {
	name := restaurants[args.Restaurant]
	v.outcome = reservation{Restaurant: name}
	// Friday at seven reads well on any day. It is kept in a memo because it is part of the question.
	arrival := v.memo("arrival", func() string {
		now := v.server.options.Now()
		days := (int(time.Friday)-int(now.Weekday())+6)%7 + 1
		return time.Date(now.Year(), now.Month(), now.Day()+days, 19, 0, 0, 0, now.Location()).Format(time.RFC3339)
	})
	v.log("info", name+" has tables left")
	var t struct {
		Arrival   string
		Party     json.Number
		Seating   string
		Allergies []string
		Birthday  string
		Email     string
	}
	if err := v.ask(ctx, form("table", &t, name, arrival)); err != nil {
		return nil, err
	}
	v.outcome = reservation{true, "PL-4417", name, t.Arrival, t.Party, t.Seating, t.Allergies}
	text := fmt.Sprintf("A table for %s at %s, %s. A confirmation goes to %s.", t.Party, name, t.Arrival, t.Email)
	if len(t.Allergies) > 0 {
		text += " The kitchen knows about " + strings.Join(t.Allergies, ", ") + "."
	}
	if t.Birthday != "" {
		text += " There will be a candle."
	}
	return said("%s", text), nil
}

func deleteFiles(ctx context.Context, v *visit, args struct{ Folder string }) (*mcp.CallToolResult, error) {
	if err := v.ask(ctx, form("delete", nil, args.Folder)); err != nil {
		return nil, err
	}
	v.log("info", "moved 47 files to the bin")
	var bin struct{ Empty bool }
	if err := v.ask(ctx, form("bin", &bin)); err != nil {
		return nil, err
	}
	if !bin.Empty {
		return said("47 files are in the bin, and can be put back."), nil
	}
	return said("47 files are gone, and 1.2 GB is free."), nil
}

func onboard(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	var who struct{ Name, Email string }
	if err := v.ask(ctx, form("who", &who)); err != nil {
		return nil, err
	}
	v.log("info", "made the account")

	var job struct{ Role, Start string }
	if err := v.ask(ctx, form("job", &job, who.Name)); err != nil {
		return nil, err
	}

	text := fmt.Sprintf("%s starts in %s on %s", who.Name, job.Role, job.Start)
	var desk struct {
		Things []string
		Lunch  bool
	}
	if err := v.ask(ctx, form("desk", &desk, job.Start, text)); err != nil {
		return nil, err
	}
	text += ". On the desk: " + cmp.Or(strings.Join(desk.Things, ", "), "nothing") + "."
	if desk.Lunch {
		text += " Lunch is booked."
	}
	return said("%s", text), nil
}

func planTrip(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	v.log("info", "three offices are looking at your trip to Lisbon")
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
	v.log("info", "the export is in the queue")
	if err := v.comeBack(ctx, "queue", args.Rounds); err != nil {
		return nil, err
	}
	v.log("info", "the export is ready")
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

func migrateTable(ctx context.Context, v *visit, args struct{ Table string }) (*mcp.CallToolResult, error) {
	const steps = 4
	for i := range steps {
		if i == steps/2 {
			var chosen struct{ Keep string }
			if err := v.ask(ctx, form("conflict", &chosen, args.Table)); err != nil {
				return nil, err
			}
			v.memo("keep", func() string { return chosen.Keep })
		}
		v.report(i, steps, fmt.Sprintf("Copied %d of 4,800 rows", i*1200))
		if err := v.pause(ctx, 400*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return said("4,800 rows of %s are migrated. Of two values the %s was kept.", args.Table, v.notes.Memos["keep"]), nil
}

func requestReview(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	var review struct{ Verdict, Remarks string }
	q := form("review", &review)
	if !v.asksLater() {
		return nil, problem("This client does not take questions as tasks.")
	}
	a, err := v.askLater(ctx, q)
	if err == nil {
		err = q.read(a)
	}
	if err != nil {
		return nil, err
	}
	if review.Remarks == "" {
		return said("Build 2288 is %s.", review.Verdict), nil
	}
	return said("Build 2288 is %s: %s", review.Verdict, review.Remarks), nil
}
