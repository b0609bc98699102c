package fit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/judges/sarif"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// Asked is a question, and where it was met.
type Asked struct {
	Message string          `json:"message"`
	Server  string          `json:"server,omitempty"`
	Call    string          `json:"call,omitempty"` // the tool, prompt or resource that asks
	File    string          `json:"file,omitempty"`
	Line    int64           `json:"line,omitempty"` // of the file; 0 if frames are not on its lines
	Frame   int64           `json:"frame,omitempty"`
	Via     elicit.Via      `json:"via,omitempty"`
	Times   int             `json:"times"` // how often it was asked
	Params  json.RawMessage `json:"params"`
}

// Carrier returns what carried a question to the client. A request that the client answers with a task counts as
// one of a task.
func Carrier(q *conversation.Question) elicit.Via {
	if q.Task != nil {
		return elicit.InTask
	}
	return q.Via
}

// QuestionsIn lists the questions of a log in order: one of those of a call that differ in their messages alone.
func QuestionsIn(ctx context.Context, log *wire.Log) (list []Asked, err error) {
	talk := conversation.New(log)
	if err := talk.Update(ctx); err != nil {
		return nil, err
	}
	calls, err := script.CallsIn(ctx, talk, 0, conversation.Reading{})
	if err != nil {
		return nil, err
	}
	for _, call := range calls {
		for _, q := range call.Questions {
			if q.Method != mcp.MethodElicit || q.Params == nil {
				continue
			}
			list = Add(list, Asked{Message: rawjson.Text(rawjson.Member(q.Params, "message")), Server: call.ServerName, Call: call.Name, Frame: q.AskedSeq, Via: Carrier(q), Times: 1, Params: q.Params})
		}
	}
	return list, nil
}

// Add adds a question to a list, or counts it if the list has it.
func Add(list []Asked, a Asked) []Asked {
	same := func(b Asked) bool {
		return b.Server == a.Server && b.Call == a.Call && b.Via == a.Via && bytes.Equal(b.Params, a.Params)
	}
	if i := slices.IndexFunc(list, same); i >= 0 {
		list[i].Times += a.Times
		return list
	}
	return append(list, a)
}

// Report says how questions fit clients.
type Report struct {
	Format    int              `json:"format"`
	Inspector string           `json:"inspector"`
	Date      time.Time        `json:"date"`
	Clients   []Client         `json:"clients"`
	Questions []Question       `json:"questions"`
	Skipped   []report.NotMade `json:"skipped,omitempty"` // calls that were not made, so that their questions are not met
}

// Client is a profile in a report.
type Client struct {
	Client   string   `json:"client"`
	Label    string   `json:"label"`
	Evidence string   `json:"evidence"` // how its facts are known, such as "measured, read"
	Cautions []string `json:"cautions,omitempty"`
	Sources  []string `json:"sources"`
}

// line says which client it is, and how that is known.
func (c Client) line() string {
	return fmt.Sprintf("%s is %s (%s).%s", c.Client, c.Label, c.Evidence, wording.After(" ", strings.Join(c.Cautions, " ")))
}

// Question is a question in a report.
type Question struct {
	Asked
	Problem string          `json:"problem,omitempty"` // why it cannot be read as a question
	Ours    json.RawMessage `json:"ours,omitempty"`    // what the inspector's own first Accept sends
	Fits    []Fit           `json:"fits,omitempty"`    // in the order of the clients
}

// Fit is how a question fits a client.
type Fit struct {
	Client  string          `json:"client"`
	Verdict Verdict         `json:"verdict"`
	As      Drawing         `json:"as"`
	Accept  json.RawMessage `json:"accept,omitempty"` // what the first Accept sends
	Reasons []Reason        `json:"reasons,omitempty"`
}

