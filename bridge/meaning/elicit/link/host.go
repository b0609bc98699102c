package link

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"elicitation-inspector/bridge/base/wording"
)

// Host is the host of a web address; all strings are "" if there is none. A name is in
// lower case, without a trailing dot; an IP address is in its usual notation.
type Host struct {
	ASCII       string // the form for DNS lookups, with international labels as "xn--…"
	Unicode     string // the readable form; the same as ASCII if nothing differs
	Registrable string // the registered domain in ASCII, by the public suffix list; "" for an IP address or a name such as "localhost"
	Loopback    bool   // the host is this computer

	labels int // number of labels in Registrable; 0 if escapes in the host as written can hide its dots
}

// maxHost is the greatest length in bytes of a host that is parsed. A DNS name has at
// most 253; in Unicode and with escapes it can be longer.
const maxHost = 1024

// hostProfile maps a host as browsers do: UTS 46, not transitional, not strict
// about characters and hyphens (URL Standard, "domain to ASCII").
var hostProfile = sync.OnceValue(func() *idna.Profile {
	return idna.New(
		idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
		idna.CheckHyphens(false), idna.VerifyDNSLength(false), idna.BidiRule(),
	)
})

func readHost(host string) (h Host, why string) {
	switch {
	case host == "":
		return h, "It names no host."
	case len(host) > maxHost:
		return h, "Its host is too long to be one."
	case strings.HasPrefix(host, "["):
		addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if err != nil || !strings.HasSuffix(host, "]") || !addr.Is6() || addr.Zone() != "" {
			return h, "What it has in brackets is not an IPv6 address."
		}
		return addressHost(addr), ""
	}
	name, err := url.PathUnescape(host)
	if err != nil {
		return h, "Its host contains a % that does not begin an escape."
	}
	ascii, err := hostProfile().ToASCII(name)
	forbidden := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%`, r) } // URL Standard, "forbidden domain code point"
	if err != nil || ascii == "" || strings.ContainsFunc(ascii, forbidden) {
		return h, "Its host is not a name that can be looked up."
	}
	ascii = strings.TrimSuffix(strings.ToLower(ascii), ".")
	if endsInNumber(ascii) {
		addr, ok := parseIPv4(ascii)
		if !ok {
			return h, "Its host ends in a number, but is not an IPv4 address."
		}
		return addressHost(addr), ""
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" {
			return h, "Its host has an empty label."
		}
		if len(label) > 63 {
			return h, "Its host has a label of more than 63 characters."
		}
	}
	if len(ascii) > 253 {
		return h, "Its host has more than 253 characters."
	}
	h = Host{ASCII: ascii, Loopback: isLoopbackName(ascii)}
	if h.Unicode, err = hostProfile().ToUnicode(ascii); err != nil {
		return h, "Its host is not a name that can be looked up."
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(ascii); err == nil && !h.Loopback {
		h.Registrable = domain
		if !strings.Contains(host, "%") { // else the dots may be escaped
			h.labels = strings.Count(domain, ".") + 1
		}
	}
	return h, ""
}

// IsLoopback reports whether the host of a URL, as [url.URL.Hostname] returns it, is this
// computer: a loopback name or address, or an unspecified address such as 0.0.0.0, to
// which connections reach this computer, too.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	addr, err := netip.ParseAddr(host)
	return isLoopbackName(host) || err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}

// isLoopbackName reports whether a name in lower case is this computer (RFC 6761, section 6.3).
func isLoopbackName(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func addressHost(addr netip.Addr) Host {
	text := addr.String()
	if addr.Is6() {
		text = "[" + text + "]"
	}
	return Host{ASCII: text, Unicode: text, Loopback: addr.IsLoopback()}
}

// isDot tells whether a character separates labels (UTS 46, section 4.5).
func isDot(r rune) bool { return r == '.' || r == '。' || r == '．' || r == '｡' }

// cutDomain splits a host, as written, into its subdomain and its last labels, given
// their number. sub is "" if labels is 0 or covers the whole host.
func cutDomain(host string, labels int) (sub, domain string) {
	start := len(strings.TrimRightFunc(host, isDot))
	for range labels {
		if start = strings.LastIndexFunc(host[:start], isDot); start < 0 {
			return "", host
		}
	}
	if labels == 0 {
		return "", host
	}
	domain = strings.TrimLeftFunc(host[start:], isDot)
	return host[:len(host)-len(domain)], domain
}

// endsInNumber tells whether browsers parse a host as an IPv4 address (URL Standard,
// "ends in a number").
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, ok := parseIPv4Number(last)
	return ok || last != "" && strings.Trim(last, "0123456789") == ""
}

// parseIPv4 parses an IPv4 address in any notation that browsers accept: one to four
// numbers, each decimal, octal or hexadecimal; the last number fills the remaining
// bytes.
func parseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var address uint64
	for i, p := range parts {
		n, ok := parseIPv4Number(p)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		if !ok || n >= 1<<bits {
			return netip.Addr{}, false
		}
		address = address<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}), true
}

func parseIPv4Number(s string) (uint64, bool) {
	base := 10
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = "0"+digits, 16
	} else if len(s) > 1 && s[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

func (v *Verdict) judgeHost(host string) {
	if addr, err := netip.ParseAddr(strings.Trim(v.ASCII, "[]")); err == nil {
		if !strings.HasPrefix(host, "[") && v.ASCII != strings.TrimRightFunc(host, isDot) {
			v.warn(Danger, "odd-ip-address", "Its host %s is the IP address %s, in a notation that hides it.", wording.Quoted(host), v.ASCII)
		}
		switch addr = addr.Unmap(); {
		case v.Loopback:
		case addr.IsPrivate(), addr.IsLinkLocalUnicast(), addr.IsUnspecified(), shared.Contains(addr):
			v.warn(Caution, "private-address", "%s is an address inside your own network, or of this computer.", v.ASCII)
		default:
			v.warn(Caution, "ip-address", "Its host is the bare IP address %s, which does not tell whose site it is.", v.ASCII)
		}
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

// shared is the carrier-grade NAT address space (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")
