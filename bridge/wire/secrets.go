package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
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

// vault holds the secrets that are known. It only grows, and is safe for
// concurrent use without a lock of its own: it is asked while the log is locked.
type vault struct {
	known  sync.Map                       // text to *secret
	long   sync.Map                       // the first four bytes to *[]pattern
	begins [1 << 10]atomic.Uint64         // a bit for each two bytes that patterns in long begin with
	short  [256]atomic.Pointer[[]pattern] // shorter patterns, by their first byte
	count  atomic.Int64
	bytes  atomic.Int64
	latest atomic.Int64 // the last frame that made a value known
	chancy atomic.Bool  // some stand elsewhere by chance, and stay there
	missed atomic.Int64 // values that were too many or too long to be kept
}

func (v *vault) empty() bool { return v == nil || v.count.Load() == 0 }

// add makes a value known. Values that say nothing are passed over.
func (v *vault) add(s secret) {
	switch s.text {
	case "", "true", "false", "null", redacted:
		return
	}
	if old, ok := v.known.Load(s.text); ok && old.(*secret).reach >= s.reach {
		return
	}
	if len(s.text) > maxSecret || v.count.Load() >= maxSecrets || v.bytes.Load() >= maxSecretBytes {
		v.missed.Add(1)
		return
	}
	if old, ok := v.known.Swap(s.text, &s); ok && old.(*secret).first < s.first {
		s.first = old.(*secret).first
	}
	for _, form := range forms(s.text) {
		v.bytes.Add(int64(len(form)))
		if len(form) < wordLength {
			push(func() *[]pattern { return v.short[form[0]].Load() }, v.short[form[0]].CompareAndSwap, pattern{form, &s})
			continue
		}
		key := [4]byte([]byte(form))
		if _, ok := v.long.Load(key); !ok {
			v.long.LoadOrStore(key, new([]pattern))
		}
		push(func() *[]pattern { p, _ := v.long.Load(key); return p.(*[]pattern) },
			func(old, new *[]pattern) bool { return v.long.CompareAndSwap(key, old, new) }, pattern{form, &s})
		two := uint16(form[0])<<8 | uint16(form[1])
		v.begins[two/64].Or(1 << (two % 64))
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

// push adds a pattern to a list that others read and add to meanwhile.
func push(load func() *[]pattern, swap func(old, new *[]pattern) bool, p pattern) {
	for {
		old := load()
		list := []pattern{p}
		if old != nil {
			list = append(list, *old...)
		}
		if swap(old, &list) {
			return
		}
	}
}

// forms are the ways in which a value is written: as it is, in a JSON string
// that stands in another string, and in a URL.
func forms(text string) []string {
	out := []string{text}
	add := func(form string) {
		for _, have := range out {
			if have == form {
				return
			}
		}
		out = append(out, form)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) == nil {
		add(strings.Trim(b.String(), "\n")[1 : b.Len()-2])
	}
	if quoted, err := json.Marshal(text); err == nil {
		add(string(quoted[1 : len(quoted)-1]))
	}
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text)} {
		add(escaped)
		add(lowerEscapes(escaped))
	}
	return out
}

// lowerEscapes writes percent escapes with small letters.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = lower(b[i+1]), lower(b[i+2])
			i += 2
		}
	}
	return string(b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'F' {
		return c + 'a' - 'A'
	}
	return c
}