// Judge holds questions against profiles.
func Judge(questions []Asked, clients []*Profile, now time.Time) *Report {
	r := &Report{Format: 1, Date: now.UTC().Truncate(time.Second), Clients: []Client{}, Questions: []Question{}}
	for _, p := range clients {
		c := Client{Client: p.Client, Label: p.Label(), Evidence: p.Evidence(), Cautions: p.Cautions(now)}
		for _, source := range p.Sources {
			c.Sources = append(c.Sources, source.String())
		}
		slices.Sort(c.Sources)
		r.Clients = append(r.Clients, c)
	}
	for _, asked := range questions {
		one := Question{Asked: asked}
		switch q, err := elicit.Parse(asked.Params); {
		case err != nil:
			one.Problem = wording.Sentence(err.Error())
		case q.Trouble != "":
			one.Problem = q.Trouble
		default:
			one.Ours = Ours(q)
			for _, p := range clients {
				s := See(q, p).Carried(asked.Via)
				one.Fits = append(one.Fits, Fit{Client: p.Client, Verdict: s.Verdict(), As: s.As, Accept: s.Accept, Reasons: s.Reasons})
			}
		}
		r.Questions = append(r.Questions, one)
	}
	return r
}

// Gravest returns the gravest verdict.
func (r *Report) Gravest() (v Verdict) {
	for _, q := range r.Questions {
		for _, f := range q.Fits {
			v = max(v, f.Verdict)
		}
	}
	return v
}

// Formats are the formats of a report.
var Formats = export.Formats[*Report]{
	{Name: "text", Write: writeText},
	{Name: "json", Write: func(w io.Writer, r *Report) error { return report.WriteIndented(w, r) }, Ending: ".json"},
	{Name: "markdown", Write: writeMarkdown, Ending: ".md"},
	{Name: "junit", Write: func(w io.Writer, r *Report) error { return report.WriteSuites(w, r.junit()) }, Ending: ".xml"},
	{Name: "sarif", Write: func(w io.Writer, r *Report) error {
		return report.WriteIndented(w, r.addTo(sarif.New(r.Inspector), nil).File())
	}, Ending: ".sarif"},
}

// title names a question in one line.
func (q *Question) title() string {
	return wording.Join(": ", q.Call, wording.Quoted(wording.Shorten(q.Message, 80)))
}

// Sum sums a report up: "3 questions and 14 clients: 20 fine, 12 degraded, 10 wrong by default".
func (r *Report) Sum() string {
	counts := map[Verdict]int{}
	for _, q := range r.Questions {
		for _, f := range q.Fits {
			counts[f.Verdict]++
		}
	}
	var parts []string
	for v := Fine; v <= Guard; v++ {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v.Words()))
		}
	}
	return wording.Plural(len(r.Questions), "question") + " and " + wording.Plural(len(r.Clients), "client") + wording.After(": ", strings.Join(parts, ", "))
}

// lines describes a reason: what is wrong and how that is known, and how to ask instead.
func (one *Reason) lines(indent string) string {
	return indent + one.Text + " [" + wording.Join(", ", one.Rule, string(one.How)) + "]\n" + indent + one.Advice + "\n"
}

func writeText(w io.Writer, r *Report) error {
	var b strings.Builder
	for i := range r.Questions {
		q := &r.Questions[i]
		place := wording.Either(q.Line > 0, fmt.Sprintf("%s:%d", q.File, q.Line), wording.Either(q.Frame > 0, fmt.Sprintf("frame %d", q.Frame), q.File))
		fmt.Fprintf(&b, "%s (%s)\n", wording.EscapeLine(q.title()), wording.EscapeLine(place))
		b.WriteString(wording.After("  ", wording.Either(q.Problem != "", wording.EscapeLine(q.Problem)+"\n", "")))
		for _, f := range q.Fits {
			fmt.Fprintf(&b, "  %s: %s%s\n", f.Client, f.Verdict.Words(), wording.After("; the first Accept sends ", wording.EscapeLine(wording.Shorten(string(f.Accept), 200))))
			for _, reason := range f.Reasons {
				b.WriteString(reason.lines("      "))
			}
		}
	}
	for _, c := range r.Clients {
		b.WriteString(c.line() + "\n")
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "not called: %s %s: %s\n", s.Kind, wording.EscapeLine(s.Key), wording.EscapeLine(s.Why))
	}
	_, err := io.WriteString(wording.EscapingWriter{To: w}, b.String()+r.Sum()+"\n")
	return err
}

