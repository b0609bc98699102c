package web

import (
	"slices"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/views"
)

// checkShown is the latest check as the open pages show it, after the last push.
type checkShown struct {
	number   int
	columns  int
	cells    map[string]views.CheckCell
	rows     map[string]int // sum of the versions of a row's trials
	groups   map[string]bool
	findings []views.CheckFinding
	trials   map[int]int // version of each trial, by its number
}

// drawCheck draws the parts of the latest check that have changed: cells, findings and
// progress.
func (p *pump) drawCheck() {
	latest, any := p.lab.Latest()
	if !any {
		return
	}
	v := p.checkView(latest)
	if p.check.number != v.Number {
		p.check = checkShown{number: v.Number}
		p.replace(v.ID(), views.CheckView(views.Check{Number: v.Number, Item: v.Item, State: v.State, Arguments: v.Arguments}))
	}
	p.replace(v.HeadID(), views.CheckHead(v))
	p.replace(v.ProgressID(), views.CheckProgress(v))
	if p.check.columns != len(v.Revisions) {
		p.check.columns, p.check.cells, p.check.rows, p.check.groups = len(v.Revisions), map[string]views.CheckCell{}, map[string]int{}, map[string]bool{}
		empty := v
		empty.Groups = nil
		p.replace(v.BodyID(), views.CheckBody(empty))
	}
	if p.check.columns > 0 {
		p.drawMatrix(v)
	}
	p.replace(v.FoundID(), views.CheckFound(v))
	p.drawFindings(v, latest)
}

// drawMatrix draws the new rows and the changed cells.
func (p *pump) drawMatrix(v views.Check) {
	shown, after := &p.check, v.ColumnsID()
	for _, g := range v.Groups {
		if !shown.groups[g.ID()] {
			shown.groups[g.ID()] = true
			empty := g
			empty.Rows = nil
			p.put(g.ID(), views.CheckGroupView(empty, len(v.Revisions)), "after", after)
		}
		after = g.ID()
		above := g.TitleID()
		for _, r := range g.Rows {
			version, known := shown.rows[r.ID()]
			switch {
			case !known:
				p.put(r.ID(), views.CheckRowView(r), "after", above)
			case version != r.Version:
				p.replace(r.NameID(), views.CheckRowName(r))
			}
			for _, cell := range r.Cells {
				if known && shown.cells[cell.ID()] != cell {
					p.replace(cell.ID(), views.CheckCellView(cell))
				}
				shown.cells[cell.ID()] = cell
			}
			shown.rows[r.ID()] = r.Version
			above = r.ID()
		}
	}
}

// drawFindings draws the findings of the trials that have changed.
func (p *pump) drawFindings(v views.Check, latest check.Live) {
	shown := &p.check
	for _, f := range shown.findings {
		if !slices.ContainsFunc(v.Findings, func(g views.CheckFinding) bool { return g.ID() == f.ID() }) {
			p.remove(f.ID())
		}
	}
	op, at := "prepend", v.FindingsID()
	for _, f := range v.Findings {
		if shown.trials[f.Trial.Number] != latest.Results[f.Trial.Number-1].Version {
			p.put(f.ID(), views.CheckFindingView(f), op, at)
		}
		op, at = "after", f.ID()
	}
	shown.findings, shown.trials = v.Findings, map[int]int{}
	for i, t := range latest.Results {
		shown.trials[i+1] = t.Version
	}
}
