package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Reader reads the pages of one list, within Room. Entries that cannot be read or are
// forbidden are skipped, and named in Part.
type Reader struct {
	List      List
	Room      Room
	Forbidden func(Item) error // returns why an item must not be used; a nil function allows all
	Items     []Item

	leftOut []error
	more    int
}

// leftOutShown is how many skipped entries are named.
const leftOutShown = 20

var errFull = errors.New("the rest of the list is left out, because it is more than is kept of one server")

// Page reads one page and returns the cursor of the next, "" for none. The error says
// why the list ends here.
func (r *Reader) Page(result json.RawMessage) (next string, err error) {
	var page map[string]json.RawMessage
	if err := DecodeResult(result, &page); err != nil {
		return "", fmt.Errorf("the result cannot be read: %w", err)
	}
	var entries []json.RawMessage
	member := r.List.member
	if page[member] == nil {
		return "", fmt.Errorf("the result has no %q", member)
	}
	if err := DecodeResult(page[member], &entries); err != nil {
		return "", fmt.Errorf("the result's %q cannot be read: %w", member, err)
	}
	for i, raw := range entries {
		if !r.Room.take(len(raw)) {
			return "", errFull
		}
		item, err := r.List.item(raw)
		if err == nil && r.Forbidden != nil {
			err = r.Forbidden(item)
		}
		if err != nil {
			r.leaveOut(fmt.Errorf("%s[%d]: %w", member, i, err))
			continue
		}
		r.Items = append(r.Items, item)
	}
	cursor := page["nextCursor"]
	if cursor == nil {
		return "", nil
	}
	if json.Unmarshal(cursor, &next) != nil {
		return "", fmt.Errorf("nextCursor is %s, not a string", ContentKind(cursor))
	}
	if r.Room.Bytes -= len(cursor); r.Room.Bytes < 0 { // the caller keeps all cursors, to notice a repeated one
		return "", errFull
	}
	return next, nil
}

func (r *Reader) leaveOut(err error) {
	if len(r.leftOut) == leftOutShown {
		r.more++
		return
	}
	r.leftOut = append(r.leftOut, err)
}

// Part returns the items and problems of the list. err is why the list ended early, nil
// if it did not.
func (r *Reader) Part(err error) Part {
	problems := r.leftOut
	if r.more > 0 {
		problems = append(problems, fmt.Errorf("and %d more entries", r.more))
	}
	if err != nil {
		problems = append(problems, err)
	}
	if len(problems) == 0 {
		return Part{Items: r.Items}
	}
	for i, problem := range problems {
		problems[i] = errors.New(ShortError(problem.Error()))
	}
	return Part{Items: r.Items, Errors: []string{fmt.Sprintf("%s: %v", r.List.Method, errors.Join(problems...))}}
}
