package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Report has the outcomes of the probes for all clients.
type Report struct {
	Format    int       `json:"format"`
	Inspector string    `json:"inspector"` // version of the inspector, and so of the probes
	Date      time.Time `json:"date"`
	Clients   []Client  `json:"clients"`
}

// reportFormat is the version of the format. It changes when a reader would misunderstand it.
const reportFormat = 1

// Client is the part of a report about one client in one revision over one transport.
type Client struct {
	Number int `json:"-"` // of the client in this run, from 1
	Identity
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Results []Result  `json:"results"` // of all probes of the revision, in the order of the table
}

// Result is the outcome of a probe for one client.
type Result struct {
	Probe   string        `json:"probe"`
	Group   Group         `json:"group"`
	Title   string        `json:"title"`
	Do      string        `json:"do"` // what the person was asked to do
	Verdict Verdict       `json:"verdict"`
	How     string        `json:"how,omitempty"`     // a sentence or several
	Unseen  Unseen        `json:"unseen,omitempty"`  // why nothing was seen, for NotSeen
	Rule    string        `json:"rule,omitempty"`    // that is broken, of the linter or of the probe alone
	Section string        `json:"section,omitempty"` // of the specification, that the rule is based on
	Change  string        `json:"change,omitempty"`  // what to change in the client
	Frames  []int64       `json:"frames,omitempty"`
	Began   time.Time     `json:"began,omitzero"`
	Took    time.Duration `json:"took,omitempty"` // nanoseconds
	Looks   []Look        `json:"looks,omitempty"`
	// Evidence has the frames' texts, cut to evidenceMost bytes each.
	Evidence []Frame `json:"evidence,omitempty"`
}

// Look is a question that only a person can answer, with the person's word.
type Look struct {
	Question string `json:"question"`
	Yes      *bool  `json:"yes,omitempty"` // nil if nobody answered
}

// Word is the person's answer: yes, no, or "".
func (l Look) Word() string {
	switch {
	case l.Yes == nil:
		return ""
	case *l.Yes:
		return "yes"
	}
	return "no"
}

// Frame is a frame of the log.
type Frame struct {
	Seq       int64  `json:"seq"`
	Direction string `json:"direction"`
	Text      string `json:"text"`
	Cut       bool   `json:"cut,omitempty"` // the frame is longer
}

// Bounds on the evidence of one result.
const (
	evidenceMost = 4 << 10
	framesMost   = 40
)

// Called reports whether the probe was run.
func (r *Result) Called() bool { return !r.Began.IsZero() }

// Report returns the report as it is now, the client that was seen last first.
func (s *Server) Report() *Report {
	out := &Report{Format: reportFormat, Inspector: s.options.Version, Date: time.Now().UTC().Truncate(time.Second), Clients: []Client{}}
	err := s.linter.Update(context.Background())
	found := slices.DeleteFunc(s.linter.From(0, s.options.Log.Len()), func(f lint.Found) bool {
		return f.Judges != lint.ClientParty || f.Severity == lint.Advice || owners()[f.Rule] != ""
	})
	s.mu.Lock()
	for _, c := range s.clients {
		one, byRule := c.report(s), map[string]faults{}
		for _, f := range found {
			if c.sessions[s.options.Log.Head(f.Seq).Session] {
				byRule[f.Rule] = append(byRule[f.Rule], f)
			}
		}
		if one.addRules(byRule); err != nil {
			one.Results = append(one.Results, Result{Probe: "linter", Group: Elsewhere, Title: "The rules of the linter", Verdict: NotSeen, Unseen: NoFrame, How: wording.Sentence(err.Error())})
		}
		out.Clients = append(out.Clients, one)
	}
	s.mu.Unlock()
	slices.SortStableFunc(out.Clients, func(a, b Client) int { return b.Last.Compare(a.Last) })
	return out
}

