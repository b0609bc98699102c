// Package link says what a person should know of a URL before opening it, by
// reading it alone: nothing is looked up or fetched.
package link

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/elicit/format"

	"elicitation-inspector/bridge/wording"
)

// maxURL is how many characters of a URL are still ordinary. RFC 9110, section
// 4.1, recommends that 8,000 work; in practice, more than this is cut somewhere.
const maxURL = 2048

// Severity says how much a warning about a URL should weigh with a person.
type Severity int

// The severities, from the least.
const (
	Note    Severity = iota // worth knowing, nothing wrong
	Caution                 // look twice
	Danger                  // often means that someone is being deceived
)

// String is the severity's name: note, caution or danger.
func (s Severity) String() string {
	switch s {
	case Note:
		return "note"
	case Caution:
		return "caution"
	case Danger:
		return "danger"
	}
	return "URLSeverity(" + strconv.Itoa(int(s)) + ")"
}

// Warning is one thing that a person should know before opening a URL.
type Warning struct {
	ID       string // stable, such as "user-info"
	Severity Severity
	Text     string // one sentence or two, in plain words; never a value from the query
}

// PartKind says what a part of a URL is.
type PartKind string

// The kinds, in the order in which they stand in a URL.
const (
	Scheme    PartKind = "scheme"    // with what separates it from the rest
	User      PartKind = "user"      // user name and password, with the "@"
	Subdomain PartKind = "subdomain" // what the owner of the domain may choose at will, with its last dot
	Domain    PartKind = "domain"    // what somebody registered, or the whole host where nobody did
	Port      PartKind = "port"      // with the ":"
	Path      PartKind = "path"
	Query     PartKind = "query"    // with the "?"
	Fragment  PartKind = "fragment" // with the "#"
	Other     PartKind = "other"    // of something that is no web address, or none that can be read
)

// Part is a piece of a URL.
type Part struct {
	Kind  PartKind
	Text  string // exactly as it was sent
	Shown string // Text, with characters that hide or reorder text written as \u{202E}
}

// Strong tells whether the part is the one to emphasise: whose site it is.
func (p Part) Strong() bool { return p.Kind == Domain }

// Verdict is what can be told of a URL by reading it. Nothing is looked up or
// fetched, so it says nothing of what is at the other end.
type Verdict struct {
	Raw      string // as the server sent it
	Parts    []Part // all of Raw, in order
	Openable bool   // it is an http or https address that every program reads in the same way

	// Of a web address; "" where there is none. A host is in lower case, without
	// a trailing dot, and an IP address is in its usual notation.
	Scheme      string
	ASCII       string // the host as it is looked up, international labels as "xn--…"
	Unicode     string // the host as it is meant to be read; the same as ASCII if nothing differs
	Registrable string // the domain that somebody registered, in ASCII, by the public suffix list; "" for an IP address or a name such as "localhost"
	Loopback    bool   // the host is this computer

	Warnings []Warning // the most severe first
}

// International tells whether the host's two forms differ, so that both should be shown.
func (v Verdict) International() bool { return v.ASCII != v.Unicode }

func (v *Verdict) warn(severity Severity, id, format string, args ...any) {
	v.Warnings = append(v.Warnings, Warning{id, severity, fmt.Sprintf(format, args...)})
}

func (v *Verdict) part(kind PartKind, text string) {
	if text != "" {
		v.Parts = append(v.Parts, Part{kind, text, reveal(text)})
	}
}

// Judge reads the URL of a question in URL mode, and says what a person should
// know before opening it. It reads addresses as browsers do (the URL Standard),
// except that it refuses the ones that browsers repair by guessing.
func Judge(raw string) Verdict {
	v := Verdict{Raw: raw}
	v.judge()
	v.judgeText()
	// The most severe first, and otherwise in the order in which they were found.
	var sorted []Warning
	for s := Danger; s >= Note; s-- {
		for _, w := range v.Warnings {
			if w.Severity == s {
				sorted = append(sorted, w)
			}
		}
	}
	v.Warnings = sorted
	return v
}

