package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

type sweep struct {
	r      *Redaction
	server string          // the name of the frame's server
	upto   int64           // redact only secrets known by this frame
	stands func(*secret)   // called with secrets that remain; may be nil
	urls   bool            // redact the values in queries of URLs, too
	keeps  bool            // the frame keeps the values in queries; see keepsQueries
	named  map[string]bool // values that rules have redacted in the frame's message
}

// frame returns f redacted; f itself if nothing is redacted.
func (s *sweep) frame(f *wire.Frame) *wire.Frame {
	r := s.r
	if r.values == nil || r.values.empty() && !r.hasRules() && len(f.Header) == 0 && f.URL == "" && f.Kind != wire.NoteFrame && f.Note == nil {
		return f // most frames
	}
	if r.given && r.values.empty() {
		return f
	}
	out := *f
	out.Raw, s.named = r.learn(f)
	s.keeps = r.keepsQueries(f)
	header := s.header(f.Header)
	if header != nil {
		out.Header = header
	}
	if !s.keeps {
		out.URL = WithoutQuery(f.URL)
	}
	out.URL = s.text(out.URL)
	if !r.given {
		out.Server, out.Session = s.text(f.Server), s.text(f.Session)
	}
	s.urls = f.Kind == wire.NoteFrame && !s.keeps && !f.IsMark() // a mark has a person's words
	switch {
	case f.IsText():
		out.Raw = s.bytes(out.Raw)
	case f.Kind == wire.Noise && !f.Truncated && !rawjson.Valid(f.Raw):
		out.Raw = s.bytes(s.json(out.Raw)) // it may begin like JSON
	default:
		out.Raw = s.json(out.Raw)
	}
	s.urls = !s.keeps
	s.note(f, &out)
	same := bytes.Equal(out.Raw, f.Raw)
	if same && header == nil && out.URL == f.URL && out.Note == f.Note && out.Server == f.Server && out.Session == f.Session {
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
	if !r.values.empty() && !r.given {
		out.Method = string(cutOut([]byte(f.Method), s.spans([]byte(f.Method), anywhere)))
	}
	return &out
}

// learn remembers the values in f that rules name. It returns the frame's redacted
// bytes, and the values redacted in them.
func (r *Redaction) learn(f *wire.Frame) (raw []byte, named map[string]bool) {
	if r.given {
		return f.Raw, nil
	}
	r.learnHTTP(f)
	if f.Note != nil {
		r.arguments(f.Note.Command, func(value string) {
			for _, part := range credentials("", value) {
				r.remember(part, "the command of the server", f.Seq, false)
			}
		})
	}
	if !r.hasRules() {
		return f.Raw, nil
	}
	named = make(map[string]bool)
	tell := func(value []byte, rule string) {
		for t := range scalars(value) {
			leaf := string(value[t.from:t.to])
			switch t.kind {
			case memberName:
				continue
			case stringValue:
				leaf = rawjson.Unescape(value[t.from:t.to])
			}
			named[leaf] = true
			r.remember(leaf, rule, f.Seq, true)
		}
	}
	if raw = f.Raw; !f.IsText() {
		raw = r.members(raw, tell)
	}
	if f.Note != nil {
		r.members(f.Note.JSON(), tell)
	}
	return raw, named
}

// keepsQueries reports whether the values in queries stay. Those of a sign-in were
// redacted by name when it was logged.
func (r *Redaction) keepsQueries(f *wire.Frame) bool {
	return r.given || f.Note != nil && f.Note.Kind == wire.NoteSignIn
}

func (r *Redaction) learnHTTP(f *wire.Frame) {
	for name, values := range f.Header {
		name = textproto.CanonicalMIMEHeaderKey(name)
		rule := strings.ToLower(name)
		for _, value := range values {
			switch {
			case r.headers[name]:
				for _, part := range credentials(name, value) {
					r.remember(part, rule, f.Seq, r.fields[rule])
				}
			case addressHeaders[name] && !r.keepsQueries(f):
				r.rememberQuery(value, f.Seq)
			}
		}
	}
	if r.keepsQueries(f) {
		return
	}
	r.rememberQuery(f.URL, f.Seq)
	if f.Kind == wire.NoteFrame && f.IsText() {
		for _, address := range addressIn.FindAllString(string(f.Raw), -1) {
			r.rememberQuery(strings.TrimRight(address, addressEnd), f.Seq)
		}
	}
}

// remember adds a value to the known secrets. A value that the person has not named is
// only added if it is too long to occur by chance.
func (r *Redaction) remember(text, rule string, seq int64, asked bool) {
	reach := reachOf(text)
	if strings.Contains(text, Placeholder) || !asked && reach < anywhere {
		return
	}
	r.values.add(secret{text: text, rule: rule, reach: reach, first: seq})
}

func (r *Redaction) rememberQuery(address string, seq int64) {
	_, query, _ := strings.Cut(address, "?")
	query, _, _ = strings.Cut(query, "#")
	for part := range strings.SplitSeq(query, "&") {
		_, value, named := strings.Cut(part, "=")
		if !named {
			value = part
		}
		r.remember(value, "the query of an address", seq, false)
		if plain, err := url.QueryUnescape(value); err == nil {
			r.remember(plain, "the query of an address", seq, false)
		}
	}
}

// WithoutQuery returns u with the values in its query redacted. The names of parameters
// stay.
func WithoutQuery(u string) string {
	address, query, ok := strings.Cut(u, "?")
	if !ok {
		return u
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		switch name, value, named := strings.Cut(part, "="); {
		case named && value != "":
			parts[i] = name + "=" + Placeholder
		case !named && part != "":
			parts[i] = Placeholder // a value without a name
		}
	}
	return address + "?" + strings.Join(parts, "&")
}

var addressHeaders = map[string]bool{"Location": true, "Content-Location": true, "Referer": true, "Refresh": true, "Link": true}

// addressIn finds addresses with a query in text, and addressEnd holds punctuation that
// may follow them.
var addressIn = regexp.MustCompile(`[^\s"'<>]+\?[^\s"'<>]+`)

const addressEnd = ".,;:)"

// withoutQueries returns text with the values in the queries of its addresses redacted.
func withoutQueries(text string) string {
	return addressIn.ReplaceAllStringFunc(text, func(word string) string {
		address := strings.TrimRight(word, addressEnd)
		_, query, _ := strings.Cut(address, "?")
		if !strings.Contains(query, "=") && !strings.Contains(address, "://") && address[0] != '/' {
			return word // text with a question mark
		}
		return WithoutQuery(address) + word[len(address):]
	})
}

// header returns h redacted, nil if nothing is redacted. h itself is not changed.
func (s *sweep) header(h http.Header) (out http.Header) {
	for name, values := range h {
		for i, value := range values {
			short := s.headerValue(textproto.CanonicalMIMEHeaderKey(name), value)
			if short == value {
				continue
			}
			if out == nil {
				out = h.Clone()
			}
			out[name][i] = short
		}
	}
	return out
}

// headerValue returns a header's value redacted. Because servers can make the client
// copy parameters into headers, it also redacts values, however short, that rules have
// redacted in the frame's message.
func (s *sweep) headerValue(name, value string) string {
	_, sent := s.r.sent.Load(name + ": " + value)
	if value == Placeholder || s.r.headers[name] || sent || s.named[value] {
		return Placeholder
	}
	if in, ok := strings.CutPrefix(value, "=?base64?"); ok && strings.HasSuffix(in, "?=") {
		plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(in, "?="))
		if err == nil && (s.named[string(plain)] || len(s.spans(plain, asWhole)) > 0) {
			return Placeholder
		}
	}
	switch {
	case s.keeps:
	case name == "Location", name == "Content-Location", name == "Referer":
		value = WithoutQuery(value)
	case name == "Link", name == "Refresh":
		value = withoutQueries(value)
	}
	return s.text(value)
}

