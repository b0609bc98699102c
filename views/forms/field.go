package forms

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views/markup"
)

// control is the kind of element that is drawn for a field.
type control int

const (
	oneLine    control = iota
	manyLines          // a text area, because the text has several lines
	dateInput          // the browser's date picker
	dateTime           // text in RFC 3339 with a helper to pick it
	segments           // a few short radio buttons in a row
	radios             // a few radio buttons, one a line
	dropDown           // a native select
	pickOne            // a searchable list
	checkBoxes         // check boxes
	pickMany           // a searchable list of several
	jsonText           // JSON as text
)

// The largest numbers of choices for each way to draw them.
const (
	mostRadios  = 5
	mostOptions = 200
	mostChecks  = 40
)

// control chooses the element for a field. It also considers the value: the element must
// be able to show it.
func (f Field) control() control {
	if f.Input.JSON != "" {
		return jsonText
	}
	switch f.Kind {
	case elicit.Text:
		switch {
		case strings.ContainsAny(f.Input.Text, "\n\r"):
			return manyLines
		case f.Format == "date" && (f.Input.Text == "" || isDate(f.Input.Text)):
			return dateInput
		case f.Format == "date-time":
			return dateTime
		}
		return oneLine
	case elicit.Number, elicit.Integer:
		return oneLine
	case elicit.Boolean:
		return segments
	case elicit.SingleChoice:
		switch n := len(f.Choices); {
		case n > mostOptions || f.wordy():
			return pickOne
		case n > mostRadios:
			return dropDown
		case f.short():
			return segments
		}
		return radios
	case elicit.MultiChoice:
		if len(f.Choices) > mostChecks || f.wordy() {
			return pickMany
		}
		return checkBoxes
	}
	return jsonText
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

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// short reports whether the choices fit into one row of a card, by an estimate of their
// width in characters.
func (f Field) short() bool {
	const row, around = 37, 4
	total := 0
	if f.Kind == elicit.SingleChoice && f.unset() {
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
		if c.Value == "" {
			return `"" (empty)`
		}
		return c.Value
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
func (f Field) label() string {
	if strings.TrimSpace(f.Label) == "" {
		return `""`
	}
	return f.Label
}

func (f Field) name() string { return elicit.InputName(f.Index) }

// unset reports whether "not given" is among the choices.
func (f Field) unset() bool { return !f.Required }

func (f Field) part(name string) string { return f.ID + "-" + name }

func (f Field) invalid() bool { return len(f.Problems) > 0 }

// inputType returns the type of a one-line text box, for the right keyboard and help of
// the browser. The type checks nothing.
func (f Field) inputType() string {
	types := map[string]string{"email": "email", "uri": "url"}
	if f.Kind != elicit.Text {
		return "text"
	}
	return cmp.Or(types[f.Format], "text")
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
	add(f.DefaultProblem() != "", "default")
	add(len(f.hints()) > 0, "hint")
	add(f.count() != "", "count")
	return strings.Join(ids, " ")
}

// limits describes a range of numbers, and reports whether at least one is needed; words
// is "" if there is no limit.
func limits(least, most *int) (words string, needed bool) {
	number := func(n *int) string { return wording.Grouped(int64(*n)) }
	switch low := least != nil && *least > 0; {
	case low && most != nil && *least == *most:
		return "exactly " + number(most), true
	case low && most != nil:
		return number(least) + " to " + number(most), false
	case most != nil:
		return "at most " + number(most), false
	case low:
		return "at least " + number(least), true
	}
	return "", false
}

// count describes how much is entered, and how much is allowed.
func (f Field) count() string {
	switch f.control() {
	case oneLine, manyLines:
		n := utf8.RuneCountInString(f.Input.Text)
		switch {
		case f.Kind != elicit.Text:
		case f.MaxLength != nil: // the hint has the whole range
			return wording.Grouped(int64(n)) + " of " + strconv.Itoa(*f.MaxLength)
		case f.MinLength != nil && *f.MinLength > 0:
			return wording.Count(n, "character", "characters")
		}
	case checkBoxes, pickMany:
		n := wording.Grouped(int64(len(f.Input.Picks)))
		words, needed := limits(f.MinItems, f.MaxItems)
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

func (f Field) over() bool {
	n, least, most := utf8.RuneCountInString(f.Input.Text), f.MinLength, f.MaxLength
	if f.Kind == elicit.MultiChoice {
		n, least, most = len(f.Input.Picks), f.MinItems, f.MaxItems
	}
	return n > 0 && (most != nil && n > *most || least != nil && n < *least)
}

var formatHints = map[string]string{
	"email": "an email address", "uri": "a URI with its scheme", "date": "a date, like 2026-08-01",
	"date-time": "RFC 3339 with an offset, like 2026-08-01T09:30:00+02:00",
}

// hints describes the schema's limits of a value, one part of a sentence each, except the
// pattern, which is drawn as code.
func (f Field) hints() []string {
	var out []string
	add := func(words, value string) {
		if value != "" {
			out = append(out, words+value)
		}
	}
	switch f.Kind {
	case elicit.Text:
		if f.control() != dateInput && f.Format != "" {
			out = append(out, cmp.Or(formatHints[f.Format], "format "+f.Format))
		}
		if words, _ := limits(f.MinLength, f.MaxLength); words != "" {
			noun := " characters"
			if n := cmp.Or(f.MaxLength, f.MinLength); *n == 1 {
				noun = " character"
			}
			out = append(out, words+noun)
		}
		if f.Pattern != "" {
			out = append(out, "must match")
		}
	case elicit.Integer, elicit.Number:
		if f.Kind == elicit.Integer {
			out = append(out, "a whole number")
		}
		if f.Minimum != "" && f.Maximum != "" {
			add("from ", f.Minimum+" to "+f.Maximum)
		} else {
			add("at least ", f.Minimum)
			add("at most ", f.Maximum)
		}
		add("more than ", f.ExclusiveMinimum)
		add("less than ", f.ExclusiveMaximum)
		add("a multiple of ", f.MultipleOf)
	case elicit.JSON:
		out = append(out, "JSON")
	}
	if f.Kind != elicit.SingleChoice {
		add("only ", wording.Shorten(string(f.Const), 80))
	}
	if f.Nullable && f.Required && f.Kind != elicit.JSON {
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
	return f.Kind == elicit.Text && f.inputType() == "text" && (f.control() == manyLines || f.control() == oneLine && (f.MaxLength == nil || *f.MaxLength > longest))
}

func (f Field) hint() string {
	return wording.Capital(strings.Join(f.hints(), ", "))
}

func (f Form) tab() string {
	if f.JSON {
		return "json"
	}
	return "form"
}

func (f Form) sendName() string {
	if f.ID == "args" {
		return "Arguments"
	}
	return "Will send"
}

func (f Form) wrong() (n int) {
	for _, field := range f.Fields {
		if field.invalid() {
			n++
		}
	}
	return n
}
