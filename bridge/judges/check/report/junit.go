package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/export"
)

// JUnit returns a test suite for each call and revision, with a test case for each
// trial, and one with what was not judged: a failed case for each problem, and a skipped
// one for each call that asked nothing or was not made. JUnit has no warnings: a trial with
// warnings passes, and they are in its output. An inconclusive trial is skipped.
func (r *Report) JUnit() []Suite {
	properties := []Property{{Name: "server", Value: export.Visible(r.Server)}, {Name: "inspector", Value: r.Inspector}}
	if words := Compared(r.Baseline); words != "" {
		properties = append(properties, Property{Name: "baseline", Value: words})
	}
	type place struct {
		call     int
		revision string
	}
	of := map[place][]*Result{}
	for k := range r.Results {
		one := &r.Results[k]
		at := place{one.Call, one.Revision}
		of[at] = append(of[at], one)
	}
	suites := []Suite{}
	for i, call := range r.Calls {
		for _, revision := range r.Revisions {
			results := of[place{i, revision}]
			if results == nil {
				continue
			}
			s := Suite{Name: export.Visible(fmt.Sprintf("%s %s, %s", call.Kind, call.Key, revision)), Properties: properties}
			var took time.Duration
			for _, one := range results {
				took += one.Took
				name, _ := strings.CutSuffix(one.Trial.Words(), ", "+one.Revision)
				c := Case{Name: export.Visible(name), Class: s.Name, Time: Seconds(one.Took)}
				rule, message, text := sentences(one)
				switch one.Verdict {
				case Fail:
					c.Failure = &Failure{Message: message, Type: rule, Text: text}
				case Inconclusive:
					c.Skipped = &Skipped{Message: message}
				case Warn:
					c.Out = text
				}
				s.Add(c)
			}
			s.Time = Seconds(took)
			suites = append(suites, s)
		}
	}
	if s := unjudged(r); s.Tests > 0 {
		s.Properties = properties
		suites = append(suites, s)
	}
	return suites
}

func unjudged(r *Report) Suite {
	s := Suite{Name: "not judged", Time: Seconds(0)}
	add := func(name string, failure *Failure, skipped string) {
		c := Case{Name: export.Visible(name), Class: s.Name, Time: Seconds(0), Failure: failure}
		if failure == nil {
			c.Skipped = &Skipped{Message: export.Line(skipped, 400)}
		}
		s.Add(c)
	}
	for _, p := range r.Problems {
		text := Sentence(p)
		add(wording.Join(", ", append([]string{string(p.Kind), p.Call}, p.Revisions...)...), &Failure{Message: export.Line(p.Text, 400), Type: string(p.Kind), Text: export.Visible(text)}, "")
	}
	for _, c := range r.Silent {
		add(fmt.Sprintf("%s %s", c.Kind, c.Key), nil, "It asked nothing.")
	}
	for _, c := range r.Skipped {
		add(fmt.Sprintf("%s %s", c.Kind, c.Key), nil, c.Why)
	}
	return s
}

// sentences returns the rule and text of a trial's most severe finding, and the texts of
// all findings.
func sentences(one *Result) (rule, message, text string) {
	var b strings.Builder
	for _, f := range one.Findings {
		mark := ""
		if f.New {
			mark = "new: "
		}
		if message == "" && f.Verdict == one.Verdict {
			rule, message = f.Rule, export.Line(mark+f.Text, 400)
		}
		fmt.Fprintf(&b, "%s%s: %s\n", mark, f.Verdict, f.Text)
		if f.Verdict.Defect() {
			fmt.Fprintf(&b, "  %s\n", f.Harm())
		}
		fmt.Fprintf(&b, "  [%s] %s\n", f.Rule, wording.Join(" ", f.Reference, f.Link))
		fmt.Fprintf(&b, "  frames %s", strings.Trim(fmt.Sprint(f.Frames), "[]"))
		if one.Transcript != "" {
			fmt.Fprintf(&b, " of %s", one.Transcript)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "The call ended: %s\n\n%s\n", one.Outcome, one.Reproduce)
	return rule, message, export.Visible(b.String())
}

// Suites is a report of JUnit, as continuous integration reads it.
type Suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Suites   []Suite  `xml:"testsuite"`
}

// Suite is a group of test cases.
type Suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"` // none, but schemas require it
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Properties []Property `xml:"properties>property,omitempty"`
	Cases      []Case     `xml:"testcase"`
}

// Property is a value that a suite has.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is a test.
type Case struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Skipped *Skipped `xml:"skipped,omitempty"`
	Failure *Failure `xml:"failure,omitempty"`
	Out     string   `xml:"system-out,omitempty"`
}

// Skipped says why a test has no outcome.
type Skipped struct {
	Message string `xml:"message,attr"`
}

// Failure says why a test failed.
type Failure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// Seconds is a time as Time has it.
func Seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// Add appends a test case to the suite, and counts it.
func (s *Suite) Add(c Case) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// WriteSuites writes a report of JUnit.
func WriteSuites(w io.Writer, suites []Suite) error {
	all := Suites{Suites: suites}
	for _, s := range suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(wording.EscapingWriter{To: w}, "%s%s\n", xml.Header, text)
	}
	return err
}
