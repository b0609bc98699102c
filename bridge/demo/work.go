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

func yes() *bool { b := true; return &b }

// addWork adds the stories of an ordinary day: each asks in form mode, once or several times.
func (s *Server) addWork() {
	s.addTool(tool{
		name: "deploy", title: "Deploy a build", tell: deploy,
		description: "Ship a build to an environment you choose. Shows several questions in a row, each depending on the last, with progress and log messages in between.",
		input: `{"type":"object","properties":{
			"service":{"type":"string","title":"Service","enum":["checkout","search","billing"],"default":"checkout"}
		},"additionalProperties":false}`,
		output: `{"type":"object","properties":{
			"service":{"type":"string"},"build":{"type":"string"},"environment":{"type":"string"},"ticket":{"type":"string"},
			"share":{"type":"number"},"notified":{"type":"array","items":{"type":"string"}},
			"smokeTests":{"type":"string","enum":["passed","skipped"]},"outcome":{"type":"string","enum":["deployed","rolled back","not deployed"]}
		},"required":["service","outcome"]}`,
	})
	s.addTool(tool{
		name: "transfer_money", title: "Transfer money", tell: transfer,
		description: "Asks you to confirm the exact amount. Shows numbers: decimals that must survive, and an invoice number with more digits than a double holds. The wire log has the digits that were really sent.",
		input: `{"type":"object","properties":{
			"to":{"type":"string","title":"To","default":"Greenfield Bakery","minLength":1,"maxLength":70},
			"amount":{"type":"number","title":"Amount","default":1250.10,"exclusiveMinimum":0,"maximum":1000000},
			"currency":{"type":"string","title":"Currency","enum":["EUR","USD","GBP","JPY"],"default":"EUR"}
		},"additionalProperties":false}`,
		output: `{"type":"object","properties":{
			"status":{"type":"string","enum":["sent","not sent"]},"to":{"type":"string"},
			"amount":{"type":"number","description":"As asked for"},"confirmed":{"type":"number","description":"As this server read the answer"},
			"invoice":{"type":"number","description":"As this server read the answer, which is as a double"},"currency":{"type":"string"}
		},"required":["status"]}`,
	})
	s.addTool(tool{
		name: "book_table", title: "Book a table", tell: bookTable,
		description: "Books a table for the evening. Shows a date and time with its offset, a date, a whole number, one choice, several choices, and an e-mail address, most of them with defaults.",
		input: `{"type":"object","properties":{
			"restaurant":{"type":"string","title":"Restaurant","oneOf":[
				{"const":"lantern","title":"The Paper Lantern"},{"const":"harbour","title":"Harbour Kitchen"},{"const":"nonna","title":"Da Nonna"}],"default":"lantern"}
		},"additionalProperties":false}`,
		output: `{"type":"object","properties":{
			"booked":{"type":"boolean"},"code":{"type":"string"},"restaurant":{"type":"string"},"arrival":{"type":"string","format":"date-time"},
			"party":{"type":"integer"},"seating":{"type":"string"},"allergies":{"type":"array","items":{"type":"string"}}
		},"required":["booked","restaurant"]}`,
	})
	s.addTool(tool{
		name: "delete_files", title: "Delete files", tell: deleteFiles,
		annotations: &mcp.ToolAnnotations{DestructiveHint: yes()},
		description: "Confirms before 47 files go. Shows a question without any field, and then a required yes or no that has no default and so must be chosen.",
		input: `{"type":"object","properties":{
			"folder":{"type":"string","title":"Folder","default":"Downloads/old","minLength":1}
		},"additionalProperties":false}`,
	})
	s.addTool(tool{
		name: "onboard", title: "Welcome a colleague", tell: onboard,
		description: "Three questions, one after another: who, what, and with which equipment. Cancel one and see what is kept.",
	})
}

