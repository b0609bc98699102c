package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
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
	How     string        `json:"how,omitempty"` // a sentence or several
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
	s.mu.Lock()
	for _, c := range s.clients {
		out.Clients = append(out.Clients, c.report(s))
	}
	s.mu.Unlock()
	slices.SortStableFunc(out.Clients, func(a, b Client) int { return b.Last.Compare(a.Last) })
	return out
}

// AddEvidence adds the texts of the frames, without secrets.
func (r *Report) AddEvidence(log *wire.Log, secrets *redact.Redaction) error {
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
	return nil
}

// report returns the part of the report about a client. The caller has the mutex.
func (c *client) report(s *Server) Client {
	out := Client{Number: c.number, Identity: c.Identity, First: c.first, Last: c.last}
	for _, p := range table {
		if !p.In(c.Revision) || !s.serves(p) {
			continue
		}
		r := Result{Probe: p.Name, Group: p.Group, Title: p.Title, Do: p.Do, Verdict: NotSeen, How: "It was not called."}
		for _, question := range p.Looks {
			r.Looks = append(r.Looks, Look{Question: question})
		}
		if o := c.results[p.Name]; o != nil {
			r.Verdict, r.How, r.Frames, r.Began, r.Took = o.finding.verdict, o.finding.how, o.finding.frames, o.began, o.took
			causes := []cause{o.finding.cause}
			if o.finding.cause == causeNoEmpty {
				causes = append(causes, causeNoContent) // who sends no content at all sends no empty one
			}
			for _, why := range causes {
				named := c.results[owners[why]]
				if why != "" && owners[why] != p.Name && named != nil && named.finding.cause == why {
					r.Verdict, r.How = NotSeen, "As in "+owners[why]+": "+r.How
					break
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
		r.Verdict = Partly
	case good && said == len(r.Looks) && p.OnlyLooks && r.Verdict == NotSeen && len(r.Frames) > 0:
		r.Verdict, r.How = Works, "By the word of a person, who says yes to each question."
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

// Numbers lists the frames of the result.
func (r *Result) Numbers() string { return wording.Numbers(r.Frames) }

// Meaning describes a verdict in a few words.
func (v Verdict) Meaning() string {
	return map[Verdict]string{
		Works: "the client did what was asked", Partly: "it did a part of it, or more than it should", Fails: "it did something else, or nothing",
		Refuses: "it answered with an error, though it declares the mode", NotSeen: "no frame shows it either way", Running: "it goes on",
	}[v]
}
