package link

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"elicitation-inspector/bridge/wording"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// maxHost is how many bytes of a host are read. A name in the DNS has 253 at most;
// written in Unicode and with escapes it can be longer.
const maxHost = 1024

// hostProfile maps a host as browsers do: UTS 46, not transitional, not strict
// about characters and hyphens (URL Standard, "domain to ASCII").
var hostProfile = sync.OnceValue(func() *idna.Profile {
	return idna.New(
		idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
		idna.CheckHyphens(false), idna.VerifyDNSLength(false), idna.BidiRule(),
	)
})

// readHost finds out which host is meant. labels is how many labels at the end of
// the written host make up the registrable domain, 0 if that cannot be told apart.
// why says, if the host cannot be read, what is wrong with it.
func (v *Verdict) readHost(host string) (labels int, why string) {
	switch {
	case host == "":
		return 0, "It names no host."
	case len(host) > maxHost:
		return 0, "Its host is too long to be one."
	case strings.HasPrefix(host, "["):
		addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if err != nil || !strings.HasSuffix(host, "]") || !addr.Is6() || addr.Zone() != "" {
			return 0, "What it has in brackets is not an IPv6 address."
		}
		v.setAddress(addr)
		return 0, ""
	}
	name := host
	if strings.Contains(name, "%") {
		decoded, err := url.PathUnescape(name)
		if err != nil {
			return 0, "Its host contains a % that does not begin an escape."
		}
		name = decoded
	}
	ascii, err := hostProfile().ToASCII(name)
	if err != nil || ascii == "" || strings.ContainsFunc(ascii, isForbiddenInHost) {
		return 0, "Its host is not a name that can be looked up."
	}
	ascii = strings.TrimSuffix(strings.ToLower(ascii), ".")
	if ascii == "" || strings.HasPrefix(ascii, ".") || strings.Contains(ascii, "..") {
		return 0, "Its host has an empty label."
	}
	if endsInNumber(ascii) {
		addr, ok := parseIPv4(ascii)
		if !ok {
			return 0, "Its host ends in a number, but is not an IPv4 address."
		}
		v.setAddress(addr)
		return 0, ""
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if len(label) > 63 {
			return 0, "Its host has a label of more than 63 characters."
		}
	}
	if len(ascii) > 253 {
		return 0, "Its host has more than 253 characters."
	}
	v.ASCII = ascii
	v.Unicode, err = hostProfile().ToUnicode(ascii)
	if err != nil {
		return 0, "Its host is not a name that can be looked up."
	}
	v.Loopback = isLoopback(ascii)
	if domain, err := publicsuffix.EffectiveTLDPlusOne(ascii); err == nil && !v.Loopback {
		v.Registrable = domain
		labels = strings.Count(domain, ".") + 1
	}
	if strings.Contains(host, "%") {
		labels = 0 // the dots may be escaped
	}
	return labels, ""
}

func (v *Verdict) setAddress(addr netip.Addr) {
	v.ASCII = usual(addr)
	v.Unicode = v.ASCII
	v.Loopback = addr.IsLoopback()
}

