package signincard

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// lines lists headers by name.
func lines(h http.Header) (out []Fact) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, Fact{name, value})
		}
	}
	return out
}

// body is a body of a request or a response: a form, JSON, or other text.
type body struct {
	form []Fact
	json string
	text string
}

// bodyOf parses a body by its text and its Content-Type.
func bodyOf(h http.Header, text string) (b body) {
	switch values, err := url.ParseQuery(text); {
	case rawjson.Valid([]byte(text)):
		b.json = rawjson.Pretty([]byte(text))
	case strings.HasPrefix(h.Get("Content-Type"), "application/x-www-form-urlencoded") && err == nil:
		b.form = lines(http.Header(values))
	default:
		b.text = text
	}
	return b
}

// answered describes the response of an exchange.
func answered(f *wire.Frame) string {
	if f.Status == 0 {
		return "There was no response."
	}
	return wording.Join(" · ", fmt.Sprintf("HTTP %d %s", f.Status, http.StatusText(f.Status)), wording.After("after ", f.Note.Took))
}

// byBrowser reports whether the browser makes the request of a step, so that only its URL is known.
func byBrowser(s wire.Step) bool { return s == wire.StepAuthorization || s == wire.StepRedirect }

// query lists the parameters of a URL.
func query(address string) []Fact {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	return lines(http.Header(u.Query()))
}
