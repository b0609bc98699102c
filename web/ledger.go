package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views"
)

const ledgerMost = 500

// ledger answers with the table of all questions of the run. A sort that begins with
// "-" is in descending order.
func (s *questions) ledger(c echo.Context) error {
	l := views.Ledger{Sort: cmp.Or(c.QueryParam("sort"), "-number"), Filter: c.QueryParam("filter")}
	key, descending := strings.CutPrefix(l.Sort, "-")
	less, known := ledgerOrders[key]
	if !known {
		return bad("The questions cannot be sorted by %q.", key)
	}
	for _, q := range s.in.Questions() {
		if row := s.row(q); row.Matches(l.Filter) {
			l.Rows = append(l.Rows, row)
		}
	}
	slices.SortStableFunc(l.Rows, func(a, b views.LedgerRow) int {
		if descending {
			a, b = b, a
		}
		return cmp.Or(less(a, b), cmp.Compare(a.Number, b.Number))
	})
	l.Found = len(l.Rows)
	l.Rows = l.Rows[:min(len(l.Rows), ledgerMost)]
	return html(c, views.LedgerView(l))
}

// ledgerOrders holds the comparison for each column that the ledger can be sorted by.
var ledgerOrders = map[string]func(a, b views.LedgerRow) int{
	"number": func(a, b views.LedgerRow) int { return cmp.Compare(a.Number, b.Number) },
	"server": func(a, b views.LedgerRow) int { return strings.Compare(a.Server.DisplayName(), b.Server.DisplayName()) },
	"call":   func(a, b views.LedgerRow) int { return cmp.Compare(a.Call, b.Call) },
	"asked":  func(a, b views.LedgerRow) int { return strings.Compare(a.Message, b.Message) },
	"answer": func(a, b views.LedgerRow) int { return strings.Compare(a.Answer(), b.Answer()) },
	"by":     func(a, b views.LedgerRow) int { return strings.Compare(a.By, b.By) },
	"waited": func(a, b views.LedgerRow) int { return cmp.Compare(a.Waited, b.Waited) },
	"next":   func(a, b views.LedgerRow) int { return strings.Compare(a.Next.Text, b.Next.Text) },
}

func (s *questions) row(q inspection.Question) views.LedgerRow {
	row := views.LedgerRow{Again: !s.readOnly && q.Repeatable()}
	request := q.Request
	if q.State == conversation.Pending {
		q.Waited = s.in.Now().Sub(q.Asked)
		q.Request = nil // so that no form is made, which a row does not have
	}
	row.Question = s.view(q, nil, nil)
	row.Request = request
	row.Message = q.Title()
	row.Next = s.in.Next(q)
	row.ReadOnly = s.readOnly
	return row
}
