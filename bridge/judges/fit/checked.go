package fit

import (
	"errors"
	"io"

	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/export"
)

// Checked is the report of a check, and how the questions that it met fit clients.
type Checked struct {
	*report.Report
	Fit *Report `json:"fit"`
}

// CheckedFormats are the formats of a check's report with how its questions fit, by the names of [report.Formats].
var CheckedFormats = export.Formats[*Checked]{
	{Name: "json", Write: func(w io.Writer, c *Checked) error { return report.WriteIndented(w, c) }},
	{Name: "junit", Write: func(w io.Writer, c *Checked) error {
		return report.WriteSuites(w, append(c.Report.JUnit(), c.Fit.junit()...))
	}},
	{Name: "markdown", Write: func(w io.Writer, c *Checked) error {
		return errors.Join(report.WriteMarkdown(w, c.Report), writeMarkdown(w, c.Fit))
	}},
	{Name: "html", Write: func(w io.Writer, c *Checked) error { return report.WriteHTML(w, c.Report, c.Fit.section()) }},
	{Name: "sarif", Write: func(w io.Writer, c *Checked) error {
		return report.WriteIndented(w, c.Fit.addTo(c.Report.SARIF(), c.Report.Physical("")).File())
	}},
}
