package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// MultiChoice is any number of Field.Choices.
var MultiChoice Kind = multiChoice{choice{common{name: "multiple choice", entry: Chosen, json: rawjson.Array, takes: "a list of choices", demand: "Choose some, or send the empty list."}}}

type multiChoice struct{ choice }

func (multiChoice) read(f *Field, k Keywords, r *references) (err error) {
	f.MinItems, f.MaxItems = k.Count("minItems"), k.Count("maxItems")
	f.Choices, err = r.itemChoices(k["items"])
	return err
}

func (r *references) itemChoices(items json.RawMessage) ([]Choice, error) {
	free := errors.New("it is a list of free values")
	if rawjson.KindOf(items) != rawjson.Object {
		return nil, free
	}
	k, _, err := r.meant(items)
	if err != nil {
		return nil, fmt.Errorf("of its items: %w", err)
	}
	if err := k.beyond("the schema of its items"); err != nil {
		return nil, err
	}
	kind, err := typeKeyword(k["type"])
	if err != nil {
		return nil, fmt.Errorf("of its items: %w", err)
	}
	if kind != "string" && kind != "" {
		return nil, fmt.Errorf("it is a list of values of type %s, not of choices", wording.Quoted(kind))
	}
	choices, err := choicesOf(k)
	if err == nil && choices == nil {
		err = free
	}
	return choices, err
}

// posted reads the picks. Those that the form lists in order come first, in that order.
func (multiChoice) posted(f *Field, in *Input, form *multipart.Form, name string) {
	in.Picks = f.picks(form.Value[name])
	order := url.Values(form.Value).Get(name + ".order")
	if order == "" || len(in.Picks) < 2 {
		return
	}
	rank := make(map[int]int)
	for i, v := range strings.Split(order, ",") {
		if n, err := strconv.Atoi(v); err == nil {
			rank[n] = i - len(order) // negative, so they come before choices without a rank (0)
		}
	}
	slices.SortStableFunc(in.Picks, func(a, b int) int { return rank[a] - rank[b] })
}

func (multiChoice) value(f *Field, in Input) (json.RawMessage, *Problem) {
	values := f.picked(in)
	if values == nil && !in.Empty {
		return nil, nil
	}
	var list rawjson.ArrayWriter
	for _, value := range values {
		list.Add(value)
	}
	return list.JSON(), nil
}

func (multiChoice) input(f *Field, value json.RawMessage) (Input, bool) {
	picks, odd, _ := f.picksOf(value)
	return Input{Picks: picks, Empty: len(picks) == 0}, rawjson.KindOf(value) == rawjson.Array && odd == nil
}

// picksOf returns the indexes of the choices in an array. It stops at the first element
// that is no choice or repeats one, and returns that element as odd; twice says that it
// repeats one.
func (f *Field) picksOf(array json.RawMessage) (picks []int, odd json.RawMessage, twice bool) {
	index := make(map[string]int, len(f.Choices))
	for i := len(f.Choices) - 1; i >= 0; i-- {
		index[f.Choices[i].Value] = i
	}
	seen := make(map[int]bool)
	for _, v := range rawjson.Elements(array) {
		text, exact := rawjson.Unquote(v)
		i, ok := index[text]
		if !ok || !exact || seen[i] {
			return nil, v, ok && exact
		}
		seen[i] = true
		picks = append(picks, i)
	}
	return picks, nil, false
}

func (m multiChoice) misfit(f *Field, value json.RawMessage) string {
	switch _, odd, twice := f.picksOf(value); {
	case twice:
		return " names " + briefly(odd) + " twice"
	case odd != nil:
		return " names " + briefly(odd) + ", which is not one of the choices"
	}
	return m.common.misfit(f, value)
}

func (m multiChoice) missing(f *Field) string {
	if bound(f.MaxItems, 1) == 0 {
		return "Only the empty list fits: send it."
	}
	if n := f.MinItems; n != nil && *n > 0 {
		return "Choose at least " + strconv.Itoa(*n) + "."
	}
	return m.demand
}

func (multiChoice) limits(f *Field) []string {
	var out words
	out.count("at least ", f.MinItems, "choice")
	out.count("at most ", f.MaxItems, "choice")
	return out
}

func (multiChoice) takesKeywords() []string { return []string{"minItems", "maxItems"} }

func (multiChoice) examples(f *Field) []json.RawMessage {
	return []json.RawMessage{someChoices(f, max(bound(f.MinItems, 0), 1)), json.RawMessage("[]")}
}

// someChoices returns an array of n choices, which repeat if the field has fewer.
func someChoices(f *Field, n int) json.RawMessage {
	var list rawjson.ArrayWriter
	for i := range min(n, 100_000) {
		list.Add(rawjson.Quoted(f.Choices[i%len(f.Choices)].Value))
	}
	return list.JSON()
}

func (multiChoice) Others(f *Field, n int) (list []json.RawMessage) {
	for i := range f.Choices {
		list = append(list, fmt.Appendf(nil, "[%s]", rawjson.Quoted(f.Choices[(n+i)%len(f.Choices)].Value)))
	}
	return list
}

func (multiChoice) spoiled(f *Field, how Breach) json.RawMessage {
	switch least, most := bound(f.MinItems, 0), bound(f.MaxItems, longest); {
	case how == NotInEnum:
		return slices.Concat([]byte("["), f.noneOf(), []byte("]"))
	case how == TooFewItems && least > 0:
		return someChoices(f, least-1)
	case how == TooManyItems && most < longest:
		return someChoices(f, most+1)
	}
	return nil
}
