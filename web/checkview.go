package web

import (
	"cmp"
	"slices"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
)

// checkView converts a check to the data of its panel.
func (s *Server) checkView(c check.Live) views.Check {
	v := views.Check{
		Number: c.Number, State: string(c.State), Server: c.Name, Arguments: string(c.Arguments), Revisions: c.Revisions,
		Done: c.Progress.Done, Total: c.Progress.Total, Left: c.Progress.Left, Now: c.Progress.Now,
		Counts: map[string]int{}, Reported: c.Report != nil, Remark: remarkOn(c),
	}
	if c.Report != nil {
		v.Took = c.Report.Took
	}
	v.Item = views.Item{Server: c.Subject.Server}
	v.Item.Kind, v.Item.Key, v.Item.Name = c.Kind, c.Key, c.Key
	if item, err := s.in.Item(c.Subject.Server, c.Kind, c.Key); err == nil {
		v.Item = itemView(s.serverOf(c.Subject.Server), item)
	}
	var titles []string
	for _, b := range check.Behaviours() {
		place := slices.Index(titles, b.Group)
		if place < 0 {
			place, titles = len(titles), append(titles, b.Group)
		}
		row := views.CheckRow{Check: c.Number, Name: b.Name, Title: b.Title}
		for _, revision := range c.Revisions {
			row.Cells = append(row.Cells, views.CheckCell{Check: c.Number, Behaviour: b.Name, Revision: revision})
		}
		for i, t := range c.Results {
			if t.Behaviour != b.Name {
				continue
			}
			row.Version += t.Version
			v.Counts[string(t.Verdict)]++
			if at := slices.Index(c.Revisions, t.Revision); at >= 0 {
				count(&row.Cells[at], i+1, t)
			}
			for _, f := range trialView(c.Number, i+1, t, b.Title).Findings {
				if f.Verdict == string(check.Fail) || f.Verdict == string(check.Warn) {
					v.Findings = append(v.Findings, f)
				}
			}
		}
		if row.Version == 0 {
			continue
		}
		at := slices.IndexFunc(v.Groups, func(g views.CheckGroup) bool { return g.Place == place })
		if at < 0 {
			at, v.Groups = len(v.Groups), append(v.Groups, views.CheckGroup{Check: c.Number, Place: place, Title: b.Group})
		}
		v.Groups[at].Rows = append(v.Groups[at].Rows, row)
	}
	slices.SortFunc(v.Groups, func(a, b views.CheckGroup) int { return cmp.Compare(a.Place, b.Place) })
	rows := map[string]int{}
	for i, b := range check.Behaviours() {
		rows[b.Name] = i
	}
	slices.SortStableFunc(v.Findings, func(a, b views.CheckFinding) int {
		one, two := a.Trial, b.Trial
		return cmp.Or(cmp.Compare(check.Verdict(a.Verdict).Rank(), check.Verdict(b.Verdict).Rank()), cmp.Compare(rows[one.Name], rows[two.Name]), inRow(one, two))
	})
	return v
}

// inRow compares two trials of one behaviour by their place in its row: the newest
// revision comes first.
func inRow(a, b views.CheckTrial) int {
	return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Question, b.Question), cmp.Compare(a.Field, b.Field))
}

// count adds a trial to its cell, which shows the gravest verdict.
func count(cell *views.CheckCell, number int, r check.Result) {
	cell.Trials++
	if cell.Verdict == string(r.Verdict) {
		cell.Worst++
	}
	if cell.Verdict != "" && check.Verdict(cell.Verdict).Rank() <= r.Verdict.Rank() {
		return
	}
	cell.Verdict, cell.Worst, cell.Trial, cell.Frame = string(r.Verdict), 1, number, 0
	for _, f := range r.Findings {
		if f.Verdict == r.Verdict && len(f.Frames) > 0 {
			cell.Frame = f.Frames[0]
			return
		}
	}
}

// remarkOn says why a check has no report or an incomplete one; "" if its report is
// complete.
func remarkOn(c check.Live) string {
	switch {
	case c.Err != nil:
		return "There is no report: " + c.Err.Error() + "."
	case c.Report == nil:
	case len(c.Report.Skipped) > 0:
		return "It was not called. " + c.Report.Skipped[0].Why
	case len(c.Report.Silent) > 0 && len(c.Results) == 0:
		return "It asked nothing in any revision, so there is nothing to judge."
	case c.Report.Stopped == "interrupted":
		return "It was stopped. This is what was found until then."
	case c.Report.Stopped != "":
		return wording.Sentence(c.Report.Stopped)
	}
	return ""
}

// trialView converts the result of a trial to the data of its panel.
func trialView(number, place int, r check.Result, title string) views.CheckTrial {
	t := views.CheckTrial{
		Check: number, Number: place, Behaviour: title, Name: r.Behaviour, Revision: r.Revision, Question: r.Question, Field: r.Field,
		Verdict: string(r.Verdict), Outcome: r.Outcome, Took: r.Took, Reproduce: r.Reproduce, Kept: r.Transcript != "",
	}
	of := t
	for i, f := range r.Findings {
		t.Findings = append(t.Findings, views.CheckFinding{
			Trial: of, Place: i, Verdict: string(f.Verdict), Rule: f.Rule, Text: f.Text, Reference: f.Reference, Frames: f.Frames,
		})
	}
	return t
}
