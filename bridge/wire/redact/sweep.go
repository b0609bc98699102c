package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"iter"
	"maps"
	"net/textproto"
	"slices"
	"strings"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// sweep redacts one frame, or texts of one server.
type sweep struct {
	r      *Redaction
	server string          // the name of the frame's server
	keeps  bool            // the values in queries of URLs stay
	leaves map[string]bool // values that rules have redacted in the frame's message
}

func (r *Redaction) sweep(f *wire.Frame) *sweep {
	// The queries of a sign-in were redacted by name when it was logged.
	return &sweep{r: r, server: f.Server, leaves: map[string]bool{}, keeps: r.given || f.Note != nil && f.Note.Kind == wire.NoteSignIn}
}

// Frame implements [wire.Redactor]. f itself is not changed.
func (r *Redaction) Frame(f *wire.Frame) *wire.Frame {
	names := len(f.Header) > 0 || f.URL != "" || f.Kind.IsNote() || f.Note != nil
	if r == nil && !names {
		return f
	}
	r = r.orDefault()
	if r.values == nil || r.values.empty() && (r.given || r.depth == 0 && !names) {
		return f // most frames
	}
	s := r.sweep(f)
	out, note := s.named(f)
	for _, values := range out.Header {
		for i, value := range values {
			values[i] = s.header(value)
		}
	}
	out.URL = s.text(out.URL)
	if !r.given {
		out.Server = s.text(f.Server) // the session's name is the log's own: two sessions must not become one
	}
	switch {
	case f.IsText():
		out.Raw = s.bytes(out.Raw)
	case f.Message.TooDeep, f.Kind == wire.Noise && !f.Truncated && !rawjson.Valid(f.Raw):
		out.Raw = s.bytes(s.json(out.Raw)) // it may begin like JSON
	default:
		out.Raw = s.json(out.Raw)
	}
	if note = s.json(note); f.Note != nil && !bytes.Equal(note, f.Note.JSON()) {
		out.Note = &wire.Note{}
		_ = json.Unmarshal(note, out.Note) // a redacted number is a string now, and stays 0
		out.Note.Kind = f.Note.Kind
		if string(f.Raw) == f.Note.Words(f) {
			out.Raw = []byte(out.Note.Words(&out))
		}
	}
	same := bytes.Equal(out.Raw, f.Raw)
	if same && maps.EqualFunc(out.Header, f.Header, slices.Equal) && out.URL == f.URL && out.Note == f.Note &&
		out.Server == f.Server {
		return f
	}
	out.Redacted = true
	if f.Kind.IsMessage() && !f.Truncated && !same {
		m, err := wire.ParseMessage(out.Raw)
		if err != nil { // even the envelope was redacted
			m = wire.Message{Kind: f.Kind, Method: f.Message.Method}
		}
		out.Message = m
	}
	if method := []byte(f.Method); !r.given {
		out.Method = string(apply(method, r.values.in(method, s.server, LeastSecret)))
	}
	return &out
}

// JSONOf returns JSON that comes from a server with known secrets redacted. It returns raw
// itself if there are none in it.
func (r *Redaction) JSONOf(server string, raw []byte) []byte {
	s := sweep{r: r, server: server}
	return s.json(raw)
}

