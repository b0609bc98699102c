package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	v.log(ctx, "info", "looking for builds of "+o.Service)
	v.progress(ctx, 0, steps, "Looking for builds")

	var chosen struct{ Build string }
	if err := v.ask(ctx, question{
		key: "build", message: "Which build should go out?",
		schema: object(`"build":{"type":"string","title":"Build","oneOf":[
			{"const":"2291","title":"2291 · Faster search, 14 minutes old"},
			{"const":"2288","title":"2288 · Price rounding fixed, yesterday"},
			{"const":"2280","title":"2280 · Running now"}],"default":"2291"}`, "build"),
		declined:  "No build was chosen. Nothing was deployed.",
		cancelled: "The deployment was put off before a build was chosen.",
		into:      &chosen,
	}); err != nil {
		return nil, err
	}
	o.Build = chosen.Build
	v.progress(ctx, 1, steps, "Build "+o.Build+" chosen")
	v.log(ctx, "info", "holding the release lock for build "+o.Build)

	if err := askForRelease(ctx, v, o); err != nil {
		return nil, err
	}
	for i, name := range []string{o.Service, o.Service + "-worker", "gateway"} {
		if err := v.pause(ctx, 400*time.Millisecond); err != nil {
			return nil, err
		}
		v.progress(ctx, 2+i, steps, "Restarting "+name)
		v.log(ctx, "info", "restarted "+name+" in "+o.Environment)
	}
	o.Outcome = "deployed"
	if o.SmokeTests == "passed" {
		v.log(ctx, "info", "38 of 38 smoke tests passed")
	}
	v.log(ctx, "warning", "p95 latency is 212 ms, 4% above the last build")

	var last struct{ Keep bool }
	if err := v.ask(ctx, question{
		key: "keep", message: fmt.Sprintf("Build %s is up in %s, 4%% slower than the last one. Keep it?", o.Build, o.Environment),
		schema: object(`"keep":{"type":"boolean","title":"Keep the new build","description":"No rolls back to build 2280","default":true}`, "keep"),
		into:   &last,
	}); err != nil {
		return nil, err
	}
	is := "is"
	if !last.Keep {
		is, o.Outcome = "was", "rolled back"
		v.log(ctx, "notice", "rolled back to build 2280")
	}
	v.progress(ctx, steps, steps, "Done")
	return said("Build %s of %s %s %s in %s.", o.Build, o.Service, is, o.Outcome, o.Environment), nil
}

