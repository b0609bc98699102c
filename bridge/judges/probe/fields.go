package probe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

// field is a probe whose question has one field, named "value".
type field struct {
	name, title string
	do          string // the message
	schema      string // of the field, as JSON
	optional    bool
	// want is the value that the message asks for, as JSON; "" if any valid value will do.
	want    string
	try     string // the value that the message asks to try first, as JSON; "" for none
	since   string
	group   Group
	looks   []string
	initial bool // want is the schema's default, which is to be sent untouched
}

const november = mcp.Revision20251125

// untouched is the message of probes of defaults.
const untouched = "Change nothing, and accept."

func (f field) probe() *Probe {
	if f.group == "" {
		f.group = Fields
	}
	enter := ""
	if f.want != "" {
		enter = `{"action":"accept","content":{"value":` + f.want + `}}`
	}
	if f.try != "" {
		enter = rawjson.WithMember(cmp.Or(enter, `{"action":"accept"}`), "try", `{"value":`+f.try+`}`)
	}
	return &Probe{Name: f.name, Group: f.group, Title: f.title, Do: f.do, Since: f.since, Mode: elicit.ModeForm, Looks: f.looks, enter: enter, run: func(r *run) finding {
		var required []string
		if !f.optional {
			required = []string{"value"}
		}
		return f.judge(r.ask(r.form(f.do, `"value":`+f.schema, required...)))
	}}
}

func (f field) judge(a answer) finding {
	content, wrong := a.checked()
	if wrong.verdict != "" {
		return wrong
	}
	value := rawjson.Member(content, "value")
	shown := wording.Shorten(string(content), 200)
	want := json.RawMessage(f.want)
	how := altered(value, want)
	picks, wanted := slices.Sorted(slices.Values(rawjson.Strings(value))), slices.Sorted(slices.Values(rawjson.Strings(want))) // their order has no meaning
	number, err := strconv.ParseFloat(string(value), 64)
	exact, err2 := strconv.ParseFloat(f.want, 64)
	switch {
	case f.want == "":
		return works("The content is " + shown + ".")
	case rawjson.Same(value, want), len(picks) > 0 && slices.Equal(picks, wanted):
		return works("")
	case value == nil && f.initial:
		wrong = fails("The default " + f.want + " is lost: the content is " + shown + ".").because(causeAltered)
	case err == nil && err2 == nil && number == exact:
		return partly("The digits changed, as in a 64-bit float: " + f.want + " came back as " + string(value) + ".").because(causeRounded)
	case how != "" || f.initial && empty(value):
		wrong = fails("The value " + f.want + " came back " + cmp.Or(how, "as that of a control that nobody touched") + ": " + shown + ".").because(causeAltered)
	case altered(value, json.RawMessage(f.try)) != "":
		wrong = fails("The value " + f.try + " was neither refused nor sent, but came back " + altered(value, json.RawMessage(f.try)) + ": " + shown + ".").because(causeAltered)
		wrong.following = true
	case f.initial:
		wrong = fails("The default " + f.want + " is not used: the content is " + shown + ".").because(causeAltered)
		wrong.following = true
	default:
		return unasked(content)
	}
	wrong.blank = value == nil || empty(value)
	if rawjson.Member(a.result, "content") == nil {
		wrong.cause = causeNoContent
	}
	return wrong
}

// unasked is the finding for valid content that is not what the message asks for.
func unasked(content json.RawMessage) finding {
	return otherwise("The answer is valid, and not the one that the message asks for: " + wording.Shorten(string(content), 200) + ".")
}

