package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
)

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
	if r.sent == nil {
		r.sent = make(http.Header)
	}
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

// reachOf says how far a value of that length is looked for.
func reachOf(text string) reach {
	switch n := utf8.RuneCountInString(text); {
	case n >= anywhereLength:
		return anywhere
	case n >= wordLength:
		return asWord
	}
	return asWhole
}

// credentials are the secret parts of a header: all of it, what follows the name
// of a scheme, the password of Basic, and the values of cookies.
func credentials(name, value string) []string {
	parts := []string{value}
	switch name {
	case "Cookie", "Set-Cookie":
		for i, pair := range strings.Split(value, ";") {
			if i > 0 && name == "Set-Cookie" {
				break // what follows says how long it lasts and the like
			}
			if _, v, ok := strings.Cut(pair, "="); ok {
				parts = append(parts, strings.Trim(strings.TrimSpace(v), `"`))
			}
		}
		return parts
	}
	scheme, rest, ok := strings.Cut(value, " ")
	if rest = strings.TrimSpace(rest); !ok || rest == "" || strings.Contains(rest, " ") {
		return parts
	}
	parts = append(parts, rest)
	if strings.EqualFold(scheme, "Basic") {
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil {
			parts = append(parts, string(pair))
			if _, password, ok := strings.Cut(string(pair), ":"); ok {
				parts = append(parts, password)
			}
		}
	}
	return parts
}

// Frame returns f as it may be shown to others. f itself is not changed.
func (r *Redaction) Frame(f Frame) Frame {
	out := r.frame(&f)
	if out == &f {
		return f
	}
	return *out
}

// Text returns text without the values that are known, as far as they are looked
// for inside text.
func (r *Redaction) Text(text string) string {
	if r == nil || r.values.empty() {
		return text
	}
	out, _ := sweep{vault: r.values, upto: math.MaxInt64}.text([]byte(text))
	return string(out)
}

// frame returns f as it is to be written: f itself where nothing is left out.
func (r *Redaction) frame(f *Frame) *Frame {
	return r.orDefault().clean(f, sweep{upto: math.MaxInt64})
}

// clean is frame. how says which values are left out, and is told of the others.
func (r *Redaction) clean(f *Frame, how sweep) *Frame {
	rules := len(r.fields)+len(r.paths) > 0
	if r.values == nil || r.values.empty() && !rules && len(f.Header) == 0 && f.URL == "" && f.Kind != NoteFrame && f.Note == nil {
		return f // most frames
	}
	how.vault = r.values
	ofNote := how
	ofNote.urls = r.queries
	how.urls = r.queries && f.Kind == NoteFrame && !bytes.HasPrefix(f.Raw, markStart) // which are a person's words
	out := *f
	named, changed := r.learn(f, &out)
	header, a := r.ownHeader(out.Header, named, how)
	url, b := how.text([]byte(out.URL))
	server, c := how.text([]byte(f.Server))
	session, d := how.text([]byte(f.Session))
	e := false
	if isText(f) {
		out.Raw, e = how.text(out.Raw)
	} else {
		out.Raw, e = how.json(out.Raw)
	}
	g := r.cleanNote(f, &out, ofNote)
	if !changed && !a && !b && !c && !d && !e && !g {
		return f
	}
	if !how.vault.empty() {
		out.Method = string(cutOut([]byte(f.Method), how.spans([]byte(f.Method), anywhere)))
	}
	out.Header, out.URL, out.Server, out.Session, out.Redacted = header, string(url), string(server), string(session), true
	return &out
}

// cleanNote leaves secrets out of what a note says, be it in fields or in words,
// and reports whether there were any.
func (r *Redaction) cleanNote(f, out *Frame, how sweep) bool {
	if f.Note == nil {
		return false
	}
	raw, byRule := r.members(f.Note.json(), func([]byte, string) {})
	raw, byValue := how.json(raw)
	if !byRule && !byValue {
		return false
	}
	var note Note
	_ = json.Unmarshal(raw, &note) // a number that was left out is no number any more, and stays 0
	note.Kind = f.Note.Kind
	out.Note = &note
	if string(f.Raw) == f.Note.Words(f) {
		out.Raw = []byte(note.Words(out))
	}
	return true
}

// concerns reports whether something may be left out of a frame of a log that was
// shown to r.
func (r *Redaction) concerns(e *entry) bool {
	if r.values == nil {
		return false
	}
	return e.flags&flagMore != 0 || e.kind == NoteFrame || len(r.fields)+len(r.paths) > 0 || !r.values.empty()
}

// isText reports whether a frame's bytes are no JSON.
func isText(f *Frame) bool {
	raw := bytes.TrimLeft(f.Raw, " \t\r\n")
	return f.Dir == Stderr || len(raw) == 0 || raw[0] != '{' && raw[0] != '['
}

