package elicit

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/wording"
)

// MadeUpEmail is the address in made-up content. No server is likely to have it from
// elsewhere.
const MadeUpEmail = "made.up.4711@example.com"

// format checks, explains and exemplifies the values of one "format" keyword.
type format struct {
	check   func(string) error // says what is wrong, in words that fit after a colon; nil if the validator knows the format
	noun    string             // what "Not" is said of
	hint    string             // how it is entered
	example string
}

// formats are those of the specification, "time", which is a part of date-time, and others with
// an example.
var formats = map[string]format{
	"email":     {checkEmail, "an email address", "an email address", MadeUpEmail},
	"uri":       {CheckURI, "a URI", "a URI with its scheme", "https://example.com/"},
	"date":      {checkDate, "a date", "a date, like 2026-08-01", "2026-01-31"},
	"time":      {check: checkTime, noun: "a time", example: "12:00:00Z"},
	"date-time": {checkDateTime, "a date and time", "RFC 3339 with an offset, like 2026-08-01T09:30:00+02:00", "2026-01-31T12:00:00Z"},
	"hostname":  {example: "example.com"},
	"uuid":      {example: "123e4567-e89b-42d3-a456-426614174000"},
	"ipv4":      {example: "192.0.2.1"}, "ipv6": {example: "2001:db8::1"},
}

// localPart matches an email address before its @ (atoms or a quoted string), and domain
// matches a domain name after it.
var (
	localPart = lazy.Regexp(`^(?:` + atom + `(?:\.` + atom + `)*|"(?:[ !#-\[\]-~]|\\[ -~])*")$`)
	domain    = lazy.Regexp(`^` + label + `(?:\.` + label + `)*$`)
)

const (
	atom  = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
	label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
)

// checkEmail checks a Mailbox by RFC 5321, section 4.1.2, with the length limits of section
// 4.5.3.1.
func checkEmail(s string) error {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return errors.New("it has no @")
	}
	local, host := s[:i], s[i+1:]
	literal, isLiteral := strings.CutPrefix(host, "[")
	switch {
	case local == "":
		return errors.New("nothing stands before the @")
	case host == "":
		return errors.New("nothing stands after the @")
	case len(local) > 64:
		return errors.New("more than 64 bytes stand before the @")
	case len(s) > 254:
		return errors.New("it is longer than 254 bytes")
	case !localPart().MatchString(local):
		return fmt.Errorf("%q cannot stand before the @", local)
	case !isLiteral && !domain().MatchString(host), isLiteral && !isAddressLiteral(literal):
		return fmt.Errorf("%q cannot stand after the @", host)
	}
	return nil
}

// isAddressLiteral tells whether the text after a [ is an IP address in the place of a
// domain: 192.0.2.1] or IPv6:2001:db8::1].
func isAddressLiteral(s string) bool {
	s, closed := strings.CutSuffix(s, "]")
	v6, is6 := strings.CutPrefix(s, "IPv6:")
	addr, err := netip.ParseAddr(v6)
	return closed && err == nil && addr.Is4() != is6 && addr.Zone() == ""
}

// uri matches the grammar of RFC 3986, appendix A. Its first group is an IP address in
// brackets.
var uri = sync.OnceValue(func() *regexp.Regexp {
	char := func(more string) string { return "(?:[A-Za-z0-9._~!$&'()*+,;=" + more + "-]|%[0-9A-Fa-f]{2})" }
	const scheme = `[A-Za-z][A-Za-z0-9+.-]*:`
	const address = `\[(?:([0-9A-Fa-f:.]+)|[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]`
	authority := `//(?:` + char(":") + `*@)?(?:` + address + `|` + char("") + `*)(?::[0-9]*)?`
	afterHost := `(?:/` + char(":@/") + `*)?`
	path := `/?(?:` + char(":@") + char(":@/") + `*)?`
	query := char(":@/?") + "*"
	return regexp.MustCompile(`^` + scheme + `(?:` + authority + afterHost + `|` + path + `)(?:\?` + query + `)?(?:#` + query + `)?$`)
})

// scheme matches the scheme at the beginning of a URI.
var scheme = lazy.Regexp(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// FormatCheckedMost is how many bytes of a URI are examined. RFC 9110, section 4.1, recommends
// support for 8,000.
const FormatCheckedMost = 8 << 10

// FormatHead returns the part of a URI that is examined. It breaks no character and no escape.
func FormatHead(s string) string {
	if len(s) <= FormatCheckedMost {
		return s
	}
	s = wording.Head(s, FormatCheckedMost)
	if i := strings.LastIndexByte(s, '%'); i > len(s)-len("%00") {
		return s[:i]
	}
	return s
}

// CheckURI checks an absolute URI by RFC 3986: one with a scheme. Of a long one it checks the
// [FormatHead].
func CheckURI(s string) error {
	s = FormatHead(s)
	if !scheme().MatchString(s) {
		return errors.New("it has no scheme such as https")
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>\"{}|\\^`", r) }); i >= 0 {
		for _, r := range s[i:] {
			return fmt.Errorf("%q cannot stand in it unescaped", r)
		}
	}
	match := uri().FindStringSubmatch(s)
	if match == nil {
		return errors.New("its parts are not put together as RFC 3986 has it")
	}
	if address := match[1]; address != "" {
		if ip, err := netip.ParseAddr(address); err != nil || !ip.Is6() {
			return fmt.Errorf("%q is not an IPv6 address", address)
		}
	}
	return nil
}

