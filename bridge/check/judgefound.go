package check

import (
	"slices"

	"elicitation-inspector/bridge/lint"
)

// framesMost is the number of frames that one finding names if the linter finds the same
// defect several times.
const framesMost = 5

// linted adds the linter's findings, each defect once.
func (j *judgement) linted() {
	type key struct{ rule, pointer string }
	of := func(f lint.Found) key { return key{f.Rule, f.Pointer} }
	at := map[key]int{} // index into j.findings
	for _, f := range j.Found {
		i, known := at[of(f)]
		switch {
		case f.Severity == lint.Advice:
		case known:
			if frames := j.findings[i].Frames; len(frames) < framesMost && !slices.Contains(frames, f.Seq) {
				j.findings[i].Frames = append(frames, f.Seq)
			}
		default:
			at[of(f)] = len(j.findings)
			j.findings = append(j.findings, Finding{Rule: f.Rule, Verdict: verdictOf(f.Severity), Text: f.Text, Reference: f.Reference, Frames: []int64{f.Seq}})
		}
	}
}
