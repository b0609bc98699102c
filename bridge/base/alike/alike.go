// Package alike says whether two answers of a server are the same, although times, ids and counters differ in them from
// run to run.
package alike

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
)

// Likeness is how an answer relates to the base of a [Comparison].
type Likeness int

const (
	Different Likeness = iota
	Same               // but for what varies
	Telling            // the same, but for a value of a telling [Change]: the server used what it was given
)

// Change is a value that the base's run gave to the server, and what the other run gave in its place. An answer that has
// the new value where the base has the old one is still the same.
type Change struct {
	Old, New json.RawMessage // New is nil if nothing was given
	Any      bool            // any text may stand in place of Old
	Telling  bool            // where the new value stands, the server used it
}

// Comparison compares answers with one, the base.
//
// A server seldom answers twice with the same bytes: it prints the time, how long it took, an id, how many calls there
// were. So two runs of the same call are no two answers because of that. But whoever ignores all numbers does not see
// that 0 files were deleted in place of 3. Therefore only this may differ:
//
//   - words in which Again differs from the base: what varied once will vary. A counter may change to another number,
//     but not to none, and an id to another word with a digit. If every text of Again differs in more than single
//     words, nobody knows what varies in it, and another text is another answer.
//   - durations and times, which units and names tell even if they were the same each time, unless they were Sent.
//   - values that the run was given, by Changes, as programs print them.
//   - _meta and resultType, in which revisions differ.
//
// Texts that are JSON are compared as JSON.
type Comparison struct {
	Base    json.RawMessage
	Again   []json.RawMessage // answers of other runs that were given the same as the base's
	Sent    []string          // texts and numbers that the base's run gave: those do not vary by themselves
	Changes []Change
	Blank   []string // what programs print where a value was not given: Undefined, or Blanks
	Loose   bool     // all words and numbers with a digit may differ

	told bool // the answer has a value of a telling change
}

// Texts that programs print for a missing value. Those of Undefined are not words of any language.
var (
	Undefined = []string{"undefined", "<nil>", "%!s(<nil>)", "%!v(<nil>)", "%!d(<nil>)", "<no value>", "NaN"}
	Blanks    = append(slices.Clone(Undefined), "null", "None", "nil", "")
)

// comparedMost is the largest total length in bytes of two texts that are compared word by
// word.
const comparedMost = 64 << 10

// Of returns how an answer relates to the base.
func (c Comparison) Of(got json.RawMessage) Likeness {
	switch {
	case !c.value(c.Base, c.Again, got):
		return Different
	case c.told:
		return Telling
	}
	return Same
}

// value reports whether two JSON values have only expected differences.
func (c *Comparison) value(honest json.RawMessage, again []json.RawMessage, got json.RawMessage) bool {
	list, total, err := rawjson.Diff(honest, got, 200)
	if err != nil || total > len(list) {
		return false
	}
	for _, d := range list {
		if !c.expected(d, honest, again, got) {
			return false
		}
	}
	return true
}

func (c *Comparison) expected(d rawjson.Difference, honest json.RawMessage, again []json.RawMessage, got json.RawMessage) bool {
	if d.Op == rawjson.Rewritten || strings.Contains(d.Pointer+"/", "/_meta/") || d.Pointer == "/resultType" { // of another revision
		return true
	}
	for at := d.Pointer; ; at = at[:strings.LastIndexByte(at, '/')] {
		if c.replaced(rawjson.At(honest, at), rawjson.At(got, at)) {
			return true
		}
		if at == "" {
			break
		}
	}
	if d.Op != rawjson.Changed {
		return false
	}
	before, after := rawjson.KindOf(d.Before), rawjson.KindOf(d.After)
	var then []string // what the other calls have there
	varies, zero := false, isZero(string(d.Before))
	for _, other := range again {
		if value := rawjson.At(other, d.Pointer); rawjson.KindOf(value) == before {
			then = append(then, rawjson.Text(value))
			varies, zero = varies || !rawjson.Same(value, d.Before), zero || isZero(string(value))
		}
	}
	timed := timeName().MatchString(d.Pointer) && !slices.Contains(c.Sent, strings.Trim(string(d.Before), `"`))
	switch {
	case before == rawjson.String && after == rawjson.String:
		return timed && hasNumber(rawjson.Text(d.Before)) && hasNumber(rawjson.Text(d.After)) || c.text(rawjson.Text(d.Before), then, rawjson.Text(d.After))
	case before != after || before == rawjson.Object || before == rawjson.Array:
		return false
	case before == rawjson.Number:
		return c.Loose || timed || varies && (zero || !isZero(string(d.After))) // none is another thing than some
	}
	return varies
}

// timeName matches the pointer to a member that is a time by its name.
var timeName = lazy.Regexp(`(?i)(?:[/_-](?:ms|us|ns|at)|Ms|At|duration|elapsed|latency|took|millis|timestamp|time|seconds|dauer|zeit)(?:_?(?:ms|s|us|ns|seconds|millis|stamp))?(?:/\d+)?$`)

