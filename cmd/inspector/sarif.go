package main

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"elicitation-inspector/bridge/elicit/lint"
)

// sarif is an object of SARIF 2.1.0, with the member names of the standard.
type sarif map[string]any

// sarifLevels maps severities to SARIF levels.
var sarifLevels = map[lint.Severity]string{lint.Violation: "error", lint.Should: "warning", lint.Advice: "note"}

// writeSARIF writes findings in the Static Analysis Results Interchange Format
// (OASIS, version 2.1.0).
func writeSARIF(w io.Writer, list []lintFinding) error {
	rules := lint.Rules()
	described := []sarif{}
	for _, r := range rules {
		described = append(described, sarif{"id": r.ID, "shortDescription": sarif{"text": r.Breaks}})
	}
	results := []sarif{}
	for _, f := range list {
		physical := sarif{"artifactLocation": sarif{"uri": sarifURI(f.File)}}
		if f.Line != 0 {
			physical["region"] = sarif{"startLine": f.Line}
		}
		location := sarif{"physicalLocation": physical}
		if f.Pointer != "" {
			location["logicalLocations"] = []sarif{{"fullyQualifiedName": f.Pointer}}
		}
		results = append(results, sarif{
			"ruleId":    f.Rule,
			"ruleIndex": slices.IndexFunc(rules, func(r lint.Rule) bool { return r.ID == f.Rule }),
			"level":     sarifLevels[f.Severity],
			"message":   sarif{"text": f.Text},
			"locations": []sarif{location},
			"properties": sarif{
				"reference": f.Reference, "server": f.Server, "session": f.Session,
				"frame": f.Frame, "call": f.Call, "question": f.Question,
			},
		})
	}
	return writeIndented(w, sarif{
		"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		"version": "2.1.0",
		"runs": []sarif{{
			"tool":    sarif{"driver": sarif{"name": "elicitation-inspector", "version": version(), "rules": described}},
			"results": results,
		}},
	})
}

// sarifURI returns the URI of a file: relative for a relative path.
func sarifURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
