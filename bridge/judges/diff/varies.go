package diff

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/base/alike"
	"elicitation-inspector/bridge/base/rawjson"
)

// roles are the names of members whose values are made anew in each session: ids, states, tokens and
// cursors of the protocol.
var roles = []string{
	"requestState", "elicitationId", "taskId", "sessionId", "progressToken", "cursor", "nextCursor", "subscriptionId",
	"createdAt", "lastUpdatedAt", "lastModified", "timestamp",
}

// times matches times of day, and dates with one: RFC 3339, RFC 9110, ctime, as Go and JavaScript print
// them. A date without a time of day is not matched: people choose dates, so that another one is a difference.
var times = sync.OnceValue(func() *regexp.Regexp { // with fewer than 500 instructions, for which Go has a faster engine
	const clock = `\d\d?:\d\d:\d\d(?:[.,]\d+)?(?:[ \x{a0}\x{202f}]?[AaPp]\.?[Mm]\b)?(?: ?(?:Z|GMT|UTC|CES?T|[ECMP][SD]T|[+-]\d\d:?\d\d)\b){0,2}`
	const month = `(?:[MTWFS][a-z]{2,8},? +)?(?:\d\d? +)?[JFMASOND][aepuco][nbrylgptvc][a-z]*`
	return regexp.MustCompile(strings.Join([]string{
		`\b` + month + ` +\d{1,2} ` + clock + ` \d{4}\b`,
		`\b(?:(?:\d{4}[-/]\d\d[-/]\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}|` + month + `(?: +\d{1,2},?)?(?: +\d{4})?)(?:T|,? |,? at ))?` + clock + `(?: \([\pL ]+ Time\)| m=[+-][\d.]+\d)?`,
		`\b\d{4}-\d\d-\d\dT\d\d:\d\d(?:Z|[+-]\d\d:\d\d)`,
	}, "|"))
})

