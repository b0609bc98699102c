package elicit

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"elicitation-inspector/bridge/wording"
)

// formats are the checks of the formats that the specification names, and of
// "time", which date-time consists of. The error says what is wrong, in words
// that follow a colon.
var formats = map[string]func(string) error{
	"email":     checkEmail,
	"uri":       checkURI,
	"date":      checkDate,
	"time":      checkTime,
	"date-time": checkDateTime,
}

// checkEmail checks a Mailbox as RFC 5321, section 4.1.2, writes it, with the
// lengths of section 4.5.3.1.
func checkEmail(s string) error {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return errors.New("it has no @")
	}
	local, domain := s[:i], s[i+1:]
	switch {
	case local == "":
		return errors.New("nothing stands before the @")
	case domain == "":
		return errors.New("nothing stands after the @")
	case len(local) > 64:
		return errors.New("more than 64 bytes stand before the @")
	case len(s) > 254:
		return errors.New("it is longer than 254 bytes")
	}
	if err := checkLocalPart(local); err != nil {
		return err
	}
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		v6, is6 := strings.CutPrefix(literal, "IPv6:")
		if addr, err := netip.ParseAddr(v6); !ok || err != nil || addr.Is4() == is6 || addr.Zone() != "" {
			return fmt.Errorf("%s is not an address literal", wording.Quoted(domain))
		}
		return nil
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" {
			return errors.New("a part of the domain is empty")
		}
		if len(label) > 63 {
			return errors.New("a part of the domain is longer than 63 characters")
		}
		for _, r := range label {
			if !isAlnum(r) && r != '-' {
				return fmt.Errorf("%q cannot stand in a domain", r)
			}
		}
		if label[0] == '-' || label[len(label)-1] == '-' {
			return errors.New("a part of the domain begins or ends with a hyphen")
		}
	}
	return nil
}

func checkLocalPart(local string) error {
	if len(local) >= 2 && local[0] == '"' && local[len(local)-1] == '"' {
		inner := local[1 : len(local)-1]
		for i := 0; i < len(inner); i++ {
			c := inner[i]
			if c == '\\' && i+1 < len(inner) {
				i++
				c = inner[i]
			} else if c == '"' || c == '\\' {
				return errors.New("the quoted part has a quotation mark or backslash that is not escaped")
			}
			if c < ' ' || c > '~' {
				return errors.New("the quoted part has a character that cannot stand there")
			}
		}
		return nil
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" {
			return errors.New("a dot before the @ has nothing beside it")
		}
		for _, r := range atom {
			if !isAlnum(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) {
				return fmt.Errorf("%q cannot stand before the @", r)
			}
		}
	}
	return nil
}

func isAlnum(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// checkURI checks a URI, which has a scheme, by the grammar of RFC 3986,
// appendix A.
func checkURI(s string) error {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/?#") {
		return errors.New("it has no scheme such as https")
	}
	for i, r := range scheme {
		if !(isAlnum(r) && (i > 0 || r > '9')) && !(i > 0 && strings.ContainsRune("+-.", r)) {
			return fmt.Errorf("%q cannot stand in a scheme", r)
		}
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	path := rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		authority := after
		path = ""
		if i := strings.IndexByte(after, '/'); i >= 0 {
			authority, path = after[:i], after[i:]
		}
		if err := checkAuthority(authority); err != nil {
			return err
		}
	}
	if err := uriChars(path, ":@/", "the path"); err != nil {
		return err
	}
	if err := uriChars(query, ":@/?", "the query"); err != nil {
		return err
	}
	return uriChars(fragment, ":@/?", "the fragment")
}

func checkAuthority(authority string) error {
	host := authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if err := uriChars(authority[:i], ":", "the user information"); err != nil {
			return err
		}
		host = authority[i+1:]
	}
	port := ""
	if strings.HasPrefix(host, "[") {
		i := strings.IndexByte(host, ']')
		if i < 0 {
			return errors.New("the host has no closing bracket")
		}
		literal, after := host[1:i], host[i+1:]
		if after != "" && after[0] != ':' {
			return errors.New("something follows the closing bracket of the host")
		}
		port = strings.TrimPrefix(after, ":")
		if addr, err := netip.ParseAddr(literal); err != nil || !addr.Is6() || addr.Zone() != "" {
			if !isFutureAddress(literal) {
				return fmt.Errorf("%s is not an IPv6 address", wording.Quoted(literal))
			}
		}
	} else {
		if i := strings.LastIndexByte(host, ':'); i >= 0 {
			host, port = host[:i], host[i+1:]
		}
		if err := uriChars(host, "", "the host"); err != nil {
			return err
		}
	}
	for _, r := range port {
		if r < '0' || r > '9' {
			return errors.New("the port is not a number")
		}
	}
	return nil
}