func deploy(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Service string }{"checkout"}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	const total = 6
	o := deployment{Service: args.Service, Outcome: "not deployed"}
	v.log(ctx, "info", "looking for builds of "+args.Service)
	v.progress(ctx, 0, total, "Looking for builds")

	a, err := v.ask(ctx, question{key: "build", message: "Which build should go out?", schema: `{"type":"object","properties":{
		"build":{"type":"string","title":"Build","oneOf":[
			{"const":"2291","title":"2291 · Faster search, 14 minutes old"},
			{"const":"2288","title":"2288 · Price rounding fixed, yesterday"},
			{"const":"2280","title":"2280 · Running now"}],"default":"2291"}
	},"required":["build"]}`})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return with(instead(a, "No build was chosen. Nothing was deployed.", "The deployment was put off before a build was chosen."), o), nil
	}
	var chosen struct{ Build string }
	if err := a.into(&chosen); err != nil {
		return nil, err
	}
	o.Build = chosen.Build
	v.progress(ctx, 1, total, "Build "+chosen.Build+" chosen")
	v.log(ctx, "info", "holding the release lock for build "+chosen.Build)

	a, err = v.ask(ctx, question{
		key:     "release",
		message: fmt.Sprintf("Deploy build %s of %s? Three services will restart.", chosen.Build, args.Service),
		schema: `{"type":"object","properties":{
			"environment":{"type":"string","title":"Environment","oneOf":[
				{"const":"staging","title":"Staging"},{"const":"production","title":"Production"},{"const":"canary","title":"Canary"}]},
			"ticket":{"type":"string","title":"Change ticket","description":"Like CHG-12345","pattern":"^CHG-[0-9]{5}$","maxLength":12},
			"share":{"type":"number","title":"Share of traffic","description":"From 0 to 1","minimum":0,"maximum":1,"default":0.25},
			"notify":{"type":"array","title":"Notify","minItems":1,"maxItems":2,"items":{"anyOf":[
				{"const":"oncall","title":"On-call"},{"const":"team","title":"Team channel"},{"const":"me","title":"Me"}]},"default":["oncall","me"]},
			"smoke":{"type":"boolean","title":"Run smoke tests after"}
		},"required":["environment","ticket"]}`,
	})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		v.log(ctx, "notice", "the release lock was given back")
		return with(instead(a, "Build "+chosen.Build+" stays where it is. The release lock was given back.", "The deployment was put off. The release lock was given back."), o), nil
	}
	var release struct {
		Environment, Ticket string
		Share               json.Number
		Notify              []string
		Smoke               *bool
	}
	if err := a.into(&release); err != nil {
		return nil, err
	}

	services := []string{args.Service, args.Service + "-worker", "gateway"}
	for i, name := range services {
		if err := v.pause(ctx, 400*time.Millisecond); err != nil {
			return nil, err
		}
		v.progress(ctx, float64(2+i), total, "Restarting "+name)
		v.log(ctx, "info", "restarted "+name+" in "+release.Environment)
	}
	o.Environment, o.Ticket, o.Share, o.Notified = release.Environment, release.Ticket, release.Share, release.Notify
	o.Outcome, o.SmokeTests = "deployed", "skipped"
	if release.Smoke != nil && *release.Smoke {
		o.SmokeTests = "passed"
		v.log(ctx, "info", "38 of 38 smoke tests passed")
	}
	v.log(ctx, "warning", "p95 latency is 212 ms, 4% above the last build")

	a, err = v.ask(ctx, question{
		key:     "keep",
		message: fmt.Sprintf("Build %s is up in %s, 4%% slower than the last one. Keep it?", chosen.Build, release.Environment),
		schema: `{"type":"object","properties":{
			"keep":{"type":"boolean","title":"Keep the new build","description":"No rolls back to build 2280","default":true}
		},"required":["keep"]}`,
	})
	if err != nil {
		return nil, err
	}
	var last struct{ Keep bool }
	if a.accepted() {
		if err := a.into(&last); err != nil {
			return nil, err
		}
	}
	if !last.Keep {
		o.Outcome = "rolled back"
		v.log(ctx, "notice", "rolled back to build 2280")
	}
	v.progress(ctx, total, total, "Done")
	is := "is"
	if !last.Keep {
		is = "was"
	}
	return with(said("Build %s of %s %s %s in %s.", o.Build, o.Service, is, o.Outcome, o.Environment), o), nil
}

// deployment is what deploy returns.
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

