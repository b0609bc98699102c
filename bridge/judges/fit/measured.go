package fit

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/meaning/elicit"
)

// held names the keywords that a probe tries to break, and the kinds of fields that they are of.
var held = map[string]struct{ of, keywords string }{
	"string-length": {"text", "minLength maxLength"}, "string-pattern": {"text", "pattern"}, "format-email": {"text", "format"},
	"integer-limits": {"integer number", "minimum maximum"}, "choices-limits": {"choices choices-titled", "minItems maxItems"},
}

// OfProbe makes profiles of a report of a probe: one for each client in it. The facts are those that frames of
// the report show.
func OfProbe(name string, r *probe.Report) (list []*Profile) {
	for i := range r.Clients {
		c := &r.Clients[i]
		p := &Profile{
			Client: strings.Join(strings.FieldsFunc(strings.ToLower(c.Name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }), "-"),
			Name:   c.Name, Version: c.Version, Surface: c.Revision + " over " + c.Transport,
			Sources: map[string]Source{"probe": {How: Measured, Path: name, Date: r.Date.UTC().Format(time.DateOnly)}},
		}
		if p.Client == "" {
			p.Client = "client"
		}
		say := func(f Fact, of ...string) {
			f.Of, f.From = of, []string{"probe"}
			p.Facts = append(p.Facts, f)
		}
		checks := map[string][]string{}
		for k := range c.Results {
			one := &c.Results[k]
			if h := held[one.Probe]; h.of != "" && one.Verdict == probe.Works {
				for of := range strings.FieldsSeq(h.of) {
					checks[of] = append(checks[of], strings.Fields(h.keywords)...)
				}
			}
			request, accepted := exchanged(one)
			if request == nil || accepted == nil {
				continue
			}
			content := rawjson.Member(accepted, "content")
			if one.Probe == "fields-none" {
				say(Fact{Empty: wording.Either(rawjson.KindOf(content) == rawjson.Object, "sent", "left out")}, "form")
			}
			if one.Probe == "exact-integer" && len(request.Fields) > 0 && !rawjson.Same(rawjson.Member(content, "value"), request.Fields[0].Default) {
				say(Fact{Numbers: "float64"}, "form")
			}
			for j := range request.Fields {
				f := &request.Fields[j]
				sent := rawjson.Member(content, f.Name)
				switch initial := strings.HasPrefix(one.Probe, "default-"); {
				case initial && rawjson.Same(sent, f.Default):
					say(Fact{Default: "sent"}, KindOf(f))
				case initial:
					say(Fact{Default: "ignored"}, KindOf(f))
				case one.Probe == "optional-empty" && !f.Required:
					say(Fact{Untouched: untouchedBy(f, sent)}, KindOf(f))
				}
			}
		}
		for of, keywords := range checks {
			say(Fact{Control: "line", Checks: keywords}, of) // a person could enter a value; more is not known of the control
		}
		if slices.ContainsFunc(c.Results, func(r probe.Result) bool { return r.Probe == "required" && r.Verdict == probe.Works }) {
			p.Facts = append(p.Facts, Fact{Of: []string{"*"}, When: "required", From: []string{"probe"}, Untouched: "fill"})
		}
		list = append(list, p)
	}
	return list
}

// untouchedBy names what a field became that was left empty.
func untouchedBy(f *elicit.Field, sent json.RawMessage) string {
	switch text := string(rawjson.AppendCompact(nil, sent)); {
	case sent == nil:
		return "omit"
	case slices.Contains([]string{"true", "false", "null"}, text):
		return text
	case text == `""`:
		return "empty"
	case text == "[]":
		return "empty list"
	case text == "0":
		return "zero"
	case f.Minimum != "" && text == f.Minimum:
		return "minimum"
	case len(f.Choices) > 0 && rawjson.Text(sent) == f.Choices[0].Value:
		return "first"
	}
	return ""
}

// exchanged returns the question of a result with one, and the result that accepted it; nil without them.
func exchanged(r *probe.Result) (request *elicit.Request, accepted json.RawMessage) {
	for _, f := range r.Evidence {
		if f.Cut {
			continue
		}
		if params := rawjson.Member([]byte(f.Text), "params"); rawjson.Member(params, "requestedSchema") != nil {
			request, _ = elicit.Parse(params)
		}
		if result := rawjson.Member([]byte(f.Text), "result"); rawjson.Text(rawjson.Member(result, "action")) == "accept" {
			accepted = result
		}
	}
	return request, accepted
}
