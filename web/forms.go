package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/views/forms"
)

// drafts keeps the inputs of pending questions across reloads, tabs and lost
// connections.
type drafts struct {
	mu   sync.Mutex
	kept map[int]forms.Submission
}

func (d *drafts) get(question int) (forms.Submission, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sub, ok := d.kept[question]
	return sub, ok
}

func (d *drafts) put(question int, sub forms.Submission) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[question] = sub
}

func (d *drafts) drop(question int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.kept, question)
}

// found returns the problems of a draft that was checked before.
func (d *drafts) found(question int, sub forms.Submission, fields []elicit.Field, schema json.RawMessage) []elicit.Problem {
	problems := sub.Recheck(fields, schema)
	d.mu.Lock()
	defer d.mu.Unlock()
	if kept, ok := d.kept[question]; ok && sub.GaveUp != "" {
		kept.GaveUp = sub.GaveUp
		d.kept[question] = kept
	}
	return problems
}

const choicesMost = 100

// choices answers with a window of the choices that match a search: count choices from
// the 0-based position from on, or around the choice with the index near, whose
// position is X-Near. X-Total is the number of matches.
func choices(c echo.Context, form string, fields []elicit.Field) error {
	i, err := queryNumber(c, "field", 0)
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", choicesMost)
	if err := cmp.Or(err, err1, err2); err != nil {
		return err
	}
	if i >= int64(len(fields)) {
		return echo.ErrNotFound
	}
	field := forms.Field{Field: fields[i], Index: int(i), ID: form + "-" + elicit.InputName(int(i))}
	matches := field.Matches(c.QueryParam("search"))
	h := c.Response().Header()
	if near, err := strconv.Atoi(c.QueryParam("near")); err == nil {
		if place := slices.Index(matches, near); place >= 0 {
			h.Set("X-Near", strconv.Itoa(place))
			from = int64(max(0, place-int(count)/2))
		}
	}
	h.Set("X-Total", strconv.Itoa(len(matches)))
	start := int(min(from, int64(len(matches))))
	end := min(len(matches), start+int(min(count, choicesMost)))
	return html(c, forms.ChoiceRows(field, matches[start:end], start, len(matches)))
}
