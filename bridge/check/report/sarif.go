package report

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/wording"
)

var sarifLevels = map[Verdict]string{Fail: "error", Warn: "warning"}

// writeSARIF writes fails and warnings in the Static Analysis Results Interchange Format
// (OASIS, version 2.1.0). It omits inconclusive findings.
func writeSARIF(w io.Writer, r *Report) error {
	out := sarif.NewReport()
	run := sarif.NewRun()
	driver := sarif.NewToolComponent().WithName("elicitation-inspector").WithVersion(r.Inspector)
	run.Tool = sarif.NewTool().WithDriver(driver)
	for key, d := range defects(r) {
		rule := run.AddRule(d.finding.Rule)
		if breaks := cmp.Or(RuleOf(d.finding.Rule).Breaks, lint.RuleOf(d.finding.Rule).Breaks); breaks != "" {
			rule.WithShortDescription(sarif.NewMultiformatMessageString().WithText(breaks))
		}
		result := sarif.NewRuleResult(d.finding.Rule).WithRuleIndex(run.GetRuleIndex(d.finding.Rule)).
			WithLevel(sarifLevels[d.finding.Verdict]).
			WithMessage(sarif.NewTextMessage(fmt.Sprintf("%s %s (%s)", d.finding.Harm(), d.finding.Text, d.result.Trial.Words()))).
			WithPartialFingerprints(map[string]string{"check/v1": fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, key)))})
		call := r.Calls[d.result.Call]
		result.AddLocation(sarif.NewLocation().WithPhysicalLocation(physical(r, d.result.Transcript)).WithLogicalLocations([]*sarif.LogicalLocation{
			sarif.NewLogicalLocation().WithFullyQualifiedName(fmt.Sprintf("%s %s: %s", call.Kind, call.Key, d.result.Trial.Words())),
		}))
		result.WithProperties(sarif.NewPropertyBag().
			Add("reference", d.finding.Reference).Add("link", d.finding.Link).Add("frames", d.finding.Frames).Add("reproduce", d.result.Reproduce))
		if r.Baseline != nil {
			result.WithBaselineState(map[bool]string{true: "new", false: "unchanged"}[d.finding.New])
		}
		run.AddResult(result)
	}
	for _, p := range r.Problems {
		run.AddRule(string(p.Kind)).WithShortDescription(sarif.NewMultiformatMessageString().WithText("something that was to be judged was not"))
		result := run.CreateResultForRule(string(p.Kind)).WithLevel("error").WithMessage(sarif.NewTextMessage(Sentence(p)))
		result.AddLocation(sarif.NewLocation().WithPhysicalLocation(physical(r, "")))
	}
	run.WithProperties(sarif.NewPropertyBag().Add("server", r.Server).Add("target", r.Target).Add("baseline", Compared(r.Baseline)))
	out.AddRun(run)
	return WriteIndented(w, out)
}

// physical returns the location of a transcript, or of the server if there is none: its
// URL, or the first word of its command that has the form of a path.
func physical(r *Report, transcript string) *sarif.PhysicalLocation {
	path := url.URL{Path: filepath.ToSlash(filepath.Join(r.Directory, transcript))}
	if transcript == "" {
		words, err := wording.ShellWords(r.Target)
		if err != nil || len(words) == 0 {
			words = []string{"server"}
		}
		at := max(slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word, "/.") && !strings.HasPrefix(word, "-") }), 0)
		if remote, err := url.Parse(words[at]); err == nil && remote.Scheme != "" {
			return sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(remote.String()))
		}
		path.Path = filepath.ToSlash(words[at])
	}
	if filepath.IsAbs(path.Path) {
		path.Scheme = "file"
	}
	return sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(path.String())).WithRegion(sarif.NewRegion().WithStartLine(1))
}
