package query

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// rule is the syntax and meaning of a term's operators and values.
type rule struct {
	compares bool // accepts other operators than ":", too
	parse    func(name, op, v string) (node, error)
	// values lists candidates for completion: values in the log, or useful ones.
	// findings are the rules with findings.
	values func(l *wire.Log, findings []string) []Candidate
}

// named returns the rule of a term that selects frames by a name, in which * stands for
// any text.
func named(name func(*wire.Names) string) rule {
	return rule{
		parse: func(_, _, v string) (node, error) {
			return nameIs(regexp.MustCompile(`(?is)^`+strings.ReplaceAll(regexp.QuoteMeta(v), `\*`, ".*")+`$`), name), nil
		},
		values: func(l *wire.Log, _ []string) []Candidate {
			var names []string
			for _, all := range l.AllNames() {
				if n := name(&all); n != "" {
					names = append(names, n)
				}
			}
			slices.Sort(names)
			return listed(slices.Compact(names)...)
		},
	}
}

// methods is the rule of the term for methods. Besides the methods in a log, it lists a
// pattern for each group of several, such as tools/*.
func methods() rule {
	r := named(func(n *wire.Names) string { return n.Method })
	all := r.values
	r.values = func(l *wire.Log, findings []string) []Candidate {
		list := all(l, findings)
		sizes := map[string]int{}
		for _, m := range list {
			if group, _, ok := strings.Cut(m.Text, "/"); ok {
				if sizes[group]++; sizes[group] == 2 {
					list = append(list, Candidate{Text: group + "/*"})
				}
			}
		}
		slices.SortFunc(list, func(a, b Candidate) int { return strings.Compare(a.Text, b.Text) })
		return list
	}
	return r
}

type choice struct {
	name, means string
	node        node
}

func oneOf(choices ...choice) rule {
	var values []Candidate
	var names []string
	for _, c := range choices {
		names = append(names, c.name)
		values = append(values, Candidate{c.name, c.means})
	}
	return rule{
		parse: func(name, _, v string) (node, error) {
			i := slices.IndexFunc(choices, func(c choice) bool { return strings.EqualFold(c.name, v) })
			if i >= 0 {
				return choices[i].node, nil
			}
			if meant := wording.Nearest(v, names); meant != "" {
				return node{}, fmt.Errorf("%s cannot be %q; did you mean %s? It is one of %s", name, v, meant, strings.Join(names, ", "))
			}
			return node{}, fmt.Errorf("%s cannot be %q; it is one of %s", name, v, strings.Join(names, ", "))
		},
		values: func(*wire.Log, []string) []Candidate { return values },
	}
}

func ofKind(kinds ...wire.Kind) node {
	return where(func(c *candidate) bool { return slices.Contains(kinds, c.Kind) })
}

func going(d wire.Direction) node {
	return where(func(c *candidate) bool { return c.Dir == d })
}

func carriedBy(s wire.Stream) node {
	return where(func(c *candidate) bool { return c.Stream == s })
}

func answering(action string) node {
	return where(func(c *candidate) bool { return c.Rare().Action == action })
}

func calling(method func(string) bool) node {
	return where(func(c *candidate) bool { return method(c.Names().Method) })
}

var (
	// isQuestion selects the requests for input from servers: as requests, in the
	// results of calls (2026-07-28), and in error -32042 (2025-11-25).
	isQuestion = and(going(wire.ServerToClient), or(
		and(ofKind(wire.Request), calling(mcp.IsInput)),
		and(ofKind(wire.Result), calling(mcp.AsksForInput), hasMember("inputRequests")),
		and(ofKind(wire.Error), hasMember("elicitations")),
	))
	// isAnswer selects the client's answers to requests for input.
	isAnswer = and(going(wire.ClientToServer), or(
		and(ofKind(wire.Result, wire.Error), calling(mcp.IsInput)),
		and(ofKind(wire.Request), calling(mcp.AsksForInput), hasMember("inputResponses")),
	))
)

func colours() (out []choice) {
	for _, colour := range wire.Colours() {
		out = append(out, choice{name: colour, node: marked(func(m wire.Mark) bool { return m.Colour == colour })})
	}
	return out
}