// AddEvidence adds the texts of the frames, and takes secrets out of the whole report, which is
// finished by that.
func (r *Report) AddEvidence(log *wire.Log, secrets *redact.Redaction) error {
	if err := secrets.Learn(context.Background(), log); err != nil {
		return err
	}
	for _, c := range r.Clients {
		for i := range c.Results {
			one := &c.Results[i]
			one.Evidence = nil
			err := log.Each(one.Frames[:min(len(one.Frames), framesMost)], func(f wire.Frame) error {
				raw := string(secrets.Frame(&f).Raw)
				text := wording.Head(raw, evidenceMost)
				one.Evidence = append(one.Evidence, Frame{f.Seq, f.Dir.String(), text, len(text) < len(raw)})
				return nil
			})
			if err != nil {
				return fmt.Errorf("reading the frames of probe %s: %w", one.Probe, err)
			}
		}
	}
	secrets.Document(r)
	return nil
}

// report returns the part of the report about a client. The caller has the mutex.
func (c *client) report(s *Server) Client {
	out := Client{Number: c.number, Identity: c.Identity, First: c.first, Last: c.last}
	for _, p := range Table() {
		if !p.In(c.Revision) || !s.serves(p) {
			continue
		}
		r := Result{Probe: p.Name, Group: p.Group, Title: p.Title, Do: p.Do, Verdict: NotSeen, Unseen: NotCalled, How: "It was not called."}
		for _, question := range p.Looks {
			r.Looks = append(r.Looks, Look{Question: question})
		}
		if o := c.results[p.Name]; o != nil {
			f := o.finding
			r.Verdict, r.Unseen, r.How, r.Frames, r.Began, r.Took = f.verdict, f.unseen, f.how, f.frames, o.began, o.took
			switch named := c.namedBy(p.Name, f); {
			case named != "":
				r.Verdict, r.Unseen, r.How = NotSeen, Follows, "As in "+named+": "+r.How
			case f.following && !c.follows():
				r.Verdict, r.Unseen = NotSeen, OtherAnswer
			case slices.Contains([]Verdict{Fails, Partly, Refuses}, r.Verdict):
				if r.Change = "Have the client do what the message asks: " + p.Do; f.cause != nil {
					r.Change = f.cause.change
					r.cite(f.cause.rule, c.Revision)
				}
			}
			for i := range r.Looks {
				if yes, ok := o.said[i]; ok {
					r.Looks[i].Yes = &yes
				}
			}
			r.weigh(p)
		}
		out.Results = append(out.Results, r)
	}
	return out
}

// namedBy returns the probe that names what is wrong in a finding of another one; "" if that is
// the finding's own.
func (c *client) namedBy(probe string, f finding) string {
	wrong := func(of string) finding {
		if o := c.results[of]; o != nil && of != probe {
			return o.finding
		}
		return finding{}
	}
	accept := wrong("accept")
	switch {
	case f.cause == nil || f.verdict == NotSeen && f.cause != causeDeclined:
		return ""
	case (f.blank || f.cause == causeUnread) && accept.blank: // who answers by itself
		return "accept"
	case f.cause == causeWrongCode && (accept.cause == causeDenied || accept.cause == causeRefused): // who refuses everything
		return "accept"
	case f.blank && probe != "accept" && wrong("decline").cause == causeUnread:
		return "decline"
	}
	for _, owner := range []string{f.cause.owner, "url-consent"} {
		if wrong(owner).cause == f.cause && (owner == f.cause.owner || Find(probe).Mode == elicit.ModeURL) {
			return owner
		}
	}
	// What no probe shows alone is named by the first that was called.
	if f.cause.owner == probe || !slices.Contains([]*cause{causeShape, causeAction, causeNoContent, causeWrapped, causeUnread, causeUnanswered, causePrefetched, causeTextURL, causeState, causeNoState, causeOwnKeys, causeList, causeSameID, causeOther}, f.cause) {
		return ""
	}
	i := slices.IndexFunc(Table(), func(p *Probe) bool { return p.Name == probe || wrong(p.Name).cause == f.cause })
	return wording.Either(Table()[i].Name == probe, "", Table()[i].Name)
}

// follows reports whether the client sends, somewhere, a value that only the message has: then
// another value elsewhere is its own doing.
func (c *client) follows() bool {
	return slices.ContainsFunc([]string{"string-length", "string-pattern", "choice", "choice-many", "text-long", "fields-many"}, func(probe string) bool {
		o := c.results[probe]
		return o != nil && o.finding.verdict == Works
	})
}