// at finds the secrets that begin at text[i]: the longest that is left out there,
// and else one that still stands there.
func (v *vault) at(text []byte, i int, how sweep, least reach) (out *secret, end int, stands *secret) {
	consider := func(list []pattern) {
		for _, p := range list {
			if len(p.text) > len(text)-i || string(text[i:i+len(p.text)]) != p.text {
				continue
			}
			to := i + len(p.text)
			alone := isAlone(text, i, to)
			r := p.secret.reach
			switch {
			case r < asWord && !alone: // by chance
			case p.secret.first <= how.upto && r >= least && (r == anywhere || r == asWord && alone):
				if to > end {
					out, end = p.secret, to
				}
			default:
				stands = p.secret
			}
		}
	}
	if i+wordLength <= len(text) {
		two := uint16(text[i])<<8 | uint16(text[i+1])
		if v.begins[two/64].Load()>>(two%64)&1 != 0 {
			if list, ok := v.long.Load([4]byte(text[i:])); ok {
				consider(*list.(*[]pattern))
			}
		}
	}
	if how.stands != nil {
		if list := v.short[text[i]].Load(); list != nil {
			consider(*list)
		}
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

// sweep says how texts are gone through.
type sweep struct {
	vault  *vault
	upto   int64         // only what is known by this frame is left out
	stands func(*secret) // is told of what still stands; may be nil
	urls   bool          // values in the queries of URLs are left out too
}

// span is a part of a text that is left out.
type span struct{ from, to int }

// spans lists the parts of text that are left out, from left to right.
func (s sweep) spans(text []byte, least reach) []span {
	if len(text) == 0 {
		return nil
	}
	if v, ok := s.vault.known.Load(string(text)); ok {
		if v := v.(*secret); v.first <= s.upto && v.reach >= least {
			return []span{{0, len(text)}}
		}
	}
	var out []span
	for i := 0; i < len(text); {
		found, end, stands := s.vault.at(text, i, s, least)
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

// text returns b, which is no JSON, without the secrets, and whether there were any.
func (s sweep) text(b []byte) ([]byte, bool) {
	changed := false
	if s.urls {
		if t, found := withoutQueries(string(b)); found {
			b, changed = []byte(t), true
		}
	}
	if s.vault.empty() {
		return b, changed
	}
	spans := s.spans(b, asWhole)
	if len(spans) == 0 {
		return b, changed
	}
	return cutOut(b, spans), true
}

// cutOut puts what stands for a secret in place of each span.
func cutOut(b []byte, spans []span) []byte {
	out := make([]byte, 0, len(b)+len(spans)*len(redacted))
	at := 0
	for _, part := range spans {
		out = append(append(out, b[at:part.from]...), redacted...)
		at = part.to
	}
	return append(out, b[at:]...)
}

// protocolMembers are those whose values say what a message is. A value that may
// stand there by chance stays in them.
var protocolMembers = map[string]bool{
	"jsonrpc": true, "id": true, "method": true, "resultType": true, "protocolVersion": true,
	"action": true, "mode": true, "type": true, "role": true,
}

// json returns b, which begins like JSON, without the secrets in its strings and
// numbers, and whether there were any. It may be cut off, or end as something else.
func (s sweep) json(b []byte) ([]byte, bool) {
	if s.vault.empty() && !s.urls {
		return b, false
	}
	var out []byte
	at := 0
	put := func(from, to int, with []byte) {
		out = append(append(out, b[at:from]...), with...)
		at = to
	}
	member := ""
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			from, end, ended := i+1, endOfString(b, i), true
			to := end - 1
			if end < 0 {
				end, to, ended = len(b), len(b), false
			}
			name := ended && isName(b, end)
			least := asWhole
			if name || protocolMembers[member] {
				least = anywhere
			}
			if with, found := s.quoted(b[from:to], least); found {
				put(from, to, with)
			}
			if i = end; name {
				member = rawjson.Unescape(b[from:to])
			}
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(b) && strings.IndexByte("0123456789+-.eE", b[end]) >= 0 {
				end++
			}
			if s.number(b[i:end], protocolMembers[member]) {
				put(i, end, []byte(`"`+redacted+`"`))
			}
			i = end
		default:
			i++
		}
	}
	if at == 0 {
		return b, false
	}
	return append(out, b[at:]...), true
}

// endOfString is the index past the string that begins at i, -1 if it does not end.
func endOfString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// isName reports whether the string that ends at i is the name of a member.
func isName(b []byte, i int) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b[i:], " \t\r\n"), []byte(":"))
}

// number reports whether a number is left out.
func (s sweep) number(digits []byte, protocol bool) bool {
	v, ok := s.vault.known.Load(string(digits))
	if !ok {
		return len(sweep{vault: s.vault, upto: s.upto}.spans(digits, anywhere)) > 0
	}
	value := v.(*secret)
	if value.first <= s.upto && (value.reach == anywhere || value.reach == asWord && !protocol) {
		return true
	}
	if s.stands != nil && !protocol {
		s.stands(value)
	}
	return false
}

// quoted returns what stands between the quotes of a JSON string without the
// secrets, and whether there were any.
func (s sweep) quoted(in []byte, least reach) ([]byte, bool) {
	if bytes.IndexByte(in, '\\') < 0 {
		changed := false
		if s.urls {
			if t, found := withoutQueries(string(in)); found {
				in, changed = []byte(t), true
			}
		}
		spans := s.spans(in, least)
		if len(spans) == 0 {
			return in, changed
		}
		return cutOut(in, spans), true
	}
	decoded, offsets := unescape(in)
	if s.urls {
		if t, found := withoutQueries(string(decoded)); found {
			quoted := rawjson.AppendQuoted(nil, []byte(t))
			in, _ = s.quoted(quoted[1:len(quoted)-1], least)
			return in, true
		}
	}
	spans := s.spans(decoded, least)
	for i := range spans {
		spans[i] = span{offsets[spans[i].from], offsets[spans[i].to]}
	}
	if len(spans) == 0 {
		return in, false
	}
	return cutOut(in, spans), true
}

// unescape decodes what stands between the quotes of a JSON string. offsets says
// for each byte of the text, and for its end, where in the string it comes from.
func unescape(in []byte) (decoded []byte, offsets []int) {
	for i := 0; i < len(in); {
		n := 1
		part := in[i : i+1]
		if in[i] == '\\' {
			n = min(2, len(in)-i)
			if n == 2 && in[i+1] == 'u' {
				n = min(6, len(in)-i)
				// The two halves of a character outside the basic plane.
				if n == 6 && i+12 <= len(in) && in[i+2]|0x20 == 'd' && in[i+6] == '\\' && in[i+7] == 'u' && in[i+8]|0x20 == 'd' {
					n = 12
				}
			}
			part = []byte(rawjson.Unescape(in[i : i+n]))
		}
		for range part {
			offsets = append(offsets, i)
		}
		decoded = append(decoded, part...)
		i += n
	}
	return decoded, append(offsets, len(in))
}
