package check

import (
	"time"

	"elicitation-inspector/bridge/catalog"
)

// Baseline says what became of the fails and warnings of an earlier report. One that is
// found in several trials counts in each.
type Baseline struct {
	Began   time.Time `json:"began"` // of the earlier report
	Server  string    `json:"server"`
	New     int       `json:"new"`               // the earlier report does not have them; see Finding.New
	Known   int       `json:"known"`             // in both reports
	Mended  []Past    `json:"mended,omitempty"`  // tried again, and not found
	Unclear []Past    `json:"unclear,omitempty"` // tried again, with a trial that is inconclusive now
	Gone    []Past    `json:"gone,omitempty"`    // not tried this time
}

// Past is a finding of an earlier report.
type Past struct {
	Kind      catalog.Kind `json:"kind"`
	Key       string       `json:"key"`
	Behaviour string       `json:"behaviour"`
	Revision  string       `json:"revision"`
	Question  int          `json:"question,omitempty"`
	Field     string       `json:"field,omitempty"`
	Rule      string       `json:"rule"`
	Verdict   Verdict      `json:"verdict"`
	Text      string       `json:"text"`
}
