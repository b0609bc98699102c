package redact

import (
	"encoding/binary"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
)

// Bounds of the memory for values: their number, their total size, and the size of one
// in bytes. What comes with a server is bounded for each server.
const (
	maxSecrets     = 50_000
	maxSecretBytes = 32 << 20
	maxSecret      = 1 << 20
	maxOfServer    = 2_000
	maxServerBytes = 4 << 20
)

// secret is a value to redact wherever it is long enough for.
type secret struct {
	text   string
	length int    // in characters, or what the value counts for; see [LeastValue]
	rule   string // the rule that named it
	// server is the name of the server for which the inspector got the value; "" for all.
	server string
}

// notation is a way in which a secret is written.
type notation struct {
	text string
	of   *secret
}

// learnt holds the values that are redacted wherever they are. It only grows. A search
// takes no lock, so that one through a large frame holds up nobody who adds a value.
type learnt struct {
	lists [1 << listBits]atomic.Pointer[[]notation] // by their first bytes; see list
	count atomic.Int64
	short sync.Map // the rules of values that are too short to be redacted everywhere

	mu     sync.Mutex      // taken to add a value
	sizes  map[string]size // by server
	latest int64           // frame that has made a value known
	missed int             // values not kept because they were too long or too many
}

type size struct{ count, bytes int }

const listBits = 12

// list returns the list of the notations with the first bytes of text.
func (l *learnt) list(text []byte) *atomic.Pointer[[]notation] {
	var first [4]byte
	copy(first[:], text)
	return &l.lists[binary.LittleEndian.Uint32(first[:])*0x9E3779B1>>(32-listBits)]
}

func (l *learnt) notations(text []byte) []notation {
	if list := l.list(text).Load(); list != nil {
		return *list
	}
	return nil
}

func (l *learnt) empty() bool { return l == nil || l.count.Load() == 0 }

// add adds a secret, which frame seq has made known; 0 stands for none. It ignores values
// without information.
func (l *learnt) add(s secret, seq int64) {
	switch s.text {
	case "", "true", "false", "null", Placeholder:
		return
	}
	if slices.ContainsFunc(l.notations([]byte(s.text)), func(n notation) bool {
		return n.of.text == s.text && n.of.server == s.server && n.of.length >= s.length
	}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sizes == nil {
		l.sizes = map[string]size{}
	}
	most, of := size{maxSecrets, maxSecretBytes}, l.sizes[s.server]
	if s.server != "" {
		most = size{maxOfServer, maxServerBytes}
	}
	if len(s.text) > maxSecret || of.count >= most.count || of.bytes >= most.bytes {
		l.missed++
		return
	}
	for _, text := range notationsOf(s.text) {
		of.bytes += len(text)
		list := append(l.notations([]byte(text)), notation{text, &s})
		l.list([]byte(text)).Store(&list)
	}
	of.count++
	l.sizes[s.server] = of
	l.count.Add(1)
	l.latest = max(l.latest, seq)
	if s.length < LeastValue {
		l.short.Store(s.rule, true)
	}
}

var percentEscape = lazy.Regexp(`%[0-9A-F]{2}`)

// notationsOf returns the notations of a value: unchanged, in a JSON string inside another
// string, and in a URL.
func notationsOf(text string) []string {
	inner := func(quoted []byte) string { return string(quoted[1 : len(quoted)-1]) }
	out := []string{text, inner(rawjson.Quoted(text))}
	if quoted, err := json.Marshal(text); err == nil {
		out = append(out, inner(quoted))
	}
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text)} {
		out = append(out, escaped, percentEscape().ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// in returns the edits that redact values in a text of a server: those with at least this
// length, and of several at one place the longest.
func (l *learnt) in(text []byte, server string, least int) []edit {
	return l.search(text, server, least, func(*secret) {})
}

// search is in; it calls found with each value.
func (l *learnt) search(text []byte, server string, least int, found func(*secret)) (edits []edit) {
	if l.empty() {
		return nil
	}
	for i := 0; i < len(text); i++ {
		end := i
		var of *secret
		for _, n := range l.notations(text[i:]) {
			to := i + len(n.text)
			if to <= end || to > len(text) || string(text[i:to]) != n.text ||
				n.of.server != "" && n.of.server != server && n.of.length < LeastElsewhere {
				continue
			}
			before, _ := utf8.DecodeLastRune(text[:i])
			after, _ := utf8.DecodeRune(text[to:])
			whole, alone := i == 0 && to == len(text), !isWord(before) && !isWord(after)
			if n.of.length >= least && (n.of.length >= LeastSecret || whole || n.of.length >= LeastValue && alone) {
				end, of = to, n.of
			} else {
				l.short.Store(n.of.rule, true)
			}
		}
		if end > i {
			edits = append(edits, edit{i, end, Placeholder})
			found(of)
			i = end - 1
		}
	}
	return edits
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