// cite sets the rule that a result breaks, and its section.
func (r *Result) cite(rule, revision string) {
	if source, ok := lint.RuleOf(rule).Sources[revision]; ok {
		r.Rule, r.Section = rule, source.Reference(revision)
	}
}

// weigh adds the word of the person to what the frames show.
func (r *Result) weigh(p *Probe) {
	said, good := 0, true
	for _, l := range r.Looks {
		if l.Yes == nil {
			continue
		}
		said++
		if !*l.Yes {
			good = false
			r.How = wording.Join(" ", r.How, "A person says no: "+l.Question)
		}
	}
	switch {
	case said == 0 || r.Verdict == Running:
	case !good && (r.Verdict == Works || r.Verdict == NotSeen && p.OnlyLooks):
		r.Verdict, r.Unseen = Partly, ""
	case good && said == len(r.Looks) && p.OnlyLooks && r.Verdict == NotSeen && len(r.Frames) > 0:
		r.Verdict, r.Unseen, r.How = Works, "", "By the word of a person, who says yes to each question."
	}
}

// Count counts the results of a verdict.
func (c *Client) Count(v Verdict) (n int) {
	for i := range c.Results {
		if c.Results[i].Verdict == v {
			n++
		}
	}
	return n
}

// Label names the client in one line.
func (c *Client) Label() string {
	name := wording.Join(" ", c.Name, c.Version)
	if name == "" {
		name = "a client without a name"
	}
	return wording.EscapeLine(name) + ", " + c.Revision + " over " + c.Transport
}

// Headline sums up the results in one line.
func (c *Client) Headline() string {
	var parts []string
	for _, v := range append([]Verdict{Running}, Verdicts()...) {
		if n := c.Count(v); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	var why []string
	for _, u := range []Unseen{NotCalled, NotDeclared, OtherAnswer, Follows, NoFrame} {
		if n := len(slices.DeleteFunc(slices.Clone(c.Results), func(r Result) bool { return r.Unseen != u })); n > 0 {
			why = append(why, fmt.Sprintf("%d %s", n, u))
		}
	}
	if len(why) > 0 {
		parts[len(parts)-1] += " (" + wording.Join(", ", why...) + ")"
	}
	return wording.Join(", ", parts...)
}

// Read reads a report that was written as JSON.
func Read(from io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(from).Decode(&r); err != nil {
		return nil, fmt.Errorf("reading the report of a probe: %w", err)
	}
	if r.Format != reportFormat {
		return nil, fmt.Errorf("reading the report of a probe: its format is %d, and only %d is known", r.Format, reportFormat)
	}
	return &r, nil
}

// Part is a group of the results of a client.
type Part struct {
	Group   Group
	Results []Result
}

// Parts returns the results by group.
func (c *Client) Parts() (list []Part) {
	for _, r := range c.Results {
		if len(list) == 0 || list[len(list)-1].Group != r.Group {
			list = append(list, Part{Group: r.Group})
		}
		last := &list[len(list)-1]
		last.Results = append(last.Results, r)
	}
	return list
}

// Said returns the words of a person about the result, in one line.
func (r *Result) Said() string {
	var list []string
	for _, l := range r.Looks {
		if word := l.Word(); word != "" {
			list = append(list, l.Question+" A person: "+word+".")
		}
	}
	return strings.Join(list, " ")
}

// Advice says what to change, and which rule is broken.
func (r *Result) Advice() string {
	if r.Rule == "" || strings.Contains(r.How, r.Rule) {
		return r.Change
	}
	return r.Change + " (" + r.Rule + ", " + r.Section + ")"
}

// Numbers lists the frames of the result.
func (r *Result) Numbers() string { return wording.Numbers(r.Frames) }

// Meaning describes a verdict in a few words.
func (v Verdict) Meaning() string {
	return map[Verdict]string{
		Works: "the client did what was asked", Partly: "it did a part of it, or more than it should", Fails: "it did something else, or nothing",
		Refuses: "it answered with an error, though it declares the mode", May: "no rule forbids it, and servers can stumble over it", NotSeen: "no frame shows it either way", Running: "it goes on",
	}[v]
}
