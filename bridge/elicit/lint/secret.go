package lint

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// secretKind is what a field asks for, as far as its texts tell.
type secretKind struct {
	names string // "a password", for people
	sort  secretSort
}

// secretSort is how sure it is that a phrase stands for a secret, and which kind
// of sensitive it is.
type secretSort int

const (
	noSecret     secretSort = iota
	certain                 // the phrase means a secret wherever it stands
	likely                  // it often means a secret, and sometimes something harmless
	identifying             // the number of an identity document or of a bank account: personal, but no secret
	spokenOfOnly            // a text speaks of a secret and asks for something else
)

// A secretTerm is a phrase that names a secret, as lower-case words.
type secretTerm struct {
	words []string
	secretKind
}

// secretTerms are phrases that name a secret wherever they stand in a field's
// name or title.
var secretTerms = terms(
	phrases{certain, map[string]string{
		"a password": "password|passwords|passwd|pwd|passphrase|pass phrase|pass word|login password|" +
			"passwort|kennwort|contraseña|contrasena|mot de passe|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호",
		"an API key":         "api key|apikey|api secret|app secret|x api key",
		"an access key":      "secret access key|secret key",
		"a private key":      "private key|privatekey|ssh private key|pgp private key|seed phrase|recovery phrase|mnemonic phrase",
		"a secret":           "client secret|shared secret|webhook secret|signing secret|consumer secret|jwt secret|secret token",
		"an access token":    "access token|auth token|authentication token|authorization token|bearer token|api token|refresh token|session token|oauth token|personal access token|bot token|pat token|session cookie|access tokens",
		"credentials":        "login credentials|aws credentials",
		"a card number":      "credit card|debit card|credit card number|debit card number|creditcard|cc number|ccnumber|card pan|kreditkartennummer",
		"a card's code":      "cvv|cvv2|cvc|cvc2|card security code|card verification code|card verification value",
		"a PIN":              "card pin|atm pin|account pin|debit pin|bank pin|sim pin|online banking pin",
		"a one-time code":    "otp|totp|otp code|one time code|one time password|one time passcode|one time pin|2fa code|mfa code|two factor code|authenticator code|2fa|transaction number tan",
		"a recovery code":    "recovery code|recovery codes|backup codes",
		"a security answer":  "security answer|secret answer|security question answer|answer to your security question|answer to the security question|mother maiden name|mothers maiden name|mother s maiden name",
		"a banking password": "banking password",
	}},
	phrases{likely, map[string]string{
		"a passcode":          "passcode",
		"a key":               "application key|subscription key|license secret|access key|account key|service account key|sas key|signing key|encryption key|decryption key|ssh key|master key|pgp key|gpg key|deploy key|keystore|secret value|backup phrase",
		"an access token":     "user token|login token|id token|security token",
		"credentials":         "credentials",
		"a card number":       "card number|cardnumber|card no|card num",
		"a card's code":       "security code|card code",
		"a PIN":               "pin number|security pin",
		"a one-time code":     "verification code|authentication code|auth code|authorization code|login code|sms code|backup code|magic code",
		"a connection string": "connection string|connectionstring|database url|db url|jdbc url|database connection",
	}},
	phrases{identifying, map[string]string{
		"an identity number": "ssn|social security number|social security no|social security|social insurance number|national id|national id number|national identification number|national identity number|national insurance number|identity card number|id card number|personal identification number|citizen id|aadhaar|aadhaar number|passport number|passport no|tax identification number|driver license number|drivers license number|driving licence number|sozialversicherungsnummer",
		"a bank account":     "iban|bank account number",
	}},
)

// wholeTerms name a secret only where they are all that a name or title says,
// apart from words such as "your".
var wholeTerms = terms(phrases{likely, map[string]string{
	"a secret":        "secret|secrets|the secret",
	"a password":      "pass",
	"a PIN":           "pin|tan",
	"credentials":     "credential",
	"an access token": "token|pat|jwt|bearer",
	"a private key":   "mnemonic",
	"a key":           "key",
}})

// tamed are the words that may follow a phrase and make it something about the
// secret rather than the secret itself.
var tamed = words("name names label id ids identifier title description scope scopes type types kind expiry expires expiration expire count counts limit limits usage " +
	"last policy policies hint hints length reset resets rotation rotate format prefix suffix owner url uri endpoint status budget symbol address standard permission permissions header manager provider " +
	"days hours minutes ttl lifetime algorithm path file filename version date age strength rule rules required protected less protection change changed recovery store vault location field column " +
	"figures signature scheme office variable env environment shortcut issuer network brand holder cost costs price prices per quantity amount size method methods storage enabled needed sent delivery channel settings option options field page will was has isn expired")

// quiet are the words before "token" that make it another kind of token.
var quiet = words("page next continuation cursor sync progress stop start end pad eos bos cancellation max min maximum minimum per nft erc20 design governance utility previous prev completion prompt input output total " +
	"separator mask unknown sep cls special game board poker reward native base quote payment swap lp wrapped stable meme")

// polite are the words that say nothing about what is asked for.
var polite = words("your my the a an please enter type in paste provide give us input confirm repeat tell supply share submit need require now new current old existing here optional required account user login kindly just first also then again to continue")

