package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
)

// A line of a transcript holds one frame; docs/transcript.md describes it. The
// log's own spool file is made of the same lines, so that one reader serves
// the live log and the files that are opened later.

// form says how a line holds a frame's bytes.
type form uint8

const (
	formRaw     form = iota // "raw" is the very bytes: one line of JSON with nothing around it
	formText                // "text" is the very bytes, as a JSON string
	formCompact             // "raw" is the JSON without white space, "bytes" the very bytes
	formBytes               // "text" is for people, "bytes" the very bytes
)

// textPreview is how much of a formBytes frame "text" holds.
const textPreview = 64 << 10

// formOf chooses how a line holds f.Raw.
func formOf(f *Frame) form {
	if !f.Truncated && f.Dir != Stderr {
		raw := f.Raw
		whole := f.Kind.IsMessage() && f.Message.Kind != 0
		if !whole {
			whole = rawjson.Valid(raw) && (f.Kind != NoteFrame || raw[0] == '{')
		}
		if whole {
			if space(raw[0]) || space(raw[len(raw)-1]) || bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
				return formCompact
			}
			return formRaw
		}
	}
	if !utf8.Valid(f.Raw) || escapedLen(f.Raw) > 2*len(f.Raw)+textPreview {
		return formBytes
	}
	return formText
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// appendLine appends the line of a frame, its newline included, and says
// where in the line f.Raw stands as it is; 0 where it does not. number counts
// the frames of the session.
func appendLine(dst []byte, number int64, f *Frame, how form) (line []byte, body int) {
	start := len(dst)
	dst = appendHead(dst, number, f)
	switch how {
	case formRaw:
		dst = append(dst, `,"raw":`...)
		body = len(dst) - start
		dst = append(dst, f.Raw...)
	case formText:
		dst = append(dst, `,"text":`...)
		at := len(dst) + 1
		if dst = rawjson.AppendQuoted(dst, f.Raw); len(dst)-1-at == len(f.Raw) {
			body = at - start
		}
	case formCompact:
		dst = appendBytes(dst, f.Raw)
		dst = append(dst, `,"raw":`...)
		dst = rawjson.AppendCompact(dst, f.Raw)
	case formBytes:
		dst = appendBytes(dst, f.Raw)
		dst = append(dst, `,"text":`...)
		dst = rawjson.AppendQuoted(dst, f.Raw[:min(len(f.Raw), textPreview)])
	}
	return append(dst, "}\n"...), body
}

// appendHead appends a line up to its body.
func appendHead(dst []byte, number int64, f *Frame) []byte {
	dst = append(dst, `{"v":1,"session_id":`...)
	dst = rawjson.AppendQuoted(dst, f.Session)
	dst = append(dst, `,"server_label":`...)
	dst = rawjson.AppendQuoted(dst, f.Server)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, number, 10)
	dst = append(dst, `,"ts":"`...)
	dst = f.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","direction":"`...)
	dst = append(dst, f.Dir.String()...)
	dst = append(dst, `","transport":`...)
	dst = rawjson.AppendQuoted(dst, f.Transport)
	if f.Stream != StreamNone {
		dst = append(dst, `,"stream":"`...)
		dst = append(dst, f.Stream.String()...)
		dst = append(dst, '"')
	}
	if f.HTTPMethod != "" {
		dst = append(dst, `,"http_method":`...)
		dst = rawjson.AppendQuoted(dst, f.HTTPMethod)
	}
	if f.URL != "" {
		dst = append(dst, `,"url":`...)
		dst = rawjson.AppendQuoted(dst, f.URL)
	}
	dst = appendNumber(dst, `,"status":`, f.Status)
	dst = appendNumber(dst, `,"call":`, f.Call)
	dst = appendNumber(dst, `,"round":`, f.Round)
	dst = appendNumber(dst, `,"elicitation":`, f.Question)
	if f.Actor != "" {
		dst = append(dst, `,"actor":`...)
		dst = rawjson.AppendQuoted(dst, f.Actor)
	}
	if f.Kind != impliedKind(f) {
		dst = append(dst, `,"kind":"`...)
		dst = append(dst, f.Kind.String()...)
		dst = append(dst, '"')
	}
	if f.Failed && f.Kind == NoteFrame {
		dst = append(dst, `,"failed":true`...)
	}
	if len(f.Answers) > 0 {
		dst = append(append(dst, `,"answers":`...), f.Answers...)
	}
	if f.Truncated {
		dst = append(dst, `,"truncated":true`...)
	}
	if f.Size != int64(len(f.Raw)) {
		dst = append(dst, `,"size":`...)
		dst = strconv.AppendInt(dst, f.Size, 10)
	}
	if f.Redacted {
		dst = append(dst, `,"redacted":true`...)
	}
	if len(f.Header) > 0 {
		dst = appendHeader(dst, f.Header)
	}
	if f.Note != nil {
		dst = append(append(dst, `,"note":`...), f.Note.json()...)
	}
	return dst
}

