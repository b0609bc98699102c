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

	"elicitation-inspector/bridge/base/rawjson"
)

// parser parses lines of a transcript, in one pass each. Its results may share
// memory with the line.
type parser struct {
	texts map[string]string // caches texts that most lines share, by their JSON; nil: nothing is cached

	frame Frame // without Header
	body  int   // offset in the line at which the frame's bytes stand unescaped; 0 where they are escaped or encoded
	blank bool  // the line is empty

	raw, text     []byte // value of "raw", and of "text" without its quotes
	rawAt, textAt int    // their offsets in the line
	base64        []byte // "bytes"
	conn          string
	size          int64
	headers       []byte      // the object
	snooped       http.Header // from mcpsnoop's fields for headers

	message    Message // of raw
	messageErr error   // why raw is not a message
}

// ParseLine reads the frame of a transcript's line, without what it owes to earlier frames;
// [Log.Append] fills that in. The frame shares memory with the line.
func ParseLine(line []byte) (Frame, error) {
	var p parser
	err := p.parse(line)
	if err == nil && p.blank {
		err = errors.New("the line is empty")
	}
	p.frame.Header = p.header()
	return p.frame, err
}

func (p *parser) parse(line []byte) error {
	*p = parser{texts: p.texts}
	if bytes.HasPrefix(line, []byte(ByteOrderMark)) { // offsets stay, since the index has them
		line = slices.Concat([]byte("   "), line[len(ByteOrderMark):])
	}
	c := rawjson.NewCursor(line)
	if p.blank = c.Offset() == len(line); p.blank {
		return nil
	}
	if c.Kind() != rawjson.Object {
		return errors.New("not a JSON object")
	}
	var wrong string
	for name := range c.Members() {
		at := c.Offset()
		if string(name) == "raw" {
			p.rawAt = at
			if p.message, p.messageErr = parseEnvelope(c); c.Offset() == at {
				c.Skip()
			}
			p.raw = line[at:c.Offset()]
			continue
		}
		value := c.Value()
		if value != nil && !p.field(name, value, at) && wrong == "" {
			wrong = fmt.Sprintf("%q cannot be %s", name, brief(value))
		}
	}
	switch {
	case !c.End():
		return c.Err()
	case wrong != "":
		return errors.New(wrong)
	case p.frame.Dir == 0:
		return errors.New(`"direction" is missing`)
	}
	return p.finish()
}

// field sets one member, and reports whether its value is valid. at is the
// value's offset in the line.
func (p *parser) field(name, value []byte, at int) (ok bool) {
	f := &p.frame
	switch string(name) {
	case "session_id":
		return p.setShared(&f.Session, value)
	case "server_label":
		return p.setShared(&f.Server, value)
	case "transport":
		return p.setShared(&f.Transport, value)
	case "actor":
		return p.setShared(&f.Actor, value)
	case "fault":
		return p.setShared(&f.Fault, value)
	case "conn_id":
		return p.setShared(&p.conn, value)
	case "http_method":
		return setText(&f.HTTPMethod, value)
	case "url":
		return setText(&f.URL, value)
	case "bytes":
		p.base64, ok = quoted(value)
	case "text":
		p.textAt = at + 1
		p.text, ok = quoted(value)
	case "ts":
		text, ok := quoted(value)
		return ok && f.Time.UnmarshalText(text) == nil
	case "direction":
		return setNamed(&f.Dir, directionNames[:], value) && f.Dir != 0
	case "stream":
		return setNamed(&f.Stream, streamNames[:], value)
	case "kind":
		return setNamed(&f.Kind, kindNames[:], value) && f.Kind != 0
	case "seq":
		return setInt(&f.line, value)
	case "size":
		return setInt(&p.size, value)
	case "status":
		return setInt(&f.Status, value)
	case "call":
		return setInt(&f.Call, value)
	case "round":
		return setInt(&f.Round, value)
	case "elicitation":
		return setInt(&f.Question, value)
	case "guessed":
		return setBool(&f.Guessed, value)
	case "truncated":
		return setBool(&f.Truncated, value)
	case "redacted":
		return setBool(&f.Redacted, value)
	case "failed":
		return setBool(&f.Failed, value)
	case "answers":
		f.Answers = value
		return checkID(value) == ""
	case "note":
		return value[0] == '{' && json.Unmarshal(value, &f.Note) == nil
	case "headers":
		p.headers = value
		return eachHeader(value, nil)
	default:
		return p.snoop(string(name), value)
	}
	return ok
}

