package wording

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ReadDataURI reads a data: URI (RFC 2397), with its data in base64 or percent-encoded. The media
// type is in lower case and without parameters. The error says what is wrong, in words that fit
// after a colon.
func ReadDataURI(s string) (mediaType string, data []byte, err error) {
	scheme, rest, ok := strings.Cut(s, ":")
	head, text, whole := strings.Cut(rest, ",")
	switch {
	case !ok:
		return "", nil, errors.New("it has no scheme")
	case !strings.EqualFold(scheme, "data"):
		return "", nil, errors.New("its scheme is " + Quoted(scheme))
	case !whole:
		return "", nil, errors.New("no comma stands before its data")
	}
	head = strings.ToLower(head)
	mediaType, _, _ = strings.Cut(head, ";")
	if strings.Contains(text, "%") {
		if text, err = url.PathUnescape(text); err != nil {
			return "", nil, errors.New("a % in its data begins no escape")
		}
	}
	if data = []byte(text); strings.HasSuffix(head, ";base64") {
		if data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return "", nil, errors.New("its data is not base64")
		}
	}
	return cmp.Or(mediaType, "text/plain"), data, nil
}

// Measured returns the size of a file, and the beginning of its SHA-256.
func Measured(data []byte) string {
	return fmt.Sprintf("%s, sha256 %.6x", Size(int64(len(data))), sha256.Sum256(data))
}

// foldedLeast is the least number of characters of base64 that are folded.
const foldedLeast = 64

// FoldFiles returns JSON as people read it: in each string that is a data: URI, the size and the hash
// of the file stand in place of longer base64. The result is JSON where the text was.
func FoldFiles(text string) string {
	parts := strings.SplitAfter(text, `"data:`)
	for i, part := range parts[1:] {
		head, data, ok := strings.Cut(part, ";base64,")
		end := strings.TrimLeft(data, `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\`)
		data = strings.TrimRight(data[:len(data)-len(end)], `\`) // the string may stand in the JSON of a string
		_, file, err := ReadDataURI("data:" + head + ";base64," + strings.ReplaceAll(data, `\/`, "/"))
		if ok && err == nil && len(data) >= foldedLeast && !strings.ContainsAny(head, `",`) && strings.HasPrefix(end, `"`) {
			parts[i+1] = head + ";base64,[" + Measured(file) + "]" + part[len(head)+len(";base64,")+len(data):]
		}
	}
	return strings.Join(parts, "")
}
