package main

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"elicitation-inspector/bridge/elicit/lint"
)

// The members of SARIF 2.1.0 that lint prints. Their names are the standard's.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID          string       `json:"id"`
		Description sarifMessage `json:"shortDescription"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID     string          `json:"ruleId"`
		RuleIndex  int             `json:"ruleIndex"`
		Level      string          `json:"level"`
		Message    sarifMessage    `json:"message"`
		Locations  []sarifLocation `json:"locations"`
		Properties sarifProperties `json:"properties"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifRegion struct {
		StartLine int64 `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifProperties struct {
		Reference string `json:"reference"`
		Server    string `json:"server"`
		Session   string `json:"session"`
		Frame     int64  `json:"frame"`
		Call      int    `json:"call"`
		Question  int    `json:"question"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// sarifLevels are the levels of the severities.
var sarifLevels = map[lint.Severity]string{lint.Violation: "error", lint.Should: "warning", lint.Advice: "note"}

// writeSARIF writes findings in the Static Analysis Results Interchange Format
// (OASIS, version 2.1.0).
func writeSARIF(w io.Writer, list []lintFinding) error {
	rules := lint.Rules()
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "elicitation-inspector", Version: version()}
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.ID, sarifMessage{r.Breaks}})
	}
	for _, f := range list {
		at := sarifLocation{}
		at.Physical.Artifact.URI = sarifURI(f.File)
		if f.Line != 0 {
			at.Physical.Region = &sarifRegion{f.Line}
		}
		if f.Pointer != "" {
			at.Logical = []sarifLogical{{f.Pointer}}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, RuleIndex: slices.IndexFunc(rules, func(r lint.Rule) bool { return r.ID == f.Rule }),
			Level: sarifLevels[f.Severity], Message: sarifMessage{f.Text}, Locations: []sarifLocation{at},
			Properties: sarifProperties{f.Reference, f.Server, f.Session, f.Frame, f.Call, f.Question},
		})
	}
	return writeIndented(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

// sarifURI is the reference to a file: relative for a relative path.
func sarifURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