// impliedKind is the kind that a reader of f's line finds by itself.
func impliedKind(f *Frame) Kind {
	switch {
	case f.Dir == Stderr:
		return StderrLine
	case f.Dir == Meta:
		return NoteFrame
	case f.Truncated:
		return Noise
	case f.Kind == Noise || f.Kind == NoteFrame:
		if _, err := ParseMessage(f.Raw); err != nil {
			return Noise
		}
		return 0
	}
	return f.Kind
}

func appendNumber(dst []byte, name string, n int) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), int64(n), 10)
}

// routing are the headers that mcpsnoop has fields of their own for, and looks
// at when it judges a request over HTTP.
var routing = [...]struct{ field, header string }{
	{"mcp_method", "Mcp-Method"},
	{"mcp_name", "Mcp-Name"},
	{"mcp_protocol_version", "Mcp-Protocol-Version"},
	{"auth_challenge", "Www-Authenticate"},
}

func appendHeader(dst []byte, h http.Header) []byte {
	dst = append(dst, `,"headers":{`...)
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendQuoted(dst, name), ":["...)
		for j, value := range h[name] {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendQuoted(dst, value)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, '}')
	for _, r := range routing {
		if value := h.Get(r.header); value != "" {
			dst = append(append(append(dst, `,"`...), r.field...), `":`...)
			dst = rawjson.AppendQuoted(dst, value)
		}
	}
	return dst
}