// named returns a copy of f without the values that are redacted because of the place
// where they are, and the JSON of its note without them. It remembers the values.
func (s *sweep) named(f *wire.Frame) (out wire.Frame, note []byte) {
	r := s.r
	tell := func(value []byte, rule string) {
		for t := range scalars(value) {
			leaf := string(value[t.from:t.to])
			switch t.kind {
			case memberName:
				continue
			case stringValue:
				leaf = rawjson.Unescape(value[t.from:t.to])
			}
			s.leaves[leaf] = true
			r.remember(leaf, rule, f.Seq, true)
		}
	}
	out = *f
	if !f.IsText() {
		out.Raw = r.members(f.Raw, tell)
	}
	if f.Kind == wire.NoteFrame && !s.keeps && !f.IsMark() { // a mark has a person's words
		if f.IsText() {
			out.Raw = []byte(withoutQueries(string(f.Raw), r.rememberQuery))
		} else {
			out.Raw = jsonWithoutQueries(out.Raw, r.rememberQuery)
		}
	}
	if f.Note != nil {
		short := *f.Note
		short.Span = r.span(short.Span, f.Seq)
		r.members(short.JSON(), tell) // the arguments, too, before they are redacted
		if !r.given {
			short.Command = r.arguments(short.Command, func(value string) {
				for _, part := range SecretParts("", value) {
					r.remember(part, "the command of the server", f.Seq, false)
				}
			})
		}
		if note = r.members(short.JSON(), tell); !s.keeps {
			note = jsonWithoutQueries(note, r.rememberQuery)
		}
	}
	if !s.keeps {
		out.URL = withoutQuery(f.URL, r.rememberQuery)
	}
	out.Header = f.Header.Clone()
	for name, values := range out.Header {
		name = textproto.CanonicalMIMEHeaderKey(name)
		rule := strings.ToLower(name)
		for i, value := range values {
			switch _, sent := r.sent.Load(name + ": " + value); {
			case r.leavesHeader(name):
				for _, part := range SecretParts(name, value) {
					r.remember(part, rule, f.Seq, r.fields[rule])
				}
				values[i] = Placeholder
			case sent:
				values[i] = Placeholder
			case s.keeps:
			case name == "Link", name == "Refresh":
				values[i] = addressIn().ReplaceAllStringFunc(value, func(address string) string { return withoutQuery(address, r.rememberQuery) })
			case name == "Location", name == "Content-Location", name == "Referer":
				values[i] = withoutQuery(value, r.rememberQuery)
			}
		}
	}
	return out, note
}

// span returns a span without the credentials among the HTTP headers in its attributes.
func (r *Redaction) span(in *wire.Span, seq int64) *wire.Span {
	if in == nil {
		return nil
	}
	out := *in
	out.Attributes = maps.Clone(in.Attributes)
	for name, value := range in.Attributes {
		if of := headerAttribute().FindStringSubmatch(name); of != nil && r.leavesHeader(textproto.CanonicalMIMEHeaderKey(of[1])) {
			for t := range scalars(value) {
				for _, part := range SecretParts("", rawjson.Unescape(value[t.from:t.to])) {
					r.remember(part, of[1], seq, false)
				}
			}
			out.Attributes[name] = json.RawMessage(quotedPlaceholder)
		}
	}
	return &out
}

// headerAttribute matches the attributes of the semantic conventions that hold HTTP headers.
var headerAttribute = lazy.Regexp(`^http\.(?:request|response)\.header\.(.+)$`)

// remember adds a value to the known secrets. A value that the person has not named is
// only added if it is too long to occur by chance.
func (r *Redaction) remember(text, rule string, seq int64, asked bool) {
	length := utf8.RuneCountInString(text)
	if strings.Contains(text, Placeholder) || !asked && length < LeastSecret {
		return
	}
	r.values.add(secret{text: text, length: length, rule: rule}, seq)
}

// header returns the value of a header without known secrets. Because servers can make
// the client copy parameters into headers, it also redacts values, however short, that
// rules have redacted in the frame's message.
func (s *sweep) header(value string) string {
	if s.leaves[value] {
		return Placeholder
	}
	if in, ok := strings.CutPrefix(value, "=?base64?"); ok && strings.HasSuffix(in, "?=") {
		plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(in, "?="))
		if err == nil && (s.leaves[string(plain)] || len(s.r.values.in(plain, s.server, 0)) > 0) {
			return Placeholder
		}
	}
	return s.text(value)
}

func (s *sweep) text(text string) string { return s.r.TextOf(s.server, text) }

func (s *sweep) bytes(text []byte) []byte {
	return apply(text, s.r.values.in(text, s.server, 0))
}

// protocolMembers are members that define what a message is. A secret that may occur in
// them by chance is not redacted there.
var protocolMembers = map[string]bool{
	"jsonrpc": true, "id": true, "method": true, "resultType": true, "protocolVersion": true,
	"action": true, "mode": true, "type": true, "role": true,
}

