// Package sarif writes findings in the Static Analysis Results Interchange Format (OASIS,
// version 2.1.0), which code scanning reads. It has the members that our reports use;
// section numbers are those of the standard.
package sarif

import (
	"fmt"
	"slices"
)

// schema is the JSON Schema of version 2.1.0.
const schema = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json"

// Log is a file with one run (3.13).
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []*Run `json:"runs"`
}

// Run is one run of the tool (3.14). New makes it.
type Run struct {
	Tool struct {
		Driver driver `json:"driver"`
	} `json:"tool"`
	Results    []Result       `json:"results"`
	Properties map[string]any `json:"properties,omitempty"`
}

type driver struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Rules   []Rule `json:"rules"`
}

// Rule is what results are found by (3.49).
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
	RuleIndex     int               `json:"ruleIndex"`
	Level         string            `json:"level"` // error, warning or note
	Message       Text              `json:"message"`
	Locations     []Location        `json:"locations"`
	Fingerprints  map[string]string `json:"partialFingerprints,omitempty"`
	BaselineState string            `json:"baselineState,omitempty"` // new or unchanged
	Properties    map[string]any    `json:"properties,omitempty"`
}

// Location is a place in a file, and what that place is (3.28).
type Location struct {
	Physical Physical  `json:"physicalLocation"`
	Logical  []Logical `json:"logicalLocations,omitempty"`
}

// Logical names a place in the terms of what is judged (3.33).
type Logical struct {
	Name string `json:"fullyQualifiedName"`
}

// Physical is a place in a file (3.29).
type Physical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region *region `json:"region,omitempty"`
}

type region struct {
	StartLine int `json:"startLine"` // from 1
}

// At returns the place at a line of a file; the line 0 stands for all of the file.
func At(uri string, line int) (p Physical) {
	p.Artifact.URI = uri
	if line > 0 {
		p.Region = &region{StartLine: line}
	}
	return p
}

// New returns a run of this version of the inspector, without rules and results.
func New(version string) *Run {
	r := &Run{Results: []Result{}}
	r.Tool.Driver = driver{Name: "elicitation-inspector", Version: version, Rules: []Rule{}}
	return r
}

// Log returns the file of the run.
func (r *Run) Log() Log { return Log{Schema: schema, Version: "2.1.0", Runs: []*Run{r}} }

// AddRule adds a rule, unless the run has it. breaks may be empty.
func (r *Run) AddRule(id, breaks, helpURI string) {
	if r.indexOf(id) >= 0 {
		return
	}
	rule := Rule{ID: id, HelpURI: helpURI}
	if breaks != "" {
		rule.Breaks = &Text{breaks}
	}
	r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, rule)
}

// Add adds a result of a rule that the run has.
func (r *Run) Add(result Result) error {
	if result.RuleIndex = r.indexOf(result.RuleID); result.RuleIndex < 0 {
		return fmt.Errorf("a result of a rule that the run does not have: %s", result.RuleID)
	}
	r.Results = append(r.Results, result)
	return nil
}

func (r *Run) indexOf(id string) int {
	return slices.IndexFunc(r.Tool.Driver.Rules, func(rule Rule) bool { return rule.ID == id })
}
