package lint

import (
	"slices"
	"strings"
)

func wordList(list string) []string { return strings.Fields(list) }

// A term is phrases that name the same secret, as lower-case words.
type term struct {
	sort    secretSort
	what    string // "a password", for people
	phrases string // separated by |
}

// A phrase names a secret.
type phrase struct {
	words []string
	secret
}

// phrasesOf lists the phrases of all terms, the longest first, so that a text is
// taken to ask for what it says in full.
func phrasesOf(terms []term) []phrase {
	var all []phrase
	for _, t := range terms {
		for text := range strings.SplitSeq(t.phrases, "|") {
			all = append(all, phrase{strings.Fields(text), secret{t.what, t.sort}})
		}
	}
	slices.SortStableFunc(all, func(a, b phrase) int { return len(b.words) - len(a.words) })
	return all
}

// secretPhrases name a secret wherever they stand in a field's name or title.
var secretPhrases = phrasesOf([]term{
	{certain, "a password", "password|passwords|passwd|pwd|passphrase|pass phrase|pass word|login password|passwort|kennwort|contraseña|" +
		"contrasena|mot de passe|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|비밀번호"},
	{certain, "an API key", "api key|apikey|api secret|app secret|x api key"},
	{certain, "an access key", "secret access key|secret key"},
	{certain, "a private key", "private key|privatekey|ssh private key|pgp private key|seed phrase|recovery phrase|mnemonic phrase"},
	{certain, "a secret", "client secret|shared secret|webhook secret|signing secret|consumer secret|jwt secret|secret token"},
	{certain, "an access token", "access token|auth token|authentication token|authorization token|bearer token|api token|refresh token|" +
		"session token|oauth token|personal access token|bot token|pat token|session cookie|access tokens"},
	{certain, "credentials", "login credentials|aws credentials"},
	{certain, "a card number", "credit card|debit card|credit card number|debit card number|creditcard|cc number|ccnumber|card pan|" +
		"kreditkartennummer"},
	{certain, "a card's code", "cvv|cvv2|cvc|cvc2|card security code|card verification code|card verification value"},
	{certain, "a PIN", "card pin|atm pin|account pin|debit pin|bank pin|sim pin|online banking pin"},
	{certain, "a one-time code", "otp|totp|otp code|one time code|one time password|one time passcode|one time pin|2fa code|mfa code|" +
		"two factor code|authenticator code|2fa|transaction number tan"},
	{certain, "a recovery code", "recovery code|recovery codes|backup codes"},
	{certain, "a security answer", "security answer|secret answer|security question answer|answer to your security question|" +
		"answer to the security question|mother maiden name|mothers maiden name|mother s maiden name"},
	{certain, "a banking password", "banking password"},
	{likely, "a passcode", "passcode"},
	{likely, "a key", "application key|subscription key|license secret|access key|account key|service account key|sas key|" +
		"signing key|encryption key|decryption key|ssh key|master key|pgp key|gpg key|deploy key|keystore|secret value|" +
		"backup phrase"},
	{likely, "an access token", "user token|login token|id token|security token"},
	{likely, "credentials", "credentials"},
	{likely, "a card number", "card number|cardnumber|card no|card num"},
	{likely, "a card's code", "security code|card code"},
	{likely, "a PIN", "pin number|security pin"},
	{likely, "a one-time code", "verification code|authentication code|auth code|authorization code|login code|sms code|backup code|magic code"},
	{likely, "a connection string", "connection string|connectionstring|database url|db url|jdbc url|database connection"},
	{identifying, "an identity number", "ssn|social security number|social security no|social security|social insurance number|national id|" +
		"national id number|national identification number|national identity number|national insurance number|" +
		"identity card number|id card number|personal identification number|citizen id|aadhaar|aadhaar number|" +
		"passport number|passport no|tax identification number|driver license number|drivers license number|" +
		"driving licence number|sozialversicherungsnummer"},
	{identifying, "a bank account", "iban|bank account number"},
})

// wholePhrases name a secret only where they are all that a name or title says,
// apart from words such as "your".
var wholePhrases = phrasesOf([]term{
	{likely, "a secret", "secret|secrets|the secret"},
	{likely, "a password", "pass"},
	{likely, "a PIN", "pin|tan"},
	{likely, "credentials", "credential"},
	{likely, "an access token", "token|pat|jwt|bearer"},
	{likely, "a private key", "mnemonic"},
	{likely, "a key", "key"},
})

// tamed are the words that may follow a phrase and make it something about the
// secret rather than the secret itself.
var tamed = wordList("name names label id ids identifier title description scope scopes type types kind expiry expires expiration expire " +
	"count counts limit limits usage last policy policies hint hints length reset resets rotation rotate format prefix " +
	"suffix owner url uri endpoint status budget symbol address standard permission permissions header manager provider days " +
	"hours minutes ttl lifetime algorithm path file filename version date age strength rule rules required protected less " +
	"protection change changed recovery store vault location field column figures signature scheme office variable env " +
	"environment shortcut issuer network brand holder cost costs price prices per quantity amount size method methods " +
	"storage enabled needed sent delivery channel settings option options field page will was has isn expired")

// quiet are the words before "token" that make it another kind of token.
var quiet = wordList("page next continuation cursor sync progress stop start end pad eos bos cancellation max min maximum minimum per nft " +
	"erc20 design governance utility previous prev completion prompt input output total separator mask unknown sep cls " +
	"special game board poker reward native base quote payment swap lp wrapped stable meme")

// polite are the words that say nothing about what is asked for.
var polite = wordList("your my the a an please enter type in paste provide give us input confirm repeat tell supply share submit need require " +
	"now new current old existing here optional required account user login kindly just first also then again to continue")

// homonyms are of things that share their name with a secret: postal codes,
// keyboards, securities, colours, maps, games.
var homonyms = wordList("postal postcode zip town city district keyboard shortcut hotkey isin cusip wkn stock bond share securities ticker color " +
	"colour paint shade map marker location board game poker chess piano music song scale chord column row table field json " +
	"yaml dictionary map primary foreign sort partition index issue ticket jira translation i18n locale lookup cache s3 " +
	"object bucket product license plate gate door garage delivery ski season bus train boarding mountain discount promo " +
	"promotion coupon voucher gift booking order tracking error status ean barcode sku meeting loyalty library membership " +
	"business nft erc20 coin crypto contract symbol lexer parser separator nlp llm model word")
