package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/wording"
)

// reports maps the output formats of run to their writers.
var reports = map[string]func(io.Writer, []*suite) error{
	"text": reportText, "tap": reportTAP, "junit": reportJUnit, "json": reportJSON,
}

// below indents all lines of a text.
func below(indent, text string) string {
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

func reportText(w io.Writer, suites []*suite) error {
	var b strings.Builder
	good, all := 0, 0
	for _, s := range suites {
		b.WriteString(s.name() + "\n")
		for _, c := range s.Calls {
			all++
			word := "FAIL"
			if c.Exit == exitOK {
				word = "ok  "
				good++
			}
			fmt.Fprintf(&b, "  %s %s (%.0f ms)\n", word, plainText(c.Name), c.Seconds*1000)
			if c.Why != "" {
				b.WriteString(below("       ", c.Why) + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "%d of %s as expected\n", good, wording.Plural(all, "call"))
	_, err := io.WriteString(w, b.String())
	return err
}

func reportTAP(w io.Writer, suites []*suite) error {
	var b strings.Builder
	n := 0
	for _, s := range suites {
		for _, c := range s.Calls {
			n++
			word := "not ok"
			if c.Exit == exitOK {
				word = "ok"
			}
			name := strings.NewReplacer("#", `\#`, "\\", `\\`).Replace(plainText(s.name() + ": " + c.Name))
			fmt.Fprintf(&b, "%s %d - %s\n", word, n, name)
			if c.Exit != exitOK {
				fmt.Fprintf(&b, "  ---\n  exit: %d\n  message: |\n%s\n  ...\n", c.Exit, below("    ", c.Why))
			}
		}
	}
	_, err := fmt.Fprintf(w, "TAP version 14\n1..%d\n%s", n, b.String())
	return err
}

// The elements of JUnit's XML.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

func reportJUnit(w io.Writer, suites []*suite) error {
	var all junitSuites
	for _, s := range suites {
		one := junitSuite{Name: s.name(), Time: seconds(s.took.Seconds())}
		for _, c := range s.Calls {
			test := junitCase{Name: c.Name, Class: s.name(), Time: seconds(c.Seconds)}
			if c.Exit != exitOK {
				first, _, _ := strings.Cut(c.Why, "\n")
				test.Failure = &junitFailure{Message: first, Type: "exit " + strconv.Itoa(c.Exit), Text: c.Why}
				one.Failures++
			}
			one.Tests++
			one.Cases = append(one.Cases, test)
		}
		all.Tests += one.Tests
		all.Failures += one.Failures
		all.Suites = append(all.Suites, one)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

func reportJSON(w io.Writer, suites []*suite) error { return writeIndented(w, suites) }