func transfer(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct {
		To       string
		Amount   json.Number
		Currency string
	}{"Greenfield Bakery", "1250.10", "EUR"}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	a, err := v.ask(ctx, question{
		key:     "confirm",
		message: fmt.Sprintf("Transfer %s %s to %s? Type the amount once more.", args.Amount, args.Currency, args.To),
		schema: `{"type":"object","properties":{
			"amount":{"type":"number","title":"Amount","minimum":0.01,"maximum":1000000},
			"invoice":{"type":"integer","title":"Invoice number","description":"One more than a double can count to: 2^53 + 1","minimum":1,"default":9007199254740993},
			"reference":{"type":"string","title":"Reference","description":"What the receiver reads on the statement","maxLength":35,"default":"Bread, June"},
			"remember":{"type":"boolean","title":"Remember the receiver"}
		},"required":["amount"]}`,
	})
	if err != nil {
		return nil, err
	}
	type outcome struct {
		Status    string      `json:"status"`
		To        string      `json:"to"`
		Amount    json.Number `json:"amount"`
		Confirmed json.Number `json:"confirmed,omitempty"`
		Invoice   json.Number `json:"invoice,omitempty"`
		Currency  string      `json:"currency"`
	}
	o := outcome{Status: "not sent", To: args.To, Amount: args.Amount, Currency: args.Currency}
	if !a.accepted() {
		return with(instead(a, "You declined. No money was sent.", "The transfer was put off. No money was sent."), o), nil
	}
	var c struct{ Amount, Invoice json.Number }
	if err := a.into(&c); err != nil {
		return nil, err
	}
	o.Confirmed, o.Invoice = c.Amount, c.Invoice
	if !sameNumber(args.Amount, c.Amount) {
		return with(failed("You were asked for %s %s and confirmed %s. No money was sent.", args.Amount, args.Currency, c.Amount), o), nil
	}
	o.Status = "sent"
	text := fmt.Sprintf("%s %s went to %s.", args.Amount, args.Currency, args.To)
	if c.Invoice == "9007199254740992" {
		text += " This server reads numbers as doubles, so it took the invoice for number 9007199254740992. What was sent is in the wire log."
	}
	return with(said("%s", text), o), nil
}

// sameNumber compares the values of two JSON numbers, exactly.
func sameNumber(a, b json.Number) bool {
	x, ok := new(big.Rat).SetString(string(a))
	y, also := new(big.Rat).SetString(string(b))
	return ok && also && x.Cmp(y) == 0
}

var restaurants = map[string]string{"lantern": "The Paper Lantern", "harbour": "Harbour Kitchen", "nonna": "Da Nonna"}

func bookTable(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Restaurant string }{"lantern"}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	name := restaurants[args.Restaurant]
	// Friday at seven, so that the story reads well on any day. Kept, because it is part of the question.
	arrival := v.memo("arrival", func() string {
		now := v.server.options.Now()
		days := (int(time.Friday)-int(now.Weekday())+6)%7 + 1
		return time.Date(now.Year(), now.Month(), now.Day()+days, 19, 0, 0, 0, now.Location()).Format(time.RFC3339)
	})
	v.log(ctx, "info", name+" has tables left")
	a, err := v.ask(ctx, question{
		key:     "table",
		message: "A table at " + name + ": when, and for how many?",
		schema: fmt.Sprintf(`{"type":"object","properties":{
			"arrival":{"type":"string","title":"Arrival","format":"date-time","default":%q},
			"party":{"type":"integer","title":"Guests","minimum":1,"maximum":12,"default":2},
			"seating":{"type":"string","title":"Seating","oneOf":[
				{"const":"inside","title":"Inside"},{"const":"terrace","title":"Terrace"},{"const":"bar","title":"At the bar"}],"default":"inside"},
			"allergies":{"type":"array","title":"Allergies","items":{"type":"string","enum":["nuts","gluten","milk","eggs","fish","shellfish","soy"]},"maxItems":4},
			"birthday":{"type":"string","title":"Birthday","description":"If there is one to celebrate","format":"date"},
			"email":{"type":"string","title":"Confirmation to","format":"email","maxLength":254},
			"wishes":{"type":"string","title":"Wishes","maxLength":500}
		},"required":["arrival","party","email"]}`, arrival),
	})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return with(instead(a, "No table then. "+name+" will be sorry.", "The table is not booked; ask again when you know."), reservation{Restaurant: name}), nil
	}
	var t struct {
		Arrival   string
		Party     json.Number
		Seating   string
		Allergies []string
		Birthday  string
		Email     string
	}
	if err := a.into(&t); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("A table for %s at %s, %s. A confirmation goes to %s.", t.Party, name, t.Arrival, t.Email)
	if len(t.Allergies) > 0 {
		text += " The kitchen knows about " + strings.Join(t.Allergies, ", ") + "."
	}
	if t.Birthday != "" {
		text += " There will be a candle."
	}
	return with(said("%s", text), reservation{true, "PL-4417", name, t.Arrival, t.Party, t.Seating, t.Allergies}), nil
}

