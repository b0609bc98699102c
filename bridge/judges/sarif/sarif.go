// Package sarif writes findings in the Static Analysis Results Interchange Format (OASIS,
// version 2.1.0), which code scanning reads. The types have only the members that our reports use. Numbers such as
// 3.49 are sections of that standard.
package sarif

import (
	"net/url"
	"path/filepath"
	"slices"
)

// Run is a file with one run of the tool (3.13, 3.14). New makes it.
type Run struct {
	Rules      []Rule         // to which the results refer
	Results    []Result       // in the order of their findings
	Properties map[string]any // nil for none
	version    string
}

// Rule describes a rule of the linter or of a check, to which results refer by its ID (3.49).
type Rule struct {
	ID      string `json:"id"`
	Breaks  *Text  `json:"shortDescription,omitempty"`
	HelpURI string `json:"helpUri,omitempty"`
}

// Text is a message in plain text (3.11, 3.12).
type Text struct {
	Text string `json:"text"`
}

// Result is a finding (3.27).
type Result struct {
	RuleID        string            `json:"ruleId"`
	Level         string            `json:"level"` // error, warning or note
	Message       Text              `json:"message"`
	Locations     []Location        `json:"locations"`
	Fingerprints  map[string]string `json:"partialFingerprints,omitempty"`
	BaselineState string            `json:"baselineState,omitempty"` // new or unchanged
	Properties    map[string]any    `json:"properties,omitempty"`
}

// Location is a place in a file (3.29), and what it is in the terms of what is judged (3.33).
type Location struct {
	Physical map[string]any `json:"physicalLocation"`
	Logical  []Logical      `json:"logicalLocations,omitempty"`
}

// Logical names a place without a file.
type Logical struct {
	Name string `json:"fullyQualifiedName"`
}

// At returns the place at a line of a file; the line 0 stands for all of the file.
func At(uri string, line int) map[string]any {
	place := map[string]any{"artifactLocation": map[string]string{"uri": uri}}
	if line > 0 {
		place["region"] = map[string]int{"startLine": line}
	}
	return place
}

// FileURI returns the path of a file as a URI: a relative path is a relative one.
func FileURI(path string) string {
	uri := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		uri.Scheme = "file"
	}
	return uri.String()
}

// New returns a run of this version of the inspector.
func New(version string) *Run {
	return &Run{Rules: []Rule{}, Results: []Result{}, version: version}
}

// AddRule adds a rule, unless the run has it. What it breaks may be "".
func (r *Run) AddRule(id, breaks, helpURI string) {
	if slices.ContainsFunc(r.Rules, func(rule Rule) bool { return rule.ID == id }) {
		return
	}
	rule := Rule{ID: id, HelpURI: helpURI}
	if breaks != "" {
		rule.Breaks = &Text{breaks}
	}
	r.Rules = append(r.Rules, rule)
}

// File returns what is written as JSON.
func (r *Run) File() any {
	run := map[string]any{"tool": map[string]any{"driver": map[string]any{"name": "elicitation-inspector", "version": r.version, "rules": r.Rules}}, "results": r.Results}
	if r.Properties != nil {
		run["properties"] = r.Properties
	}
	return map[string]any{"$schema": "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json", "version": "2.1.0", "runs": []any{run}}
}
