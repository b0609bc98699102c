package forms

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views/markup"
)

// control is the kind of element that is drawn for a field.
type control int

const (
	jsonText    control = iota // JSON as text
	oneLine                    // a text
	manyLines                  // a text area, because the text has several lines
	numberInput                // a line for a number
	dateInput                  // the browser's date picker
	dateTime                   // text in RFC 3339 with a helper to pick it
	yesOrNo                    // radio buttons in a row
	segments                   // a few short choices as radio buttons in a row
	radios                     // a few radio buttons, one a line
	dropDown                   // a native select
	pickOne                    // a searchable list
	checkBoxes                 // check boxes
	pickMany                   // a searchable list of several
	filePicker                 // a file
)

// Bounds on the choices that are drawn in one way.
const (
	mostRadios  = 5
	mostOptions = 200
	mostChecks  = 40
)

// controls chooses the element for a field: that of the first row with its kind, format and number
// of choices that can show its value.
var controls = []struct {
	kind   elicit.Kind
	format string           // "" for any
	most   int              // choices; 0 for any number
	fits   func(Field) bool // what else it depends on; nil for nothing
	is     control
}{
	{kind: elicit.Text, fits: Field.hasLines, is: manyLines},
	{kind: elicit.Text, format: "date", fits: Field.isDate, is: dateInput},
	{kind: elicit.Text, format: "date-time", is: dateTime},
	{kind: elicit.Text, is: oneLine},
	{kind: elicit.File, is: filePicker},
	{kind: elicit.Number, is: numberInput},
	{kind: elicit.Integer, is: numberInput},
	{kind: elicit.Boolean, is: yesOrNo},
	{kind: elicit.SingleChoice, fits: Field.wordy, is: pickOne},
	{kind: elicit.SingleChoice, most: mostRadios, fits: Field.short, is: segments},
	{kind: elicit.SingleChoice, most: mostRadios, is: radios},
	{kind: elicit.SingleChoice, most: mostOptions, is: dropDown},
	{kind: elicit.SingleChoice, is: pickOne},
	{kind: elicit.MultiChoice, fits: Field.wordy, is: pickMany},
	{kind: elicit.MultiChoice, most: mostChecks, is: checkBoxes},
	{kind: elicit.MultiChoice, is: pickMany},
}

func (f Field) control() control {
	if f.Input.JSON != "" {
		return jsonText
	}
	for _, row := range controls {
		if row.kind == f.Kind && (row.format == "" || row.format == f.Format) && (row.most == 0 || len(f.Choices) <= row.most) && (row.fits == nil || row.fits(f)) {
			return row.is
		}
	}
	return jsonText
}

func (f Field) hasLines() bool { return strings.ContainsAny(f.Input.Text, "\n\r") }

func (f Field) isDate() bool {
	_, err := time.Parse(time.DateOnly, f.Input.Text)
	return f.Input.Text == "" || err == nil
}

func (f Field) wordy() bool {
	const most = 12 << 10 // characters, about
	taken := 0
	for _, c := range f.Choices {
		if taken += 40 + min(len(c.Title), markup.NameMost); taken > most {
			return true
		}
	}
	return false
}

func (f Field) titles() []string {
	out := make([]string, len(f.Choices))
	for i := range f.Choices {
		out[i] = f.title(i)
	}
	return out
}

// Matches lists the choices whose names contain all words of a search.
func (f Field) Matches(search string) []int {
	words := strings.Fields(strings.ToLower(search))
	out := make([]int, 0, len(f.Choices))
	for i, title := range f.titles() {
		title = strings.ToLower(title)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(title, word) }) {
			out = append(out, i)
		}
	}
	return out
}

// short reports whether the choices fit into one row of a card, by an estimate of their
// width in characters.
func (f Field) short() bool {
	const row, around = 37, 4
	total := 0
	if f.unset() {
		total = len("Unset") + around
	}
	for _, title := range f.titles() {
		total += utf8.RuneCountInString(title) + around
	}
	return total <= row
}

func (f Field) longTitles() bool {
	return slices.ContainsFunc(f.titles(), func(title string) bool { return utf8.RuneCountInString(title) > 22 })
}

// title returns the display name of choice i. If titles are equal or missing, it includes
// the value.
func (f Field) title(i int) string {
	c := f.Choices[i]
	if c.Title == "" {
		return cmp.Or(c.Value, `"" (empty)`)
	}
	if c.Title != c.Value && len(f.Choices) <= mostOptions {
		for j, other := range f.Choices {
			if j != i && other.Title == c.Title {
				return c.Title + " (" + c.Value + ")"
			}
		}
	}
	return c.Title
}

func (f Field) whole() string {
	if f.Input.JSON != "" {
		return f.Input.JSON
	}
	if len(f.Input.Picks) == 0 {
		return f.Input.Text
	}
	var b strings.Builder
	for _, p := range f.Input.Picks {
		b.WriteString(f.title(p) + "\n")
	}
	return b.String()
}

