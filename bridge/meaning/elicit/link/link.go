// Package link says what a person should know about a URL before opening it, from its
// text alone: nothing is looked up or fetched.
package link

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Weight is the importance of a warning to the person who may open the URL. It is no severity
// of a finding, which says how binding a broken rule is.
type Weight int

// The weights, from the least.
const (
	Note    Weight = iota // useful to know; nothing is wrong
	Caution               // look twice
	Danger                // often a sign of deception
)

// String returns the name of the severity whose findings look like warnings of this weight.
func (w Weight) String() string { return [...]string{"advice", "should", "violation"}[w] }

// Warning is one fact that a person should know before opening a URL.
type Warning struct {
	ID     string // stable identifier, such as "user-info"
	Weight Weight
	Text   string // one sentence or two, in plain words; never a value from the query
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

func (v *Verdict) warn(weight Weight, id, format string, args ...any) {
	v.Warnings = append(v.Warnings, Warning{id, weight, fmt.Sprintf(format, args...)})
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
	slices.SortStableFunc(v.Warnings, func(a, b Warning) int { return int(b.Weight - a.Weight) })
	return v
}

// Patterns that split a URL (RFC 3986, appendix B): schemePart into scheme and rest,
// webParts the rest of a web address into user, host, port, path, query and fragment.
var (
	schemePart = lazy.Regexp(`(?s)^([A-Za-z][A-Za-z0-9+.-]*):(.*)$`)
	webParts   = lazy.Regexp(`(?s)^//([^/?#]*@)?([^/?#]*?)(:[^]:/?#]*)?(/[^?#]*)?(\?[^#]*)?(#.*)?$`)
)

// judge splits the URL into its parts and warns about them. It returns why the URL
// cannot be read, or "".
func (v *Verdict) judge() (why string) {
	match := schemePart().FindStringSubmatch(v.Raw)
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
	parts := webParts().FindStringSubmatch(rest)
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