// altered says how a client has changed a value on its way; "" if got is unlike want.
func altered(got, want json.RawMessage) string {
	if rawjson.KindOf(want) == rawjson.Number && rawjson.KindOf(got) == rawjson.Number {
		x, err := strconv.ParseFloat(string(got), 64)
		y, err2 := strconv.ParseFloat(string(want), 64)
		if err == nil && err2 == nil && x != y && y != math.Trunc(y) && (x == math.Trunc(y) || x == math.Round(y)) {
			return "as a whole number"
		}
		return ""
	}
	a, b := rawjson.Text(got), rawjson.Text(want)
	if rawjson.KindOf(got) != rawjson.String || b == "" || a == b {
		return ""
	}
	squeezed := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	x, err := time.Parse(time.DateOnly, wording.Head(a, len(time.DateOnly)))
	y, err2 := time.Parse(time.DateOnly, b)
	unescaped, err3 := url.QueryUnescape(a)
	switch {
	case strings.TrimSpace(a) == strings.TrimSpace(b):
		return "with other white space around it"
	case squeezed(a) == squeezed(b):
		return "with its white space collapsed"
	case norm.NFC.String(a) == norm.NFC.String(b), norm.NFKC.String(a) == norm.NFKC.String(b):
		return "in another form of Unicode"
	case err == nil && err2 == nil && x.Sub(y).Abs() <= 24*time.Hour:
		return wording.Either(x.Equal(y), "with something behind it", "as another day")
	case strings.TrimRight(a, "/") == strings.TrimRight(b, "/"):
		return "with another slash at its end"
	case strings.EqualFold(a, b):
		return "in other capitals"
	case squeezed(html.UnescapeString(a)) == squeezed(b), err3 == nil && squeezed(unescaped) == squeezed(b), squeezed(strings.Trim(strings.ReplaceAll(a, `\`, ""), `"'`)) == squeezed(strings.Trim(strings.ReplaceAll(b, `\`, ""), `"'`)):
		return "with other escapes"
	}
	return ""
}

// having returns the content of an answer like checked, and a finding also if a field does not
// have the text that the message asks for.
func (a answer) having(name, text string) (content json.RawMessage, wrong finding) {
	content, wrong = a.checked()
	if wrong.verdict == "" && rawjson.Text(rawjson.Member(content, name)) != text {
		wrong = unasked(content)
	}
	return content, wrong
}

func fieldProbes() (list []*Probe) {
	fields := []field{
		{name: "string", title: "A text", do: "Enter any text, and accept.", schema: `{"type":"string","title":"Text","description":"Anything will do."}`},
		{name: "string-length", title: "A text of limited length", do: `Try to enter "much too long". If it is refused, enter "fits", and accept.`, schema: `{"type":"string","minLength":3,"maxLength":5}`, want: `"fits"`, try: `"much too long"`},
		{name: "string-pattern", title: "A text with a pattern", do: `Try to enter "42". If it is refused, enter "AB-1234", and accept.`, schema: `{"type":"string","pattern":"^[A-Z]{2}-[0-9]{4}$","description":"Two capital letters, a hyphen and four digits."}`, want: `"AB-1234"`, try: `"42"`},
		{name: "format-email", title: "An e-mail address", do: `Try to enter "nobody". If it is refused, enter "ada@example.com", and accept.`, schema: `{"type":"string","format":"email"}`, want: `"ada@example.com"`, try: `"nobody"`},
		{name: "format-uri", title: "A URI", do: `Try to enter "nowhere". If it is refused, enter "https://example.com/", and accept.`, schema: `{"type":"string","format":"uri"}`, want: `"https://example.com/"`, try: `"nowhere"`},
		{name: "format-date", title: "A date", do: `Enter 29 February 2028, and accept.`, schema: `{"type":"string","format":"date"}`, want: `"2028-02-29"`},
		{name: "format-date-time", title: "A date with a time", do: `Enter any date and time, and accept.`, schema: `{"type":"string","format":"date-time"}`},
		{name: "integer", title: "A whole number", do: `Try to enter 1.5. If it is refused, enter 7, and accept.`, schema: `{"type":"integer"}`, want: `7`, try: `1.5`},
		{name: "integer-limits", title: "A whole number with limits", do: `Try to enter 11. If it is refused, enter 10, and accept.`, schema: `{"type":"integer","minimum":1,"maximum":10}`, want: `10`, try: `11`},
		{name: "number", title: "A number with a fraction", do: `Enter 0.5, and accept.`, schema: `{"type":"number","minimum":0.25,"maximum":0.75}`, want: `0.5`},
		{name: "boolean", title: "Yes or no", do: `Choose yes, and accept.`, schema: `{"type":"boolean","title":"Yes?"}`, want: `true`},
		{name: "choice", title: "A choice", do: `Choose "Blue", and accept.`, schema: `{"type":"string","enum":["Red","Green","Blue"]}`, want: `"Blue"`},
		{name: "choice-names", title: "A choice with names (enumNames)", do: `Choose "Blue", and accept.`, schema: `{"type":"string","enum":["#f00","#0f0","#00f"],"enumNames":["Red","Green","Blue"]}`, want: `"#00f"`, looks: []string{"Were the choices Red, Green and Blue, and not #f00, #0f0 and #00f?"}},
		{name: "choice-titled", title: "A choice with titles (oneOf)", do: `Choose "Blue", and accept.`, since: november, schema: `{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"},{"const":"#00f","title":"Blue"}]}`, want: `"#00f"`, looks: []string{"Were the choices Red, Green and Blue, and not #f00, #0f0 and #00f?"}},
		{name: "choices", title: "Several choices", do: `Choose "Red" and "Blue", and accept.`, since: november, schema: `{"type":"array","items":{"type":"string","enum":["Red","Green","Blue"]}}`, want: `["Red","Blue"]`},
		{name: "choices-titled", title: "Several choices with titles", do: `Choose "Red" and "Blue", and accept.`, since: november, schema: `{"type":"array","items":{"anyOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"},{"const":"#00f","title":"Blue"}]}}`, want: `["#f00","#00f"]`, looks: []string{"Were the choices Red, Green and Blue, and not #f00, #0f0 and #00f?"}},
		{name: "choices-limits", title: "Two or three of four choices", do: `Try to choose one only, then all four. If both are refused, choose two or three, and accept.`, since: november, schema: `{"type":"array","minItems":2,"maxItems":3,"items":{"type":"string","enum":["North","East","South","West"]}}`, try: `["North"]`},
		{name: "choice-many", title: "One of 300 choices", do: `Choose "choice 299", and accept.`, schema: `{"type":"string","enum":[` + many(300, func(i int) string { return fmt.Sprintf(`"choice %d"`, i) }) + `]}`, want: `"choice 299"`},
		{name: "default-boolean", title: "Default: yes or no", do: untouched, schema: `{"type":"boolean","default":true}`, want: `true`, initial: true, optional: true},
		{name: "default-false", title: "Default: no", do: untouched, schema: `{"type":"boolean","default":false}`, want: `false`, initial: true, optional: true},
		{name: "default-string", title: "Default: a text", do: untouched, since: november, schema: `{"type":"string","default":"  two spaces before, \"quotes\" and a back\\slash"}`, want: `"  two spaces before, \"quotes\" and a back\\slash"`, initial: true, optional: true},
		{name: "default-integer", title: "Default: a whole number", do: untouched, since: november, schema: `{"type":"integer","default":0}`, want: `0`, initial: true, optional: true},
		{name: "default-number", title: "Default: a number", do: untouched, since: november, schema: `{"type":"number","default":-0.1}`, want: `-0.1`, initial: true, optional: true},
		{name: "default-choice", title: "Default: a choice", do: untouched, since: november, schema: `{"type":"string","enum":["Red","Green","Blue"],"default":"Green"}`, want: `"Green"`, initial: true, optional: true},
		{name: "default-choice-titled", title: "Default: a choice with titles", do: untouched, since: november, schema: `{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}],"default":"g"}`, want: `"g"`, initial: true, optional: true},
		{name: "default-choices", title: "Default: several choices", do: untouched, since: november, schema: `{"type":"array","items":{"type":"string","enum":["Red","Green","Blue"]},"default":["Blue","Red"]}`, want: `["Blue","Red"]`, initial: true, optional: true},
		{name: "exact-integer", title: "A whole number above 2^53", do: `Change nothing, and accept. If nothing is filled in, enter 9007199254740993.`, schema: `{"type":"integer","default":9007199254740993}`, want: `9007199254740993`},
		{name: "exact-number", title: "A number with many digits", do: `Change nothing, and accept. If nothing is filled in, enter 0.1234567890123456789.`, schema: `{"type":"number","default":0.1234567890123456789}`, want: `0.1234567890123456789`},
	}
	for _, f := range fields {
		list = append(list, f.probe())
	}
	return append(list,
		&Probe{Name: "required", Group: Fields, Title: "A required field", Do: `Try to accept with the first field empty. If that is refused, enter "yes" in it, and accept.`, Mode: elicit.ModeForm, enter: `{"action":"accept","content":{"first":"yes"},"try":{}}`, run: func(r *run) finding {
			_, wrong := r.ask(r.form(r.probe.Do, `"first":{"type":"string","minLength":1},"second":{"type":"string"}`, "first")).having("first", "yes")
			return or(wrong, works(""))
		}},
		&Probe{Name: "optional-empty", Group: Fields, Title: "An optional field left empty", Do: `Enter "x" in the first field, leave all others empty, and accept.`, Mode: elicit.ModeForm, enter: `{"action":"accept","content":{"first":"x"}}`, run: optionalEmpty},
		&Probe{Name: "fields-many", Group: Fields, Title: "Fifty fields", Do: `Enter "end" in the last of fifty fields, and accept.`, Mode: elicit.ModeForm, enter: `{"action":"accept","content":{"field 50":"end"}}`, run: func(r *run) finding {
			properties := many(50, func(i int) string { return fmt.Sprintf(`"field %d":{"type":"string","title":"Field %d"}`, i, i) })
			content, wrong := r.ask(r.form(r.probe.Do, properties, "field 50")).having("field 50", "end")
			return or(wrong, works(wording.Plural(rawjson.Count(content), "field")+" of fifty came back."))
		}},
		&Probe{Name: "fields-names", Group: Fields, Title: "Names that are not identifiers", Do: `Choose "yes" in all fields, and accept.`, Mode: elicit.ModeForm, run: func(r *run) finding {
			names := []string{"a.b", "a/b", "a b", "größe", "constructor", "toString", "0", "content"}
			properties := many(len(names), func(i int) string { return string(rawjson.Quoted(names[i-1])) + `:{"type":"string","enum":["yes"]}` })
			return r.filled(r.form(r.probe.Do, properties, names...), works(""))
		}},
		&Probe{Name: "fields-none", Group: Fields, Title: "A form without fields", Do: `Accept. There is nothing to fill in.`, Mode: elicit.ModeForm, run: func(r *run) finding {
			a := r.ask(r.form(r.probe.Do, ``))
			if _, wrong := a.checked(); wrong.verdict != "" || rawjson.Member(a.result, "content") != nil {
				return or(wrong, works(""))
			}
			return may("It is accepted without content, in place of an empty object. No rule is behind that; servers can stumble over it.").because(causeNoContent)
		}},
		&Probe{Name: "fields-order", Group: Fields, Title: "Order of the fields", Do: `Look at the order of the fields. Then accept.`, Mode: elicit.ModeForm, OnlyLooks: true,
			Looks: []string{"Were the fields in the order Zebra, Apple, 10, 2, Mango?"}, run: func(r *run) finding {
				properties := many(5, func(i int) string {
					name := []string{"Zebra", "Apple", "10", "2", "Mango"}[i-1]
					return fmt.Sprintf(`%q:{"type":"boolean","title":%q}`, name, name)
				})
				return r.filled(r.form(r.probe.Do, properties), undrawn)
			}},
		&Probe{Name: "fields-labels", Group: Fields, Title: "Title and description", Do: `Look at what stands beside the field. Then accept.`, Mode: elicit.ModeForm, OnlyLooks: true,
			Looks: []string{`Was "Favourite colour" beside the field?`, `Was "As it is printed on the tin." beside the field?`, "Was it clear which server asks?"}, run: func(r *run) finding {
				return r.filled(r.form(r.probe.Do, `"fc":{"type":"string","title":"Favourite colour","description":"As it is printed on the tin."}`), undrawn)
			}},
		&Probe{Name: "members-unknown", Group: Fields, Title: "Members that nobody knows", Do: `Accept with any text. The question has members that the client does not know, which it ignores.`, Mode: elicit.ModeForm, run: func(r *run) finding {
			params := strings.TrimSuffix(r.form(r.probe.Do, `"value":{"type":"string","x-unknown":{"a":[1]}}`), "}") + `,"x-unknown":true}`
			return r.filled(params, works(""))
		}},
	)
}

var undrawn = notSeen("It is answered, and no frame shows how it was drawn.")

// or returns the first finding that says something.
func or(list ...finding) finding {
	return list[max(0, slices.IndexFunc(list, func(f finding) bool { return f.verdict != "" }))]
}

// many joins n pieces of JSON with commas; f gets their places from 1.
func many(n int, f func(int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = f(i + 1)
	}
	return strings.Join(list, ",")
}

func optionalEmpty(r *run) finding {
	kinds := []string{"string", "integer", "number", "boolean"}
	properties := `"first":{"type":"string"},` + many(len(kinds), func(i int) string { return fmt.Sprintf(`"%s":{"type":%q}`, kinds[i-1], kinds[i-1]) })
	content, wrong := r.ask(r.form(r.probe.Do, properties, "first")).checked()
	if wrong.verdict != "" {
		return wrong
	}
	if rawjson.Text(rawjson.Member(content, "first")) != "x" {
		return unasked(content)
	}
	var filled []string
	for _, kind := range kinds {
		switch value := rawjson.Member(content, kind); {
		case value != nil && empty(value):
			return partly("A field of the type " + kind + " that was left alone is sent as " + string(value) + ".")
		case value != nil:
			filled = append(filled, kind)
		}
	}
	if len(filled) > 0 {
		return otherwise("The optional fields are filled in: " + wording.Series(filled) + ".")
	}
	return works("")
}

func textProbes() []*Probe {
	long := strings.Repeat("This message is long, and can be read to its end. ", 400)
	odd := []string{"مرحبا بالعالم", "שלום", "こんにちは世界", "ขอบคุณ", "👩‍👩‍👧 🇺🇦", "e\u0301 ≠ \u00e9", "tab\tand\nline"}
	return []*Probe{
		field{name: "text-long", group: Texts, title: "A message of 20,000 characters", do: long + `The word to enter is "lighthouse". Enter it, and accept.`, schema: `{"type":"string"}`, want: `"lighthouse"`}.probe().titled(`Read the long message to its end, enter the word that it names there, and accept.`),
		field{name: "text-scripts", group: Texts, title: "Other scripts", do: "Choose any of these, and accept: " + strings.Join(odd[:5], ", "), schema: `{"type":"string","enum":[` + many(len(odd), func(i int) string { return string(rawjson.Quoted(odd[i-1])) }) + `]}`,
			looks: []string{"Could all choices be read, each in the direction of its script?"}}.probe().titled("Choose any of the words in other scripts, and accept."),
		{Name: "text-markup", Group: Texts, Title: "Markup in a message", Do: "Look at the message, and accept.", Mode: elicit.ModeForm, OnlyLooks: true,
			Looks: []string{"Were the signs <b> and ** drawn as they are, or as harmless formatting: no picture, no heading, no link?"}, run: func(r *run) finding {
				return r.unfetched(r.form("Nothing here is markup: <b>bold</b> **bold** <img src=\"%[1]s\"> ![picture](%[1]s) <script>alert(1)</script>\n# heading", `"value":{"type":"string","title":"<i>title</i>","description":"<img src='%[1]s'>"}`))
			}},
		{Name: "text-address", Group: Texts, Title: "An address in a text", Do: "Look at the message, click nothing in it, and accept.", Mode: elicit.ModeForm, OnlyLooks: true,
			Looks: []string{"Could the address in the message not be clicked?"}, run: func(r *run) finding {
				return r.unfetched(r.form("The address %[1]s is text, and is not fetched.", `"value":{"type":"string","description":"%[1]s"}`))
			}},
	}
}

// titled sets what the person does, where the message is too long to say it in a list.
func (p *Probe) titled(do string) *Probe {
	p.Do = do
	return p
}

// unfetched asks a question whose texts have the address of a page, as %[1]s, and judges whether
// the client fetches it.
func (r *run) unfetched(params string) finding {
	v := r.session.server.page(r)
	_, wrong := r.ask(strings.ReplaceAll(params, "%[1]s", v.url)).accepted()
	if fetched := v.fetches(); len(fetched) > 0 {
		return finding{verdict: Fails, how: "An address in the text was fetched: " + fetched[0].words() + ".", cause: causeTextURL, frames: []int64{fetched[0].seq}}
	}
	return or(wrong, notSeen("It is answered, and nothing was fetched; no frame shows how it was drawn."))
}
