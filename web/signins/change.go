package signins

import (
	"net/http"
	"slices"
	"strconv"

	"elicitation-inspector/bridge/signin"
)

// change is a button that sends a held request with one parameter wrong on purpose.
type change struct {
	id, name string
	field    string // name of the parameter; requests without it do not get the button
	value    string // the wrong value; "" leaves the parameter out
}

// wrongResource is a URL whose host does not exist (RFC 6761).
const wrongResource = "https://another.invalid/mcp"

var changes = []change{
	{"scope", "Send with another scope", "scope", "another-scope"},
	{"pkce", "Send without PKCE", "code_challenge", ""},
	{"verifier", "Send without PKCE", "code_verifier", ""},
	{"resource", "Send with a wrong resource", "resource", wrongResource},
	{"state", "Send with a tampered state", "state", "tampered"},
	{"code", "Send with a wrong code", "code", "wrong"},
	{"refresh", "Send with an expired token", "refresh_token", "expired"},
}

// changesOf returns the changes for the parameters that a request has.
func changesOf(r signin.Request) []change {
	return slices.DeleteFunc(slices.Clone(changes), func(c change) bool {
		return !slices.ContainsFunc(r.Fields, func(f signin.Field) bool { return f.Name == c.field })
	})
}

// apply returns the fields with the change.
func (c change) apply(fields []signin.Field) (out []signin.Field) {
	for _, f := range fields {
		switch {
		case f.Name == c.field && c.value == "", c.id == "pkce" && f.Name == "code_challenge_method":
			continue
		case f.Name == c.field:
			f.Value = c.value
		}
		out = append(out, f)
	}
	return out
}

// decision reads the form of a held request; false if the form is invalid.
func decision(r *http.Request, held signin.Request) (signin.Decision, bool) {
	action := r.FormValue("action")
	if action == "stop" {
		return signin.Decision{Stop: true}, true
	}
	changed := signin.Request{Step: held.Step, Method: held.Method, URL: held.URL, Body: held.Body}
	if r.PostForm.Has("url") {
		changed.URL = r.PostForm.Get("url")
	}
	if body := lines(r.PostForm.Get("body")); r.PostForm.Has("body") {
		changed.Body = body
	}
	names, values := r.PostForm["name"], r.PostForm["value"]
	if len(names) != len(values) {
		return signin.Decision{}, false
	}
	for i, name := range names {
		if !slices.Contains(r.PostForm["omit"], strconv.Itoa(i)) {
			changed.Fields = append(changed.Fields, signin.Field{Name: name, Value: values[i]})
		}
	}
	if i := slices.IndexFunc(changes, func(c change) bool { return c.id == action }); i >= 0 {
		changed.Fields = changes[i].apply(changed.Fields)
	} else if action != "send" {
		return signin.Decision{}, false
	}
	if changed.URL == held.URL && changed.Body == lines(held.Body) && slices.Equal(changed.Fields, held.Fields) {
		return signin.Decision{}, true
	}
	if changed.Body == lines(held.Body) {
		changed.Body = held.Body
	}
	return signin.Decision{Changed: &changed}, true
}