// learn puts into out what the rules leave of f, reports whether that is less,
// and remembers the values. Those that stood in the message are returned.
func (r *Redaction) learn(f, out *Frame) (named map[string]bool, changed bool) {
	for name, values := range f.Header {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if r.headers[name] {
			for _, value := range values {
				for _, part := range credentials(name, value) {
					r.remember(part, strings.ToLower(name), f.Seq, r.fields[strings.ToLower(name)])
				}
			}
		} else if r.queries && addressHeaders[name] {
			for _, value := range values {
				r.rememberQuery(value, f.Seq)
			}
		}
	}
	if r.queries {
		r.rememberQuery(f.URL, f.Seq)
		if f.Kind == NoteFrame && isText(f) {
			for _, address := range addressIn.FindAllString(string(f.Raw), -1) {
				r.rememberQuery(strings.TrimRight(address, addressEnd), f.Seq)
			}
		}
	}
	var a, b, c bool
	if len(r.fields)+len(r.paths) > 0 {
		named = make(map[string]bool)
		tell := func(value []byte, rule string) {
			for leaf := range leaves(value) {
				named[leaf] = true
				r.remember(leaf, rule, f.Seq, true)
			}
		}
		if !isText(f) {
			out.Raw, a = r.members(f.Raw, tell)
		}
		if f.Note != nil {
			r.members(f.Note.json(), tell)
		}
	}
	out.Header, b = r.Header(f.Header)
	out.URL, c = r.URL(f.URL)
	return named, a || b || c
}

// remember keeps a value to be looked for. One that nobody asked to leave out is
// looked for only where it cannot be there by chance.
func (r *Redaction) remember(text, rule string, seq int64, asked bool) {
	reach := reachOf(text)
	if strings.Contains(text, redacted) || !asked && reach < anywhere {
		return
	}
	r.values.add(secret{text: text, rule: rule, reach: reach, first: seq})
}

// rememberQuery keeps the values in the query of an address.
func (r *Redaction) rememberQuery(address string, seq int64) {
	_, query, _ := strings.Cut(address, "?")
	query, _, _ = strings.Cut(query, "#")
	for part := range strings.SplitSeq(query, "&") {
		_, value, named := strings.Cut(part, "=")
		if !named {
			value = part
		}
		r.remember(value, "the query of an address", seq, false)
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			r.remember(plain, "the query of an address", seq, false)
		}
	}
}

// leaves gives the strings, numbers and literals of a JSON value, without the
// names of members. The value may be cut off.
func leaves(value []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(value); {
			from, end := i, i+1
			switch c := value[i]; {
			case c == '"':
				if end = endOfString(value, i); end < 0 {
					yield(rawjson.Unescape(value[i+1:]))
					return
				}
				if !isName(value, end) && !yield(rawjson.Unescape(value[i+1:end-1])) {
					return
				}
			case strings.IndexByte(" \t\r\n,:[]{}", c) < 0:
				for end < len(value) && strings.IndexByte(" \t\r\n,:[]{}\"", value[end]) < 0 {
					end++
				}
				if !yield(string(value[from:end])) {
					return
				}
			}
			i = end
		}
	}
}

// addressHeaders are those that hold a URL.
var addressHeaders = map[string]bool{"Location": true, "Content-Location": true, "Referer": true, "Refresh": true, "Link": true}

// addressIn finds addresses with a query in text, and addressEnd is what may
// follow them there.
var addressIn = regexp.MustCompile(`[^\s"'<>]+\?[^\s"'<>]+`)

const addressEnd = ".,;:)"

// withoutQueries returns text without the values in the queries of addresses in
// it, and whether there were any.
func withoutQueries(text string) (string, bool) {
	found := false
	out := addressIn.ReplaceAllStringFunc(text, func(word string) string {
		address := strings.TrimRight(word, addressEnd)
		_, query, _ := strings.Cut(address, "?")
		if !strings.Contains(query, "=") && !strings.Contains(address, "://") && address[0] != '/' {
			return word // a question
		}
		short, cut := WithoutQuery(address)
		found = found || cut && short != address
		return short + word[len(address):]
	})
	return out, found
}

// ownHeader returns h without the headers that the person added, and without
// values that are left out elsewhere, and whether there were any. named are
// those that stood in the message of the same frame, of which servers have the
// client make headers: however short, they do not stay.
func (r *Redaction) ownHeader(h http.Header, named map[string]bool, how sweep) (http.Header, bool) {
	var out http.Header
	for name, values := range h {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		for i, value := range values {
			if value == redacted {
				continue
			}
			short := how.header(canonical, value, named)
			if slices.Contains(r.sent[canonical], value) {
				short = redacted
			}
			if short == value {
				continue
			}
			if out == nil {
				out = maps.Clone(h)
			}
			if &out[name][0] == &values[0] {
				out[name] = slices.Clone(values)
			}
			out[name][i] = short
		}
	}
	if out == nil {
		return h, false
	}
	return out, true
}

