package alike

import (
	"encoding/json"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
)

// result returns what is no JSON as the text of a result.
func result(text string) json.RawMessage {
	if strings.HasPrefix(text, "{") {
		return json.RawMessage(text)
	}
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(rawjson.Quoted(text)) + `}]}`)
}

// What two answers of calls with the same input may differ in, and what they may not.
func TestVaries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base  string
		again string // "" for none
		got   string
		sent  string // "" for none
		loose bool
		want  Likeness
	}{
		"equal":                             {base: "Done.", got: "Done.", want: Same},
		"another word":                      {base: "Done.", got: "Failed.", want: Different},
		"another number":                    {base: "Order 17", got: "Order 18", want: Different},
		"another number, loosely":           {base: "Order 17", got: "Order 18", loose: true, want: Same},
		"another word, loosely":             {base: "Order 17", got: "Offer 17", loose: true, want: Different},
		"a number that varies":              {base: "Order 17", again: "Order 18", got: "Order 19", want: Same},
		"none in place of some":             {base: "Deleted 3 rows", again: "Deleted 5 rows", got: "Deleted 0 rows", want: Different},
		"none in place of some, or none":    {base: "Deleted 3 rows", again: "Deleted 0 rows", got: "Deleted 0 rows", want: Same},
		"an id that varies":                 {base: "Order 4b1f-9", again: "Order 77ac-1", got: "Order 90e2-4", want: Same},
		"a word in place of an id":          {base: "Order 4b1f", again: "Order 77ac", got: "Order failed", want: Different},
		"a word that varies":                {base: "Well, thanks.", again: "Fine, thanks.", got: "Indeed, thanks.", want: Same},
		"a word beside one that varies":     {base: "Well, thanks.", again: "Fine, thanks.", got: "Well, sorry.", want: Different},
		"two words in place of one":         {base: "Well.", again: "Fine.", got: "So be it.", want: Different},
		"a text of which nobody knows":      {base: "Sun.", again: "Rain and wind.", got: "Snow.", want: Different},
		"a duration by its unit":            {base: "Took a while (2 ms)", got: "Took a while (41 ms)", want: Same},
		"a duration by its name":            {base: "elapsed: 2", got: "elapsed: 0", want: Same},
		"a duration that was sent":          {base: "Sleeps 2 s", sent: "2", got: "Sleeps 41 s", want: Different},
		"a member that is a time":           {base: `{"n":3,"tookMs":2}`, got: `{"n":3,"tookMs":57}`, want: Same},
		"a member that is a time as text":   {base: `{"n":3,"updatedAt":"12:30"}`, got: `{"n":3,"updatedAt":"12:44"}`, want: Same},
		"a member that is none":             {base: `{"n":3}`, got: `{"n":4}`, want: Different},
		"a member that varies":              {base: `{"n":3}`, got: `{"n":5}`, again: `{"n":4}`, want: Same},
		"a member that varies, and is none": {base: `{"n":3}`, got: `{"n":0}`, again: `{"n":4}`, want: Different},
		"a flag that varies":                {base: `{"on":true}`, got: `{"on":false}`, again: `{"on":false}`, want: Same},
		"another type":                      {base: `{"n":3}`, got: `{"n":"3"}`, want: Different},
		"a further member":                  {base: `{"n":3}`, got: `{"n":3,"error":"late"}`, want: Different},
		"other order and escapes":           {base: `{"a":"é","b":1}`, got: `{"b":1.0,"a":"\u00e9"}`, want: Same},
		"what revisions differ in":          {base: `{"n":3}`, got: `{"n":3,"resultType":"complete","_meta":{"x":1}}`, want: Same},
		"JSON in a text":                    {base: `{"text":"{\"n\":1,\"took_ms\":1}"}`, got: `{"text":"{ \"took_ms\":9, \"n\":1 }"}`, want: Same},
		"other JSON in a text":              {base: `{"text":"{\"n\":1}"}`, got: `{"text":"{\"n\":2}"}`, want: Different},
		"a long text":                       {base: "1 " + strings.Repeat("a", comparedMost), again: "2 " + strings.Repeat("a", comparedMost), got: "3 " + strings.Repeat("a", comparedMost), want: Different},
	} {
		compared := Comparison{Base: result(c.base), Loose: c.loose}
		if c.again != "" {
			compared.Again = []json.RawMessage{result(c.again)}
		}
		if c.sent != "" {
			compared.Sent = []string{c.sent}
		}
		if got := compared.Of(result(c.got)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Where the base has what its run gave, the other answer may have what its own run gave.
func TestGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, old, new string // new is "" if nothing was given
		got            string
		blank          []string
		want           Likeness // for a telling change; where it is Telling, it is Same for one that is not
	}{
		"the new value":             {base: "Hello Ada!", old: `"Ada"`, new: `"Grace"`, got: "Hello Grace!", want: Telling},
		"the old value":             {base: "Hello Ada!", old: `"Ada"`, new: `"Grace"`, got: "Hello Ada!", want: Same},
		"a third value":             {base: "Hello Ada!", old: `"Ada"`, new: `"Grace"`, got: "Hello Emmy!", want: Different},
		"in capitals":               {base: "HELLO ADA!", old: `"Ada"`, new: `"Grace"`, got: "HELLO GRACE!", want: Telling},
		"inside a word":             {base: "Adam", old: `"Ada"`, new: `"Grace"`, got: "Gracem", want: Different},
		"a number without quotes":   {base: `Size "m"!`, old: `"m"`, new: `7`, got: "Size 7!", want: Telling},
		"a boolean of Python":       {base: "Agreed: True", old: "true", new: "false", got: "Agreed: False", want: Telling},
		"a list":                    {base: "Chosen: a, b", old: `["a","b"]`, new: `["c"]`, got: "Chosen: c", want: Telling},
		"a member":                  {base: `{"name":"Ada"}`, old: `"Ada"`, new: `{"x":1}`, got: `{"name":{"x":1}}`, want: Telling},
		"nothing, as it is shown":   {base: "Hello Ada!", old: `"Ada"`, got: "Hello undefined!", blank: Undefined, want: Telling},
		"nothing, and no such word": {base: "Hello Ada!", old: `"Ada"`, got: "Hello null!", blank: Undefined, want: Different},
		"nothing, and such a word":  {base: "Hello Ada!", old: `"Ada"`, got: "Hello null!", blank: Blanks, want: Telling},
		"nothing, as null":          {base: `{"name":"Ada"}`, old: `"Ada"`, got: `{"name":null}`, blank: Blanks, want: Telling},
		"nothing, left out":         {base: `{"name":"Ada"}`, old: `"Ada"`, got: `{}`, blank: Blanks, want: Telling},
	} {
		change := Change{Old: json.RawMessage(c.old), Telling: true}
		if c.new != "" {
			change.New = json.RawMessage(c.new)
		}
		for want := c.want; ; want = min(c.want, Same) {
			if got := (Comparison{Base: result(c.base), Changes: []Change{change}, Blank: c.blank}).Of(result(c.got)); got != want {
				t.Errorf("%s, telling %v: %d, want %d", name, change.Telling, got, want)
			}
			if !change.Telling {
				break
			}
			change.Telling = false
		}
	}
	if got := (Comparison{Base: result("State abc."), Changes: []Change{{Old: json.RawMessage(`"abc"`), Any: true, Telling: true}}}).Of(result("State of all things.")); got != Telling {
		t.Errorf("any text: %d", got)
	}
}

// A value stands in a text as a word of its own.
func TestShows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, value string
		want        bool
	}{
		{"Hello Ada!", "Ada", true}, {"Adam", "Ada", false}, {"x17y", "17", false}, {"Order 17.", "17", true}, {"Order 17", "", false}, {"größe", "röß", false}, {"(-)", "-", true},
	} {
		if got := Shows(c.text, c.value); got != c.want {
			t.Errorf("%q in %q: %v", c.value, c.text, got)
		}
	}
}
