package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// field is one kind of field, in the specification or not, and how a person fills it in.
type field struct {
	name     string
	schema   string // requestedSchema, byte for byte
	fill     func(t *testing.T, q *page.Control)
	content  string // what must be sent, byte for byte
	rejected string // part of the error that the first Accept must show; fill is then followed by mend
	mend     func(t *testing.T, q *page.Control)

	// No validator can check the answer: the test accepts both Accept and Send anyway.
	uncheckable bool
}

// properties returns a schema with these properties, and the required ones.
func properties(props string, required ...string) string {
	if len(required) == 0 {
		return `{"type":"object","properties":{` + props + `}}`
	}
	list, err := json.Marshal(required)
	if err != nil {
		panic(err)
	}
	return `{"type":"object","properties":{` + props + `},"required":` + string(list) + `}`
}

func fill(label, text string) func(*testing.T, *page.Control) {
	return func(t *testing.T, q *page.Control) { q.Field(label).Fill(text) }
}

func choose(label string, titles ...string) func(*testing.T, *page.Control) {
	return func(t *testing.T, q *page.Control) {
		for _, title := range titles {
			q.Field(label).Choose(title)
		}
	}
}

func nothing(*testing.T, *page.Control) {}

var fields = []field{
	{
		name: "text", schema: properties(`"t":{"type":"string","title":"Name","description":"As on the badge"}`),
		fill: fill("Name", `é "quoted" \ </b> 🙂`), content: `{"t":"é \"quoted\" \\ </b> 🙂"}`,
	},
	{
		name: "label from the property's name", schema: properties(`"some_name":{"type":"string"}`),
		fill: fill("some_name", "x"), content: `{"some_name":"x"}`,
	},
	{
		name: "length counted in code points", schema: properties(`"t":{"type":"string","title":"Tag","minLength":2,"maxLength":5}`),
		fill: func(t *testing.T, q *page.Control) {
			q.Field("Tag").Fill("né🙂")
			q.Matches("counts 3 of 5", func(s string) bool { return strings.Contains(s, "3 of 5") || strings.Contains(s, "3/5") })
		},
		content: `{"t":"né🙂"}`,
	},
	{
		name: "too long", schema: properties(`"t":{"type":"string","title":"Tag","maxLength":3}`),
		fill: fill("Tag", "abcd"), rejected: "3", mend: fill("Tag", "abc"), content: `{"t":"abc"}`,
	},
	{
		name: "pattern", schema: properties(`"t":{"type":"string","title":"Ticket","pattern":"^CHG-\\d{2}$"}`),
		fill: fill("Ticket", "CHG-1"), rejected: "CHG-", mend: fill("Ticket", "CHG-10"), content: `{"t":"CHG-10"}`,
	},
	{
		name: "pattern with ECMA-262 meaning", schema: properties(`"t":{"type":"string","title":"Word","pattern":"^\\p{L}+(?!\\d)$"}`),
		fill: fill("Word", "naïve1"), rejected: "pattern", mend: fill("Word", "naïve"), content: `{"t":"naïve"}`,
	},
	{
		name: "email", schema: properties(`"t":{"type":"string","title":"Mail","format":"email"}`, "t"),
		fill: fill("Mail", "ada@"), rejected: "mail", mend: fill("Mail", "ada@example.org"), content: `{"t":"ada@example.org"}`,
	},
	{
		name: "uri", schema: properties(`"t":{"type":"string","title":"Page","format":"uri"}`),
		fill: fill("Page", "not a uri"), rejected: "", mend: fill("Page", "urn:isbn:0451450523"), content: `{"t":"urn:isbn:0451450523"}`,
	},
	{
		name: "date", schema: properties(`"t":{"type":"string","title":"Day","format":"date"}`),
		fill: func(t *testing.T, q *page.Control) {
			q.Field("Day").Focus()
			q.Page().Type("02292024")
			q.Field("Day").HasValue("2024-02-29")
		},
		content: `{"t":"2024-02-29"}`,
	},
	{
		name: "date-time keeps its offset", schema: properties(`"t":{"type":"string","title":"When","format":"date-time"}`),
		fill: fill("When", "2026-03-01T09:30:00.5+05:30"), content: `{"t":"2026-03-01T09:30:00.5+05:30"}`,
	},
	{
		name: "date-time without an offset", schema: properties(`"t":{"type":"string","title":"When","format":"date-time"}`),
		fill: fill("When", "2026-03-01T09:30:00"), rejected: "", mend: fill("When", "2026-03-01T09:30:00Z"), content: `{"t":"2026-03-01T09:30:00Z"}`,
	},
	{
		name: "several lines", schema: properties(`"t":{"type":"string","title":"Notes"}`),
		fill: func(t *testing.T, q *page.Control) {
			more := q.Button("More for Notes")
			more.Focus()
			q.Page().Press(page.Enter)
			tabTo(t, q.Page(), q.Checkbox("Several lines"))
			q.Page().Press(page.Space)
			q.Page().Press(page.Escape)
			more.HasFocus()
			q.Field("Notes").Matches("is a text area", func(string) bool {
				return page.Call[string](q.Field("Notes"), "function() { return this.tagName }") == "TEXTAREA"
			})
			q.Field("Notes").Type("one\ntwo")
		},
		content: `{"t":"one\ntwo"}`,
	},
	{
		name: "numbers keep their digits",
		schema: properties(`"a":{"type":"number","title":"A"},"b":{"type":"number","title":"B"},"c":{"type":"integer","title":"C"},` +
			`"d":{"type":"number","title":"D"},"e":{"type":"integer","title":"E"}`),
		fill: func(t *testing.T, q *page.Control) {
			for label, digits := range map[string]string{"A": "0.10", "B": "1e3", "C": "9007199254740993", "D": "-0.0", "E": "1.0"} {
				q.Field(label).Fill(digits)
			}
		},
		content: `{"a":0.10,"b":1e3,"c":9007199254740993,"d":-0.0,"e":1.0}`,
	},
	{
		name: "number over the maximum", schema: properties(`"n":{"type":"number","title":"Share","minimum":0,"maximum":1}`),
		fill: fill("Share", "1.50"), rejected: "1.50", mend: fill("Share", "0.50"), content: `{"n":0.50}`,
	},
	{
		name: "whole number with a fraction", schema: properties(`"n":{"type":"integer","title":"People"}`),
		fill: fill("People", "2.5"), rejected: "2.5", mend: fill("People", "2"), content: `{"n":2}`,
	},
	{
		name: "no number at all", schema: properties(`"n":{"type":"number","title":"People"}`),
		fill: fill("People", "two"), rejected: "", mend: fill("People", "2"), content: `{"n":2}`,
	},
	{
		name: "optional boolean stays unset", schema: properties(`"b":{"type":"boolean","title":"Urgent"}`), fill: nothing, content: `{}`,
	},
	{
		name: "boolean yes", schema: properties(`"b":{"type":"boolean","title":"Urgent"}`), fill: choose("Urgent", "Yes"), content: `{"b":true}`,
	},
	{
		name: "boolean set and unset again", schema: properties(`"b":{"type":"boolean","title":"Urgent"}`),
		fill: choose("Urgent", "Yes", "Unset"), content: `{}`,
	},
	{
		name: "required boolean must be chosen", schema: properties(`"b":{"type":"boolean","title":"Agreed"}`, "b"),
		fill: nothing, rejected: "", mend: choose("Agreed", "No"), content: `{"b":false}`,
	},
	{
		name: "boolean with a default", schema: properties(`"b":{"type":"boolean","title":"Tests","default":true}`), fill: nothing, content: `{"b":true}`,
	},
	{
		name: "choice of a few", schema: properties(`"c":{"type":"string","title":"Size","enum":["S","M","L"]}`), fill: choose("Size", "M"), content: `{"c":"M"}`,
	},
	{
		name: "choice with titles", schema: properties(`"c":{"type":"string","title":"City","oneOf":[{"const":"gz","title":"Graz"},{"const":"ls","title":"Lisbon"}]}`),
		fill: choose("City", "Lisbon"), content: `{"c":"ls"}`,
	},
	{
		name: "choice with enumNames", schema: properties(`"c":{"type":"string","title":"Pet","enum":["p1","p2"],"enumNames":["Cat","Dog"]}`),
		fill: choose("Pet", "Dog"), content: `{"c":"p2"}`,
	},
	{
		name: "choice of many", schema: properties(`"c":{"type":"string","title":"Month","enum":["January","February","March","April","May","June","July","August","September","October","November","December"]}`),
		fill: choose("Month", "October"), content: `{"c":"October"}`,
	},
	{
		name: "choice of very many", schema: properties(`"c":{"type":"string","title":"Part","enum":[` + numbered(10000) + `]}`),
		fill: choose("Part", "part 7777"), content: `{"c":"part 7777"}`,
	},
	{
		name: "several of a few", schema: properties(`"m":{"type":"array","title":"Notify","items":{"type":"string","enum":["a","b","c"]}}`),
		fill: choose("Notify", "a", "c"), content: `{"m":["a","c"]}`,
	},
	{
		name: "several with titles, too many of them", schema: properties(`"m":{"type":"array","title":"Fish","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"1","title":"Tuna"},{"const":"2","title":"Trout"},{"const":"3","title":"Salmon"}]}}`),
		fill: choose("Fish", "Tuna", "Trout", "Salmon"), rejected: "2", mend: choose("Fish", "Trout"), content: `{"m":["1","3"]}`,
	},
	{
		name: "several of very many", schema: properties(`"m":{"type":"array","title":"Parts","items":{"type":"string","enum":[` + numbered(10000) + `]}}`),
		fill: choose("Parts", "part 12", "part 9999"), content: `{"m":["part 12","part 9999"]}`,
	},
	{
		name: "defaults of every kind", schema: properties(`"s":{"type":"string","default":"x"},"n":{"type":"number","default":1.50},"i":{"type":"integer","default":12345678901234567890},"c":{"type":"string","enum":["a","b"],"default":"b"},"m":{"type":"array","items":{"type":"string","enum":["a","b"]},"default":["b"]}`),
		fill: nothing, content: `{"s":"x","n":1.50,"i":12345678901234567890,"c":"b","m":["b"]}`,
	},
	{
		name: "a default changed and reset", schema: properties(`"s":{"type":"string","title":"Branch","default":"main"}`),
		fill: func(t *testing.T, q *page.Control) {
			q.Field("Branch").Fill("other")
			q.Role("group", "Will send").Contains("other")
			q.Button("More for Branch").Click()
			q.Button("Reset").Click()
			q.Field("Branch").HasValue("main")
		},
		content: `{"s":"main"}`,
	},
	{
		name: "an optional text is left out", schema: properties(`"s":{"type":"string","title":"Why"},"k":{"type":"string","title":"Keep","default":"k"}`),
		fill: func(t *testing.T, q *page.Control) {
			q.Field("Why").Fill("x")
			q.Role("group", "Will send").Contains(`"x"`)
			q.Field("Why").Fill("")
		},
		content: `{"k":"k"}`,
	},
	{
		name: "an empty text is sent on demand", schema: properties(`"s":{"type":"string","title":"Why"}`),
		fill: func(t *testing.T, q *page.Control) {
			q.Button("More for Why").Click()
			q.Checkbox("Send empty text").Click()
			q.Contains("sent empty")
			q.Page().Press(page.Escape)
		},
		content: `{"s":""}`,
	},
	{
		name: "properties keep the schema's order", schema: properties(`"z":{"type":"string","default":"1"},"10":{"type":"string","default":"2"},"a":{"type":"string","default":"3"},"2":{"type":"string","default":"4"},"__proto__":{"type":"string","default":"5"}`),
		fill: func(t *testing.T, q *page.Control) {
			if got := strings.Join(ordinary(q.Fields()), " "); got != "z 10 a 2 __proto__" {
				t.Errorf("the fields stand as %q", got)
			}
		},
		content: `{"z":"1","10":"2","a":"3","2":"4","__proto__":"5"}`,
	},
	{
		name: "a nested object is a JSON field", schema: properties(`"o":{"type":"object","title":"Address","properties":{"street":{"type":"string"}},"required":["street"]}`),
		fill: fill("Address", `{"street": 1}`), rejected: "", mend: fill("Address", `{"street": "Hauptplatz 1"}`), content: `{"o":{"street":"Hauptplatz 1"}}`,
	},
	{
		name: "text that is not JSON in a JSON field", schema: properties(`"o":{"type":"object","title":"Address"}`),
		fill: fill("Address", `{"street":`), rejected: "", mend: fill("Address", `{}`), content: `{"o":{}}`,
	},
	{
		name: "an unknown type is a JSON field", schema: properties(`"o":{"type":"duration","title":"Span"}`, "o"),
		fill: fill("Span", `"P1D"`), uncheckable: true, content: `{"o":"P1D"}`,
	},
	{
		name: "a free array is a JSON field", schema: properties(`"o":{"type":"array","title":"Points","items":{"type":"number"}}`),
		fill: fill("Points", `[1.0, 2.50]`), content: `{"o":[1.0,2.50]}`,
	},
	{
		name: "a boolean schema is a JSON field", schema: properties(`"o":true`), fill: fill("o", `null`), content: `{"o":null}`,
	},
	{
		name:   "a $ref is a JSON field, and a remote one is never loaded",
		schema: properties(`"o":{"$ref":"http://127.0.0.1:9/schema.json","title":"Elsewhere"}`),
		fill:   fill("Elsewhere", `7`), uncheckable: true, content: `{"o":7}`,
	},
	{
		name: "no fields at all", schema: `{"type":"object","properties":{}}`, fill: nothing, content: `{}`,
	},
}

