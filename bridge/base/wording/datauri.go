package wording

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// DataURI is a file inside a data: URI (RFC 2397).
type DataURI struct {
	Name string // the parameter name, which RFC 2397 does not have and some clients send; "" for none
	Type string // the media type in lower case, without parameters
	Data []byte
}

// ReadDataURI reads a data: URI, with its data in base64 or percent-encoded. The error says what is
// wrong, in words that fit after a colon.
func ReadDataURI(s string) (d DataURI, err error) {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return d, errors.New("it has no scheme")
	}
	if !strings.EqualFold(scheme, "data") {
		return d, fmt.Errorf("its scheme is %s", Quoted(scheme))
	}
	head, data, ok := strings.Cut(rest, ",")
	if !ok {
		return d, errors.New("no comma stands before its data")
	}
	parts := strings.Split(head, ";")
	d.Type = strings.ToLower(strings.TrimSpace(parts[0]))
	if d.Type == "" {
		d.Type = "text/plain"
	}
	for _, parameter := range parts[1:] {
		if name, value, _ := strings.Cut(parameter, "="); strings.EqualFold(name, "name") {
			if d.Name, err = url.PathUnescape(value); err != nil {
				d.Name = value
			}
		}
	}
	if strings.Contains(data, "%") {
		if data, err = url.PathUnescape(data); err != nil {
			return d, errors.New("a % in its data begins no escape")
		}
	}
	if d.Data = []byte(data); strings.EqualFold(parts[len(parts)-1], "base64") {
		if d.Data, err = base64.StdEncoding.DecodeString(data); err != nil {
			return d, errors.New("its data is not base64")
		}
	}
	return d, nil
}

// Words describes the file by its name, type, size and hash.
func (d DataURI) Words() string { return Join(", ", d.Name, d.Type, d.measured()) }

// measured returns the size and the beginning of the SHA-256 of the data.
func (d DataURI) measured() string {
	return fmt.Sprintf("%s, sha256 %.6x", Size(int64(len(d.Data))), sha256.Sum256(d.Data))
}

// foldedLeast is the least number of characters of base64 that are folded.
const foldedLeast = 64

// FoldFiles returns JSON as people read it: in place of the base64 of each longer data: URI at the
// beginning of a string stand the size and the hash of the file. The result is JSON where the text was.
func FoldFiles(text string) string {
	var out strings.Builder
	done := 0
	for {
		at := strings.Index(text[done:], `"data:`)
		if at < 0 {
			break
		}
		from := done + at + 1
		head, _, ok := strings.Cut(text[from:min(len(text), from+headMost)], ";base64,")
		start := from + len(head) + len(";base64,")
		if !ok || strings.ContainsAny(head, `",`) {
			out.WriteString(text[done:from])
			done = from
			continue
		}
		end := start
		for end < len(text) && (isBase64(text[end]) || strings.HasPrefix(text[end:], `\/`)) {
			end++
		}
		out.WriteString(text[done:start])
		done = end
		file, err := ReadDataURI(strings.ReplaceAll(text[from:end], `\/`, "/"))
		if err != nil || end-start < foldedLeast || end == len(text) || text[end] != '"' && text[end] != '\\' {
			out.WriteString(text[start:end])
		} else {
			out.WriteString("[" + file.measured() + "]")
		}
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// headMost is how many bytes of a data: URI are searched for the beginning of its data.
const headMost = 1 << 10

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '='
}