// judge cuts the URL into its parts.
func (v *Verdict) judge() {
	scheme, rest, ok := strings.Cut(v.Raw, ":")
	if !ok || !isScheme(scheme) {
		v.unreadable("It is not a web address: it does not begin with https://.", v.Raw)
		return
	}
	v.Scheme = strings.ToLower(scheme)
	if v.Scheme != "https" && v.Scheme != "http" {
		v.part(Scheme, scheme+":")
		v.part(Other, rest)
		v.warn(Danger, "scheme", "It is not a web address: it begins with %s, and cannot be opened from here.", wording.Quoted(v.Scheme+":"))
		return
	}
	after, ok := strings.CutPrefix(rest, "//")
	if !ok {
		v.unreadable("It is not a web address: the two slashes after "+v.Scheme+": are missing.", v.Raw)
		return
	}

	end := len(after)
	if i := strings.IndexAny(after, "/?#"); i >= 0 {
		end = i
	}
	authority, tail := after[:end], after[end:]
	beforeQuery, fragment, _ := strings.Cut(tail, "#")
	path, _, _ := strings.Cut(beforeQuery, "?")
	switch {
	case strings.ContainsFunc(v.Raw, func(r rune) bool { return r < ' ' || r == 0x7f }):
		v.unreadable("It contains control characters, which browsers silently remove.", v.Raw)
		return
	case strings.Contains(authority, `\`):
		v.unreadable(`It has a \ in it, before its path, which some programs read as / and others do not, so that they end up at different hosts.`, v.Raw)
		return
	}

	hostPort := authority
	user := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, hostPort = authority[:i+1], authority[i+1:]
	}
	host, port, ok := cutPort(hostPort)
	if !ok {
		v.unreadable("Its port is not a number from 0 to 65535.", v.Raw)
		return
	}
	labels, why := v.readHost(host)
	if why != "" {
		v.unreadable(why, v.Raw)
		return
	}

	v.part(Scheme, v.Raw[:len(scheme)+len("://")])
	v.part(User, user)
	sub, domain := cutDomain(host, labels)
	v.part(Subdomain, sub)
	v.part(Domain, domain)
	v.part(Port, port)
	v.part(Path, path)
	v.part(Query, beforeQuery[len(path):])
	v.part(Fragment, tail[len(beforeQuery):])
	v.Openable = true

	if user != "" {
		v.warn(Danger, "user-info", "What stands before the @ is not part of the site's name, though it may look like it. The site is %s.", wording.Quoted(v.Unicode))
	}
	if v.Scheme == "http" {
		if v.Loopback {
			v.warn(Note, "http-loopback", "It is not encrypted, but it does not leave this computer.")
		} else {
			v.warn(Caution, "not-encrypted", "It is not encrypted: others on the way can read and change what you see and enter.")
		}
	}
	v.judgeHost(host)
	v.judgeQuery(beforeQuery[len(path):], fragment)
}

// unreadable gives up on a URL, all of which becomes one part.
func (v *Verdict) unreadable(why, text string) {
	v.Parts, v.ASCII, v.Unicode, v.Registrable, v.Loopback = nil, "", "", "", false
	v.part(Other, text)
	v.warn(Danger, "unreadable", "%s It cannot be opened from here.", why)
}

// judgeText looks at the characters, whatever the URL means.
func (v *Verdict) judgeText() {
	hidden := map[rune]bool{}
	var list []string
	length := 0
	for i, r := range v.Raw {
		length++
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(v.Raw[i:]); n > 1 {
				continue // the character that says so itself
			}
		} else if !isHidden(r) {
			continue
		}
		if !hidden[r] && len(list) < 5 {
			list = append(list, hiddenName(r))
		}
		hidden[r] = true
	}
	if len(list) > 0 {
		v.warn(Danger, "hidden-characters", "It contains characters that cannot be seen, or that change the order in which text is read: %s.", strings.Join(list, ", "))
	}
	if length > maxURL {
		v.warn(Caution, "too-long", "It has %d characters. Some browsers and servers cut an address off after %d.", length, maxURL)
	}
	if v.Openable && len(list) == 0 {
		if err := format.URI(v.Raw); err != nil && isASCII(v.Raw) {
			v.warn(Note, "not-a-uri", "It is not a valid URI (RFC 3986): %s. Browsers open it all the same.", err)
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isScheme tells whether s is a scheme by RFC 3986, section 3.1.
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !('0' <= s[i] && s[i] <= '9' || strings.IndexByte("+-.", s[i]) >= 0)) {
			return false
		}
	}
	return s != ""
}

// cutPort separates a port from a host. ok is false if it is no port.
func cutPort(hostPort string) (host, port string, ok bool) {
	i := strings.LastIndexByte(hostPort, ':')
	if i < 0 || strings.LastIndexByte(hostPort, ']') > i {
		return hostPort, "", true
	}
	host, port = hostPort[:i], hostPort[i:]
	if port == ":" {
		return host, port, true
	}
	for _, c := range port[1:] {
		if c < '0' || c > '9' {
			return "", "", false
		}
	}
	n, err := strconv.ParseUint(port[1:], 10, 32)
	return host, port, err == nil && n <= 65535
}

// isHidden tells whether a character changes how text reads without being seen:
// controls, characters of no width, and those that set the direction of text.
func isHidden(r rune) bool {
	switch {
	case r == ' ':
		return false // seen well enough, and not allowed
	case r < ' ' || 0x7f <= r && r <= 0x9f:
		return true
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true // soft hyphen, joiners and fillers
	case 0x180b <= r && r <= 0x180f, 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff:
		return true // variation selectors and tags
	}
	return unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp)
}

func hiddenName(r rune) string {
	if r == utf8.RuneError {
		return "bytes that are no UTF-8"
	}
	name := fmt.Sprintf("U+%04X", r)
	switch {
	case 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
		return name + " (changes the direction of text)"
	case unicode.Is(unicode.Zs, r):
		return name + " (a kind of space)"
	case r < ' ' || 0x7f <= r && r <= 0x9f:
		return name + " (a control character)"
	}
	return name + " (cannot be seen)"
}

// reveal writes out the characters that cannot be seen.
func reveal(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return isHidden(r) || r == utf8.RuneError }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x{%02X}`, text[i])
		case isHidden(r):
			fmt.Fprintf(&b, `\u{%04X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// usual is an IP address in the notation that people know.
func usual(a netip.Addr) string {
	if a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}
