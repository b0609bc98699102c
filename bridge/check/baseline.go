package check

import (
	"time"

	"elicitation-inspector/bridge/conversation"
)

// Baseline compares the fails and warnings of a report with those of an earlier one. A
// finding counts once for each trial that shows it.
type Baseline struct {
	Began   time.Time `json:"began"` // when the earlier report began
	Server  string    `json:"server"`
	New     int       `json:"new"`               // findings that only this report has; see Finding.New
	Known   int       `json:"known"`             // findings in both reports
	Mended  []Past    `json:"mended,omitempty"`  // earlier findings whose trials ran again and no longer show them
	Unclear []Past    `json:"unclear,omitempty"` // earlier findings with a trial that is inconclusive in this report
	Gone    []Past    `json:"gone,omitempty"`    // earlier findings whose trials did not run this time
}

// Past is a finding of the earlier report.
type Past struct {
	Kind      conversation.Kind `json:"kind"`
	Key       string            `json:"key"`
	Behaviour string            `json:"behaviour"`
	Revision  string            `json:"revision"`
	Question  int               `json:"question,omitempty"`
	Field     string            `json:"field,omitempty"`
	Rule      string            `json:"rule"`
	Verdict   Verdict           `json:"verdict"`
	Text      string            `json:"text"`
}
