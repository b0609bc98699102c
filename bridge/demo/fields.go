package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addFields adds the stories that are about the fields of a form.
func (s *Server) addFields() {
	s.addTool(tool{
		name: "every_field", title: "Fill in the long form", tell: everyField,
		description: "Each kind of field in one form, with each constraint: texts, formats, patterns, numbers, yes and no, one choice, several choices, in the old and the new spelling, with defaults and without. Returns what arrived.",
		output:      fieldsOutput,
	})
	s.addTool(tool{
		name: "ask", title: "Ask for one thing", tell: ask,
		description: "Asks for a single thing of the kind that you choose. Shows each kind of field by itself, with its limits, and at the end a list of 10,000 lockers.",
		input: `{"type":"object","properties":{
			"kind":{"type":"string","title":"Kind","enum":["` + strings.Join(kindNames(), `","`) + `"],"default":"` + kinds[0].name + `"}
		},"additionalProperties":false}`,
		output: fieldsOutput,
	})
}

const fieldsOutput = `{"type":"object","properties":{
	"action":{"type":"string","enum":["accept","decline","cancel"]},"content":{"type":"object"}
},"required":["action"]}`

// arrived is a result that tells what came back.
func arrived(a answer) *mcp.CallToolResult {
	o := struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{a.Action, a.Content}
	if !a.accepted() {
		return with(said("The answer was %s.", a.Action), o)
	}
	return with(said("Arrived: %s", a.Content), o)
}

func everyField(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	a, err := v.ask(ctx, question{key: "form", message: "Register your boat for the regatta.", schema: `{"type":"object","properties":{
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
			{"const":"fri","title":"Friday, soup"},{"const":"sat","title":"Saturday, barbecue"},{"const":"sun","title":"Sunday, pancakes"}]}}
	},"required":["boat","skipper","insured","races"]}`})
	if err != nil {
		return nil, err
	}
	return arrived(a), nil
}

// kind is one kind of field, asked for by itself.
type kind struct {
	name, message string
	field         func() string // the property's schema
	required      bool
}

func fixed(schema string) func() string { return func() string { return schema } }

var kinds = []kind{
	{"text", "What shall we call the office cat?", fixed(`{"type":"string","title":"Name","minLength":2,"maxLength":20}`), true},
	{"long_text", "What happened on your watch?", fixed(`{"type":"string","title":"Log","description":"Several lines are welcome","maxLength":4000,"default":"22:00 All quiet.\n23:30 Fog."}`), false},
	{"pattern", "Which parcel are you looking for?", fixed(`{"type":"string","title":"Parcel number","description":"Two letters and nine digits","pattern":"^[A-Z]{2}[0-9]{9}$"}`), true},
	{"email", "Where should the minutes go?", fixed(`{"type":"string","title":"E-mail","format":"email"}`), true},
	{"uri", "Which page should the crawler begin with?", fixed(`{"type":"string","title":"Address","format":"uri","default":"https://docs.example/start"}`), true},
	{"date", "When is the launch?", fixed(`{"type":"string","title":"Day","format":"date"}`), true},
	{"date_time", "When does the maintenance begin?", fixed(`{"type":"string","title":"Begin","description":"With its offset from UTC","format":"date-time"}`), true},
	{"number", "How warm should the greenhouse be?", fixed(`{"type":"number","title":"Degrees","minimum":-5,"maximum":40,"default":18.5}`), true},
	{"whole_number", "How many copies?", fixed(`{"type":"integer","title":"Copies","minimum":1,"maximum":500,"default":1}`), true},
	{"yes_or_no", "Is the stove off?", fixed(`{"type":"boolean","title":"The stove is off"}`), true},
	{"optional_yes_or_no", "Anything to declare about the weekend?", fixed(`{"type":"boolean","title":"I can take a shift"}`), false},
	{"choice", "Which coffee?", fixed(`{"type":"string","title":"Coffee","enum":["espresso","flat white","filter"]}`), true},
	{"titled_choice", "Where should the meeting be?", fixed(`{"type":"string","title":"Room","oneOf":[{"const":"r1","title":"Aquarium, 6 seats"},{"const":"r2","title":"Library, 12 seats"},{"const":"r3","title":"Roof, weather permitting"}],"default":"r2"}`), true},
	{"old_choice", "Which ticket?", fixed(`{"type":"string","title":"Ticket","description":"Spelled the old way, with enumNames","enum":["s","r","d"],"enumNames":["Single","Return","Day pass"]}`), true},
	{"several", "Which days suit you?", fixed(`{"type":"array","title":"Days","minItems":2,"maxItems":3,"items":{"type":"string","enum":["Monday","Tuesday","Wednesday","Thursday","Friday"]}}`), true},
	{"titled_several", "What goes on the pizza?", fixed(`{"type":"array","title":"Toppings","maxItems":3,"items":{"anyOf":[{"const":"mush","title":"Mushrooms"},{"const":"oliv","title":"Olives"},{"const":"cape","title":"Capers"},{"const":"pine","title":"Pineapple, if you must"}]},"default":["oliv"]}`), false},
	{"ten_thousand", "Which locker is yours?", lockers, true},
}

func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// lockers is a choice among 10,000.
var lockers = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString(`{"type":"string","title":"Locker","enum":[`)
	halls := []string{"North hall", "South hall", "Basement", "Roof"}
	for i := range 10000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s, %05d"`, halls[i/2500], i+1)
	}
	b.WriteString(`]}`)
	return b.String()
})

func ask(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Kind string }{kinds[0].name}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	for _, k := range kinds {
		if k.name != args.Kind {
			continue
		}
		required := ``
		if k.required {
			required = `,"required":["answer"]`
		}
		a, err := v.ask(ctx, question{key: k.name, message: k.message, schema: `{"type":"object","properties":{"answer":` + k.field() + `}` + required + `}`})
		if err != nil {
			return nil, err
		}
		return arrived(a), nil
	}
	return nil, problem("There is no such kind.")
}
