package elicit

import (
	"slices"
	"strings"
	"unicode"
)

// A secretTerm is a phrase that names a secret, as lower-case words.
type secretTerm struct {
	words []string
	names string // what it is, for people
}

// secretTerms are phrases that name a secret wherever they stand in a field's
// name or title.
var secretTerms = terms(map[string]string{
	"a password": "password|passwords|passwd|pwd|passphrase|pass phrase|passcode|pass word|login password|" +
		"passwort|kennwort|contraseña|contrasena|mot de passe|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호",
	"an API key":        "api key|apikey|api secret|app secret|application key|x api key|subscription key|license secret",
	"an access key":     "access key|secret access key|secret key|account key|service account key|sas key",
	"a private key":     "private key|privatekey|signing key|encryption key|decryption key|ssh key|master key|pgp key|gpg key|deploy key|seed phrase|recovery phrase|mnemonic phrase|backup phrase|keystore",
	"a secret":          "client secret|shared secret|webhook secret|signing secret|consumer secret|jwt secret|secret token|secret value",
	"an access token":   "access token|auth token|authentication token|authorization token|bearer token|api token|refresh token|session token|id token|oauth token|personal access token|bot token|security token|login token|user token|secret token|jwt|pat token|bearer|session cookie",
	"credentials":       "credentials|login credentials|aws credentials",
	"a card number":     "card number|cardnumber|credit card|debit card|creditcard|cc number|ccnumber|card no|card num|card pan|kreditkartennummer",
	"a card's code":     "cvv|cvv2|cvc|cvc2|card security code|card verification code|card verification value|card code|security code",
	"a PIN":             "pin number|card pin|atm pin|account pin|security pin|debit pin|bank pin|sim pin",
	"a one-time code":   "otp|totp|otp code|one time code|one time password|one time passcode|one time pin|verification code|2fa code|mfa code|two factor code|authentication code|authenticator code|auth code|authorization code|login code|sms code|recovery code|recovery codes|backup code|backup codes|2fa|magic code",
	"a national id":     "ssn|social security number|social security no|social security|social insurance number|national id|national id number|national identification number|national identity number|national insurance number|identity card number|id card number|personal identification number|citizen id|aadhaar|aadhaar number|passport number|passport no|tax identification number|driver license number|drivers license number|driving licence number|sozialversicherungsnummer",
	"a bank credential": "online banking pin|transaction number tan|banking password",
})

// wholeTerms name a secret only where they are all that a name or title says,
// apart from words such as "your".
var wholeTerms = terms(map[string]string{
	"a secret":        "secret|secrets|the secret",
	"a PIN":           "pin|tan",
	"credentials":     "credential",
	"an access token": "token|pat",
	"a private key":   "mnemonic",
})

// tamed are the words that may follow a phrase and make it something about the
// secret rather than the secret itself.
var tamed = words("name names label id ids identifier title description scope scopes type types kind expiry expires expiration expire count counts limit limits usage " +
	"policy policies hint hints length reset resets rotation rotate format prefix suffix owner url uri endpoint status budget symbol address standard permission permissions header manager provider " +
	"days hours minutes ttl lifetime algorithm path file filename version date age strength rule rules required protected less protection change changed recovery store vault location field column " +
	"issuer network brand holder cost costs price prices per quantity amount size method methods storage enabled needed sent delivery channel settings option options field page will was has isn expired")

// quiet are the words before "token" that make it another kind of token.
var quiet = words("page next continuation cursor sync progress stop start end pad eos bos cancellation max min maximum minimum per nft erc20 design governance utility previous prev completion prompt input output total " +
	"separator mask unknown sep cls special game board poker reward native base quote payment swap lp wrapped stable meme")

// polite are the words that say nothing about what is asked for.
var polite = words("your my the a an please enter type in paste provide give us input confirm repeat new current old existing here optional required account user login")

func words(list string) []string { return strings.Fields(list) }

func terms(byName map[string]string) []secretTerm {
	var list []secretTerm
	for name, phrases := range byName {
		for phrase := range strings.SplitSeq(phrases, "|") {
			list = append(list, secretTerm{strings.Fields(phrase), name})
		}
	}
	// The longest first, so that a text is told to ask for what it says in full.
	slices.SortFunc(list, func(a, b secretTerm) int {
		if len(a.words) != len(b.words) {
			return len(b.words) - len(a.words)
		}
		return strings.Compare(strings.Join(a.words, " "), strings.Join(b.words, " "))
	})
	return list
}

// asksForSecret tells whether a field asks for a secret that a person would type.
func (f Field) asksForSecret() bool { return f.secret() != "" }

