package redact

import (
	"encoding/binary"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
)

// reach is where a secret is searched for, apart from the place that named it.
type reach uint8

const (
	// asWhole: only as a complete string or header value.
	asWhole reach = iota
	// asWord: also inside text, if no letter or digit is next to it.
	asWord
	// anywhere: also inside words, member names, and the members that JSON-RPC needs.
	anywhere
)

// Minimum lengths in characters of values that are searched for as a word, and
// anywhere. Shorter values occur in text by chance.
const (
	wordLength     = 4
	anywhereLength = 8
)

func reachOf(text string) reach {
	switch n := utf8.RuneCountInString(text); {
	case n >= anywhereLength:
		return anywhere
	case n >= wordLength:
		return asWord
	}
	return asWhole
}

// Bounds of the memory for secrets: their number, their total size, and the size of one
// in bytes. What comes with a server is bounded for each server.
const (
	maxSecrets     = 50_000
	maxSecretBytes = 32 << 20
	maxSecret      = 1 << 20
	maxOfServer    = 2_000
	maxServerBytes = 4 << 20
)

// secret is a value to redact everywhere within its reach.
type secret struct {
	text  string
	rule  string // the rule that named it
	reach reach
	first int64 // the frame that made it known, 0 if it was known before all frames
	// server is the name of the server for which the inspector got the value; "" for all.
	server string
}

type pattern struct {
	text   string
	secret *secret
}

// patterns is a list that can be read and extended without a lock.
type patterns struct{ atomic.Pointer[[]pattern] }

func (l *patterns) add(p pattern) {
	for {
		old := l.Load()
		list := []pattern{p}
		if old != nil {
			list = append(list, *old...)
		}
		if l.CompareAndSwap(old, &list) {
			return
		}
	}
}

// vault holds the known secrets. It only grows. It is safe for concurrent use and has
// no lock, so that a search through a large frame holds up nobody who adds a secret.
type vault struct {
	known  sync.Map                // name to *secret
	tables sync.Map                // *table by server
	long   [1 << longBits]patterns // patterns by their first four bytes; see longAt
	short  [256]patterns           // shorter patterns, by their first byte
	count  atomic.Int64
	latest atomic.Int64 // the latest frame that made a secret known
	chancy atomic.Bool  // some secrets have a limited reach, and remain outside of it
	missed atomic.Int64 // values not kept because they were too long or too many
}

type name struct{ server, text string }

type table struct{ count, bytes atomic.Int64 }

// find returns the secret that text is as a whole; nil if it is none.
func (v *vault) find(server, text string) *secret {
	if v == nil {
		return nil
	}
	found, ok := v.known.Load(name{server, text})
	if !ok && server != "" {
		found, ok = v.known.Load(name{"", text})
	}
	if !ok {
		return nil
	}
	return found.(*secret)
}

const longBits = 12

func (v *vault) longAt(b []byte) *patterns {
	return &v.long[binary.LittleEndian.Uint32(b)*0x9E3779B1>>(32-longBits)]
}

func (v *vault) empty() bool { return v == nil || v.count.Load() == 0 }

// add adds a secret. It ignores values without information.
func (v *vault) add(s secret) {
	switch s.text {
	case "", "true", "false", "null", Placeholder:
		return
	}
	as := name{s.server, s.text}
	if old, ok := v.known.Load(as); ok && old.(*secret).reach >= s.reach {
		return
	}
	known, _ := v.tables.LoadOrStore(s.server, new(table))
	of := known.(*table)
	count, bytes := int64(maxSecrets), int64(maxSecretBytes)
	if s.server != "" {
		count, bytes = maxOfServer, maxServerBytes
	}
	if len(s.text) > maxSecret || of.count.Load() >= count || of.bytes.Load() >= bytes {
		v.missed.Add(1)
		return
	}
	if old, ok := v.known.Swap(as, &s); ok {
		s.first = min(s.first, old.(*secret).first)
	}
	for _, form := range forms(s.text) {
		of.bytes.Add(int64(len(form)))
		if len(form) < wordLength {
			v.short[form[0]].add(pattern{form, &s})
		} else {
			v.longAt([]byte(form)).add(pattern{form, &s})
		}
	}
	for {
		if latest := v.latest.Load(); latest >= s.first || v.latest.CompareAndSwap(latest, s.first) {
			break
		}
	}
	if s.reach < anywhere {
		v.chancy.Store(true)
	}
	of.count.Add(1)
	v.count.Add(1)
}

var percentEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

// forms returns the notations of a value: unchanged, in a JSON string inside another
// string, and in a URL.
func forms(text string) []string {
	inner := func(quoted []byte) string { return string(quoted[1 : len(quoted)-1]) }
	out := []string{text, inner(rawjson.Quoted(text))}
	if quoted, err := json.Marshal(text); err == nil {
		out = append(out, inner(quoted))
	}
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text)} {
		out = append(out, escaped, percentEscape.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// find searches for secrets at text[i:]. It returns the longest one to redact, and one
// that occurs there but is not redacted.
func (s *sweep) find(text []byte, i int, least reach) (out *secret, end int, stands *secret) {
	consider := func(list *[]pattern) {
		if list == nil {
			return
		}
		for _, p := range *list {
			to := i + len(p.text)
			of := p.secret.server
			if to > len(text) || string(text[i:to]) != p.text ||
				of != "" && of != s.server && utf8.RuneCountInString(p.secret.text) < LeastElsewhere {
				continue
			}
			before, _ := utf8.DecodeLastRune(text[:i])
			after, _ := utf8.DecodeRune(text[to:])
			alone := !isWord(before) && !isWord(after)
			switch r := p.secret.reach; {
			case r < asWord && !alone: // part of a word: a chance occurrence
			case p.secret.first > s.upto || r < least || r < anywhere && (r < asWord || !alone):
				stands = p.secret
			case to > end:
				out, end = p.secret, to
			}
		}
	}
	if i+wordLength <= len(text) {
		consider(s.r.values.longAt(text[i:]).Load())
	}
	if s.stands != nil {
		consider(s.r.values.short[text[i]].Load())
	}
	return out, end, stands
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