func isZero(number string) bool { return strings.Trim(number, "0.,") == "" }

func hasNumber(text string) bool { return strings.ContainsFunc(text, unicode.IsNumber) }

// replaced reports whether the result has a value that the trial sent where the honest
// result has the value that the honest call sent.
func (c *Comparison) replaced(old, new json.RawMessage) bool {
	for _, change := range c.Changes {
		if old == nil || !rawjson.Same(change.Old, old) {
			continue
		}
		fits := false
		switch {
		case change.Any:
			fits = new != nil
		case change.New == nil && rawjson.KindOf(new) == rawjson.String:
			fits = slices.Contains(c.Blank, rawjson.Text(new))
		case change.New == nil:
			fits = (new == nil || rawjson.KindOf(new) == rawjson.Null) && slices.Contains(c.Blank, "null")
		default:
			fits = new != nil && rawjson.Same(change.New, new)
		}
		if fits {
			c.told = c.told || change.Telling
			return true
		}
	}
	return false
}

// text reports whether two texts have only expected differences. It compares texts that
// are JSON objects or arrays as JSON.
func (c *Comparison) text(honest string, again []string, got string) bool {
	if IsContainer(honest) && IsContainer(got) {
		var others []json.RawMessage
		for _, other := range again {
			if IsContainer(other) {
				others = append(others, json.RawMessage(other))
			}
		}
		return c.value(json.RawMessage(honest), others, json.RawMessage(got))
	}
	if len(honest)+len(got) > comparedMost {
		return false
	}
	volatile, aligned := volatileSpans(honest, again, c.Loose)
	if !aligned {
		return false
	}
	spans := slices.Concat(volatile, c.timeSpans(honest), c.valueSpans(honest))
	pattern, err := regexp.Compile(`(?s)\A` + expression(honest, spans) + `\z`)
	if err != nil {
		return false
	}
	found := pattern.FindStringSubmatchIndex(got)
	for i := 2; i < len(found); i += 2 {
		c.told = c.told || found[i] >= 0
	}
	return found != nil
}

// IsContainer reports whether a text is a JSON object or array.
func IsContainer(text string) bool {
	kind := rawjson.KindOf([]byte(text))
	return (kind == rawjson.Object || kind == rawjson.Array) && rawjson.Valid([]byte(text))
}

// span is a part of a text, with the regular expression for what may replace it. If a
// replacement shows that the server used a value, the expression captures it.
type span struct {
	from, to   int
	expression string
}

// expression returns the regular expression for a text with its spans replaced. Of
// overlapping spans it takes the first, and the longest of those that begin together.
func expression(text string, spans []span) string {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.from < at {
			continue
		}
		out.WriteString(regexp.QuoteMeta(text[at:s.from]))
		out.WriteString(s.expression)
		at = s.to
	}
	out.WriteString(regexp.QuoteMeta(text[at:]))
	return out.String()
}

// word matches one word. Times, ids and paths are one word each.
const word = `[\pL\pN]+(?:[-:./_+][\pL\pN]+)*`

var token = lazy.Regexp(word + `|[^\pL\pN]`)

// Replacements of words that vary: of any kind, with a digit, and numbers that are not zero.
const (
	numbered = `(?:[\pL\pN]+[-:./_+])*[\pL\pN]*\pN[\pL\pN]*(?:[-:./_+][\pL\pN]+)*`
	nonzero  = `[\pN.,]*[1-9][\pN.,]*`
)

var plainNumber = lazy.Regexp(`^\pN+(?:[.,]\pN+)*$`)

// volatileSpans returns the words of a text that differ in another run, and in a loose
// comparison also those with a digit. aligned is false if the texts differ in more than
// single words.
func volatileSpans(text string, again []string, loose bool) (spans []span, aligned bool) {
	words := token().FindAllString(text, -1)
	seen := make([][]string, len(words)) // what stands in the place of each word
	for _, other := range again {
		others := token().FindAllString(other, -1)
		fits := len(words) == len(others)
		for i := 0; fits && i < len(words); i++ {
			fits = words[i] == others[i] || isWord(words[i]) && isWord(others[i])
		}
		if !fits {
			continue
		}
		aligned = true
		for i := range words {
			if seen[i] = append(seen[i], words[i]); others[i] != words[i] {
				seen[i] = append(seen[i], others[i])
			}
		}
	}
	at := 0
	for i, one := range words {
		s := span{at, at + len(one), word}
		differs := slices.ContainsFunc(seen[i], func(other string) bool { return other != one })
		every := func(is func(string) bool) bool {
			return !slices.ContainsFunc(seen[i], func(other string) bool { return !is(other) })
		}
		switch at += len(one); {
		case loose && hasNumber(one):
		case !differs:
			continue
		case every(func(other string) bool { return plainNumber().MatchString(other) && !isZero(other) }):
			s.expression = nonzero // none is another thing than some
		case every(hasNumber):
			s.expression = numbered
		}
		spans = append(spans, s)
	}
	return spans, aligned || len(again) == 0
}

