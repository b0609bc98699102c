// Package link says what a person should know about a URL before opening it, from its
// text alone: nothing is looked up or fetched.
package link

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// Severity is the importance of a warning about a URL.
type Severity int

// The severities, from the least.
const (
	Note    Severity = iota // useful to know; nothing is wrong
	Caution                 // look twice
	Danger                  // often a sign of deception
)

// String returns the severity's name.
func (s Severity) String() string { return [...]string{"note", "caution", "danger"}[s] }

// Warning is one fact that a person should know before opening a URL.
type Warning struct {
	ID       string // stable identifier, such as "user-info"
	Severity Severity
	Text     string // one sentence or two, in plain words; never a value from the query
}

// Part is a piece of a URL with its delimiters: scheme, user, subdomain, registered
// domain, port, path, query or fragment.
type Part struct {
	Text   string // exactly as it was sent
	Shown  string // Text, with characters that hide or reorder text written as \u{202E}
	Strong bool   // this part identifies the site and should be emphasised
}

// Verdict is the result of [Judge].
type Verdict struct {
	Raw      string    // the URL as the server sent it
	Parts    []Part    // all of Raw, in order; of a long one the head, see [elicit.FormatHead]
	Openable bool      // Raw is an http or https address that every program parses in the same way
	Warnings []Warning // the most severe first

	Scheme  string // in lower case; "" if there is none
	User    string // user information, with its @; "" if there is none
	Carried Carried
	Host
}

// International tells whether the host's ASCII and Unicode forms differ, so that both
// should be shown.
func (h Host) International() bool { return h.ASCII != h.Unicode }

func (v *Verdict) warn(severity Severity, id, format string, args ...any) {
	v.Warnings = append(v.Warnings, Warning{id, severity, fmt.Sprintf(format, args...)})
}

func (v *Verdict) part(text string, strong bool) {
	if text != "" {
		v.Parts = append(v.Parts, Part{text, reveal(text), strong})
	}
}

// Judge parses a URL as browsers do (the URL Standard), but refuses URLs that browsers
// repair by guessing. Of a URL that is longer than [elicit.FormatCheckedMost], it judges the
// beginning only.
func Judge(raw string) Verdict {
	v := Verdict{Raw: elicit.FormatHead(raw)}
	if why := v.judge(); why != "" {
		v.Parts, v.Host = nil, Host{}
		v.part(v.Raw, false)
		v.warn(Danger, "unreadable", "%s It cannot be opened from here.", why)
	}
	v.judgeText()
	switch length := utf8.RuneCountInString(raw); {
	case len(raw) > elicit.FormatCheckedMost:
		v.Raw, v.Openable = raw, false
		v.warn(Danger, "too-long", "It has %d characters. Only its beginning, of %d bytes, is shown and judged. The rest is too long, so it cannot be opened from here.", length, elicit.FormatCheckedMost)
	case length > maxURL:
		v.warn(Caution, "too-long", "It has %d characters. Some browsers and servers cut an address off after %d.", length, maxURL)
	}
	slices.SortStableFunc(v.Warnings, func(a, b Warning) int { return int(b.Severity - a.Severity) })
	return v
}

// Patterns that split a URL (RFC 3986, appendix B): schemePart into scheme and rest,
// webParts the rest of a web address into user, host, port, path, query and fragment.
var (
	schemePart = regexp.MustCompile(`(?s)^([A-Za-z][A-Za-z0-9+.-]*):(.*)$`)
	webParts   = regexp.MustCompile(`(?s)^//([^/?#]*@)?([^/?#]*?)(:[^]:/?#]*)?(/[^?#]*)?(\?[^#]*)?(#.*)?$`)
)