func askForRelease(ctx context.Context, v *visit, o *deployment) error {
	var release struct {
		Environment, Ticket string
		Share               json.Number
		Notify              []string
		Smoke               bool
	}
	q := question{
		key: "release", message: fmt.Sprintf("Deploy build %s of %s? Three services will restart.", o.Build, o.Service),
		schema: object(`"environment":{"type":"string","title":"Environment","oneOf":[
				{"const":"staging","title":"Staging"},{"const":"production","title":"Production"},{"const":"canary","title":"Canary"}]},
			"ticket":{"type":"string","title":"Change ticket","description":"Like CHG-12345","pattern":"^CHG-[0-9]{5}$","maxLength":12},
			"share":{"type":"number","title":"Share of traffic","description":"From 0 to 1","minimum":0,"maximum":1,"default":0.25},
			"notify":{"type":"array","title":"Notify","minItems":1,"maxItems":2,"items":{"anyOf":[
				{"const":"oncall","title":"On-call"},{"const":"team","title":"Team channel"},{"const":"me","title":"Me"}]},"default":["oncall","me"]},
			"smoke":{"type":"boolean","title":"Run smoke tests after"}`, "environment", "ticket"),
		declined:  "Build " + o.Build + " stays where it is. The release lock was given back.",
		cancelled: "The deployment was put off. The release lock was given back.",
		into:      &release,
	}
	a, err := v.answer(ctx, q)
	if err != nil {
		return err
	}
	if !a.accepted() {
		v.log(ctx, "notice", "the release lock was given back")
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
	if err := v.ask(ctx, question{
		key: "confirm", message: fmt.Sprintf("Transfer %s %s to %s? Type the amount once more.", o.Amount, o.Currency, o.To),
		schema: object(`"amount":{"type":"number","title":"Amount","minimum":0.01,"maximum":1000000},
			"invoice":{"type":"integer","title":"Invoice number","description":"One more than a double can count to: 2^53 + 1","minimum":1,"default":9007199254740993},
			"reference":{"type":"string","title":"Reference","description":"What the receiver reads on the statement","maxLength":35,"default":"Bread, June"},
			"remember":{"type":"boolean","title":"Remember the receiver"}`, "amount"),
		declined:  "You declined. No money was sent.",
		cancelled: "The transfer was put off. No money was sent.",
		into:      &c,
	}); err != nil {
		return nil, err
	}
	o.Confirmed, o.Invoice = c.Amount, c.Invoice
	if !sameNumber(o.Amount, o.Confirmed) {
		return failed("You were asked for %s %s and confirmed %s. No money was sent.", o.Amount, o.Currency, o.Confirmed), nil
	}
	o.Status = "sent"
	text := fmt.Sprintf("%s %s went to %s.", o.Amount, o.Currency, o.To)
	if o.Invoice == "9007199254740992" {
		text += " This server reads numbers as doubles, so it took the invoice for number 9007199254740992. What was sent is in the wire log."
	}
	return said("%s", text), nil
}

func sameNumber(a, b json.Number) bool {
	x, ok := new(big.Rat).SetString(string(a))
	y, also := new(big.Rat).SetString(string(b))
	return ok && also && x.Cmp(y) == 0
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
	// Friday at seven, so that the story reads well on any day. Kept, because it is part of the question.
	arrival := v.memo("arrival", func() string {
		now := v.server.options.Now()
		days := (int(time.Friday)-int(now.Weekday())+6)%7 + 1
		return time.Date(now.Year(), now.Month(), now.Day()+days, 19, 0, 0, 0, now.Location()).Format(time.RFC3339)
	})
	v.log(ctx, "info", name+" has tables left")
	var t struct {
		Arrival   string
		Party     json.Number
		Seating   string
		Allergies []string
		Birthday  string
		Email     string
	}
	if err := v.ask(ctx, question{
		key: "table", message: "A table at " + name + ": when, and for how many?",
		schema: object(fmt.Sprintf(`"arrival":{"type":"string","title":"Arrival","format":"date-time","default":%q},
			"party":{"type":"integer","title":"Guests","minimum":1,"maximum":12,"default":2},
			"seating":{"type":"string","title":"Seating","oneOf":[
				{"const":"inside","title":"Inside"},{"const":"terrace","title":"Terrace"},{"const":"bar","title":"At the bar"}],"default":"inside"},
			"allergies":{"type":"array","title":"Allergies","items":{"type":"string","enum":["nuts","gluten","milk","eggs","fish","shellfish","soy"]},"maxItems":4},
			"birthday":{"type":"string","title":"Birthday","description":"If there is one to celebrate","format":"date"},
			"email":{"type":"string","title":"Confirmation to","format":"email","maxLength":254},
			"wishes":{"type":"string","title":"Wishes","maxLength":500}`, arrival), "arrival", "party", "email"),
		declined:  "No table then. " + name + " will be sorry.",
		cancelled: "The table is not booked; ask again when you know.",
		into:      &t,
	}); err != nil {
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
	if err := v.ask(ctx, question{
		key: "delete", message: fmt.Sprintf("Delete 47 files (1.2 GB) in %q?", args.Folder), schema: object(``),
		declined: "All 47 files are still there.", cancelled: "Nothing was deleted.",
	}); err != nil {
		return nil, err
	}
	v.log(ctx, "info", "moved 47 files to the bin")
	var bin struct{ Empty bool }
	if err := v.ask(ctx, question{
		key: "bin", message: "The 47 files are in the bin. Empty it as well? That cannot be undone.",
		schema: object(`"empty":{"type":"boolean","title":"Empty the bin"}`, "empty"),
		into:   &bin,
	}); err != nil {
		return nil, err
	}
	if !bin.Empty {
		return said("47 files are in the bin, and can be put back."), nil
	}
	return said("47 files are gone, and 1.2 GB is free."), nil
}

func onboard(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	var who struct{ Name, Email string }
	if err := v.ask(ctx, question{
		key: "who", message: "Who is joining?",
		schema: object(`"name":{"type":"string","title":"Name","minLength":1,"maxLength":80},
			"email":{"type":"string","title":"Work e-mail","format":"email"}`, "name", "email"),
		declined: "Nobody is joining after all.", cancelled: "Nothing was set up yet.",
		into: &who,
	}); err != nil {
		return nil, err
	}
	v.log(ctx, "info", "made an account for "+who.Email)

	var job struct{ Role, Start string }
	if err := v.ask(ctx, question{
		key: "job", message: fmt.Sprintf("What will %s do, and from when?", who.Name),
		schema: object(`"role":{"type":"string","title":"Role","enum":["Design","Engineering","Finance","Support"]},
			"start":{"type":"string","title":"First day","format":"date"},
			"hours":{"type":"integer","title":"Hours a week","minimum":4,"maximum":40,"default":40}`, "role", "start"),
		declined:  "The account of " + who.Name + " was removed again.",
		cancelled: "The account of " + who.Name + " is there; the rest can wait.",
		into:      &job,
	}); err != nil {
		return nil, err
	}

	text := fmt.Sprintf("%s starts in %s on %s", who.Name, job.Role, job.Start)
	var desk struct {
		Things []string
		Lunch  bool
	}
	if err := v.ask(ctx, question{
		key: "desk", message: "What should be on the desk on " + job.Start + "?",
		schema: object(`"things":{"type":"array","title":"Equipment","minItems":1,"items":{"anyOf":[
				{"const":"laptop","title":"Laptop"},{"const":"screen","title":"Second screen"},{"const":"headset","title":"Headset"},{"const":"plant","title":"A plant"}]},
				"default":["laptop","plant"]},
			"lunch":{"type":"boolean","title":"Lunch with the team on the first day","default":true}`, "things"),
		declined: text + ", at an empty desk.", cancelled: text + ", at an empty desk.",
		into: &desk,
	}); err != nil {
		return nil, err
	}
	text += ". On the desk: " + strings.Join(desk.Things, ", ") + "."
	if desk.Lunch {
		text += " Lunch is booked."
	}
	return said("%s", text), nil
}