// ordinary returns the names of fields without the helpers of fields.
func ordinary(names []string) []string {
	var found []string
	for _, n := range names {
		if n != "" && n != "Will send" {
			found = append(found, n)
		}
	}
	return found
}

// numbered returns n enum values as JSON.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"part %d"`, i)
	}
	return b.String()
}

// Every kind of field is filled in on the page, and the server gets the right bytes.
func TestFields(t *testing.T) {
	t.Parallel()
	var questions []servers.Question
	for i, f := range fields {
		questions = append(questions, servers.Question{
			Name:   fmt.Sprintf("ask_%d", i),
			Params: fmt.Sprintf(`{"message":"Question %d","requestedSchema":%s}`, i, f.schema),
		})
	}
	rude := servers.NewRude(t, questions)
	s := openOn(t, rude.Command, "--elicit-rate", "1000") // more questions than the default rate allows
	answers, failed := 0, 0
	for i, f := range fields {
		if !t.Run(f.name, func(t *testing.T) {
			s := &session{t: t, Process: s.Process, page: s.page.For(t)}
			s.call(fmt.Sprintf("ask_%d", i))
			message := fmt.Sprintf("Question %d", i)
			q := s.question(message)
			f.fill(t, q)
			if f.mend != nil {
				q.Button("Accept").Click()
				q.Button("Send anyway").Wait()
				if shown := q.Text(); !strings.Contains(shown, f.rejected) {
					t.Errorf("the complaint does not say %q: %q", f.rejected, shown)
				}
				if got := len(rude.Answers()); got != answers {
					t.Fatalf("an answer that the schema rejects was sent: %q", rude.Answers()[answers:])
				}
				f.mend(t, q)
			}
			want := `{"action":"accept","content":` + f.content + `}`
			if s.page.Question(message).Having("data-state", "pending").Exists() {
				q.Role("group", "Will send").Matches("is "+want, func(string) bool { return willSend(t, q) == want })
				q.Button("Accept").Click()
			}
			if f.uncheckable {
				anyway := s.page.Question(message).Button("Send anyway")
				s.page.Until(func() string { return "it is sent, or Send anyway is offered" }, func() bool {
					return anyway.Exists() || s.page.Question(message).Having("data-state", "answered").Exists()
				})
				if anyway.Exists() {
					anyway.Click()
				}
			}
			s.result("received: " + want)
			answers++
		}) {
			// Settle a question that is still open, so that the next one is found.
			if q := s.page.Question(fmt.Sprintf("Question %d", i)).Having("data-state", "pending"); q.Exists() {
				q.Button("Decline").Click()
			}
			answers = len(rude.Answers())
			if failed++; failed == 4 {
				t.Fatal("too much is wrong to go on")
			}
		}
	}
}