func words(list string) []string { return strings.Fields(list) }

// phrases are lists of phrases of one sort, separated by |, by what they name.
type phrases struct {
	sort   secretSort
	byName map[string]string
}

func terms(lists ...phrases) []secretTerm {
	var all []secretTerm
	for _, l := range lists {
		for name, list := range l.byName {
			for phrase := range strings.SplitSeq(list, "|") {
				all = append(all, secretTerm{strings.Fields(phrase), secretKind{name, l.sort}})
			}
		}
	}
	// The longest first, so that a text is told to ask for what it says in full.
	slices.SortFunc(all, func(a, b secretTerm) int {
		if len(a.words) != len(b.words) {
			return len(b.words) - len(a.words)
		}
		return strings.Compare(strings.Join(a.words, " "), strings.Join(b.words, " "))
	})
	return all
}

// secretIn is what kind of secret a field asks for. A choice, or yes and no, gives no
// secret away.
func secretIn(f elicit.Field) secretKind {
	switch {
	case f.Kind == elicit.Boolean || f.Kind == elicit.SingleChoice || f.Kind == elicit.MultiChoice:
		return secretKind{}
	case f.Format == "password":
		return secretKind{"a password", certain}
	case slices.Contains([]string{"date", "date-time", "email"}, f.Format):
		return secretKind{}
	}
	title := ""
	if f.Label != f.Name {
		title = f.Label
	}
	kind := secretInTexts(f.Name, title, f.Description)
	if kind.sort == likely && isElsewhere(f.Name, title, f.Description) {
		return secretKind{}
	}
	return kind
}

// secretInTexts weighs a field's texts. The title speaks to people, so it counts for
// more than the name.
func secretInTexts(name, title, description string) secretKind {
	byTitle, byName, described := secretNamed(title), secretNamed(name), secretDescribed(description)
	switch {
	case byTitle.sort == spokenOfOnly, byTitle.sort == likely && byName.sort == spokenOfOnly:
		return secretKind{}
	case description != "" && byTitle.sort != certain && byName.sort != certain && (isWhole(name, "key") || isWhole(title, "key")):
		return described // there are too many keys
	case byTitle.sort != noSecret:
		return stronger(byTitle, byName)
	case speaksOfSecret(description) && described.sort == noSecret && byName.sort != certain:
		return secretKind{}
	case namesVariable(description):
		return secretKind{}
	case byName.sort == spokenOfOnly:
		return described
	case byName.sort == likely && !saysNothing(title):
		// Such as the name "pin" with the title "Postal code".
		return described
	}
	return stronger(byName, described)
}

// stronger is the surer of two kinds.
func stronger(a, b secretKind) secretKind {
	if a.sort == noSecret || b.sort == certain && a.sort == likely {
		return b
	}
	return a
}

// saysNothing tells whether a title is missing, or one that any field could have.
func saysNothing(title string) bool {
	for _, w := range wordsOf(title) {
		if !slices.Contains(polite, w) && !slices.Contains(words("value code input field text answer string data secret key response"), w) {
			return false
		}
	}
	return true
}

// isWhole tells whether a word is all that a text says.
func isWhole(text, word string) bool { return slices.Equal(wordsOf(text), []string{word}) }

// isElsewhere tells whether a field's texts speak of a thing that shares its name
// with a secret: postal codes, keyboards, securities, colours, maps, games.
func isElsewhere(texts ...string) bool {
	for _, text := range texts {
		for _, w := range wordsOf(text) {
			if slices.Contains(homonyms, w) {
				return true
			}
		}
	}
	return false
}

var homonyms = words("postal postcode zip town city district keyboard shortcut hotkey isin cusip wkn stock bond share securities ticker color colour paint shade map marker location board game poker chess piano music song scale chord " +
	"column row table field json yaml dictionary map primary foreign sort partition index issue ticket jira translation i18n locale lookup cache s3 object bucket product license plate gate door garage delivery ski season bus train boarding mountain " +
	"discount promo promotion coupon voucher gift booking order tracking error status ean barcode sku meeting loyalty library membership business nft erc20 coin crypto contract symbol lexer parser separator nlp llm model word")

// namesVariable tells whether a text says that a name is wanted, of something that
// holds the secret.
func namesVariable(text string) bool {
	list := wordsOf(text)
	if slices.Contains(list, "variable") || slices.Contains(list, "env") {
		return true
	}
	for _, phrase := range []string{"name of", "name for", "path to", "path of", "location of", "id of", "reference to", "where the", "number of", "length of"} {
		if phraseAt(list, strings.Fields(phrase)) == 0 || phraseAt(list, append([]string{"the"}, strings.Fields(phrase)...)) == 0 {
			return true
		}
	}
	return false
}

// asksAboutSecret tells whether a text asks which secret, why, or what to do with it.
func asksAboutSecret(list []string) bool {
	return len(list) > 0 && slices.Contains(words("which why how when where does did is are should"), list[0]) ||
		slices.ContainsFunc(list, func(w string) bool {
			return slices.Contains(words("revoke revoked delete deleted remove removed rename renamed disable disabled"), w)
		})
}

