// Package redact removes secrets from frames that are written to a file or shown to
// others: the values that rules name, and the same values in other places.
package redact

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Placeholder replaces a redacted value. mcpsnoop writes the same text.
const Placeholder = "[REDACTED]"

const quotedPlaceholder = `"` + Placeholder + `"`

// secretHeader matches the names, in lower case, of headers that hold credentials: those of
// HTTP, the session of MCP, and what services call theirs, such as X-Api-Key, Private-Token,
// X-Amz-Security-Token and Ocp-Apim-Subscription-Key.
var secretHeader = lazy.Regexp(`^(?:(?:proxy-)?authorization|(?:set-)?cookie|mcp-session-id)$|` +
	`(?:^|-)(?:api-?key|apikey|(?:access|auth|account|master|private|secret|shared|subscription|functions|app|client)-key|` +
	`(?:\w+-)?token|secret|password|passwd|passphrase|auth|authorization|credentials?|jwt|api-?secret)$`)

// SecretHeader reports whether the values of an HTTP header are redacted without any rule. The
// headers Mcp-Param-… repeat what the arguments of a call say in the open.
func SecretHeader(name string) bool {
	name = strings.ToLower(name)
	return secretHeader().MatchString(name) && !strings.HasPrefix(name, "mcp-param-")
}

// Redaction redacts transcripts: values of HTTP headers, of JSON members and of queries
// in URLs, and given values. A redacted value becomes "[REDACTED]" and the frame is
// marked; all other bytes stay unchanged.
//
// A value that a rule redacts in one place is also redacted in others: in headers,
// URLs, notes, standard error and strings. Where it is searched for depends on its
// length; see docs/transcript.md. So a Redaction remembers the secret values of the
// frames it has seen. Learn shows it all frames of a log.
//
// A nil *Redaction is the default: it redacts the headers of [SecretHeader], and all
// values in queries, which are mostly keys and session ids.
type Redaction struct {
	headers map[string]bool // canonical names, besides those of SecretHeader; nil for none at all
	fields  map[string]bool // lower case
	paths   []path
	depth   int      // of JSON, where rules name values; 0 without rules for JSON
	sent    sync.Map // "Name: value" of the headers that the person adds to requests
	given   bool     // only redacts the values given to Secret
	values  *learnt  // nil if nothing is redacted
	shown   atomic.Pointer[shown]
}

// shown is the last frame of a log that a Redaction has learned.
type shown struct {
	log  *wire.Log
	upto int64
}

// New returns the default with additional rules. A rule that begins with "$" is a path
// in the JSON of a message: "$.params.arguments.password", "$.result.content[0]",
// "$['params'].accounts[*].pin", "$..token" (at any depth). Any other rule is a name,
// for the HTTP header and for all JSON members with that name, ignoring case.
//
// If a name is that of a property in a JSON Schema, its schema is not secret: only the
// values in it, such as its default, are redacted. A path redacts the whole value that
// it names, also in schemas.
func New(rules ...string) (*Redaction, error) {
	r := &Redaction{headers: make(map[string]bool), fields: make(map[string]bool), values: new(learnt)}
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
			if r.depth = max(r.depth, len(steps)); slices.ContainsFunc(steps, func(s pathStep) bool { return s.deep }) {
				r.depth = rawjson.MaxDepth
			}
		default:
			r.headers[textproto.CanonicalMIMEHeaderKey(rule)] = true
			r.fields[strings.ToLower(rule)] = true
			r.depth = rawjson.MaxDepth
		}
	}
	return r, nil
}

// leavesHeader reports whether the values of a header, by its canonical name, are left out.
func (r *Redaction) leavesHeader(name string) bool {
	return r.headers != nil && (r.headers[name] || SecretHeader(name))
}

// Nothing returns a Redaction that redacts nothing.
func Nothing() *Redaction { return &Redaction{} }

// Given returns a Redaction that redacts the values given to Secret, and nothing else.
func Given() *Redaction { return &Redaction{values: new(learnt), given: true} }

// Secret redacts a value that the inspector got for a server, such as a token: in the
// frames of that server, and in those of others if it has at least LeastElsewhere
// characters. Names of members, numbers, and what says what a message is stay. A value of
// less than LeastSecret characters is only redacted where it is a complete string.
//
// Each server has a table of its own, so that the values of one do not push out those of
// another.
func (r *Redaction) Secret(server, value string) {
	length := utf8.RuneCountInString(value)
	if length < LeastSecret {
		length = 0
	}
	r.values.add(secret{text: value, length: length, server: server}, 0)
}

