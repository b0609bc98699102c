// Package redact leaves secrets out of frames that are written to a file or shown
// to others: what rules name, and the same values wherever else they stand.
package redact

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"elicitation-inspector/bridge/wire"
)

// Placeholder stands in the place of a value that was left out. It is what
// mcpsnoop writes.
const Placeholder = "[REDACTED]"

// redactedHeaders are left out of transcripts unless told otherwise.
var redactedHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Mcp-Session-Id"}

// Redaction says what is left out of a transcript: values of HTTP headers and
// of JSON members, of the query in URLs, and values that were given. What is left
// out becomes "[REDACTED]" and the frame is marked; everything else stays as it
// was, byte for byte.
//
// A value that a rule leaves out in one place is left out wherever else it
// stands: in headers, URLs, notes, standard error and strings. How far it is
// looked for depends on its length; docs/transcript.md tells the rule. So a
// Redaction remembers the values of the frames that it was shown. Learn shows it
// all frames of a log.
//
// A nil *Redaction is the default: the headers Authorization,
// Proxy-Authorization, Cookie, Set-Cookie and Mcp-Session-Id, and all values in
// queries, which are mostly keys and ids of sessions.
type Redaction struct {
	headers map[string]bool // canonical names
	fields  map[string]bool // lower case
	paths   []path
	sent    http.Header // what the person adds to requests
	values  *vault      // nil where nothing is left out
	shown   atomic.Pointer[shown]
}

// shown is how far a log has been shown to a Redaction.
type shown struct {
	log  *wire.Log
	upto int64
}

// New adds rules to the default. A rule that begins with "$" is a
// path in the JSON of a message: "$.params.arguments.password",
// "$.result.content[0]", "$['params'].accounts[*].pin", "$..token" (at any
// depth). Any other rule is a name, and stands for the HTTP header and for
// every JSON member of that name, upper and lower case being the same.
//
// Where a name is that of a property in a JSON Schema, its schema is no secret:
// it stays, but for the values that it gives, such as its default. A path means
// what it says in schemas too.
func New(rules ...string) (*Redaction, error) {
	r := &Redaction{headers: make(map[string]bool), fields: make(map[string]bool), sent: make(http.Header), values: new(vault)}
	for _, name := range redactedHeaders {
		r.headers[name] = true
	}
	for _, rule := range rules {
		rule = strings.TrimSpace(rule)
		switch {
		case rule == "":
			return nil, errors.New("a redaction rule is empty")
		case rule[0] == '$':
			steps, err := parsePath(rule)
			if err != nil {
				return nil, fmt.Errorf("redaction path %q: %w", rule, err)
			}
			r.paths = append(r.paths, path{rule, steps})
		default:
			r.headers[textproto.CanonicalMIMEHeaderKey(rule)] = true
			r.fields[strings.ToLower(rule)] = true
		}
	}
	return r, nil
}

// Nothing leaves nothing out.
func Nothing() *Redaction { return &Redaction{} }

// orDefault is r, or a default that has not seen any frame yet.
func (r *Redaction) orDefault() *Redaction {
	if r != nil {
		return r
	}
	r, _ = New() // no rule of which could be wrong
	return r
}

// LeastValue is how many characters a value must have to be given to Values.
const LeastValue = wordLength

// Values leaves these values out wherever they stand. origin says in words who
// named them. A value of less than LeastValue characters is an error, since it
// stands everywhere by chance.
func (r *Redaction) Values(origin string, values ...string) error {
	for i, value := range values {
		if utf8.RuneCountInString(value) < LeastValue {
			return fmt.Errorf("value %d has less than %d characters, and would be found where it is not meant", i+1, LeastValue)
		}
		r.values.add(secret{text: value, rule: origin, reach: anywhere})
	}
	return nil
}

// Credentials leaves out the headers that the person adds to requests, whatever
// their names, and their values wherever they stand.
func (r *Redaction) Credentials(h http.Header) {
	for name, values := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		r.sent[name] = append(r.sent[name], values...)
		for _, value := range values {
			for _, part := range credentials(name, value) {
				r.values.add(secret{text: part, rule: "--header " + name, reach: reachOf(part)})
			}
		}
	}
}

// credentials are the secret parts of a header: all of it, what follows the name
// of a scheme, the password of Basic, and the values of cookies.
func credentials(name, value string) []string {
	parts := []string{value}
	if name == "Cookie" || name == "Set-Cookie" {
		cookies := strings.Split(value, ";")
		if name == "Set-Cookie" {
			cookies = cookies[:1] // what follows says how long it lasts and the like
		}
		for _, pair := range cookies {
			if _, v, ok := strings.Cut(pair, "="); ok {
				parts = append(parts, strings.Trim(strings.TrimSpace(v), `"`))
			}
		}
		return parts
	}
	scheme, rest, _ := strings.Cut(value, " ")
	if rest = strings.TrimSpace(rest); rest == "" || strings.Contains(rest, " ") {
		return parts
	}
	parts = append(parts, rest)
	if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
		_, password, _ := strings.Cut(string(pair), ":")
		parts = append(parts, string(pair), password)
	}
	return parts
}

// Frame implements [wire.Redactor]. f itself is not changed.
func (r *Redaction) Frame(f *wire.Frame) *wire.Frame {
	s := sweep{r: r.orDefault(), upto: math.MaxInt64}
	return s.frame(f)
}

// Text returns text without the values that are known, as far as they are looked
// for inside text.
func (r *Redaction) Text(text string) string {
	if r == nil {
		return text
	}
	s := sweep{r: r, upto: math.MaxInt64}
	return s.text(text)
}

func (r *Redaction) hasRules() bool { return len(r.fields)+len(r.paths) > 0 }

// names reports whether something in a frame may be named as a secret.
func (r *Redaction) names(e wire.Entry) bool {
	return r.values != nil && (e.HasMore() || e.Kind() == wire.NoteFrame || r.hasRules())
}

// Passes implements [wire.Redactor].
func (r *Redaction) Passes(e wire.Entry) bool {
	r = r.orDefault()
	return r.values.empty() && !r.names(e)
}

// Learn implements [wire.Redactor]. It reads the frames that r has not seen yet.
func (r *Redaction) Learn(ctx context.Context, l *wire.Log) error {
	if r == nil || r.values == nil {
		return nil
	}
	from, last := int64(1), l.Len()
	if before := r.shown.Load(); before != nil && before.log == l {
		from = before.upto + 1
	}
	var seqs []int64
	for seq := from; seq <= last; seq++ {
		if r.names(l.Entry(seq)) {
			seqs = append(seqs, seq)
		}
	}
	for some := range slices.Chunk(seqs, 256) {
		// What cannot be read cannot be written either.
		if err := l.Each(some, func(f wire.Frame) error {
			r.learn(&f)
			return ctx.Err()
		}); err != nil {
			return fmt.Errorf("looking for what is left out: %w", err)
		}
	}
	r.shown.Store(&shown{l, last})
	return nil
}

// Known is how many values are looked for.
func (r *Redaction) Known() int64 {
	if r == nil || r.values == nil {
		return 0
	}
	return r.values.count.Load()
}

// Forgotten is how many values were too many or too long to be remembered.
func (r *Redaction) Forgotten() int64 {
	if r == nil || r.values == nil {
		return 0
	}
	return r.values.missed.Load()
}