// durations matches numbers that say how long something took, by the unit after them or by
// the name before them.
var durations = sync.OnceValue(func() []*regexp.Regexp {
	const number = `(\pN+(?:[.,:]\pN+)*)`
	return []*regexp.Regexp{
		regexp.MustCompile(number + `[ \x{a0}]?(?:ms|µs|μs|us|ns|s|msecs?|secs?|milliseconds?|seconds?|Millisekunden?|Sekunden?|millisecondes?|secondes?|ミリ秒|秒)(?:[^\pL\pN]|$)`),
		regexp.MustCompile(`(?i)(?:took|elapsed|duration|latency|time|millis|[\pL]_ms|dauer)["']?\s*[:=]\s*["']?` + number),
	}
})

// timeSpans returns the numbers of a text that say how long something took.
func (c *Comparison) timeSpans(text string) (spans []span) {
	for _, pattern := range durations() {
		for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
			if !slices.Contains(c.Sent, text[at[2]:at[3]]) {
				spans = append(spans, span{at[2], at[3], `\pN+(?:[.,:]\pN+)*`})
			}
		}
	}
	return spans
}

func isWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// valueSpans returns the positions of the honest calls' values in a text. At each of them
// the old value and the new one are expected.
func (c *Comparison) valueSpans(text string) (spans []span) {
	for _, change := range c.Changes {
		olds := Forms(change.Old)
		news := c.Blank
		if change.New != nil {
			news = Forms(change.New)
		}
		var alternatives []string
		for _, form := range news {
			if !slices.Contains(olds, form) {
				alternatives = append(alternatives, regexp.QuoteMeta(form))
			}
		}
		if change.Any {
			alternatives = []string{`.{0,200}`}
		}
		group := `(?:`
		if change.Telling {
			group = `(`
		}
		for _, old := range olds {
			for _, at := range occurrences(text, old) {
				s := span{from: at, to: at + len(old)}
				quoted := s.quoted(text)
				literal := regexp.QuoteMeta(text[s.from:s.to])
				switch {
				case len(alternatives) == 0:
					continue
				case quoted: // a value of another type may be printed without quotation marks
					s.expression = `(?:` + literal + `|["'` + "`" + `“]?` + group + strings.Join(alternatives, "|") + `)["'` + "`" + `”]?)`
				default:
					s.expression = `(?:` + literal + `|` + group + strings.Join(alternatives, "|") + `))`
				}
				spans = append(spans, s)
			}
		}
	}
	return spans
}

// quoted extends the span over the quotation marks around it, and reports whether there
// are any.
func (s *span) quoted(text string) bool {
	for _, marks := range [][2]string{{`"`, `"`}, {`'`, `'`}, {"`", "`"}, {"“", "”"}} {
		if strings.HasSuffix(text[:s.from], marks[0]) && strings.HasPrefix(text[s.to:], marks[1]) {
			s.from -= len(marks[0])
			s.to += len(marks[1])
			return true
		}
	}
	return false
}

// Shows reports whether a text has a value that is no part of a longer word.
func Shows(text, value string) bool { return len(occurrences(text, value)) > 0 }

// occurrences returns the positions of a value in a text, except inside longer words.
func occurrences(text, value string) (list []int) {
	for at := 0; value != ""; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			break
		}
		from, to := at+i, at+i+len(value)
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[to:])
		if !joins(before, value[:1]) && !joins(after, value[len(value)-1:]) {
			list = append(list, from)
		}
		at = to
	}
	return list
}

// joins reports whether a character next to the edge of a value would be part of the same
// word.
func joins(r rune, edge string) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && (edge[0] >= utf8.RuneSelf || isWord(edge))
}

// Forms lists the texts that programs print for a value, longest first.
func Forms(value json.RawMessage) (list []string) {
	compact := string(rawjson.AppendCompact(nil, value))
	switch rawjson.KindOf(value) {
	case rawjson.String:
		list = []string{rawjson.Text(value)}
		if inner := compact[1 : len(compact)-1]; inner != list[0] {
			list = append(list, inner) // with its JSON escapes
		}
		for _, other := range []string{strings.ToUpper(list[0]), strings.ToLower(list[0])} {
			if !slices.Contains(list, other) {
				list = append(list, other)
			}
		}
	case rawjson.Boolean:
		list = []string{compact, strings.ToUpper(compact[:1]) + compact[1:]}
	case rawjson.Null:
		list = Blanks
	case rawjson.Array:
		var elements []string
		for _, e := range rawjson.Elements(value) {
			elements = append(elements, Forms(e)[0])
		}
		list = []string{compact, strings.Join(elements, ", "), strings.Join(elements, ","), "[" + strings.Join(elements, " ") + "]"}
		if len(elements) > 0 {
			list = append(list, "['"+strings.Join(elements, "', '")+"']")
		}
	case rawjson.Object:
		list = []string{compact, "[object Object]"}
		if compact == "{}" {
			list = append(list, "map[]")
		}
	default:
		list = []string{compact}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}
