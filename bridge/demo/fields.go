package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fields are the stories that are about the fields of a form.
var fields = []tool{{
	name: "every_field", title: "Fill in the long form", tell: everyField, output: fieldsOutput,
	description: "Each kind of field in one form, with each constraint: texts, formats, patterns, numbers, yes and no, one choice, several choices, in the old and the new spelling, with defaults and without. Returns what arrived.",
}, {
	name: "ask", title: "Ask for one thing", tell: taking(ask), output: fieldsOutput,
	description: "Asks for a single thing of the kind that you choose. Shows each kind of field by itself, with its limits, and at the end a list of 10,000 lockers.",
	input:       `"kind":` + choice("Kind", "text", kinds),
}}

var fieldsOutput = object(`"action":{"type":"string","enum":["accept","decline","cancel"]},"content":{"type":"object"}`, "action")

// whatArrives asks, and tells what comes back.
func (v *visit) whatArrives(ctx context.Context, q question) (*mcp.CallToolResult, error) {
	a, err := v.answer(ctx, q)
	if err != nil {
		return nil, err
	}
	v.outcome = struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{a.Action, a.Content}
	if !a.accepted() {
		return said("The answer was %s.", a.Action), nil
	}
	return said("Arrived: %s", a.Content), nil
}

func everyField(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	return v.whatArrives(ctx, question{key: "form", message: "Register your boat for the regatta.", schema: object(`
		"boat":{"type":"string","title":"Name of the boat","description":"As it is painted on the stern","minLength":2,"maxLength":40},
		"sail":{"type":"string","title":"Sail number","description":"Three letters, a dash, up to five digits","pattern":"^[A-Z]{3}-[0-9]{1,5}$","default":"NED-204"},
		"skipper":{"type":"string","title":"Skipper's e-mail","format":"email"},
		"site":{"type":"string","title":"Web page","format":"uri","default":"https://sail.example/crew"},
		"built":{"type":"string","title":"Built","format":"date","default":"1998-05-30"},
		"arrival":{"type":"string","title":"Arrival at the harbour","format":"date-time","default":"2026-08-14T18:30:00+02:00"},
		"story":{"type":"string","title":"Her story","description":"For the programme; as many lines as you like","maxLength":2000,"default":"Built in a barn.\nLaunched in the rain."},
		"length":{"type":"number","title":"Length in metres","minimum":2.5,"maximum":40,"default":9.80},
		"crew":{"type":"integer","title":"Crew","minimum":1,"maximum":16,"default":4},
		"engine":{"type":"boolean","title":"Has an engine"},
		"insured":{"type":"boolean","title":"Is insured","description":"Has to be chosen"},
		"berth":{"type":"boolean","title":"Needs a berth","default":true},
		"rig":{"type":"string","title":"Rig","enum":["sloop","cutter","ketch","yawl"]},
		"harbour":{"type":"string","title":"Home harbour","oneOf":[
			{"const":"ams","title":"Amsterdam"},{"const":"ant","title":"Antwerp"},{"const":"ber","title":"Bergen"},{"const":"bri","title":"Brighton"},
			{"const":"cop","title":"Copenhagen"},{"const":"dub","title":"Dublin"},{"const":"gdy","title":"Gdynia"},{"const":"kie","title":"Kiel"},
			{"const":"lis","title":"Lisbon"},{"const":"ost","title":"Ostend"},{"const":"tal","title":"Tallinn"}],"default":"kie"},
		"class":{"type":"string","title":"Class","description":"Spelled the old way, with enumNames","enum":["a","b","c"],"enumNames":["Under 8 m","8 to 12 m","Over 12 m"],"default":"b"},
		"races":{"type":"array","title":"Races","description":"One to three","minItems":1,"maxItems":3,"items":{"type":"string","enum":["long distance","triangle","night","harbour cup"]},"default":["triangle"]},
		"meals":{"type":"array","title":"Meals on shore","items":{"anyOf":[
			{"const":"fri","title":"Friday, soup"},{"const":"sat","title":"Saturday, barbecue"},{"const":"sun","title":"Sunday, pancakes"}]}}`,
		"boat", "skipper", "insured", "races")})
}