func appendBytes(dst, raw []byte) []byte {
	dst = append(dst, `,"bytes":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, raw)
	return append(dst, '"')
}

// escapedLen is how long rawjson.AppendQuoted makes valid UTF-8, without the quotes.
func escapedLen(b []byte) int {
	n := len(b)
	for _, c := range b {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			n++
		case c < 0x20:
			n += 5
		}
	}
	return n
}

// parsedLine is a line taken apart. Its slices are parts of the line.
type parsedLine struct {
	session, server, transport, actor, conn []byte // as between their quotes
	number                                  int64
	time                                    time.Time
	dir                                     Direction
	stream                                  Stream
	kind                                    Kind // preset by "kind", else 0
	status, call, round, question           int
	size                                    int64
	truncated, redacted, failed             bool

	rawAt, textAt   int    // where the values of "raw" and the text in "text" begin; 0 if absent
	raw, text       []byte // "raw" as it stands, "text" as between its quotes
	bytes           []byte // base64
	httpMethod, url []byte
	headers         []byte // the object
	routing         [len(routing)][]byte
	params          []byte // mcpsnoop's "mcp_param_headers"
	answers         []byte // an id
	note            []byte // an object

	message    Message // of raw
	messageErr error   // why raw is no message
	blank      bool    // there is nothing in the line
}

// parseLine takes a line apart, in one pass. Fields that it does not know are
// passed over.
func parseLine(line []byte, p *parsedLine) error {
	*p = parsedLine{}
	c := rawjson.NewCursor(line)
	if p.blank = c.Offset() == len(line); p.blank {
		return nil
	}
	if c.Kind() != rawjson.Object {
		return errors.New("not a JSON object")
	}
	var wrong string
	for name := range c.Members() {
		if string(name) == "raw" {
			p.parseRaw(c)
			continue
		}
		at := c.Offset()
		value := c.Value()
		if value != nil && !p.field(name, value, at) && wrong == "" {
			wrong = fmt.Sprintf("%q cannot be %s", name, brief(value))
		}
	}
	if !c.End() {
		return c.Err()
	}
	switch {
	case wrong != "":
		return errors.New(wrong)
	case p.dir == 0:
		return errors.New(`"direction" is missing`)
	}
	return nil
}

func (p *parsedLine) parseRaw(c *rawjson.Cursor) {
	text := c.Rest()
	p.rawAt = c.Offset()
	if p.message, p.messageErr = parseEnvelope(c); c.Offset() == p.rawAt {
		c.Skip()
	}
	p.raw = text[:c.Offset()-p.rawAt]
}

// field takes note of one member, and says whether its value makes sense.
func (p *parsedLine) field(name, value []byte, at int) bool {
	switch string(name) {
	case "session_id":
		return setString(&p.session, value)
	case "server_label":
		return setString(&p.server, value)
	case "transport":
		return setString(&p.transport, value)
	case "actor":
		return setString(&p.actor, value)
	case "conn_id":
		return setString(&p.conn, value)
	case "http_method":
		return setString(&p.httpMethod, value)
	case "url":
		return setString(&p.url, value)
	case "bytes":
		return setString(&p.bytes, value)
	case "text":
		p.textAt = at + 1
		return setString(&p.text, value)
	case "ts":
		var text []byte
		return setString(&text, value) && p.time.UnmarshalText(text) == nil
	case "direction":
		var err error
		p.dir, err = ParseDirection(plainString(value))
		return err == nil
	case "stream":
		var err error
		p.stream, err = ParseStream(plainString(value))
		return err == nil
	case "kind":
		var err error
		p.kind, err = ParseKind(plainString(value))
		return err == nil
	case "seq":
		return setInt(&p.number, value)
	case "size":
		return setInt(&p.size, value)
	case "status":
		return setInt(&p.status, value)
	case "call":
		return setInt(&p.call, value)
	case "round":
		return setInt(&p.round, value)
	case "elicitation":
		return setInt(&p.question, value)
	case "truncated":
		return setBool(&p.truncated, value)
	case "redacted":
		return setBool(&p.redacted, value)
	case "failed":
		return setBool(&p.failed, value)
	case "answers":
		p.answers = value
		return checkID(value) == ""
	case "note":
		p.note = value
		return value[0] == '{'
	case "headers":
		p.headers = value
		return listsOfStrings(value)
	case "mcp_param_headers":
		p.params = value
		_, err := p.paramHeaders()
		return err == nil
	}
	for i, r := range routing {
		if string(name) == r.field {
			return setString(&p.routing[i], value)
		}
	}
	return true
}

// listsOfStrings reports whether a value is an object of nothing but lists of
// strings.
func listsOfStrings(value []byte) bool {
	if rawjson.KindOf(value) != rawjson.Object {
		return false
	}
	for _, list := range rawjson.Members(value) {
		if rawjson.KindOf(list) != rawjson.Array {
			return false
		}
		for _, text := range rawjson.Elements(list) {
			if rawjson.KindOf(text) != rawjson.String {
				return false
			}
		}
	}
	return true
}

func setString(to *[]byte, value []byte) bool {
	if value[0] != '"' {
		return false
	}
	*to = value[1 : len(value)-1]
	return true
}

func setInt[T int | int64](to *T, value []byte) bool {
	n, err := strconv.ParseInt(string(value), 10, 64)
	*to = T(n)
	return err == nil && n >= 0
}

func setBool(to *bool, value []byte) bool {
	*to = value[0] == 't'
	return value[0] == 't' || value[0] == 'f'
}

// plainString is the text of a JSON string without escapes; "" for others.
func plainString(value []byte) string {
	if value[0] != '"' {
		return ""
	}
	return string(value[1 : len(value)-1])
}

// body gives the frame's exact bytes, and where they stand in the line as
// they are; 0 where they had to be decoded.
func (p *parsedLine) body() (raw []byte, at int, err error) {
	switch {
	case p.bytes != nil:
		if raw, err = base64.StdEncoding.AppendDecode(nil, p.bytes); err != nil {
			return nil, 0, fmt.Errorf(`"bytes" is no base64: %w`, err)
		}
		return raw, 0, nil
	case p.raw != nil:
		return p.raw, p.rawAt, nil
	case p.text == nil || bytes.IndexByte(p.text, '\\') < 0:
		return p.text, p.textAt, nil
	}
	return rawjson.AppendUnescaped(nil, p.text), 0, nil
}

// identify says what the frame with those bytes is.
func (p *parsedLine) identify(raw []byte) (Kind, Message) {
	switch {
	case p.dir == Stderr:
		return StderrLine, Message{}
	case p.dir == Meta:
		return NoteFrame, Message{}
	case p.truncated:
		return headOf(raw, p.kind)
	case p.kind == Noise || p.kind == NoteFrame:
		return p.kind, Message{}
	}
	if p.raw != nil && p.bytes == nil {
		if p.messageErr != nil {
			return Noise, Message{}
		}
		return p.message.Kind, p.message
	}
	m, err := ParseMessage(raw)
	if err != nil {
		return Noise, Message{}
	}
	return m.Kind, m
}

// headOf finds what can be told of a message of which only the head was kept.
// preset is its kind if that is known, else 0.
func headOf(raw []byte, preset Kind) (Kind, Message) {
	m, _ := parseEnvelope(rawjson.NewCursor(raw))
	if preset != 0 {
		m.Kind = preset
	}
	if !m.Kind.IsMessage() {
		return Noise, Message{}
	}
	return m.Kind, Message{Kind: m.Kind, ID: m.ID, Method: m.Method}
}

// nameCache keeps the names of the line before, which are mostly those of the
// next one as well.
type nameCache [5]struct {
	raw  []byte
	text string
}

func (c *nameCache) get(i int, raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	if !bytes.Equal(c[i].raw, raw) {
		c[i].raw = append(c[i].raw[:0], raw...)
		c[i].text = rawjson.Unescape(raw)
	}
	return c[i].text
}

// frame puts the frame together again, but for its headers, and says where in
// the line its bytes stand as they are; 0 where they do not. The frame's bytes
// may be parts of the line.
func (p *parsedLine) frame(names *nameCache) (f Frame, at int, err error) {
	raw, at, err := p.body()
	if err != nil {
		return Frame{}, 0, err
	}
	f = Frame{
		Time: p.time, Session: names.get(0, p.session), Server: names.get(1, p.server), Dir: p.dir,
		Transport: names.get(2, p.transport), Stream: p.stream, Raw: raw, Size: int64(len(raw)), Truncated: p.truncated,
		Status: p.status, Call: p.call, Round: p.round, Question: p.question, Actor: names.get(3, p.actor),
		Redacted: p.redacted, HTTPMethod: rawjson.Unescape(p.httpMethod), URL: rawjson.Unescape(p.url), line: p.number,
	}
	if len(p.conn) > 0 {
		// mcpsnoop's logs of an HTTP proxy name the client's connection beside
		// the session: each client counts its ids for itself.
		f.Session += "/" + names.get(4, p.conn)
	}
	if (p.truncated || p.redacted) && p.size > 0 {
		f.Size = p.size
	}
	f.Kind, f.Message = p.identify(raw)
	f.Method, f.Answers, f.Failed = f.Message.Method, p.answers, p.failed && f.Kind == NoteFrame
	if p.note == nil {
		f.readNoteText()
	} else if f.Note, err = parseNote(p.note); err != nil {
		return Frame{}, 0, err
	}
	return f, at, nil
}

// hasMore reports whether the line has what an entry does not say.
func (p *parsedLine) hasMore() bool {
	for _, value := range p.routing {
		if len(value) > 0 {
			return true
		}
	}
	return p.headers != nil || p.params != nil || len(p.httpMethod) > 0 || len(p.url) > 0 || len(p.answers) > 0 || p.note != nil
}

// header puts the HTTP headers together: ours, else mcpsnoop's.
func (p *parsedLine) header() (http.Header, error) {
	if p.headers != nil {
		var h http.Header
		if err := json.Unmarshal(p.headers, &h); err != nil {
			return nil, fmt.Errorf(`"headers" must be lists of strings by name`)
		}
		return h, nil
	}
	var h http.Header
	set := func(name, value string) {
		if h == nil {
			h = make(http.Header)
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		h[name] = append(h[name], value)
	}
	for i, value := range p.routing {
		if len(value) > 0 {
			set(routing[i].header, rawjson.Unescape(value))
		}
	}
	params, err := p.paramHeaders()
	if err != nil {
		return nil, err
	}
	for _, param := range params {
		if strings.TrimSpace(param.Name) != "" {
			set(param.Name, param.Value)
		}
	}
	return h, nil
}

// paramHeader is an element of mcpsnoop's "mcp_param_headers".
type paramHeader struct{ Name, Value string }

func (p *parsedLine) paramHeaders() (params []paramHeader, err error) {
	if p.params != nil && json.Unmarshal(p.params, &params) != nil {
		err = errors.New(`"mcp_param_headers" must be a list of names and values`)
	}
	return params, err
}
