package main

import (
	"io"
	"net/url"
	"path/filepath"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"elicitation-inspector/bridge/lint"
)

// sarifLevels maps severities to SARIF levels.
var sarifLevels = map[lint.Severity]string{lint.Violation: "error", lint.Should: "warning", lint.Advice: "note"}

// writeSARIF writes findings in the Static Analysis Results Interchange Format
// (OASIS, version 2.1.0).
func writeSARIF(w io.Writer, list []lintFinding) error {
	run := sarif.NewRun()
	run.Tool = sarif.NewTool().WithDriver(sarif.NewToolComponent().WithName("elicitation-inspector").WithVersion(version()))
	for _, r := range lint.Rules() {
		run.AddRule(r.ID).WithShortDescription(sarif.NewMultiformatMessageString().WithText(r.Breaks))
	}
	for _, f := range list {
		place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(sarifURI(f.File)))
		if f.Line != 0 {
			place.WithRegion(sarif.NewRegion().WithStartLine(int(f.Line)))
		}
		location := sarif.NewLocation().WithPhysicalLocation(place)
		if f.Pointer != "" {
			location.WithLogicalLocations([]*sarif.LogicalLocation{sarif.NewLogicalLocation().WithFullyQualifiedName(f.Pointer)})
		}
		result := run.CreateResultForRule(f.Rule).WithLevel(sarifLevels[f.Severity]).WithMessage(sarif.NewTextMessage(f.Text))
		result.AddLocation(location)
		result.WithProperties(&sarif.PropertyBag{Properties: map[string]any{
			"reference": f.Reference, "server": f.Server, "session": f.Session, "frame": f.Frame, "call": f.Call, "question": f.Question,
		}})
	}
	report := sarif.NewReport()
	report.AddRun(run)
	return writeIndented(w, report)
}

// sarifURI returns the URI of a file: relative for a relative path.
func sarifURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
