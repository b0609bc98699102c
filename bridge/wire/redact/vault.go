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

// reach says where a value that is left out is looked for besides the place
// that named it.
type reach uint8

const (
	// asWhole: only where it is all of a string or of a header.
	asWhole reach = iota
	// asWord: also inside text, where no letter and no digit stands beside it.
	asWord
	// anywhere: also inside words, names of members, and what JSON-RPC needs.
	anywhere
)

// Lengths, in characters, from which on a value is looked for as a word and
// anywhere. Shorter ones stand in text by chance.
const (
	wordLength     = 4
	anywhereLength = 8
)

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

// Bounds of the memory that values take: their number, the bytes of all, and of
// one.
const (
	maxSecrets     = 50_000
	maxSecretBytes = 32 << 20
	maxSecret      = 1 << 20
)

// secret is a value that is left out wherever it stands.
type secret struct {
	text  string
	rule  string // what named it
	reach reach
	first int64 // the frame from which it is known, 0 if it was before all
}

// pattern is a form in which a secret is looked for.
type pattern struct {
	text   string
	secret *secret
}

// patterns is a list that is read and added to without a lock.
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

// vault holds the secrets that are known. It only grows, and is safe for
// concurrent use without a lock of its own: it is asked while the log is locked.
type vault struct {
	known  sync.Map                // text to *secret
	long   [1 << longBits]patterns // by their first four bytes; see longAt
	short  [256]patterns           // shorter ones, by their first byte
	count  atomic.Int64
	bytes  atomic.Int64
	latest atomic.Int64 // the last frame that made a value known
	chancy atomic.Bool  // some stand elsewhere by chance, and stay there
	missed atomic.Int64 // values that were too many or too long to be kept
}

const longBits = 12

func (v *vault) longAt(b []byte) *patterns {
	return &v.long[binary.LittleEndian.Uint32(b)*0x9E3779B1>>(32-longBits)]
}

func (v *vault) empty() bool { return v == nil || v.count.Load() == 0 }

// add makes a value known. Values that say nothing are passed over.
func (v *vault) add(s secret) {
	switch s.text {
	case "", "true", "false", "null", Placeholder:
		return
	}
	if old, ok := v.known.Load(s.text); ok && old.(*secret).reach >= s.reach {
		return
	}
	if len(s.text) > maxSecret || v.count.Load() >= maxSecrets || v.bytes.Load() >= maxSecretBytes {
		v.missed.Add(1)
		return
	}
	if old, ok := v.known.Swap(s.text, &s); ok {
		s.first = min(s.first, old.(*secret).first)
	}
	for _, form := range forms(s.text) {
		v.bytes.Add(int64(len(form)))
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
	v.count.Add(1)
}

// percentEscape is how a URL escapes a byte.
var percentEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

// forms are the ways in which a value is written: as it is, in a JSON string
// that stands in another string, and in a URL.
func forms(text string) []string {
	inner := func(quoted []byte) string { return string(quoted[1 : len(quoted)-1]) }
	out := []string{text, inner(rawjson.AppendQuoted(nil, text))}
	if quoted, err := json.Marshal(text); err == nil {
		out = append(out, inner(quoted))
	}
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text)} {
		out = append(out, escaped, percentEscape.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// find finds the secrets that text[i:] begins with: the longest that a sweep
// leaves out there, and else one that still stands there.
func (s *sweep) find(text []byte, i int, least reach) (out *secret, end int, stands *secret) {
	consider := func(list *[]pattern) {
		if list == nil {
			return
		}
		for _, p := range *list {
			to := i + len(p.text)
			if to > len(text) || string(text[i:to]) != p.text {
				continue
			}
			alone := isAlone(text, i, to)
			switch r := p.secret.reach; {
			case r < asWord && !alone: // by chance
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

// isAlone reports whether neither a letter nor a digit stands beside text[from:to].
func isAlone(text []byte, from, to int) bool {
	before, _ := utf8.DecodeLastRune(text[:from])
	after, _ := utf8.DecodeRune(text[to:])
	return !isWord(before) && !isWord(after)
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
