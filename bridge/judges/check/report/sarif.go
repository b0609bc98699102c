package report

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/sarif"
	"elicitation-inspector/bridge/meaning/lint"
)

var sarifLevels = map[Verdict]string{Fail: "error", Warn: "warning"}

// SARIF returns fails and warnings for the Static Analysis Results Interchange Format
// (OASIS, version 2.1.0). It omits inconclusive findings.
func (r *Report) SARIF() *sarif.Run {
	run := sarif.New(r.Inspector)
	for key, d := range defects(r) {
		call, f := r.Calls[d.result.Call], d.finding
		run.AddRule(f.Rule, cmp.Or(RuleOf(f.Rule).Breaks, lint.RuleOf(f.Rule).Breaks), "")
		result := sarif.Result{
			RuleID: f.Rule, Level: sarifLevels[f.Verdict],
			Message: sarif.Text{Text: fmt.Sprintf("%s %s (%s)", f.Harm(), f.Text, d.result.Trial.Words())},
			Locations: []sarif.Location{{
				Physical: r.Physical(d.result.Transcript),
				Logical:  []sarif.Logical{{Name: fmt.Sprintf("%s %s: %s", call.Kind, call.Key, d.result.Trial.Words())}},
			}},
			Fingerprints: map[string]string{"check/v1": fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, key)))},
			Properties:   map[string]any{"reference": f.Reference, "link": f.Link, "frames": f.Frames, "reproduce": d.result.Reproduce},
		}
		if r.Baseline != nil {
			result.BaselineState = map[bool]string{true: "new", false: "unchanged"}[f.New]
		}
		run.Results = append(run.Results, result)
	}
	for _, p := range r.Problems {
		run.AddRule(string(p.Kind), "something that was to be judged was not", "")
		run.Results = append(run.Results, sarif.Result{RuleID: string(p.Kind), Level: "error", Message: sarif.Text{Text: Sentence(p)}, Locations: []sarif.Location{{Physical: r.Physical("")}}})
	}
	run.Properties = map[string]any{"server": r.Server, "target": r.Target, "baseline": Compared(r.Baseline)}
	return run
}

// Physical returns the location of a transcript, or of the server if there is none: its
// URL, or the first word of its command that has the form of a path.
func (r *Report) Physical(transcript string) map[string]any {
	path := filepath.Join(r.Directory, transcript)
	if transcript == "" {
		words, err := wording.ShellWords(r.Target)
		if err != nil || len(words) == 0 {
			words = []string{"server"}
		}
		at := max(slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word, "/.") && !strings.HasPrefix(word, "-") }), 0)
		if remote, err := url.Parse(words[at]); err == nil && remote.Scheme != "" {
			return sarif.At(remote.String(), 0)
		}
		path = words[at]
	}
	return sarif.At(sarif.FileURI(path), 1)
}