// snoop sets headers from mcpsnoop's fields. They are ignored if "headers" came
// before, since the inspector's own lines repeat headers in these fields.
func (p *parser) snoop(field string, value []byte) bool {
	add := func(name, value string) {
		if p.headers == nil && strings.TrimSpace(name) != "" {
			if p.snooped == nil {
				p.snooped = make(http.Header)
			}
			name = textproto.CanonicalMIMEHeaderKey(name)
			p.snooped[name] = append(p.snooped[name], value)
		}
	}
	if field == "mcp_param_headers" {
		var params []struct{ Name, Value string }
		if json.Unmarshal(value, &params) != nil {
			return false
		}
		for _, param := range params {
			add(param.Name, param.Value)
		}
		return true
	}
	for _, r := range routing {
		if field != r.field {
			continue
		}
		text, ok := quoted(value)
		if len(text) > 0 {
			add(r.header, rawjson.Unescape(text))
		}
		return ok
	}
	return true
}

func (p *parser) finish() (err error) {
	f := &p.frame
	switch {
	case p.base64 != nil:
		if f.Raw, err = base64.StdEncoding.AppendDecode(nil, p.base64); err != nil {
			return fmt.Errorf(`"bytes" is not base64: %w`, err)
		}
	case p.raw != nil:
		f.Raw, p.body = p.raw, p.rawAt
	case bytes.IndexByte(p.text, '\\') < 0:
		f.Raw, p.body = p.text, p.textAt
	default:
		f.Raw = rawjson.AppendUnescaped(nil, p.text)
	}
	f.Size = int64(len(f.Raw))
	if (f.Truncated || f.Redacted) && p.size > 0 {
		f.Size = p.size
	}
	if p.conn != "" {
		// mcpsnoop's logs of an HTTP proxy name the client's connection besides
		// the session, and each client counts its own ids.
		f.Session += "/" + p.conn
	}
	if p.raw != nil && p.base64 == nil {
		if f.Message = p.message; p.messageErr != nil && f.Kind == 0 {
			f.Kind = Noise
		}
	}
	f.Identify()
	f.Failed = f.Failed && f.Kind.IsNote()
	return nil
}

func (p *parser) header() http.Header {
	if p.headers == nil {
		return p.snooped
	}
	h := make(http.Header)
	eachHeader(p.headers, func(name string, values []string) { h[name] = values })
	return h
}

// eachHeader calls f, unless it is nil, with each member of "headers". It
// reports whether value is an object whose members are lists of strings.
func eachHeader(value []byte, f func(name string, values []string)) bool {
	for name, list := range rawjson.Members(value) {
		if list[0] != '[' {
			return false
		}
		values := []string{}
		for _, text := range rawjson.Elements(list) {
			switch {
			case text[0] != '"':
				return false
			case f != nil:
				values = append(values, rawjson.Text(text))
			}
		}
		if f != nil {
			f(name, values)
		}
	}
	return value[0] == '{'
}

// textsMost bounds parser.texts, and the length of each in bytes.
const textsMost = 1000

// setShared is setText for a text that most lines share.
func (p *parser) setShared(to *string, value []byte) bool {
	raw, ok := quoted(value)
	text, known := p.texts[string(raw)]
	if !known {
		text = rawjson.Unescape(raw)
		if p.texts != nil && len(p.texts) < textsMost && len(raw) < textsMost {
			p.texts[string(raw)] = text
		}
	}
	*to = text
	return ok
}

// quoted returns the text between the quotes of a JSON string; it is never nil
// for a string.
func quoted(value []byte) (text []byte, ok bool) {
	if value[0] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

func setText(to *string, value []byte) bool {
	text, ok := quoted(value)
	*to = rawjson.Unescape(text)
	return ok
}

func setNamed[T ~uint8](to *T, names []string, value []byte) bool {
	text, ok := quoted(value)
	i := slices.Index(names, string(text))
	*to = T(max(i, 0))
	return ok && i >= 0
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