// note redacts the frame's note, in its fields and in its words.
func (s *sweep) note(f, out *wire.Frame) {
	if f.Note == nil {
		return
	}
	before, short := f.Note.JSON(), *f.Note
	if !s.r.given {
		short.Command = s.r.arguments(short.Command, func(string) {})
	}
	raw := s.json(s.r.members(short.JSON(), func([]byte, string) {}))
	if bytes.Equal(raw, before) {
		return
	}
	var note wire.Note
	_ = json.Unmarshal(raw, &note) // a redacted number is a string now, and stays 0
	note.Kind = f.Note.Kind
	out.Note = &note
	if string(f.Raw) == f.Note.Words(f) {
		out.Raw = []byte(note.Words(out))
	}
}

type span struct{ from, to int }

func (s *sweep) spans(text []byte, least reach) []span {
	if len(text) == 0 || s.r.values.empty() {
		return nil
	}
	if v := s.r.values.find(s.server, string(text)); v != nil && v.first <= s.upto && v.reach >= least {
		return []span{{0, len(text)}}
	}
	var out []span
	for i := 0; i < len(text); {
		found, end, stands := s.find(text, i, least)
		switch {
		case found != nil:
			out = append(out, span{i, end})
			i = end
			continue
		case stands != nil && s.stands != nil:
			s.stands(stands)
		}
		i++
	}
	return out
}