// isFutureAddress recognises IPvFuture of RFC 3986.
func isFutureAddress(s string) bool {
	version, rest, ok := strings.Cut(s, ".")
	if !ok || len(version) < 2 || version[0]|0x20 != 'v' || rest == "" {
		return false
	}
	return strings.Trim(version[1:], "0123456789abcdefABCDEF") == "" &&
		!strings.ContainsRune(rest, '%') && uriChars(rest, ":", "") == nil
}

// uriChars tells whether s has only unreserved characters, sub-delims, percent
// escapes, and those in more.
func uriChars(s, more, where string) error {
	for i, r := range s {
		switch {
		case r == '%':
			if len(s) < i+3 || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return fmt.Errorf("a %% in %s is not followed by two hexadecimal digits", where)
			}
		case isAlnum(r), strings.ContainsRune("-._~!$&'()*+,;=", r), strings.ContainsRune(more, r):
		default:
			return fmt.Errorf("%q cannot stand in %s unescaped", r, where)
		}
	}
	return nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// checkDate checks full-date of RFC 3339, section 5.6.
func checkDate(s string) error {
	if !hasShape(s, "0000-00-00") {
		return errors.New("it is not written like 2026-01-31")
	}
	year, month, day := digits(s[0:4]), digits(s[5:7]), digits(s[8:10])
	if month < 1 || month > 12 {
		return fmt.Errorf("there is no month %s", s[5:7])
	}
	last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if day < 1 || day > last {
		return fmt.Errorf("%s has %d days", s[:7], last)
	}
	return nil
}

// checkTime checks full-time of RFC 3339, section 5.6. Second 60 is allowed
// where a leap second can be: at 23:59 UTC.
func checkTime(s string) error {
	if len(s) < 8 || !hasShape(s[:8], "00:00:00") {
		return errors.New("the time is not written like 09:30:00Z")
	}
	hour, minute, second := digits(s[0:2]), digits(s[3:5]), digits(s[6:8])
	switch {
	case hour > 23:
		return fmt.Errorf("there is no hour %s", s[0:2])
	case minute > 59:
		return fmt.Errorf("there is no minute %s", s[3:5])
	case second > 60:
		return fmt.Errorf("there is no second %s", s[6:8])
	}
	rest := s[8:]
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		rest = strings.TrimLeft(fraction, "0123456789")
		if len(rest) == len(fraction) {
			return errors.New("no digit follows the point after the seconds")
		}
	}
	offset := 0 // minutes
	switch {
	case rest == "":
		return errors.New("the offset from UTC is missing; write Z or one such as +02:00")
	case rest == "Z" || rest == "z":
	case hasShape(rest[1:], "00:00") && (rest[0] == '+' || rest[0] == '-'):
		h, m := digits(rest[1:3]), digits(rest[4:6])
		if h > 23 || m > 59 {
			return fmt.Errorf("there is no offset %s", rest)
		}
		if offset = h*60 + m; rest[0] == '-' {
			offset = -offset
		}
	default:
		return errors.New("the offset from UTC is not written as Z or like +02:00")
	}
	if second == 60 && (hour*60+minute-offset+2*1440)%1440 != 23*60+59 {
		return errors.New("second 60 can only be at 23:59 UTC")
	}
	return nil
}

// checkDateTime checks date-time of RFC 3339, section 5.6.
func checkDateTime(s string) error {
	if len(s) < 11 || s[10]|0x20 != 't' {
		if len(s) == 10 && checkDate(s) == nil {
			return errors.New("the time is missing")
		}
		if len(s) > 10 && s[10] == ' ' && checkDate(s[:10]) == nil {
			return errors.New("a T has to stand between the date and the time")
		}
		return errors.New("it is not written like 2026-01-31T09:30:00Z")
	}
	if err := checkDate(s[:10]); err != nil {
		return err
	}
	return checkTime(s[11:])
}

// hasShape tells whether s is shape with any digit for each 0.
func hasShape(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(s) {
		if shape[i] == '0' && (s[i] < '0' || s[i] > '9') || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return true
}

func digits(s string) int {
	n := 0
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}
