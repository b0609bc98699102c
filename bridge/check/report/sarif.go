package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/elicit/lint"
)

var sarifLevels = map[check.Verdict]string{check.Fail: "error", check.Warn: "warning"}

// writeSARIF writes fails and warnings in the Static Analysis Results Interchange Format
// (OASIS, version 2.1.0). It omits inconclusive findings.
func writeSARIF(w io.Writer, r *check.Report) error {
	out := sarif.NewReport()
	run := sarif.NewRun()
	driver := sarif.NewToolComponent().WithName("elicitation-inspector").WithVersion(r.Inspector)
	run.Tool = sarif.NewTool().WithDriver(driver)
	linted := lintRules()
	described := describedRules()
	for key, d := range defects(r, linted) {
		rule := run.AddRule(d.finding.Rule)
		if breaks := described[d.finding.Rule]; breaks != "" {
			rule.WithShortDescription(sarif.NewMultiformatMessageString().WithText(breaks))
		}
		result := sarif.NewRuleResult(d.finding.Rule).WithRuleIndex(run.GetRuleIndex(d.finding.Rule)).
			WithLevel(sarifLevels[d.finding.Verdict]).
			WithMessage(sarif.NewTextMessage(fmt.Sprintf("%s (%s)", d.finding.Text, Trial(d.result.Trial)))).
			WithPartialFingerprints(map[string]string{"check/v1": fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, key)))})
		result.AddLocation(sarifLocation(r, d.result))
		result.WithProperties(sarif.NewPropertyBag().
			Add("reference", d.finding.Reference).Add("frames", d.finding.Frames).Add("reproduce", d.result.Reproduce))
		if r.Baseline != nil {
			result.WithBaselineState(map[bool]string{true: "new", false: "unchanged"}[d.finding.New])
		}
		run.AddResult(result)
	}
	run.WithProperties(sarif.NewPropertyBag().Add("server", r.Server).Add("target", r.Target).Add("baseline", Compared(r.Baseline)))
	out.AddRun(run)
	return writeIndented(w, out)
}

// sarifLocation returns the trial's transcript, if there is one, and the name of the
// trial.
func sarifLocation(r *check.Report, one *check.Result) *sarif.Location {
	call := r.Calls[one.Call]
	location := sarif.NewLocation().WithLogicalLocations([]*sarif.LogicalLocation{
		sarif.NewLogicalLocation().WithFullyQualifiedName(fmt.Sprintf("%s %s: %s", call.Kind, call.Key, Trial(one.Trial))),
	})
	if one.Transcript != "" {
		path := url.URL{Path: filepath.ToSlash(filepath.Join(r.Directory, one.Transcript))}
		if filepath.IsAbs(r.Directory) {
			path.Scheme = "file"
		}
		location.WithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(path.String())))
	}
	return location
}

// describedRules describes what breaks each rule, by ID.
func describedRules() map[string]string {
	breaks := map[string]string{}
	for _, rule := range lint.Rules() {
		breaks[rule.ID] = rule.Breaks
	}
	for _, rule := range check.Rules() {
		breaks[rule.ID] = rule.Breaks
	}
	return breaks
}
