package views

import (
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
)

// Ledger is the table of all questions of the run.
type Ledger struct {
	Rows   []LedgerRow
	Found  int    // number of questions that match the filter
	Sort   string // the column to sort by, with "-" before it for descending order
	Filter string
}

// LedgerRow is one question in the ledger.
type LedgerRow struct {
	Question
	Message string // or its method
	Again   bool   // the answer can be repeated
}

type column struct{ key, title string }

var ledgerColumns = []column{
	{"number", "#"}, {"server", "Server"}, {"call", "Call"}, {"asked", "Asked"}, {"answer", "Answer"},
	{"by", "By"}, {"waited", "Waited"}, {"next", "Then the server"},
}

// Answer describes in one line how a question was answered.
func (r LedgerRow) Answer() string {
	switch {
	case r.Wrong != "":
		return "deliberate: " + r.Wrong
	case r.State == conversation.Answered:
		return wording.Join(" · ", wording.Join(": ", r.stateWord(), r.Digest), r.neverSent())
	}
	return wording.Join(": ", r.stateWord(), r.Reason)
}

// then describes what the server did after the answer, and what that shows.
func (r LedgerRow) then() string {
	for _, f := range r.Findings {
		if mistake := lint.Aftermath(f.Rule); mistake != "" {
			return wording.Join(" · ", r.Next.Text, mistake)
		}
	}
	return r.Next.Text
}

// Matches reports whether the row contains every word of a filter.
func (r LedgerRow) Matches(filter string) bool {
	all := strings.ToLower(strings.Join([]string{
		"#" + strconv.Itoa(r.Number), r.Server.Label, r.Server.Display, r.CallName, r.ofCall(), r.Message, r.mode(), r.Key, r.Answer(), r.by(), r.By, r.Fault, r.then(),
	}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

func (l Ledger) sorted(key string) string {
	switch l.Sort {
	case key:
		return "ascending"
	case "-" + key:
		return "descending"
	}
	return "none"
}

func (l Ledger) next(key string) string {
	if l.Sort == key {
		return "-" + key
	}
	return key
}

func (l Ledger) summary() string {
	text := wording.Count(l.Found, "question", "questions")
	if l.Found > len(l.Rows) {
		text += ", of which the first " + wording.Grouped(int64(len(l.Rows))) + " are shown"
	}
	return text
}