// shapes matches what else is made anew in each run, wherever it stands in a text: UUIDs, ULIDs and long
// hexadecimal numbers; the port of an address on this machine; long tokens, which have letters of both
// cases and digits.
var shapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`,
		`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`,
		`\b[0-9a-f]{16,}\b`, `\b[0-9A-F]{16,}\b`,
		`\b(?:localhost|127\.0\.0\.1|\[::1\]):\d{2,5}\b`,
		`\b[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]{8,})*\b`,
	}, "|"))
})

// mask stands for what is made anew in each run.
const mask = "\x00"

// masked returns a text without what is made anew in each run.
func masked(text string) string {
	row := 0
	for i := range min(len(text), textMost) {
		switch c := text[i]; {
		case c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
			if row++; row == 16 {
				return withoutShapes(text)
			}
		case c == ':' && i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9' && (i == 0 || text[i-1] != '"'):
			return withoutShapes(text)
		default:
			row = 0
		}
	}
	return text // each shape has such a row, or a colon before a digit
}

func withoutShapes(text string) string {
	if len(text) > textMost {
		return text
	}
	if strings.Contains(text, ":") {
		text = times().ReplaceAllString(text, mask)
	}
	return shapes().ReplaceAllStringFunc(text, func(found string) string {
		if isWord(found) {
			return found
		}
		return mask
	})
}

// textMost bounds the texts that are searched for what varies, in bytes.
const textMost = 256 << 10

// isWord reports whether what looks like a token is a word or a name of a program: without a digit,
// or without letters of both cases.
func isWord(token string) bool {
	if strings.ContainsAny(token, ":") || strings.Count(token, "-") == 4 && len(token) == 36 {
		return false
	}
	digit := strings.ContainsAny(token, "0123456789")
	small, large := strings.ToUpper(token) != token, strings.ToLower(token) != token
	hexadecimal := digit && strings.Trim(strings.ToLower(token), "0123456789abcdef") == ""
	ulid := len(token) == 26 && !small && digit
	return !(digit && small && large || hexadecimal || ulid)
}

// Varying is a place where two recordings of the same build differ, so that other values are no
// difference there.
type Varying struct {
	Tool    string // name of a tool or prompt, or a URI; "" for all
	Part    string // arguments, message, url, params, schema, answer, result, error, notification, or a list's method
	Pointer string // JSON pointer into the part, in which * stands for any one step
	Like    *like  // what both values are like; nil for any values
	Why     string // for those who read the file
}

func (v *Varying) fits(tool, part, pointer string, old, now json.RawMessage) bool {
	if v.Tool != "" && v.Tool != tool || v.Part != part {
		return false
	}
	want, got := strings.Split(v.Pointer, "/"), strings.Split(pointer, "/")
	if !slices.EqualFunc(want, got, func(a, b string) bool { return a == "*" || a == b }) {
		return false
	}
	return v.Like == nil || v.Like.Matches(rawjson.Text(old)) && v.Like.Matches(rawjson.Text(now))
}

// same reports whether two values at a place are the same, although the run is another one. What was
// made anew is carried: what has the new value where the old conversation has the old one is the
// same from then on.
func (c *comparison) same(part, pointer string, old, now json.RawMessage) bool {
	if bytes.Equal(old, now) && (old == nil) == (now == nil) || old != nil && now != nil && rawjson.Same(old, now) {
		return true
	}
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	if old != nil && now != nil && (slices.Contains(roles, name) || c.sameValue(name, old, now)) {
		c.value(rawjson.Text(old), rawjson.Text(now))
		return true
	}
	for i := range c.Varies {
		if c.Varies[i].fits(c.at.tool, part, pointer, old, now) {
			c.words(rawjson.Text(old), rawjson.Text(now))
			return true
		}
	}
	return false
}

func (c *comparison) sameValue(name string, old, now json.RawMessage) bool {
	kind := rawjson.KindOf(old)
	if kind != rawjson.KindOf(now) || kind == rawjson.Object || kind == rawjson.Array {
		return false
	}
	if kind == rawjson.String {
		a, b := rawjson.Text(old), rawjson.Text(now)
		if alike.IsContainer(a) && alike.IsContainer(b) {
			return len(c.differ("", "", json.RawMessage(a), json.RawMessage(b))) == 0
		}
		return c.sameText(a, b)
	}
	return timed(name, old, now)
}

// timed reports whether two values of a member differ only in durations and times, as their units
// or the member's name tell.
func timed(name string, old, now json.RawMessage) bool {
	if name == "" {
		name = "value"
	}
	var a, b rawjson.ObjectWriter
	a.Add(name, old)
	b.Add(name, now)
	return alike.Comparison{Base: a.JSON()}.Of(b.JSON()) != alike.Different
}

// sameText is same for texts.
func (c *comparison) sameText(old, now string) bool {
	if masked(old) == masked(now) {
		c.words(old, now)
		return true
	}
	moved := c.live(old)
	return moved == now || masked(moved) == masked(now) || timed("", rawjson.Quoted(masked(moved)), rawjson.Quoted(masked(now)))
}

// differencesMost bounds the differences of two values that are listed one by one.
const differencesMost = 50

// differ lists the differences of two JSON values, except for those that are none from run to run,
// and for _meta.
func (c *comparison) differ(part, pointer string, old, now json.RawMessage) (out []rawjson.Difference) {
	if bytes.Equal(old, now) {
		return nil
	}
	list, _, err := rawjson.Diff(old, now, 100*differencesMost)
	if err != nil { // one of them is no JSON
		return []rawjson.Difference{{Op: rawjson.Changed, Before: old, After: now}}
	}
	for _, d := range list {
		d.Pointer = pointer + d.Pointer
		switch {
		case d.Op == rawjson.Rewritten, strings.Contains(d.Pointer+"/", "/_meta/"), c.same(part, d.Pointer, d.Before, d.After):
		case len(out) < differencesMost:
			out = append(out, d)
		}
	}
	return out
}

// values finds a difference for each place in which two JSON values differ, where what names the
// value in the sentence.
func (c *comparison) values(k *Kind, part string, old, now json.RawMessage, what string) {
	if old == nil || now == nil {
		if !c.same(part, "", old, now) {
			c.part(k, part, "", old, now, "%s %s", what, Became(old, now))
		}
		return
	}
	for _, d := range c.differ(part, "", old, now) {
		at := ""
		if d.Pointer != "" {
			at = " at " + d.Pointer
		}
		c.part(k, part, d.Pointer, d.Before, d.After, "%s%s %s", what, at, Became(d.Before, d.After))
	}
}