// json redacts the strings and numbers of b, which begins like JSON. It may be
// truncated, or continue as something else.
func (s *sweep) json(b []byte) []byte {
	if s.r.values.empty() {
		return b
	}
	var edits []edit
	member := ""
	for t := range scalars(b) {
		text, least := b[t.from:t.to], 0
		if t.kind == memberName || protocolMembers[member] {
			least = LeastSecret
		}
		switch {
		case s.r.given && (t.kind != stringValue || least == LeastSecret): // whatever a server gives, messages keep their form
		case t.kind != bareWord:
			found := s.r.values.in([]byte(rawjson.Unescape(text)), s.server, least)
			if len(found) > 0 {
				at := offsets(text)
				for _, e := range found {
					edits = append(edits, edit{t.from + at[e.from], t.from + at[e.to], e.text})
				}
			}
		case (text[0] == '-' || text[0]-'0' <= 9) && len(s.r.values.in(text, s.server, max(least, LeastValue))) > 0:
			edits = append(edits, edit{t.from, t.to, quotedPlaceholder})
		}
		if t.kind == memberName {
			member = rawjson.Unescape(text)
		}
	}
	return apply(b, edits)
}

// jsonWithoutQueries is withoutQueries for the strings in JSON.
func jsonWithoutQueries(b []byte, tell func(value string)) []byte {
	var edits []edit
	for t := range scalars(b) {
		if t.kind == bareWord {
			continue
		}
		text := rawjson.Unescape(b[t.from:t.to])
		if short := withoutQueries(text, tell); short != text {
			quoted := rawjson.Quoted(short)
			edits = append(edits, edit{t.from, t.to, string(quoted[1 : len(quoted)-1])})
		}
	}
	return apply(b, edits)
}

// edit replaces a range of bytes by a text.
type edit struct {
	from, to int
	text     string
}

// apply returns b with edits made, which are in order; b itself if there are none.
func apply(b []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return b
	}
	out, at := make([]byte, 0, len(b)+len(edits)*len(quotedPlaceholder)), 0
	for _, e := range edits {
		out, at = append(append(out, b[at:e.from]...), e.text...), e.to
	}
	return append(out, b[at:]...)
}

// scalar is a string, a member name, a number or a literal in JSON.
type scalar struct {
	kind     scalarKind
	from, to int // range of bytes, without the quotes of a string
}

type scalarKind uint8

const (
	bareWord scalarKind = iota // a number or a literal, or text that is not JSON
	stringValue
	memberName
)

// scalars yields the scalars in b in order. Other than a [rawjson.Cursor], it goes on
// where b is invalid JSON, and has what there is of a string that is cut off.
func scalars(b []byte) iter.Seq[scalar] {
	return func(yield func(scalar) bool) {
		for i := 0; i < len(b); {
			t := scalar{bareWord, i, i}
			if b[i] == '"' {
				t.kind, t.from, t.to = stringValue, i+1, i+1
				for t.to < len(b) && b[t.to] != '"' {
					if b[t.to] == '\\' {
						t.to++
					}
					t.to++
				}
				t.to = min(t.to, len(b))
				i = min(t.to+1, len(b))
				if bytes.HasPrefix(bytes.TrimLeft(b[i:], " \t\r\n"), []byte(":")) {
					t.kind = memberName
				}
			} else {
				for t.to < len(b) && strings.IndexByte(" \t\r\n,:[]{}\"", b[t.to]) < 0 {
					t.to++
				}
				if i = t.to; t.from == t.to {
					i++
					continue
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}

// offsets returns where each byte of the decoded contents of a JSON string stands in
// the string, and where the string ends.
func offsets(in []byte) (at []int) {
	for i := 0; i < len(in); {
		n := 1
		if in[i] == '\\' {
			n = 2
			if bytes.HasPrefix(in[i:], []byte(`\u`)) {
				n = 6
				if utf8.RuneCountInString(rawjson.Unescape(in[i:min(i+12, len(in))])) == 1 {
					n = 12 // a surrogate pair
				}
			}
		}
		end := min(i+n, len(in))
		for range len(rawjson.Unescape(in[i:end])) {
			at = append(at, i)
		}
		i = end
	}
	return append(at, len(in))
}

// Restored returns JSON in which each string that is one of masked is the string at the same
// place of original again. masked is original as [Redaction.JSONOf] returns it.
func Restored(raw, original, masked []byte) []byte {
	next, stop := iter.Pull(scalars(original))
	defer stop()
	was := map[string]string{}
	for t := range scalars(masked) {
		from, _ := next()
		text, before := string(masked[t.from:t.to]), string(original[from.from:from.to])
		if _, known := was[text]; !known && text != before {
			was[text] = before
		}
	}
	var edits []edit
	for t := range scalars(raw) {
		if before, ok := was[string(raw[t.from:t.to])]; ok && t.kind == stringValue {
			edits = append(edits, edit{t.from, t.to, before})
		}
	}
	return apply(raw, edits)
}
