package wire

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/rawjson"
)

// A line of a transcript holds one frame; docs/transcript.md describes it. The
// log's own spool file is made of the same lines, so that one reader serves
// the live log and the files that are opened later.

// textPreview is how many bytes "text" holds of a frame whose exact bytes stand
// in "bytes".
const textPreview = 64 << 10

// appendLine appends the line of a frame, including its newline. body is the
// offset in the line at which f.Raw stands unescaped; 0 where it is escaped or
// encoded.
func appendLine(dst []byte, f *Frame) (line []byte, body int) {
	return appendBody(appendHead(dst, f), len(dst), f)
}

// appendBody appends the rest of the line that begins at start, after its head; see appendLine.
func appendBody(dst []byte, start int, f *Frame) (line []byte, body int) {
	switch {
	case holdsJSON(f):
		if len(rawjson.Trim(f.Raw)) == len(f.Raw) && bytes.IndexByte(f.Raw, '\n') < 0 && bytes.IndexByte(f.Raw, '\r') < 0 {
			dst = append(dst, `,"raw":`...)
			body = len(dst) - start
			dst = append(dst, f.Raw...)
		} else {
			dst = appendBytes(dst, f.Raw)
			dst = rawjson.AppendCompact(append(dst, `,"raw":`...), f.Raw)
		}
	default:
		escaped := rawjson.QuotedSize(f.Raw)
		if escaped > 2*len(f.Raw)+textPreview || !utf8.Valid(f.Raw) {
			dst = appendBytes(dst, f.Raw)
			dst = appendText(dst, `,"text":`, f.Raw[:min(len(f.Raw), textPreview)])
			break
		}
		if escaped == len(f.Raw) {
			body = len(dst) + len(`,"text":"`) - start
		}
		dst = appendText(dst, `,"text":`, f.Raw)
	}
	return append(dst, "}\n"...), body
}

// prepared is the line of a large frame but for its head, which is known only once the frame has
// its number. It has room for that before it.
type prepared struct {
	buf  []byte
	room int
	body int // as that of appendLine, in buf
}

// prepare encodes a large frame, which takes a while.
func prepare(f *Frame) *prepared {
	const grows = 64 // by the number, and the time
	p := &prepared{room: len(appendHead(nil, f)) + grows}
	p.buf, p.body = appendBody(make([]byte, p.room, p.room+len(f.Raw)+len(f.Raw)/8), 0, f)
	return p
}

// line completes the line by its head; see appendLine.
func (p *prepared) line(head []byte) (line []byte, body int) {
	begin := p.room - len(head)
	if begin < 0 {
		line = append(slices.Clip(head), p.buf[p.room:]...)
	} else {
		copy(p.buf[begin:], head)
		line = p.buf[begin:]
	}
	if p.body != 0 {
		body = p.body - begin
	}
	return line, body
}

func holdsJSON(f *Frame) bool {
	switch {
	case f.Truncated || f.Dir == Stderr || f.Message.TooDeep:
		return false
	case f.Kind.IsMessage() && f.Message.Kind != 0:
		return true
	}
	return rawjson.Valid(f.Raw) && (!f.Kind.IsNote() || f.Raw[0] == '{')
}

func appendHead(dst []byte, f *Frame) []byte {
	dst = appendText(dst, `{"v":1,"session_id":`, f.Session)
	dst = appendText(dst, `,"server_label":`, f.Server)
	dst = strconv.AppendInt(append(dst, `,"seq":`...), f.line, 10)
	dst = f.Time.UTC().AppendFormat(append(dst, `,"ts":"`...), time.RFC3339Nano)
	dst = append(append(dst, `","direction":"`...), f.Dir.String()...)
	dst = appendText(dst, `","transport":`, f.Transport)
	dst = appendFilled(dst, `,"stream":`, f.Stream.String())
	dst = appendFilled(dst, `,"http_method":`, f.HTTPMethod)
	dst = appendFilled(dst, `,"url":`, f.URL)
	dst = appendNumber(dst, `,"status":`, f.Status)
	dst = appendNumber(dst, `,"call":`, f.Call)
	if f.Guessed {
		dst = append(dst, `,"guessed":true`...)
	}
	dst = appendNumber(dst, `,"round":`, f.Round)
	dst = appendNumber(dst, `,"elicitation":`, f.Question)
	dst = appendFilled(dst, `,"actor":`, f.Actor)
	dst = appendFilled(dst, `,"fault":`, f.Fault)
	if f.Kind != impliedKind(f) {
		dst = appendText(dst, `,"kind":`, f.Kind.String())
	}
	if f.Failed && f.Kind.IsNote() {
		dst = append(dst, `,"failed":true`...)
	}
	if len(f.Answers) > 0 {
		dst = append(append(dst, `,"answers":`...), f.Answers...)
	}
	if f.Truncated {
		dst = append(dst, `,"truncated":true`...)
	}
	if f.Size != int64(len(f.Raw)) {
		dst = strconv.AppendInt(append(dst, `,"size":`...), f.Size, 10)
	}
	if f.Redacted {
		dst = append(dst, `,"redacted":true`...)
	}
	if len(f.Header) > 0 {
		dst = appendHeader(dst, f.Header)
	}
	if f.Note != nil {
		dst = append(append(dst, `,"note":`...), f.Note.JSON()...)
	}
	return dst
}

// impliedKind returns the kind that a reader derives from f's line without a
// "kind" member.
func impliedKind(f *Frame) Kind {
	switch {
	case f.Dir == Stderr:
		return StderrLine
	case f.Dir == Meta:
		return f.Note.kind()
	case f.Truncated:
		return Noise
	case f.Kind == Noise || f.Kind.IsNote():
		if _, err := ParseMessage(f.Raw); err != nil {
			return Noise
		}
		return 0
	}
	return f.Kind
}

func appendText[T string | []byte](dst []byte, name string, text T) []byte {
	return rawjson.AppendQuoted(append(dst, name...), text)
}

func appendFilled(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendText(dst, name, text)
}

func appendNumber(dst []byte, name string, n int) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), int64(n), 10)
}

// routing lists the headers for which mcpsnoop has fields of their own. It
// reads these fields when it judges a request over HTTP.
var routing = [...]struct{ field, header string }{
	{"mcp_method", "Mcp-Method"},
	{"mcp_name", "Mcp-Name"},
	{"mcp_protocol_version", "Mcp-Protocol-Version"},
	{"auth_challenge", "Www-Authenticate"},
}

func appendHeader(dst []byte, h http.Header) []byte {
	dst = append(dst, `,"headers":{`...)
	for i, name := range slices.Sorted(maps.Keys(h)) {
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
			dst = appendText(dst, `,"`+r.field+`":`, value)
		}
	}
	return dst
}

func appendBytes(dst, raw []byte) []byte {
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"bytes":"`...), raw)
	return append(dst, '"')
}
