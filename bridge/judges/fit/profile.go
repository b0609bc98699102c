// Package fit says how the clients of others draw a question, and what they send back for it. Profiles
// describe each client as data, with the evidence for each fact. One engine, [See], reads them all: no
// client has code of its own. It does no I/O.
package fit

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Profile describes one client in one version on one surface.
type Profile struct {
	Client  string            `json:"client"` // names the profile in options, such as "codex"
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Surface string            `json:"surface"` // where its questions appear, such as "terminal"
	Closed  bool              `json:"closed,omitempty"`
	Sources map[string]Source `json:"sources"`
	Facts   []Fact            `json:"facts"` // a later fact replaces what an earlier one says of the same
}

// How says how a fact is known.
type How string

// The ways to know a fact, the surest first.
const (
	Measured How = "measured" // in frames that the client sent
	Read     How = "read"     // in the source of the client
	Reported How = "reported" // by somebody, in an issue or in documentation
)

// Source is the evidence for facts.
type Source struct {
	How        How    `json:"how"`
	Repository string `json:"repository,omitempty"` // owner/name on GitHub, or a package
	Path       string `json:"path,omitempty"`
	Commit     string `json:"commit,omitempty"`
	URL        string `json:"url,omitempty"`       // of an issue or a page
	Date       string `json:"date"`                // the day on which it was read, measured or reported
	Committed  string `json:"committed,omitempty"` // the day of the commit, where it is known
	Note       string `json:"note,omitempty"`
}

// String names the source in one line.
func (s Source) String() string {
	place := wording.Join(" ", s.URL, s.Repository, s.Path)
	if s.Commit != "" {
		place += " at " + s.Commit[:min(len(s.Commit), 12)]
	}
	return string(s.How) + " " + cmp.Or(s.Committed, s.Date) + ": " + place + wording.After("; ", s.Note)
}

// Fact is something that a source says about a client: about some kinds of fields (see [KindOf]), all fields
// ("*"), the form, URLs, or the client as a whole. An empty member means that the source does not say.
type Fact struct {
	Of   []string `json:"of"`
	When string   `json:"when,omitempty"` // required, optional, alone or together; "" for always
	From []string `json:"from"`           // keys in Sources

	// Of a kind of field:
	Control   string   `json:"control,omitempty"`   // what it is drawn as
	Label     string   `json:"label,omitempty"`     // title (else the name), name, or description (else the name)
	Choices   string   `json:"choices,omitempty"`   // how a choice is drawn: title, value, both, or none
	Drops     []string `json:"drops,omitempty"`     // keywords that are neither drawn nor heeded
	Checks    []string `json:"checks,omitempty"`    // keywords that hold what is entered
	Only      []string `json:"only,omitempty"`      // the keywords that are understood: with another the form falls back
	Default   string   `json:"default,omitempty"`   // sent, ignored, or truthy: sent unless it is false, 0 or ""
	Untouched string   `json:"untouched,omitempty"` // what an untouched field without a default becomes; fill if it has to be filled in
	Held      string   `json:"held,omitempty"`      // yes, where checks hold an untouched value, too, so that a person has to fill it in
	Enters    string   `json:"enters,omitempty"`    // the JSON type of what is entered, where that is not the field's

	// Of the form:
	Falls   []string `json:"falls,omitempty"`   // kinds of fields with which the whole form falls back; "empty" for a form without fields
	Becomes string   `json:"becomes,omitempty"` // what it falls back to: approval, decline, cancel, or error
	Message string   `json:"message,omitempty"` // text or markdown
	Order   string   `json:"order,omitempty"`   // of the members sent: schema; javascript, maybe with defaults first; sorted, or any
	Missing string   `json:"missing,omitempty"` // a required field that is left empty: refused, declined, or sent
	Empty   string   `json:"empty,omitempty"`   // content without members: sent, or left out
	Numbers string   `json:"numbers,omitempty"` // float64 where digits are lost
	Key     string   `json:"key,omitempty"`     // accepts, where one key press accepts a form without fields

	// Of the client, and of URLs:
	Declares json.RawMessage `json:"declares,omitempty"`  // the capability elicitation; null for none
	Shows    string          `json:"shows,omitempty"`     // yes or no
	Answers  string          `json:"answers,omitempty"`   // what goes back where it shows nothing: decline, cancel, error, or nothing
	Decline  string          `json:"decline,omitempty"`   // how a person declines, after "with"; none if there is no way
	Cancel   string          `json:"cancel,omitempty"`    // how a person cancels
	Limit    string          `json:"timeLimit,omitempty"` // how long a question waits, as a duration of Go
	Rounds   string          `json:"rounds,omitempty"`    // yes or no: questions in results (2026-07-28)
	Tasks    string          `json:"tasks,omitempty"`     // yes or no: questions of tasks
	Says     string          `json:"says,omitempty"`      // more for people, in a sentence
}