// reservation is what book_table returns.
type reservation struct {
	Booked     bool        `json:"booked"`
	Code       string      `json:"code,omitempty"`
	Restaurant string      `json:"restaurant"`
	Arrival    string      `json:"arrival,omitempty"`
	Party      json.Number `json:"party,omitempty"`
	Seating    string      `json:"seating,omitempty"`
	Allergies  []string    `json:"allergies,omitempty"`
}

func deleteFiles(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Folder string }{"Downloads/old"}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	a, err := v.ask(ctx, question{
		key:     "delete",
		message: fmt.Sprintf("Delete 47 files (1.2 GB) in %q?", args.Folder),
		schema:  `{"type":"object","properties":{}}`,
	})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return instead(a, "All 47 files are still there.", "Nothing was deleted."), nil
	}
	v.log(ctx, "info", "moved 47 files to the bin")
	a, err = v.ask(ctx, question{
		key:     "bin",
		message: "The 47 files are in the bin. Empty it as well? That cannot be undone.",
		schema: `{"type":"object","properties":{
			"empty":{"type":"boolean","title":"Empty the bin"}
		},"required":["empty"]}`,
	})
	if err != nil {
		return nil, err
	}
	var bin struct{ Empty bool }
	if a.accepted() {
		if err := a.into(&bin); err != nil {
			return nil, err
		}
	}
	if !bin.Empty {
		return said("47 files are in the bin, and can be put back."), nil
	}
	return said("47 files are gone, and 1.2 GB is free."), nil
}

func onboard(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	a, err := v.ask(ctx, question{key: "who", message: "Who is joining?", schema: `{"type":"object","properties":{
		"name":{"type":"string","title":"Name","minLength":1,"maxLength":80},
		"email":{"type":"string","title":"Work e-mail","format":"email"}
	},"required":["name","email"]}`})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return instead(a, "Nobody is joining after all.", "Nothing was set up yet."), nil
	}
	var who struct{ Name, Email string }
	if err := a.into(&who); err != nil {
		return nil, err
	}
	v.log(ctx, "info", "made an account for "+who.Email)

	a, err = v.ask(ctx, question{key: "job", message: fmt.Sprintf("What will %s do, and from when?", who.Name), schema: `{"type":"object","properties":{
		"role":{"type":"string","title":"Role","enum":["Design","Engineering","Finance","Support"]},
		"start":{"type":"string","title":"First day","format":"date"},
		"hours":{"type":"integer","title":"Hours a week","minimum":4,"maximum":40,"default":40}
	},"required":["role","start"]}`})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return instead(a, "The account of "+who.Name+" was removed again.", "The account of "+who.Name+" is there; the rest can wait."), nil
	}
	var job struct{ Role, Start string }
	if err := a.into(&job); err != nil {
		return nil, err
	}

	a, err = v.ask(ctx, question{key: "desk", message: "What should be on the desk on " + job.Start + "?", schema: `{"type":"object","properties":{
		"things":{"type":"array","title":"Equipment","minItems":1,"items":{"anyOf":[
			{"const":"laptop","title":"Laptop"},{"const":"screen","title":"Second screen"},{"const":"headset","title":"Headset"},{"const":"plant","title":"A plant"}]},
			"default":["laptop","plant"]},
		"lunch":{"type":"boolean","title":"Lunch with the team on the first day","default":true}
	},"required":["things"]}`})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return said("%s starts in %s on %s, at an empty desk.", who.Name, job.Role, job.Start), nil
	}
	var desk struct {
		Things []string
		Lunch  bool
	}
	if err := a.into(&desk); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%s starts in %s on %s. On the desk: %s.", who.Name, job.Role, job.Start, strings.Join(desk.Things, ", "))
	if desk.Lunch {
		text += " Lunch is booked."
	}
	return said("%s", text), nil
}