// kind is one kind of field, asked for by itself.
type kind struct {
	name, message string
	field         string // the property's schema; empty for a list that is too long to be written here
	required      bool
}

func (k kind) id() string { return k.name }

func (k kind) schema() string {
	if k.field == "" {
		k.field = lockers()
	}
	if k.required {
		return object(`"answer":`+k.field, "answer")
	}
	return object(`"answer":` + k.field)
}

var kinds = []kind{
	{"text", "What shall we call the office cat?", `{"type":"string","title":"Name","minLength":2,"maxLength":20}`, true},
	{"long_text", "What happened on your watch?", `{"type":"string","title":"Log","description":"Several lines are welcome","maxLength":4000,"default":"22:00 All quiet.\n23:30 Fog."}`, false},
	{"pattern", "Which parcel are you looking for?", `{"type":"string","title":"Parcel number","description":"Two letters and nine digits","pattern":"^[A-Z]{2}[0-9]{9}$"}`, true},
	{"email", "Where should the minutes go?", `{"type":"string","title":"E-mail","format":"email"}`, true},
	{"uri", "Which page should the crawler begin with?", `{"type":"string","title":"Address","format":"uri","default":"https://docs.example/start"}`, true},
	{"date", "When is the launch?", `{"type":"string","title":"Day","format":"date"}`, true},
	{"date_time", "When does the maintenance begin?", `{"type":"string","title":"Begin","description":"With its offset from UTC","format":"date-time"}`, true},
	{"number", "How warm should the greenhouse be?", `{"type":"number","title":"Degrees","minimum":-5,"maximum":40,"default":18.5}`, true},
	{"whole_number", "How many copies?", `{"type":"integer","title":"Copies","minimum":1,"maximum":500,"default":1}`, true},
	{"yes_or_no", "Is the stove off?", `{"type":"boolean","title":"The stove is off"}`, true},
	{"optional_yes_or_no", "Anything to declare about the weekend?", `{"type":"boolean","title":"I can take a shift"}`, false},
	{"choice", "Which coffee?", `{"type":"string","title":"Coffee","enum":["espresso","flat white","filter"]}`, true},
	{"titled_choice", "Where should the meeting be?", `{"type":"string","title":"Room","oneOf":[{"const":"r1","title":"Aquarium, 6 seats"},{"const":"r2","title":"Library, 12 seats"},{"const":"r3","title":"Roof, weather permitting"}],"default":"r2"}`, true},
	{"old_choice", "Which ticket?", `{"type":"string","title":"Ticket","description":"Spelled the old way, with enumNames","enum":["s","r","d"],"enumNames":["Single","Return","Day pass"]}`, true},
	{"several", "Which days suit you?", `{"type":"array","title":"Days","minItems":2,"maxItems":3,"items":{"type":"string","enum":["Monday","Tuesday","Wednesday","Thursday","Friday"]}}`, true},
	{"titled_several", "What goes on the pizza?", `{"type":"array","title":"Toppings","maxItems":3,"items":{"anyOf":[{"const":"mush","title":"Mushrooms"},{"const":"oliv","title":"Olives"},{"const":"cape","title":"Capers"},{"const":"pine","title":"Pineapple, if you must"}]},"default":["oliv"]}`, false},
	{"ten_thousand", "Which locker is yours?", "", true},
}

// lockers is a choice among 10,000.
func lockers() string {
	names := make([]string, 10000)
	halls := []string{"North hall", "South hall", "Basement", "Roof"}
	for i := range names {
		names[i] = fmt.Sprintf(`"%s, %05d"`, halls[i/2500], i+1)
	}
	return `{"type":"string","title":"Locker","enum":[` + strings.Join(names, ",") + `]}`
}

func ask(ctx context.Context, v *visit, args struct{ Kind string }) (*mcp.CallToolResult, error) {
	k := chosen(args.Kind, kinds)
	return v.whatArrives(ctx, question{key: k.name, message: k.message, schema: k.schema()})
}