// judge splits the URL into its parts and warns about them. It returns why the URL
// cannot be read, or "".
func (v *Verdict) judge() (why string) {
	match := schemePart.FindStringSubmatch(v.Raw)
	if match == nil {
		return "It is not a web address: it does not begin with https://."
	}
	scheme, rest := match[1], match[2]
	v.Scheme = strings.ToLower(scheme)
	if v.Scheme != "https" && v.Scheme != "http" {
		v.part(scheme+":", false)
		v.part(rest, false)
		v.warn(Danger, "scheme", "It is not a web address: it begins with %s, and cannot be opened from here.", wording.Quoted(v.Scheme+":"))
		return ""
	}
	parts := webParts.FindStringSubmatch(rest)
	if parts == nil {
		return "It is not a web address: the two slashes after " + v.Scheme + ": are missing."
	}
	user, host, port, path, query, fragment := parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]
	switch {
	case strings.ContainsFunc(v.Raw, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "It contains control characters, which browsers silently remove."
	case strings.Contains(user+host+port, `\`):
		return `It has a \ in it, before its path, which some programs read as / and others do not, so that they end up at different hosts.`
	}
	v.User = user
	if _, err := strconv.ParseUint("0"+strings.TrimPrefix(port, ":"), 10, 16); err != nil {
		return "Its port is not a number from 0 to 65535."
	}
	if v.Host, why = readHost(host); why != "" {
		return why
	}
	v.Openable = true
	sub, domain := cutDomain(host, v.labels)
	v.part(scheme+"://", false)
	v.part(user, false)
	v.part(sub, false)
	v.part(domain, true)
	for _, text := range []string{port, path, query, fragment} {
		v.part(text, false)
	}
	if v.User != "" {
		v.warn(Danger, "user-info", "What stands before the @ is not part of the site's name, though it may look like it. The site is %s.", wording.Quoted(v.Unicode))
	}
	switch {
	case v.Scheme == "http" && v.Loopback:
		v.warn(Note, "http-loopback", "It is not encrypted, but it does not leave this computer.")
	case v.Scheme == "http":
		v.warn(Caution, "not-encrypted", "It is not encrypted: others on the way can read and change what you see and enter.")
	}
	v.judgeHost(host)
	c := carriedIn(path, query, fragment)
	v.Carried = c
	if list := slices.Concat(c.Credentials, c.Sessions, c.PossibleSessions); len(list) > 0 {
		v.warn(Caution, "secret-in-query", "It carries what looks like a secret, in %s. Whoever sees the address can use it, and a server must not send an address that is signed in already.", wording.QuotedSeries(list))
	}
	if list := slices.Concat(c.Personal, c.PossiblyPersonal); len(list) > 0 {
		v.warn(Caution, "personal-data-in-query", "It carries what looks like personal data, in %s, which a server must not put into an address.", wording.QuotedSeries(list))
	}
	return ""
}

// maxURL is the greatest number of characters in an ordinary URL. RFC 9110, section 4.1,
// recommends support for 8,000, but some programs truncate beyond this limit.
const maxURL = 2048

func (v *Verdict) judgeText() {
	var list []string
	for i, r := range v.Raw {
		name := hiddenName(r)
		if (isHidden(r) || isBroken(r, v.Raw[i:])) && len(list) < 5 && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) > 0 {
		v.warn(Danger, "hidden-characters", "It contains characters that cannot be seen, or that change the order in which text is read: %s.", strings.Join(list, ", "))
	}
	if v.Openable && len(list) == 0 && IsASCII(v.Raw) {
		if err := elicit.CheckURI(v.Raw); err != nil {
			v.warn(Note, "not-a-uri", "It is not a valid URI (RFC 3986): %s. Browsers open it all the same.", err)
		}
	}
}

// IsASCII tells whether a text has only ASCII characters.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// isBroken tells whether a rune decoded from the start of text is an invalid UTF-8 byte,
// rather than an encoded U+FFFD.
func isBroken(r rune, text string) bool {
	if r != utf8.RuneError {
		return false
	}
	_, n := utf8.DecodeRuneInString(text)
	return n == 1
}

// isHidden tells whether a character is invisible or changes the order of text. In a URL
// that includes line breaks, tabs, and all white space but the space.
func isHidden(r rune) bool { return wording.IsHidden(r) || r != ' ' && unicode.IsSpace(r) }

func hiddenName(r rune) string {
	name := fmt.Sprintf("U+%04X", r)
	switch {
	case r == utf8.RuneError:
		return "bytes that are no UTF-8"
	case unicode.Is(unicode.Bidi_Control, r):
		return name + " (changes the direction of text)"
	case unicode.Is(unicode.Zs, r):
		return name + " (a kind of space)"
	case unicode.IsControl(r):
		return name + " (a control character)"
	}
	return name + " (cannot be seen)"
}

func reveal(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case isBroken(r, text[i:]):
			fmt.Fprintf(&b, `\x{%02X}`, text[i])
		case isHidden(r):
			fmt.Fprintf(&b, `\u{%04X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// judgeScripts warns about a host with letters outside ASCII.
//
// It detects two kinds of deception: labels that mix scripts, by the script tables of
// Unicode and the combinations that UTS 39 calls highly restrictive; and labels entirely
// of Cyrillic, Greek, Armenian or Cherokee letters that all look like Latin ones, by the
// short table lookAlikes. It does not detect look-alikes within a script (ı and i, rn
// and m, 0 and o, accents), and does not compare with the names of known sites.
func (v *Verdict) judgeScripts() {
	v.warn(Caution, "international-host", "Its host has letters outside of ASCII. It reads %s, and is looked up as %s.", wording.Quoted(v.Unicode), v.ASCII)
	labels := strings.Split(v.Unicode, ".")
	top := scriptsOf(labels[len(labels)-1])
	for _, label := range labels {
		scripts := scriptsOf(label)
		latin, like := looksLatin(label)
		together := func(set []string) bool {
			return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
		}
		if len(scripts) > 1 && !slices.ContainsFunc(writtenTogether, together) {
			text := fmt.Sprintf("%s mixes letters of %s.", wording.Quoted(label), scriptNames(scripts))
			if like != 0 {
				text += fmt.Sprintf(" Its %s is U+%04X, and looks like a Latin %q.", wording.Quoted(string(like)), like, lookAlikes[like])
			}
			v.warn(Danger, "mixed-scripts", "%s", text)
			continue
		}
		// A label in the script of its top-level domain is legitimate.
		if like != 0 && latin != "" && !slices.Contains(scripts, "Latin") && !slices.Equal(scripts, top) {
			v.warn(Danger, "look-alike", "%s is written in %s, and looks like the Latin %s.", wording.Quoted(label), scriptNames(scripts), wording.Quoted(latin))
		}
	}
}

// scriptsOf returns the names of the scripts of a label's letters, in alphabetical
// order. Digits, hyphens and marks belong to no script.
func scriptsOf(label string) []string {
	var found []string
	for _, r := range label {
		if !unicode.IsLetter(r) || slices.ContainsFunc(found, func(name string) bool { return unicode.Is(unicode.Scripts[name], r) }) {
			continue
		}
		for name, table := range unicode.Scripts {
			if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
				found = append(found, name)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

func scriptNames(scripts []string) string {
	return strings.ReplaceAll(wording.Series(scripts), "_", " ")
}

// writtenTogether lists the sets of scripts that may be mixed in a label (UTS 39,
// "highly restrictive").
var writtenTogether = [][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Bopomofo", "Han", "Latin"},
	{"Han", "Hangul", "Latin"},
}

// lookAlikes maps lower-case letters of other scripts, and of phonetics, to the Latin
// letters that look almost the same in common fonts. After confusables.txt of UTS 39.
var lookAlikes = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'ӏ': 'l', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y', 'к': 'k', 'м': 'm', 'т': 't', 'г': 'r', 'п': 'n', 'ь': 'b',
	'α': 'a', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'ϲ': 'c', 'ϳ': 'j', 'γ': 'y', 'η': 'n', 'χ': 'x', 'ω': 'w',
	'ո': 'n', 'օ': 'o', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'զ': 'q', 'յ': 'j', 'ք': 'p', 'ա': 'w', 'ռ': 'n', 'ɑ': 'a', 'ɡ': 'g', 'ꮯ': 'c', 'ꮲ': 'p', 'ꭰ': 'd', 'ꭼ': 'e', 'ꮋ': 'h', 'ꮃ': 'w', 'ꭱ': 'r', 'ꭲ': 't', 'ꮪ': 's', 'ꮓ': 'z', 'ꮩ': 'v', 'ꭻ': 'j',
}

// looksLatin replaces every letter outside ASCII with its Latin look-alike. latin is ""
// if some letter has none; like is the first letter that has one.
func looksLatin(label string) (latin string, like rune) {
	var b strings.Builder
	all := true
	for _, r := range label {
		l, ok := lookAlikes[r]
		switch {
		case ok:
			if like == 0 {
				like = r
			}
			b.WriteRune(l)
		case r < 0x80:
			b.WriteRune(r)
		default:
			all = false
		}
	}
	if !all {
		return "", like
	}
	return b.String(), like
}
