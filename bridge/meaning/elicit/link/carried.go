package link

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Carried lists the sensitive data in an address: names of parameters in its query and
// fragment, and whether its path has an email address. It never contains the values.
type Carried struct {
	Credentials      []string // a password or a key, by name or shape
	Sessions         []string // access tokens
	PossibleSessions []string // values or names that suggest a token
	Personal         []string // personal data, by both name and shape
	PossiblyPersonal []string // personal data, by name or shape alone

	Presigned   bool // it has the signature parameters of an object store or CDN, which grant access
	EmailInPath bool
}

func carriedIn(path, query, fragment string) (c Carried) {
	given := make(map[string]bool)
	for _, text := range []string{query, fragment} {
		text = strings.TrimLeft(text, "?#")
		for pair := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '&' || r == ';' }) {
			name, value, _ := strings.Cut(pair, "=")
			name, value = unescape(name), unescape(value)
			if value == "" {
				continue
			}
			given[plainName(name)] = true
			if list := c.listFor(plainName(name), value); list != nil && !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
	}
	c.Presigned = slices.ContainsFunc(signatures, func(signature []string) bool {
		return !slices.ContainsFunc(signature, func(name string) bool { return !given[name] })
	})
	c.EmailInPath = slices.ContainsFunc(strings.Split(path, "/"), isEmail)
	return c
}

func unescape(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}

// separators removes the characters that plainName ignores.
var separators = strings.NewReplacer("_", "", "-", "", ".", "", "[", "", "]", "", " ", "")

func plainName(name string) string { return strings.ToLower(separators.Replace(name)) }

// Parameter values, and plain names of parameters, in groups.
var (
	ordinaryValues = names("true false yes no on off 0 1 null none required optional reset change forgot email phone")
	// Required in authorization requests, even with a suspicious name.
	ordinaryNames = names("state request nonce clientassertion idtokenhint csrftoken xsrftoken oauthtoken requesttoken pagetoken nextpagetoken continuationtoken pin tan pass pw")
	tokenNames    = names("accesstoken refreshtoken idtoken bearertoken bearer")
	sessionNames  = names("pwd auth authorization jwt bearer sid sessionid session jsessionid phpsessid otp xamzsignature xamzcredential")
	personalNames = names("email emailaddress mail useremail phone phonenumber mobile tel telephone msisdn " +
		"ssn socialsecurity socialsecuritynumber nationalid passport passportnumber taxid " +
		"card cardnumber creditcard ccnumber ccnum pan cvv cvc iban accountnumber " +
		"dob birthdate birthday dateofbirth firstname lastname fullname surname givenname familyname")
)

func names(list string) []string { return strings.Fields(list) }

// listFor returns the list for a parameter with this plain name and value; nil if the
// parameter is harmless.
func (c *Carried) listFor(name, value string) *[]string {
	isToken := strings.HasPrefix(value, "eyJ") && shapes().secret.MatchString(value)
	switch {
	case slices.Contains(ordinaryValues, strings.ToLower(value)), strings.ContainsAny(value, "{}<>"):
		return nil
	case endsIn(name, "password", "passwd", "passphrase"), name == "pwd", IsKey(value):
		return &c.Credentials
	case slices.Contains(tokenNames, name) && len(value) >= 8:
		return &c.Sessions
	case slices.Contains(ordinaryNames, name), name == "logintoken" && !isToken:
		return nil
	case isToken, slices.Contains(sessionNames, name), endsIn(name, "secret", "apikey", "accesskey", "privatekey", "credential", "credentials", "token"):
		return &c.PossibleSessions
	}
	return c.personalListFor(name, value)
}

// IsPersonal reports whether a value is personal data, by its shape or by its name.
func IsPersonal(name, value string) bool {
	return new(Carried).personalListFor(plainName(name), value) != nil
}

func (c *Carried) personalListFor(name, value string) *[]string {
	if len(value) > 320 {
		return nil
	}
	digits := 0
	for _, r := range value {
		if '0' <= r && r <= '9' {
			digits++
		}
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	}
	isSSN := shapes().ssn.MatchString(value)
	switch {
	case isEmail(value) && (has("mail", "user", "account", "person", "customer") || name == "loginhint" || name == "hint"),
		isCardNumber(value) && has("card", "ccn", "pan"),
		isSSN && has("ssn", "social"),
		isIBAN(value) && has("iban", "account"),
		digits >= 7 && has("phone", "mobile", "msisdn", "tel"),
		digits == 8 && has("dob", "birth"):
		return &c.Personal
	case isEmail(value), isSSN, isCardNumber(value), isIBAN(value), slices.Contains(personalNames, name):
		return &c.PossiblyPersonal
	}
	return nil
}

func endsIn(name string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// signatures lists, by plain name, the sets of parameters that mark a signed address.
var signatures = [][]string{
	{"xamzsignature", "xamzcredential"}, {"xgoogsignature", "xgoogcredential"}, {"sig", "se", "sv"},
	{"signature", "keypairid"}, {"signature", "awsaccesskeyid"}, {"signature", "googleaccessid"},
}

// shapes holds patterns that recognize secrets and personal data by value, whatever the
// parameter's name.
var shapes = sync.OnceValue(func() (s struct{ secret, email, ssn, card, iban *regexp.Regexp }) {
	// A JSON web token, or a key of a service with a recognizable prefix.
	s.secret = regexp.MustCompile(`^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$|^(ghp|gho|ghu|ghs|ghr)_\w{20,}|^github_pat_\w{20,}|^glpat-[\w-]{16,}|^(sk|rk)_(live|test)_\w{10,}|^sk-[\w-]{20,}|^xox[abprs]-[\w-]{10,}|^npm_\w{30,}|-----BEGIN [A-Z ]*PRIVATE KEY`)
	s.email = regexp.MustCompile(`(?i)^(mailto:)?[^\s@/?#&=:]+@[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}$`)
	s.ssn = regexp.MustCompile(`^\d{3}-\d{2}-\d{4}$`)
	s.card = regexp.MustCompile(`^[2-6]\d{12,18}$`)
	s.iban = regexp.MustCompile(`^[A-Z]{2}\d{2}[\dA-Z]{11,30}$`)
	return s
})

func isEmail(value string) bool { return len(value) <= 320 && shapes().email.MatchString(value) }

// IsKey tells whether a value has the shape of a service's secret key. Key ids,
// publishable keys and JSON web tokens do not count.
func IsKey(value string) bool {
	return !strings.HasPrefix(value, "eyJ") && shapes().secret.MatchString(value)
}

// isCardNumber tells whether a value is a payment card number: 13 to 19 digits with an
// issuer's first digit and a correct check digit (ISO/IEC 7812, Luhn).
func isCardNumber(s string) bool {
	s = strings.NewReplacer(" ", "", "-", "").Replace(s)
	if !shapes().card.MatchString(s) {
		return false
	}
	sum := 0
	for i, digit := range s {
		d := int(digit - '0')
		if (len(s)-i)%2 == 0 {
			d = 2*d/10 + 2*d%10
		}
		sum += d
	}
	return sum%10 == 0
}

// isIBAN tells whether a value is an international bank account number with correct
// check digits (ISO 13616).
func isIBAN(s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	if !shapes().iban.MatchString(s) {
		return false
	}
	rest := 0
	for _, c := range s[4:] + s[:4] {
		if c <= '9' {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A'+10)) % 97
		}
	}
	return rest == 1
}