// speaksOfSecret tells whether a text names a secret at all.
func speaksOfSecret(text string) bool {
	list := wordsOf(text)
	return slices.ContainsFunc(secretTerms, func(t secretTerm) bool { return phraseAt(list, t.words) >= 0 })
}

// secretNamed finds a secret in a name or title.
func secretNamed(text string) secretKind {
	list := wordsOf(text)
	if namesVariable(text) || asksAboutSecret(list) {
		return secretKind{"", spokenOfOnly}
	}
	spoken := false
	for _, term := range secretTerms {
		i := phraseAt(list, term.words)
		switch {
		case i < 0:
		case isTamed(list[i+len(term.words):]) || isAbout(list[:i]):
			spoken = true
		case spoken && term.sort == likely:
		default:
			return term.secretKind
		}
	}
	if spoken {
		return secretKind{"", spokenOfOnly}
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(w string) bool { return w != "type" && slices.Contains(polite, w) })
	for _, term := range wholeTerms {
		switch {
		case slices.Equal(rest, term.words):
			return term.secretKind
		case phraseAt(rest, term.words) == 0 && isTamed(rest[len(term.words):]):
			return secretKind{"", spokenOfOnly}
		}
	}
	// "GitHub token" is one, "tokens" and "page token" are none.
	if n := len(rest); n > 1 && rest[n-1] == "token" && !slices.ContainsFunc(rest[:n-1], func(w string) bool { return slices.Contains(quiet, w) }) {
		return secretKind{"an access token", likely}
	}
	return secretKind{}
}

// isTamed tells whether what follows a phrase makes it harmless.
func isTamed(rest []string) bool { return len(rest) > 0 && slices.Contains(tamed, rest[0]) }

// isAbout tells whether what stands before a phrase makes it something else, as
// in "name of the API key".
func isAbout(before []string) bool {
	if slices.ContainsFunc(before, func(w string) bool {
		return slices.Contains(words("no not never don holds holding contains containing stores hash hashed masked encrypted public last forgot forgotten lost"), w)
	}) {
		return true
	}
	for i := len(before) - 1; i >= 0; i-- {
		if slices.Contains(words("has have had of for with without about on to from by how reset change rotate revoke enable require requires allow use show hide store save"), before[i]) {
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
func secretDescribed(description string) secretKind {
	for list := range sentencesOf(description) {
		if kind, _, after := secretAsked(list); kind.sort != noSecret && !isTamed(after) {
			return kind
		}
	}
	return secretKind{}
}

// secretAsked finds the secret that a sentence begins with or asks to enter, with
// what stands before and after it.
func secretAsked(list []string) (kind secretKind, before, after []string) {
	asked := 0
	for asked < len(list) && slices.Contains(polite, list[asked]) {
		asked++
	}
	for _, term := range secretTerms {
		i := phraseAt(list, term.words)
		if i < 0 || i > asked+3 || term.sort == likely && len(term.words) == 1 {
			continue // a single word that is not sure says too little in running text
		}
		if between := list[min(asked, i):i]; !slices.ContainsFunc(between, func(w string) bool { return !isAttribute(w) }) {
			return term.secretKind, list[:i], list[i+len(term.words):]
		}
	}
	return secretKind{}, nil, nil
}

func sentencesOf(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for sentence := range strings.FieldsFuncSeq(wording.Shorten(text, 2000), func(r rune) bool { return strings.ContainsRune(".!?;:\n()", r) }) {
			if list := wordsOf(sentence); !yield(list) {
				return
			}
		}
	}
}

// requested are the verbs with which a message asks for something to be entered.
var requested = words("enter type paste provide give input confirm repeat tell supply share submit need need require")

// away are words that say that the secret is to be entered somewhere else.
var away = words("browser page website site window app terminal device there link email prompted later never not")

// secretInMessage is the secret that a message asks people to enter, such as
// "Please enter your password".
func secretInMessage(message string) secretKind {
	for list := range sentencesOf(message) {
		// Whoever asks for a user name and a password asks for a password.
		asks := slices.DeleteFunc(slices.Clone(list), func(w string) bool {
			return slices.Contains(words("username name email e mail and login we i us what is"), w)
		})
		kind, before, after := secretAsked(asks)
		switch {
		case kind.sort == noSecret || isTamed(after):
		case slices.ContainsFunc(after, func(w string) bool { return slices.Contains(away, w) }):
		case slices.ContainsFunc(before, func(w string) bool { return slices.Contains(requested, w) }),
			len(list) > 2 && list[0] == "what" && list[1] == "is":
			return kind
		}
	}
	return secretKind{}
}

// isAttribute tells whether a word may stand between "your" and a secret without
// changing who is asked for what: "your GitHub password", but not "email for
// password".
func isAttribute(word string) bool {
	return !slices.Contains(words("for to of with without before after if when by from on at or and not no never don do is are was were will used use uses using send sends sent email e mail username name contains contain than that which where whose this reset change forgot forgotten public last hash may might can could mention mentions about any all some"), word)
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
	runes := []rune(wording.Shorten(text, 2000))
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