// checkDate checks a full-date of RFC 3339, section 5.6.
func checkDate(s string) error {
	_, err := time.Parse(time.DateOnly, s)
	var wrong *time.ParseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && strings.Contains(wrong.Message, "out of range"):
		return fmt.Errorf("there is no %s", s)
	}
	return errors.New("it is not written like 2026-01-31")
}

// checkTime checks a full-time of RFC 3339, section 5.6.
func checkTime(s string) error {
	if !isDateTime("2026-01-31T" + s) {
		return errors.New("it is not written like 09:30:00Z, or there is no such time")
	}
	return nil
}

// checkDateTime checks a date-time of RFC 3339, section 5.6.
func checkDateTime(s string) error {
	if isDateTime(s) {
		return nil
	}
	switch {
	case checkDate(s) == nil:
		return errors.New("the time is missing")
	case isDateTime(s + "Z"):
		return errors.New("the offset from UTC is missing; write Z or one such as +02:00")
	case isDateTime(strings.Replace(s, " ", "T", 1)):
		return errors.New("a T has to stand between the date and the time")
	}
	return errors.New("it is not written like 2026-01-31T09:30:00Z, or there is no such time")
}

var dateTime = lazy.Regexp(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`)

// isDateTime tells whether s is a date-time. T and Z may be lower case. Second 60 is
// allowed only where a leap second can be: at 23:59 UTC.
func isDateTime(s string) bool {
	s = strings.ToUpper(s)
	if !dateTime().MatchString(s) {
		return false
	}
	leap := s[17:19] == "60"
	if leap {
		s = s[:17] + "59" + s[19:]
	}
	t, err := time.Parse(time.RFC3339, s)
	t = t.UTC()
	return err == nil && (!leap || t.Hour() == 23 && t.Minute() == 59)
}

// Bounds on a pattern, and on one match with it. regexp2 checks the time about every 20
// ms, and bounds the memory of a match itself.
const (
	maxPattern = 64 << 10 // bytes
	matchTime  = 100 * time.Millisecond
)

func init() {
	// The default period of 100 ms would let a match run for twice matchTime. The clock
	// runs only while patterns are matched.
	regexp2.SetTimeoutCheckPeriod(20 * time.Millisecond)
}

// errTooLong is the error for a pattern that is too long to compile here, which does not
// make it invalid.
var errTooLong = fmt.Errorf("it is longer than %d bytes", maxPattern)

// CheckPattern returns why a pattern is no valid ECMA-262 regular expression; nil if it
// is valid, or too long to check.
func CheckPattern(pattern string) error {
	if _, err := compilePattern(pattern); err != errTooLong {
		return err
	}
	return nil
}

// compilePattern compiles a pattern with matchTime as its time limit. It tries the u
// flag first, as JSON Schema 2020-12 (core, section 6.4) asks for. It then tries
// without, because common patterns such as [\w-.] are only valid that way, unless the
// pattern has \p or \P, which need the flag.
func compilePattern(pattern string) (*regexp2.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, errTooLong
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil && !strings.Contains(pattern, `\p{`) && !strings.Contains(pattern, `\P{`) {
		re, err = regexp2.Compile(pattern, regexp2.ECMAScript)
	}
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, errors.New(strings.TrimSuffix(text, " in `"+pattern+"`"))
	}
	if group := foreignGroup(pattern); group != "" {
		return nil, fmt.Errorf("%s begins a group of another language", group)
	}
	re.MatchTimeout = matchTime
	return re, nil
}

var (
	literals   = lazy.Regexp(`(?s)\\.|\[(?:\\.|[^\]\\])*\]`)
	groupStart = lazy.Regexp(`\(\?[^)]?`)
	ecmaGroup  = lazy.Regexp(`^\(\?(?:[:=!<]|[ims]*-?[ims]*:)`)
)

// foreignGroup returns the beginning of the first group that regexp2 accepts and
// ECMA-262 does not have, such as (?i) and (?>; "" if the pattern has none.
func foreignGroup(pattern string) string {
	pattern = literals().ReplaceAllString(pattern, "x")
	for _, at := range groupStart().FindAllStringIndex(pattern, -1) {
		if !ecmaGroup().MatchString(pattern[at[0]:]) {
			return pattern[at[0]:at[1]]
		}
	}
	return ""
}
