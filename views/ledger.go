package views

import (
	"strconv"
	"strings"
)

// Ledger is the table of all questions of the run.
type Ledger struct {
	Rows   []LedgerRow
	Found  int    // how many match the filter
	Sort   string // the column that it is sorted by, with "-" before it in descending order
	Filter string
}

// LedgerRow is one question in the ledger.
type LedgerRow struct {
	Question
	Again bool // its answer can be given again
}

// column is one of the ledger's.
type column struct{ key, title string }

var ledgerColumns = []column{
	{"number", "#"}, {"server", "Server"}, {"call", "Call"}, {"asked", "Asked"}, {"answer", "Answer"},
	{"by", "By"}, {"waited", "Waited"}, {"next", "Then the server"},
}

// Answer says how a question was answered, in one line.
func (r LedgerRow) Answer() string {
	switch {
	case r.Wrong != "":
		return "deliberate: " + r.Wrong
	case r.State == QuestionAnswered:
		return join(": ", r.stateWord(), r.Digest)
	}
	return join(": ", r.stateWord(), r.Reason)
}

// Matches reports whether every word of a filter stands in the row.
func (r LedgerRow) Matches(filter string) bool {
	all := strings.ToLower(strings.Join([]string{
		"#" + strconv.Itoa(r.Number), r.Server.Label, r.CallName, r.ofCall(), r.Message, r.Mode, r.Key, r.Answer(), r.by(), r.By, r.Fault, r.Next.Text,
	}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// sorted says how the ledger is sorted by a column, as aria-sort does.
func (l Ledger) sorted(key string) string {
	switch l.Sort {
	case key:
		return "ascending"
	case "-" + key:
		return "descending"
	}
	return "none"
}

// next is what a click on a column sorts by.
func (l Ledger) next(key string) string {
	if l.Sort == key {
		return "-" + key
	}
	return key
}

// summary counts the rows.
func (l Ledger) summary() string {
	text := plural(l.Found, "question", "questions")
	if l.Found > len(l.Rows) {
		text += ", of which the first " + grouped(int64(len(l.Rows))) + " are shown"
	}
	return text
}