// header returns the value of a header without the secrets.
func (s sweep) header(name, value string, named map[string]bool) string {
	if named[value] {
		return redacted
	}
	if in, ok := strings.CutPrefix(value, "=?base64?"); ok && strings.HasSuffix(in, "?=") {
		plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(in, "?="))
		if err == nil && (named[string(plain)] || !s.vault.empty() && len(s.spans(plain, asWhole)) > 0) {
			return redacted
		}
	}
	switch name {
	case "Location", "Content-Location", "Referer":
		value, _ = WithoutQuery(value)
	default:
		s.urls = addressHeaders[name]
	}
	out, _ := s.text([]byte(value))
	return string(out)
}

// shown is how far a log has been shown to a Redaction.
type shown struct {
	log  *Log
	upto int64
}

// Learn shows all frames of a log to r that it has not seen yet, so that a value
// is left out of frames before the one that tells that it is a secret.
func (r *Redaction) Learn(ctx context.Context, l *Log) error {
	if r == nil || r.values == nil {
		return nil
	}
	from := int64(0)
	if before := r.shown.Load(); before != nil && before.log == l {
		from = before.upto
	}
	last := l.Len()
	rules := len(r.fields)+len(r.paths) > 0
	var some []int64
	read := func() error {
		defer func() { some = some[:0] }()
		return l.lines(some, math.MaxUint32, nil, func(seq int64, e *entry, line []byte, err error) error {
			if err != nil {
				return nil // what cannot be read cannot be written either
			}
			f, err := l.parsed(seq, e, line)
			if err == nil {
				var out Frame
				r.learn(&f, &out)
			}
			return ctx.Err()
		})
	}
	for seq := from + 1; seq <= last; seq++ {
		if e := l.index.at(seq); rules || e.flags&flagMore != 0 || e.kind == NoteFrame {
			some = append(some, seq)
		}
		if len(some) == 256 || seq == last {
			if err := read(); err != nil {
				return fmt.Errorf("looking for what is left out: %w", err)
			}
		}
	}
	r.shown.Store(&shown{l, last})
	return nil
}

// Remains says where values still stand that a rule leaves out elsewhere,
// because they are too short to be looked for, or were written before it was
// known that they are secrets.
type Remains struct {
	Rule   string
	Frames []int64 // the first of them, RemainsMost at most
	More   int     // how many others there are
}

// RemainsMost is how many frames Remains names.
const RemainsMost = 10

func (r Remains) String() string {
	var list []string
	for _, seq := range r.Frames {
		list = append(list, fmt.Sprint(seq))
	}
	frames := "frame"
	if len(list) > 1 || r.More > 0 {
		frames = "frames"
	}
	text := fmt.Sprintf("a value that %q leaves out also stands in %s %s", r.Rule, frames, strings.Join(list, ", "))
	if r.More > 0 {
		text += fmt.Sprintf(" and %d more", r.More)
	}
	return text
}

// Remaining lists what still stands in those frames of a log. asRecorded says
// that each was written with what was known when it came, as a Recorder does;
// else all of the log was known. With an error it is what was found until then.
func (r *Redaction) Remaining(ctx context.Context, l *Log, seqs iter.Seq[int64], asRecorded bool) ([]Remains, error) {
	if r == nil || r.values.empty() {
		return nil, nil
	}
	// Where all is left out wherever it stands, only frames that were written too
	// early can hold something.
	all, early := r.values.chancy.Load(), r.values.latest.Load()
	if !all && !asRecorded {
		return nil, nil
	}
	var list []Remains
	index := make(map[string]int)
	for seq := range seqs {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		if !all && seq >= early {
			continue
		}
		f, err := l.Frame(seq)
		if err != nil {
			continue // what cannot be read was not written
		}
		told := make(map[string]bool)
		how := sweep{upto: math.MaxInt64, stands: func(s *secret) {
			if told[s.rule] {
				return
			}
			told[s.rule] = true
			i, ok := index[s.rule]
			if !ok {
				i = len(list)
				index[s.rule], list = i, append(list, Remains{Rule: s.rule})
			}
			if len(list[i].Frames) < RemainsMost {
				list[i].Frames = append(list[i].Frames, seq)
			} else {
				list[i].More++
			}
		}}
		if asRecorded {
			how.upto = seq
		}
		r.clean(&f, how)
	}
	return list, nil
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