// Kinds are the kinds of fields that clients tell apart.
var Kinds = []string{"text", "number", "integer", "boolean", "choice", "choice-names", "choice-titled", "choices", "choices-titled", "other"}

//go:embed profiles/*.json
var profiles embed.FS

//go:embed schema/client.json
var schema []byte

// Schema returns the JSON Schema of profiles.
func Schema() []byte { return schema }

var builtin = sync.OnceValue(func() (list []*Profile) {
	names, err := fs.Glob(profiles, "profiles/*.json")
	for _, name := range names {
		var text []byte
		if text, err = profiles.ReadFile(name); err == nil {
			p := new(Profile)
			err = json.Unmarshal(text, p)
			list = append(list, p)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return list
})

// All returns the profiles that come with the inspector, by name. Nobody may change them.
func All() []*Profile { return slices.Clone(builtin()) }

// Choose returns the profiles of these names, in their order: a name, the beginning of names, or "all".
func Choose(names []string) (list []*Profile, err error) {
	for _, name := range names {
		found := false
		var known []string
		for _, p := range All() {
			known = append(known, p.Client)
			if name == "all" || p.Client == name || strings.HasPrefix(p.Client, name+"-") {
				if found = true; !slices.Contains(list, p) {
					list = append(list, p)
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no profile of %q%s", name, wording.DidYouMean(name, known))
		}
	}
	return list, nil
}

// Parse reads profiles that somebody wrote: one as JSON or YAML, which is checked against the schema, or the
// report of a probe as JSON.
func Parse(name string, text []byte) ([]*Profile, error) {
	if rawjson.Member(text, "clients") != nil {
		r, err := probe.Read(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return ofProbe(name, r), nil
	}
	node, err := written.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	problems, err := elicit.Check(schema, node.JSON())
	p := new(Profile)
	switch {
	case err != nil:
		return nil, err
	case len(problems) > 0:
		return nil, fmt.Errorf("%s is no profile of a client ('inspector schema client'): %s %s", name, problems[0].Pointer, problems[0].Text)
	}
	if err := json.Unmarshal(node.JSON(), p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, f := range p.Facts {
		for _, key := range f.From {
			if _, ok := p.Sources[key]; !ok {
				return nil, fmt.Errorf("%s: fact %d is from %q, which is not among the sources", name, i+1, key)
			}
		}
	}
	return []*Profile{p}, nil
}

// known joins all facts of a profile about one subject, and has for each member the sources that it is from.
type known struct {
	Fact
	from map[string][]string // by the name of the member in Go
}

// about joins the facts about a subject under conditions. What a later fact says counts.
func (p *Profile) about(subject string, conditions ...string) known {
	k := known{from: map[string][]string{}}
	all := reflect.ValueOf(&k.Fact).Elem()
	for _, f := range p.Facts {
		isField := slices.Contains(Kinds, subject)
		if !slices.Contains(f.Of, subject) && !(isField && slices.Contains(f.Of, "*")) || f.When != "" && !slices.Contains(conditions, f.When) {
			continue
		}
		one := reflect.ValueOf(f)
		for i := range one.NumField() {
			name := one.Type().Field(i).Name
			if name == "Of" || name == "When" || name == "From" || one.Field(i).IsZero() {
				continue
			}
			all.Field(i).Set(one.Field(i))
			k.from[name] = f.From
		}
	}
	return k
}

// Cautions says in sentences why a profile deserves less trust.
func (p *Profile) Cautions(now time.Time) (list []string) {
	newest, measured, reported := "", false, len(p.Sources) > 0
	for _, s := range p.Sources {
		newest = max(newest, cmp.Or(s.Committed, s.Date))
		measured = measured || s.How == Measured
		reported = reported && s.How == Reported
	}
	if day, err := time.Parse(time.DateOnly, newest); err == nil && now.Sub(day) > 365*24*time.Hour {
		list = append(list, "Its evidence is of "+newest+", more than a year old.")
	}
	switch {
	case p.Closed && !measured:
		list = append(list, "Its source is closed, and nobody has measured it.")
	case reported:
		list = append(list, "Nobody has read its source or measured it.")
	}
	return list
}

// Evidence says how its facts are known, the surest first: "measured, read".
func (p *Profile) Evidence() string {
	var list []string
	for _, how := range []How{Measured, Read, Reported} {
		if slices.ContainsFunc(slices.Collect(maps.Values(p.Sources)), func(s Source) bool { return s.How == how }) {
			list = append(list, string(how))
		}
	}
	return strings.Join(list, ", ")
}

// Label names the profile for people: "Codex, main, terminal".
func (p *Profile) Label() string { return wording.Join(", ", p.Name, p.Version, p.Surface) }