// isForbiddenInHost tells what no domain may have (URL Standard, "forbidden domain code point").
func isForbiddenInHost(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%`, r)
}

// isDot tells whether a character separates labels (UTS 46, section 4.5).
func isDot(r rune) bool { return r == '.' || r == '。' || r == '．' || r == '｡' }

// cutDomain cuts a host, as it was written, before its last labels; before all of it if labels is 0.
func cutDomain(host string, labels int) (sub, domain string) {
	end := strings.TrimRightFunc(host, isDot)
	if labels > 0 {
		for i := len(end); i > 0; {
			i = strings.LastIndexFunc(end[:i], isDot)
			if labels--; labels == 0 && i >= 0 {
				for _, dot := range end[i:] {
					n := len(string(dot))
					return host[:i+n], host[i+n:]
				}
			}
		}
	}
	return "", host
}

// endsInNumber tells whether browsers take a host for an IPv4 address (URL Standard, "ends in a number").
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseIPv4Number(last)
	return ok
}

// parseIPv4 reads an IPv4 address in any notation that browsers take: one to four
// numbers, each decimal, octal or hexadecimal, the last filling what is left.
func parseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var address uint64
	for i, p := range parts {
		n, ok := parseIPv4Number(p)
		if !ok {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, false
			}
			address |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, false
		}
		address |= n
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}), true
}

func parseIPv4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
		if s == "" {
			return 0, true
		}
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" || strings.ContainsAny(s, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

// judgeHost says what is remarkable about the host, given as it was written.
func (v *Verdict) judgeHost(host string) {
	if addr, err := netip.ParseAddr(strings.Trim(v.ASCII, "[]")); err == nil {
		v.judgeAddress(host, addr.Unmap())
		return
	}
	switch written := strings.ToLower(strings.TrimRightFunc(host, isDot)); {
	case strings.Contains(host, "%"):
		v.warn(Danger, "escaped-host", "Parts of its host are written as %%-escapes, which hides that the site is %s.", wording.Quoted(v.Unicode))
	case written != v.ASCII && written != v.Unicode:
		v.warn(Caution, "rewritten-host", "Its host is written with characters that stand for others. The site is %s.", wording.Quoted(v.Unicode))
	}
	if v.International() || strings.Contains(v.ASCII, "xn--") {
		v.judgeScripts()
	}
}

// judgeAddress is about a host that is an IP address.
func (v *Verdict) judgeAddress(written string, addr netip.Addr) {
	if !addr.Is6() && v.ASCII != strings.TrimRightFunc(written, isDot) && !strings.HasPrefix(written, "[") {
		v.warn(Danger, "odd-ip-address", "Its host %s is the IP address %s, in a notation that hides it.", wording.Quoted(written), v.ASCII)
	}
	switch {
	case v.Loopback:
	case addr.IsPrivate(), addr.IsLinkLocalUnicast(), addr.IsUnspecified(), shared.Contains(addr):
		v.warn(Caution, "private-address", "%s is an address inside your own network, or of this computer.", v.ASCII)
	default:
		v.warn(Caution, "ip-address", "Its host is the bare IP address %s, which does not tell whose site it is.", v.ASCII)
	}
}

// shared is the address space between a provider and its customers (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// judgeScripts is about a host with letters outside ASCII.
//
// It knows two ways of deceiving: letters of several scripts in one label, by the
// script tables of Unicode and the combinations that UTS 39 calls highly
// restrictive; and labels wholly of Cyrillic, Greek, Armenian or Cherokee letters
// that all look like Latin ones, by a short table of our own. It does not know
// look-alikes within a script (ı and i, rn and m, 0 and o, accents), and does not
// compare with the names of known sites.
func (v *Verdict) judgeScripts() {
	v.warn(Caution, "international-host", "Its host has letters outside of ASCII. It reads %s, and is looked up as %s.", wording.Quoted(v.Unicode), v.ASCII)
	labels := strings.Split(v.Unicode, ".")
	top := scriptsOf(labels[len(labels)-1])
	for _, label := range labels {
		scripts := scriptsOf(label)
		latin, like := looksLatin(label)
		if !belongTogether(scripts) {
			text := fmt.Sprintf("%s mixes letters of %s.", wording.Quoted(label), scriptNames(scripts))
			if like != 0 {
				text += fmt.Sprintf(" Its %s is U+%04X, and looks like a Latin %q.", wording.Quoted(string(like)), like, lookAlikes[like])
			}
			v.warn(Danger, "mixed-scripts", "%s", text)
			continue
		}
		// A label of a country that writes so is as it should be.
		if like != 0 && latin != "" && !slices.Contains(scripts, "Latin") && !slices.Equal(scripts, top) {
			v.warn(Danger, "look-alike", "%s is written in %s, and looks like the Latin %s.", wording.Quoted(label), scriptNames(scripts), wording.Quoted(latin))
		}
	}
}

// scriptsOf is the names of the scripts that a label's letters belong to, in
// alphabetical order. Digits, hyphens and marks belong to none.
func scriptsOf(label string) []string {
	var found []string
	for _, r := range label {
		if r < 0x80 {
			if 'a' <= r && r <= 'z' && !slices.Contains(found, "Latin") {
				found = append(found, "Latin")
			}
			continue
		}
		if slices.ContainsFunc(found, func(s string) bool { return unicode.Is(unicode.Scripts[s], r) }) {
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

// writtenTogether are the scripts that people mix (UTS 39, "highly restrictive").
var writtenTogether = [][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Bopomofo", "Han", "Latin"},
	{"Han", "Hangul", "Latin"},
}

func belongTogether(scripts []string) bool {
	if len(scripts) < 2 {
		return true
	}
	return slices.ContainsFunc(writtenTogether, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}

// lookAlikes are lower-case letters of other scripts, and of phonetics, that can
// hardly be told from Latin ones in the usual fonts. After confusables.txt of UTS 39.
var lookAlikes = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'ӏ': 'l', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y', 'к': 'k', 'м': 'm', 'т': 't', 'г': 'r', 'п': 'n', 'ь': 'b',
	'α': 'a', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'ϲ': 'c', 'ϳ': 'j', 'γ': 'y', 'η': 'n', 'χ': 'x', 'ω': 'w',
	'ո': 'n', 'օ': 'o', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'զ': 'q', 'յ': 'j', 'ք': 'p', 'ա': 'w', 'ռ': 'n', 'ɑ': 'a', 'ɡ': 'g', 'ꮯ': 'c', 'ꮲ': 'p', 'ꭰ': 'd', 'ꭼ': 'e', 'ꮋ': 'h', 'ꮃ': 'w', 'ꭱ': 'r', 'ꭲ': 't', 'ꮪ': 's', 'ꮓ': 'z', 'ꮩ': 'v', 'ꭻ': 'j',
}

// looksLatin returns what a label reads as if every letter outside of ASCII is
// taken for the Latin one that it looks like, "" if not every one has such, and
// the first that does.
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

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
