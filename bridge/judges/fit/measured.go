package fit

import (
	"bytes"
	"cmp"
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

// ofProbe makes a profile of each client in a report of inspector probe. A profile has only facts that frames
// of the report show.
func ofProbe(name string, r *probe.Report) (list []*Profile) {
	for i := range r.Clients {
		c := &r.Clients[i]
		p := &Profile{
			Client: cmp.Or(strings.Join(strings.FieldsFunc(strings.ToLower(c.Name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }), "-"), "client"),
			Name:   c.Name, Version: c.Version, Surface: c.Revision + " over " + c.Transport,
			Sources: map[string]Source{"probe": {How: Measured, Path: name, Date: r.Date.UTC().Format(time.DateOnly)}},
		}
		say := func(f Fact, of ...string) {
			f.Of, f.From = of, []string{"probe"}
			p.Facts = append(p.Facts, f)
		}
		for k := range c.Results {
			one := &c.Results[k]
			if h := held[one.Probe]; h.of != "" && one.Verdict == probe.Works {
				// A person could enter a value; more is not known of the control.
				say(Fact{Control: "line", Checks: strings.Fields(h.keywords)}, strings.Fields(h.of)...)
			}
			request, accepted := exchanged(one)
			if request == nil || accepted == nil {
				continue
			}
			content := rawjson.Member(accepted, "content")
			switch {
			case one.Probe == "fields-none":
				say(Fact{Empty: wording.Either(rawjson.KindOf(content) == rawjson.Object, "sent", "left out")}, "form")
			case one.Probe == "exact-integer" && one.Verdict == probe.Partly:
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
					say(Fact{When: "optional", Untouched: untouchedBy(f, sent)}, KindOf(f))
				}
			}
		}
		if slices.ContainsFunc(c.Results, func(r probe.Result) bool { return r.Probe == "required" && r.Verdict == probe.Works }) {
			say(Fact{When: "required", Untouched: "fill"}, "*")
		}
		list = append(list, p)
	}
	return list
}

// untouchedBy names what a field became that was left empty; "" if no word does.
func untouchedBy(f *elicit.Field, sent json.RawMessage) string {
	for _, word := range []string{"omit", "true", "false", "null", "empty", "empty list", "zero", "minimum", "first"} {
		if bytes.Equal(untouched(f, word), rawjson.AppendCompact(nil, sent)) {
			return word
		}
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