// secret is what kind of secret a field asks for, "" if it asks for none. A
// choice, or yes and no, gives no secret away.
func (f Field) secret() string {
	switch f.Kind {
	case Boolean, SingleChoice, MultiChoice:
		return ""
	}
	if f.Format == "password" {
		return "a password"
	}
	if f.Format == "date" || f.Format == "date-time" {
		return ""
	}
	for _, text := range []string{f.Name, f.Label} {
		if name := secretNamed(wordsOf(text)); name != "" {
			return name
		}
	}
	return secretDescribed(f.Description)
}

// secretNamed finds a secret in a name or title.
func secretNamed(list []string) string {
	for _, term := range secretTerms {
		if i := phraseAt(list, term.words); i >= 0 && !isTamed(list[i+len(term.words):]) && !isAbout(list[:i]) {
			return term.names
		}
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(w string) bool { return slices.Contains(polite, w) })
	for _, term := range wholeTerms {
		if slices.Equal(rest, term.words) {
			return term.names
		}
	}
	// "GitHub token" is one, "tokens" and "page token" are none.
	if n := len(rest); n > 1 && rest[n-1] == "token" && !slices.ContainsFunc(rest[:n-1], func(w string) bool { return slices.Contains(quiet, w) }) {
		return "an access token"
	}
	return ""
}

// isTamed tells whether what follows a phrase makes it harmless.
func isTamed(rest []string) bool { return len(rest) > 0 && slices.Contains(tamed, rest[0]) }

// isAbout tells whether what stands before a phrase makes it something else, as
// in "name of the API key".
func isAbout(before []string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		if slices.Contains(words("of for with without about on to from by"), before[i]) {
			return true
		}
		if !slices.Contains(polite, before[i]) {
			return false
		}
	}
	return false
}

// secretDescribed finds a description that asks for a secret: a sentence that
// begins with it ("Your API key"), or that tells people to enter it. One that
// only mentions a secret ("We send a one-time code to this address") asks for
// none.
func secretDescribed(description string) string {
	for _, sentence := range strings.FieldsFunc(shorten(description, 2000), func(r rune) bool { return strings.ContainsRune(".!?;:\n()", r) }) {
		list := wordsOf(sentence)
		asked := 0
		for asked < len(list) && slices.Contains(polite, list[asked]) {
			asked++
		}
		for _, term := range secretTerms {
			i := phraseAt(list, term.words)
			if i < 0 || i > asked+2 || isTamed(list[i+len(term.words):]) {
				continue
			}
			if between := list[asked:i]; !slices.ContainsFunc(between, func(w string) bool { return !isAttribute(w) }) {
				return term.names
			}
		}
	}
	return ""
}

// isAttribute tells whether a word may stand between "your" and a secret without
// changing who is asked for what: "your GitHub password", but not "email for
// password".
func isAttribute(word string) bool {
	return !slices.Contains(words("for to of with without before after if when by from on at or and not no never don do is are was were will used use uses using send sends sent email e mail username name contains contain than that which where whose this reset change forgot forgotten public"), word)
}

// phraseAt is where a phrase stands in a list of words, -1 if it does not.
func phraseAt(list, phrase []string) int {
	for i := range list {
		if i+len(phrase) <= len(list) && slices.Equal(list[i:i+len(phrase)], phrase) {
			return i
		}
	}
	return -1
}

// wordsOf splits a name or a text into lower-case words: "APIKey", "api_key" and
// "API key's" are all api and key.
func wordsOf(text string) []string {
	runes := []rune(shorten(text, 2000))
	var list []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
			word = nil
		}
	}
	for i, r := range runes {
		switch {
		case r == '\'' || r == '’':
			// "key's" is key, "don't" is don.
			flush()
			if i+1 < len(runes) && (runes[i+1] == 's' || runes[i+1] == 't') {
				continue
			}
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		default:
			upper := unicode.IsUpper(r)
			// A capital begins a word after a small letter, or after the digits at
			// the end of a word; 2FA is one.
			afterLower := len(word) > 0 && !unicode.IsUpper(word[len(word)-1]) && slices.ContainsFunc(word, unicode.IsLetter)
			lastOfCapitals := len(word) > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(word[len(word)-1])
			if upper && (afterLower || lastOfCapitals) {
				flush()
			}
			if afterApostrophe(runes, i) {
				continue
			}
			word = append(word, r)
		}
	}
	flush()
	return list
}

// afterApostrophe tells whether the rune at i is the s or t of 's or 't.
func afterApostrophe(runes []rune, i int) bool {
	if i == 0 || runes[i] != 's' && runes[i] != 't' || runes[i-1] != '\'' && runes[i-1] != '’' {
		return false
	}
	return i+1 == len(runes) || !unicode.IsLetter(runes[i+1])
}