// compared returns the rule of a term that compares a number. Frames without the number
// are not selected.
func compared[N int64 | time.Duration](parse func(string) (N, error), of func(*candidate) (n N, ok bool), useful ...string) rule {
	return rule{
		compares: true,
		parse: func(_, op, v string) (node, error) {
			n, err := parse(v)
			return where(func(c *candidate) bool {
				got, ok := of(c)
				return ok && strings.IndexByte(op, "<=>"[cmp.Compare(got, n)+1]) >= 0
			}), err
		},
		values: func(*wire.Log, []string) []Candidate { return listed(useful...) },
	}
}

// number returns the rule of a term that compares a number from 1 on; 0 means that a
// frame has none.
func number(of func(*candidate) uint32) rule {
	return compared(wholeNumber, func(c *candidate) (int64, bool) { return int64(of(c)), of(c) > 0 })
}

func wholeNumber(v string) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", v)
	}
	return n, nil
}

// when returns the rule of a term that selects frames by time: from the given time on,
// or before it.
func when(after bool) rule {
	return rule{
		parse: func(_, _, v string) (node, error) {
			at, err := parseMoment(v)
			return node{test: func(s *scope) test {
				at := at(s.start)
				return func(c *candidate) verdict { return of(c.Time().Before(at) != after) }
			}}, err
		},
		values: func(*wire.Log, []string) []Candidate { return nil },
	}
}

func text(of func(v string) node, useful ...string) rule {
	return rule{
		parse:  func(_, _, v string) (node, error) { return of(v), nil },
		values: func(*wire.Log, []string) []Candidate { return listed(useful...) },
	}
}

var findings = rule{
	parse: func(_, _, v string) (node, error) {
		return node{func(s *scope) test {
			return func(c *candidate) verdict {
				if s.rules == nil {
					return no
				}
				rules := s.rules(c.Seq)
				return of(len(rules) > 0 && (v == "any" || slices.Contains(rules, v)))
			}
		}, usesFindings}, nil
	},
	values: func(_ *wire.Log, rules []string) []Candidate { return listed(append([]string{"any"}, rules...)...) },
}

var sizeUnits = map[string]float64{
	"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30,
}

// ParseSize parses a size in bytes, such as 500, 10k, 1.5M or 64Mi: k, M and G are
// powers of 1000, and Ki, Mi and Gi are powers of 1024. A trailing B and the case are
// ignored.
func ParseSize(v string) (int64, error) {
	digits := strings.TrimRight(v, "kmgibKMGIB")
	factor, ok := sizeUnits[strings.TrimSuffix(strings.ToLower(v[len(digits):]), "b")]
	if n, isNumber := decimal(digits); ok && isNumber && n*factor < 1<<62 {
		return int64(n * factor), nil
	}
	return 0, fmt.Errorf("%q is not a size; sizes look like 500, 10k or 1.5M", v)
}

func decimal(s string) (n float64, ok bool) {
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

func parseLatency(v string) (time.Duration, error) {
	if n, ok := decimal(v); ok && n < 1e12 {
		return time.Duration(n * float64(time.Millisecond)), nil
	}
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is not a time span; they look like 500 (milliseconds), 2s or 1m30s", v)
}

// A moment returns a point in time, which may depend on the start of the log.
type moment func(start time.Time) time.Time

var momentLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	"15:04:05", "15:04", // with or without a fraction, on the day of start
}

func parseMoment(v string) (moment, error) {
	if since, ok := strings.CutPrefix(v, "+"); ok {
		if d, err := time.ParseDuration(since); err == nil && d >= 0 {
			return func(start time.Time) time.Time { return start.Add(d) }, nil
		}
	}
	for _, layout := range momentLayouts {
		t, err := time.ParseInLocation(layout, v, time.Local)
		switch {
		case err != nil:
		case t.Year() != 0:
			return func(time.Time) time.Time { return t }, nil
		default:
			return func(start time.Time) time.Time {
				year, month, day := start.Local().Date()
				return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.Local)
			}, nil
		}
	}
	return nil, fmt.Errorf("%q is not a time; times look like 10:02:03, 2026-07-28T10:02:03 or +5s (since the first frame)", v)
}