func writeMarkdown(w io.Writer, r *Report) error {
	var b, details strings.Builder
	fmt.Fprintf(&b, "# Questions as clients show them\n\n%s. %s.\n\n| question |", r.Sum(), r.Date.Format(time.DateOnly))
	for _, c := range r.Clients {
		b.WriteString(" " + c.Client + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Clients)) + "\n")
	for i := range r.Questions {
		q := &r.Questions[i]
		b.WriteString("| " + export.Cell(q.title()) + " |")
		fmt.Fprintf(&details, "\n## %s\n\n%s", export.Span(q.title()), wording.After("", export.Cell(q.Problem)))
		for _, f := range q.Fits {
			b.WriteString(" " + f.Verdict.Words() + " |")
			fmt.Fprintf(&details, "- **%s**: %s%s\n", f.Client, f.Verdict.Words(), export.SpanAfter("; the first Accept sends ", string(f.Accept)))
			for _, one := range f.Reasons {
				fmt.Fprintf(&details, "  - %s %s (%s)\n", export.Cell(one.Text), export.Cell(one.Advice), wording.Join(", ", one.Rule, string(one.How)))
			}
		}
		b.WriteString(strings.Repeat(" – |", len(r.Clients)-len(q.Fits)) + "\n")
	}
	details.WriteString("\n## Clients\n\n| client | which | caution | evidence |\n|---|---|---|---|\n")
	for _, c := range r.Clients {
		fmt.Fprintf(&details, "| %s | %s | %s | %s |\n", c.Client, export.Cell(c.Label), export.Cell(strings.Join(c.Cautions, " ")), export.Cell(strings.Join(c.Sources, "; ")))
	}
	_, err := io.WriteString(wording.EscapingWriter{To: w}, b.String()+details.String())
	return err
}

// junit returns a test case for each question and client. A degraded question passes, and its output
// says so. A question that is not shown, or of which nothing is known, is skipped.
func (r *Report) junit() []report.Suite {
	suites := []report.Suite{}
	for i := range r.Questions {
		q := &r.Questions[i]
		suite := report.Suite{Name: export.Visible(q.title()), Time: report.Seconds(0), Properties: []report.Property{{Name: "inspector", Value: r.Inspector}}}
		if q.Problem != "" {
			suite.Add(report.Case{Name: "question", Class: suite.Name, Time: suite.Time, Skipped: &report.Skipped{Message: export.Line(q.Problem, 400)}})
		}
		for _, f := range q.Fits {
			one := report.Case{Name: f.Client, Class: suite.Name, Time: suite.Time}
			var text strings.Builder
			for _, reason := range f.Reasons {
				text.WriteString(reason.lines(""))
			}
			switch {
			case f.Verdict == Unknown || f.Verdict == NotShown:
				one.Skipped = &report.Skipped{Message: export.Line(f.Verdict.Words()+": "+f.Reasons[0].Text, 400)}
			case f.Verdict > Degraded:
				one.Failure = &report.Failure{Message: export.Line(f.Reasons[0].Text, 400), Type: f.Verdict.String(), Text: export.Visible(text.String())}
			default:
				one.Out = export.Visible(text.String())
			}
			suite.Add(one)
		}
		suites = append(suites, suite)
	}
	return suites
}

// addTo adds the reasons to a run of SARIF. What is in no file is at the place that elsewhere has.
func (r *Report) addTo(run *sarif.Run, elsewhere map[string]any) *sarif.Run {
	for _, q := range r.Questions {
		location := sarif.Location{Physical: elsewhere}
		if q.File != "" || elsewhere == nil {
			location.Physical = sarif.At(sarif.FileURI(q.File), int(q.Line))
		}
		for _, f := range q.Fits {
			for _, reason := range f.Reasons {
				run.AddRule(reason.rule.ID, reason.rule.Says, "")
				level := map[Verdict]string{Wrong: "warning", Unanswerable: "error", Guard: "error"}[reason.Verdict]
				location.Logical = []sarif.Logical{{Name: wording.Join(" ", q.Call, rawjson.PointerTo("/requestedSchema/properties", reason.Field))}}
				run.Results = append(run.Results, sarif.Result{
					RuleID: reason.Rule, Level: cmp.Or(level, "note"), Message: sarif.Text{Text: f.Client + ": " + reason.Text + " " + reason.Advice}, Locations: []sarif.Location{location},
					Properties: map[string]any{"client": f.Client, "verdict": f.Verdict, "how": reason.How, "frame": q.Frame},
				})
			}
		}
	}
	return run
}
