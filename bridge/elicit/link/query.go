package link

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/wording"
)

const (
	maxQuery = 64 << 10 // bytes of a query that are looked at
	maxNamed = 5        // names that a warning lists
)

// judgeQuery looks for what should not travel in an address, which ends up in
// histories and logs: by the names of parameters, and by the shapes of values.
// The values themselves are never repeated.
func (v *Verdict) judgeQuery(query, fragment string) {
	var secrets, personal []string
	for _, text := range []string{strings.TrimPrefix(query, "?"), fragment} {
		for pair := range strings.FieldsFuncSeq(text[:min(len(text), maxQuery)], func(r rune) bool { return r == '&' || r == ';' }) {
			name, value, ok := strings.Cut(pair, "=")
			if !ok || value == "" {
				continue
			}
			name, value = unescape(name), unescape(value)
			switch {
			case isSecretName(name) || shapes().Secret.MatchString(value):
				secrets = appendName(secrets, name)
			case isPersonalName(name) || isPersonal(value):
				personal = appendName(personal, name)
			}
		}
	}
	if secrets != nil {
		v.warn(Caution, "secret-in-query", "It carries what looks like a secret, in %s. Whoever sees the address can use it, and a server must not send an address that is signed in already.", named(secrets))
	}
	if personal != nil {
		v.warn(Caution, "personal-data-in-query", "It carries what looks like personal data, in %s, which a server must not put into an address.", named(personal))
	}
}

func unescape(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}

func appendName(names []string, name string) []string {
	if slices.Contains(names, name) || len(names) > maxNamed {
		return names
	}
	return append(names, name)
}

func named(names []string) string {
	quotedNames := make([]string, min(len(names), maxNamed))
	for i := range quotedNames {
		quotedNames[i] = wording.Quoted(names[i])
	}
	if len(names) > maxNamed {
		quotedNames = append(quotedNames, "others")
	}
	return wording.Series(quotedNames)
}

// plainName is a parameter's name without its case and separators.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", "[", "", "]", "", " ", "").Replace(name))
}

// isSecretName tells whether a parameter is named like a credential. What an
// authorization request has to carry (state, nonce, code_challenge, client_id) is none.
func isSecretName(name string) bool {
	n := plainName(name)
	for _, ending := range []string{"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "credential", "credentials"} {
		if strings.HasSuffix(n, ending) {
			return true
		}
	}
	if strings.HasSuffix(n, "token") {
		return !slices.Contains([]string{"pagetoken", "nextpagetoken", "continuationtoken"}, n)
	}
	return slices.Contains([]string{"pwd", "pass", "pw", "auth", "authorization", "jwt", "bearer", "sid", "sessionid", "session", "jsessionid", "phpsessid", "otp", "pin", "tan", "xamzsignature", "xamzcredential"}, n)
}

// isPersonalName tells whether a parameter is named like something about a person.
func isPersonalName(name string) bool {
	return slices.Contains([]string{
		"email", "emailaddress", "mail", "useremail", "phone", "phonenumber", "mobile", "tel", "telephone", "msisdn",
		"ssn", "socialsecurity", "socialsecuritynumber", "nationalid", "passport", "passportnumber", "taxid",
		"card", "cardnumber", "creditcard", "ccnumber", "ccnum", "pan", "cvv", "cvc", "iban", "accountnumber",
		"dob", "birthdate", "birthday", "dateofbirth", "firstname", "lastname", "fullname", "surname", "givenname", "familyname",
	}, plainName(name))
}

// shapes are how values look that are secrets or about a person, whatever they are called.
var shapes = sync.OnceValue(func() (s struct{ Secret, Email, SSN *regexp.Regexp }) {
	// A JSON web token, and the keys of services that mark theirs.
	s.Secret = regexp.MustCompile(`^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$|^(ghp|gho|ghu|ghs|ghr)_\w{20,}|^github_pat_\w{20,}|^glpat-[\w-]{16,}|^(sk|rk)_(live|test)_\w{10,}|^sk-[\w-]{20,}|^xox[abprs]-[\w-]{10,}|^(AKIA|ASIA)[0-9A-Z]{16}$|^AIza[\w-]{30,}|^npm_\w{30,}|-----BEGIN [A-Z ]*PRIVATE KEY`)
	s.Email = regexp.MustCompile(`(?i)^(mailto:)?[^\s@/?#&=:]+@[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}$`)
	s.SSN = regexp.MustCompile(`^\d{3}-\d{2}-\d{4}$`)
	return s
})

func isPersonal(value string) bool {
	return len(value) <= 320 && (shapes().Email.MatchString(value) || shapes().SSN.MatchString(value) || isCardNumber(value) || isIBAN(value))
}

// isCardNumber tells whether a value is 13 to 19 digits whose check digit is right
// (ISO/IEC 7812, Luhn), of an issuer that makes payment cards.
func isCardNumber(s string) bool {
	s = strings.NewReplacer(" ", "", "-", "").Replace(s)
	if len(s) < 13 || len(s) > 19 || s[0] < '2' || s[0] > '6' {
		return false
	}
	sum := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		d := int(s[i] - '0')
		if (len(s)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// isIBAN tells whether a value is an international bank account number whose check
// digits are right (ISO 13616).
func isIBAN(s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	rest := 0
	for i, c := range s[4:] + s[:4] {
		digit, letter := '0' <= c && c <= '9', 'A' <= c && c <= 'Z'
		// The country's letters and the check digits have been moved to the end.
		if place := i - (len(s) - 4); !digit && !letter || (place == 0 || place == 1) && !letter || place > 1 && !digit {
			return false
		}
		if digit {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A'+10)) % 97
		}
	}
	return rest == 1
}