// The length in characters of a value decides where it is redacted, because a short one
// occurs by chance: from LeastValue on inside text, if no letter or digit is next to it;
// from LeastSecret on also inside words, member names, and the members that JSON-RPC needs;
// otherwise as a complete string or header value. What a server gives as a secret is the
// server's choice: it is redacted in the frames of others from LeastElsewhere on.
const (
	LeastValue     = 4
	LeastSecret    = 8
	LeastElsewhere = 20
)

// orDefault returns r, or for nil a default that has not seen any frame.
func (r *Redaction) orDefault() *Redaction {
	if r != nil {
		return r
	}
	r, _ = New() // without rules, there is no error
	return r
}

// Values redacts these values everywhere. origin says in words who named them. A value
// of less than LeastValue characters is an error, because it occurs everywhere by
// chance.
func (r *Redaction) Values(origin string, values ...string) error {
	for i, value := range values {
		length := utf8.RuneCountInString(value)
		if length < LeastValue {
			return fmt.Errorf("value %d has less than %d characters, and would be found where it is not meant", i+1, LeastValue)
		}
		r.values.add(secret{text: value, length: max(length, LeastSecret), rule: origin}, 0)
	}
	return nil
}

// Credentials redacts the headers that the person adds to requests, and their values
// everywhere.
func (r *Redaction) Credentials(h http.Header) {
	for name, values := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		for _, value := range values {
			r.sent.Store(name+": "+value, true)
			for _, part := range SecretParts(name, value) {
				r.values.add(secret{text: part, length: utf8.RuneCountInString(part), rule: "--header " + name}, 0)
			}
		}
	}
}

// SecretParts returns the secret parts of a header: its whole value, the part after the
// name of a scheme, the password of Basic, and the values of cookies.
func SecretParts(name, value string) []string {
	parts := []string{value}
	if name == "Cookie" || name == "Set-Cookie" {
		cookies := strings.Split(value, ";")
		if name == "Set-Cookie" {
			cookies = cookies[:1] // attributes such as the lifetime follow
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

// Text returns text with known secrets redacted, as far as they are searched for inside
// text.
func (r *Redaction) Text(text string) string { return r.TextOf("", text) }

// TextOf is Text for what comes from a server, or is about it.
func (r *Redaction) TextOf(server, text string) string {
	if r == nil || r.values.empty() {
		return text
	}
	plain := []byte(text)
	return string(apply(plain, r.values.in(plain, server, 0)))
}

// names reports whether a rule may name a secret in a frame.
func (r *Redaction) names(e wire.Entry) bool {
	return r.values != nil && (e.HasMore || e.Kind.IsNote() || r.depth > 0)
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
		// A frame that cannot be read cannot be written either.
		if err := l.Each(some, func(f wire.Frame) error {
			r.sweep(&f).named(&f)
			return ctx.Err()
		}); err != nil {
			return fmt.Errorf("looking for what is left out: %w", err)
		}
	}
	r.shown.Store(&shown{l, last})
	return nil
}

// Doubts says in sentences where values may still be: inside text, if they are too short
// to be redacted there; anywhere, if they were too many or too long to be remembered.
func (r *Redaction) Doubts() (list []string) {
	if r == nil || r.values == nil {
		return nil
	}
	for rule := range r.values.short.Range {
		list = append(list, fmt.Sprintf("a value that %q leaves out may also stand inside text: it is too short to be left out there", rule))
	}
	r.values.mu.Lock()
	defer r.values.mu.Unlock()
	if r.values.missed > 0 {
		list = append(list, "some values were too many or too long to be looked for elsewhere")
	}
	slices.Sort(list)
	return list
}

// Latest returns the number of the latest frame that has made a value known; 0 for none.
func (r *Redaction) Latest() int64 {
	if r == nil || r.values == nil {
		return 0
	}
	r.values.mu.Lock()
	defer r.values.mu.Unlock()
	return r.values.latest
}

// Early says in sentences the values of which rules stand in what a recording has written, since
// it was written before they were known.
func (r *Redaction) Early(written io.Reader) (list []string, err error) {
	rules := map[string]bool{}
	for lines := bufio.NewReader(written); err == nil; {
		var line []byte
		line, err = lines.ReadBytes('\n')
		r.values.search(line, "", LeastSecret, func(s *secret) { rules[s.rule] = true })
	}
	if err == io.EOF {
		err = nil
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		list = append(list, fmt.Sprintf("a value that %q leaves out also stands in frames that were written before it came up", rule))
	}
	return list, err
}