// A field is its label, one quiet line and its control, however many things can be done with
// it, and what is required says so on the line of its label.
func TestFieldsAreLow(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call("every_field")
	q := s.question("Register your boat for the regatta.")
	for _, w := range []viewport{full, {390, 844, true}} {
		w.apply(s.page, work)
		for _, fault := range page.Call[[]string](q, `function() {
			const high = e => e.getBoundingClientRect().height, faults = []
			for (const field of this.querySelectorAll(".field")) {
				const top = field.querySelector(".label"), name = top.textContent, required = field.querySelector(".req")
				const control = field.querySelector("input.mono") ?? [...field.children].find(e => e.matches("input:not([type=hidden]), textarea, select, [role]:not([popover]), .picker"))
				if (field.querySelector(".in-place")) continue
				const around = high(field) - high(control), line = parseFloat(getComputedStyle(field).lineHeight)
				if (around > 3.5 * line) faults.push(name + " has " + (around / line).toFixed(1) + " lines beside its control")
				if (required?.checkVisibility() && Math.abs(required.getBoundingClientRect().top - top.getBoundingClientRect().top) > line / 2) faults.push(name + ": required stands alone")
			}
			return faults
		}`) {
			t.Errorf("%s: %s", w, fault)
		}
	}
}

// A refused Accept marks all wrong fields alike, whatever their kind, also the one with the focus;
// the bar of answers covers none that gets the focus; and the browser has nothing to complain of.
func TestRefusedAccept(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call("every_field")
	q := s.question("Register your boat for the regatta.")
	q.Field("Sail number").Fill("7")
	q.Checkbox("triangle").Click()
	q.Field("Length in metres").Fill("long")
	q.Button("Accept").Click()
	q.Button("Send anyway").Wait()
	q.Field("Name of the boat").HasFocus()
	marks := page.Call[[]string](q, `function() {
		const colour = (e, of, at) => e && of + getComputedStyle(e, at).color, edge = e => getComputedStyle(e).borderColor
		return [...this.querySelectorAll(".field:has([aria-invalid=true])")].map(field => [
			colour(field.querySelector(".label"), "label "), colour(field, "bar ", "::before"),
			...[...field.querySelectorAll("input:not([type=checkbox], [type=radio], [popover] *), .segments label")].map(edge),
			...document.activeElement.closest(".field") === field ? [getComputedStyle(document.activeElement).outlineColor] : [],
		].map(words => words.match(/rgb.*/)[0]).filter((mark, i, all) => all.indexOf(mark) === i).join(" and "))
	}`)
	if len(marks) < 6 || len(slices.Compact(slices.Clone(marks))) != 1 || strings.Contains(marks[0], " and ") {
		t.Errorf("the wrong fields are marked by %q", marks)
	}
	for _, w := range []viewport{{1024, 768, false}, {390, 844, true}} {
		w.apply(s.page, work)
		q.Button("Accept").Focus()
		if covered := page.Call[[]string](q, `function() {
			const covered = [], bar = this.querySelector(".foot")
			for (const control of this.querySelectorAll(".field :is(input, textarea, select)")) {
				if (!control.checkVisibility()) continue
				control.focus()
				if (control.getBoundingClientRect().bottom > bar.getBoundingClientRect().top) covered.push(control.id || control.name)
			}
			return covered
		}`); len(covered) > 0 {
			t.Errorf("%s: the bar of answers covers %q", w, covered)
		}
	}
	if got := s.page.Complaints(); len(got) > 0 {
		t.Errorf("the browser complains: %q", got)
	}
}