func cutOut(b []byte, spans []span) []byte {
	if len(spans) == 0 {
		return b
	}
	out := make([]byte, 0, len(b)+len(spans)*len(Placeholder))
	at := 0
	for _, part := range spans {
		out = append(append(out, b[at:part.from]...), Placeholder...)
		at = part.to
	}
	return append(out, b[at:]...)
}

func (s *sweep) bytes(text []byte) []byte {
	if s.urls {
		text = []byte(withoutQueries(string(text)))
	}
	return cutOut(text, s.spans(text, asWhole))
}

func (s *sweep) text(text string) string {
	if text == "" || s.r.values.empty() && !s.urls {
		return text
	}
	return string(s.bytes([]byte(text)))
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
	if s.r.values.empty() && !s.urls {
		return b
	}
	var out []byte
	at, member := 0, ""
	for t := range scalars(b) {
		text := b[t.from:t.to]
		with := text
		switch {
		case s.r.given && (t.kind != stringValue || protocolMembers[member]): // whatever a server gives, messages keep their form
		case t.kind == bareWord:
			if (text[0] == '-' || text[0]-'0' <= 9) && s.number(text, protocolMembers[member]) {
				with = []byte(`"` + Placeholder + `"`)
			}
		case t.kind == memberName || protocolMembers[member]:
			with = s.quoted(text, anywhere)
		default:
			with = s.quoted(text, asWhole)
		}
		if !bytes.Equal(text, with) {
			out = append(append(out, b[at:t.from]...), with...)
			at = t.to
		}
		if t.kind == memberName {
			member = rawjson.Unescape(text)
		}
	}
	if at == 0 {
		return b
	}
	return append(out, b[at:]...)
}

func (s *sweep) number(digits []byte, protocol bool) bool {
	value := s.r.values.find(s.server, string(digits))
	if value == nil {
		quiet := sweep{r: s.r, upto: s.upto}
		return len(quiet.spans(digits, anywhere)) > 0
	}
	if value.first <= s.upto && (value.reach == anywhere || value.reach == asWord && !protocol) {
		return true
	}
	if s.stands != nil && !protocol {
		s.stands(value)
	}
	return false
}

func (s *sweep) quoted(in []byte, least reach) []byte {
	decoded, offsets := unescape(in)
	if s.urls {
		if text := withoutQueries(string(decoded)); text != string(decoded) {
			in = rawjson.Quoted(text)
			in = in[1 : len(in)-1]
			decoded, offsets = unescape(in)
		}
	}
	spans := s.spans(decoded, least)
	for i := range spans {
		if offsets != nil {
			spans[i] = span{offsets[spans[i].from], offsets[spans[i].to]}
		}
	}
	return cutOut(in, spans)
}