// longChoices returns the names of all choices if any of them is cut, else "".
func (f Field) longChoices() string {
	if slices.ContainsFunc(f.Choices, func(c elicit.Choice) bool {
		return markup.CutOff(c.Title, markup.NameMost) || markup.CutOff(c.Value, markup.NameMost)
	}) {
		return strings.Join(f.titles(), "\n") + "\n"
	}
	return ""
}

func (f Field) picked(i int) bool { return slices.Contains(f.Input.Picks, i) }

// label returns the display name of a field, also if its property has an empty name.
func (f Field) label() string { return wording.Either(strings.TrimSpace(f.Label) == "", `""`, f.Label) }

func (f Field) name() string { return elicit.InputName(f.Index) }

// unset reports whether "not given" is among the choices.
func (f Field) unset() bool { return !f.Required }

func (f Field) part(name string) string { return f.ID + "-" + name }

func (f Field) invalid() bool { return len(f.Problems) > 0 }

// inputType returns the type of a one-line text box, for the right keyboard and help of
// the browser. The type checks nothing.
func (f Field) inputType() string {
	return cmp.Or(map[string]string{"email": "email", "uri": "url"}[f.Format], "text")
}

func (f Field) describedBy() string {
	var ids []string
	add := func(there bool, part string) {
		if there {
			ids = append(ids, f.part(part))
		}
	}
	add(true, "error")
	add(f.Required && f.control() == checkBoxes, "req") // aria-required has no effect on a group
	add(f.Description != "", "desc")
	add(len(f.hints()) > 0, "hint")
	add(f.count() != "" || f.control() == filePicker, "count")
	add(f.DefaultProblem() != "", "default")
	add(len(f.Found) > 0, "found")
	return strings.Join(ids, " ")
}

// count describes how much is entered, and how much is allowed.
func (f Field) count() string {
	switch f.control() {
	case oneLine, manyLines:
		n := utf8.RuneCountInString(f.Input.Text)
		switch {
		case f.MaxLength != nil: // the hint has the whole range
			return wording.Grouped(int64(n)) + " of " + strconv.Itoa(*f.MaxLength)
		case f.MinLength != nil && *f.MinLength > 0:
			return wording.Count(n, "character", "characters")
		}
	case checkBoxes, pickMany:
		n := wording.Grouped(int64(len(f.Input.Picks)))
		words, needed := elicit.Range(f.MinItems, f.MaxItems)
		switch {
		case words == "":
			return n + " of " + wording.Grouped(int64(len(f.Choices))) + " chosen"
		case needed:
			return n + " chosen, " + words + " needed"
		}
		return n + " chosen, " + words + " allowed"
	}
	return ""
}

// carried reports whether the page has a chosen file. A larger one is marked as kept.
func (f Field) carried() bool { return len(f.Input.Text) <= fieldMost/2 }

func (f Field) over() bool {
	n, least, most := utf8.RuneCountInString(f.Input.Text), f.MinLength, f.MaxLength
	if c := f.control(); c == checkBoxes || c == pickMany {
		n, least, most = len(f.Input.Picks), f.MinItems, f.MaxItems
	}
	return n > 0 && (most != nil && n > *most || least != nil && n < *least)
}

// hints describes the schema's limits of a value, one part of a sentence each, except the
// pattern, which is drawn as code.
func (f Field) hints() []string {
	limited := f.Field
	if f.control() == dateInput {
		limited.Format = "" // the browser's picker shows it
	}
	out := f.Kind.Hints(&limited)
	if f.Const != nil && f.Kind != elicit.SingleChoice { // which offers it
		out = append(out, "only "+wording.Shorten(string(f.Const), 80))
	}
	if f.Nullable && f.Required && f.Kind.Entry() != elicit.Written {
		out = append(out, "or null, in the JSON tab")
	}
	if strings.EqualFold(strings.Join(out, ", "), strings.TrimRight(strings.TrimSpace(f.Description), ".")) && f.Pattern == "" {
		return nil // the server's description says the same
	}
	return out
}

// longest is the maximum length of a text, in characters, that one line can hold with
// ease.
const longest = 80

// roomy reports whether to offer several lines for a text.
func (f Field) roomy() bool {
	return f.inputType() == "text" && (f.control() == manyLines || f.control() == oneLine && (f.MaxLength == nil || *f.MaxLength > longest))
}

func (f Field) hint() string { return wording.Capital(strings.Join(f.hints(), ", ")) }

func (f Form) tab() string { return wording.Either(f.JSON, "json", "form") }

func (f Form) sendName() string { return wording.Either(f.ID == "args", "Arguments", "Will send") }

func (f Form) wrong() (n int) {
	for _, field := range f.Fields {
		if field.invalid() {
			n++
		}
	}
	return n
}
