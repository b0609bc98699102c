package elicit

import (
	"strings"
	"testing"
)

// fieldNamed is a field of text by name, title and description, separated by |.
func fieldNamed(t *testing.T, text string) Field {
	t.Helper()
	parts := append(strings.Split(text, "|"), "", "")
	f := Field{Name: parts[0], Label: parts[1], Description: parts[2], Kind: Text}
	if f.Label == "" {
		f.Label = f.Name
	}
	return f
}

func TestFieldsThatAskForSecrets(t *testing.T) {
	for _, text := range []string{
		"password", "userPassword", "db_password", "new-password", "passphrase", "passwd", "PWD", "x|Password (again)", "x|Ihr Passwort", "x|Contraseña", "x|密码",
		"apiKey", "api_key", "APIKey", "openai_api_key", "x|API key", "x|Your API Key:", "x|Stripe secret key", "AWS_SECRET_ACCESS_KEY", "x|Private key (PEM)", "sshKey", "x|Seed phrase",
		"token", "accessToken", "access_token", "x|GitHub token", "x|Personal access token", "bearerToken", "refresh_token", "jwt", "slackBotToken", "clientSecret", "secret", "x|Webhook secret",
		"credentials", "x|AWS credentials", "cardNumber", "x|Credit card", "x|Card number", "ccNumber", "cvv", "CVC", "x|Security code", "x|PIN", "pin", "x|Your PIN",
		"otp", "x|One-time code", "x|Verification code", "mfaCode", "x|2FA code", "x|Recovery codes", "ssn", "x|Social Security Number", "x|National ID", "nationalIdNumber", "x|Passport number", "aadhaar",
		"value|Value|Paste your API key", "v|Value|Your GitHub password.", "v|Value|Enter the one-time code", "v|Value|Please enter your personal access token here.", "v|Value|Used once. Enter the password of the account.",
		"v|Value|The card number, without spaces",
	} {
		if f := fieldNamed(t, text); f.secret() == "" {
			t.Errorf("%q asks for no secret", text)
		}
	}
	f := fieldNamed(t, "x")
	f.Format = "password"
	if f.secret() == "" {
		t.Error("the format password asks for no secret")
	}
}

func TestFieldsThatAskForNoSecret(t *testing.T) {
	for _, text := range []string{
		"country_code|Country code", "zipCode|ZIP/Postal Code|5-digit ZIP code", "x|Area code", "promoCode", "x|Booking code", "x|Error code", "code|Code", "x|Code from the letter",
		"tokens", "token_count", "maxTokens", "max_tokens|Max tokens|Most tokens in the answer", "x|Tokens per minute", "pageToken", "next_page_token", "x|Token limit", "tokenName", "x|Stop token", "tokenizer", "x|Token symbol", "x|ERC20 token",
		"passport|Passport", "x|Do you hold a passport?", "x|Passport country", "passengers", "x|Boarding pass", "compass", "passenger_name",
		"x|Password policy", "x|Password length", "passwordHint", "x|Password manager", "x|Name of the API key", "x|API key name", "apiKeyId", "x|API key expiry", "x|Private key file", "x|Secret Santa", "x|Secret ingredient",
		"key", "x|Key", "primaryKey", "sort_key", "x|Public key", "x|SSH public key", "issueKey", "x|Keyboard", "x|Key signature", "x|Keyword",
		"pinned", "pinCode|PIN code|Of your town", "x|Pin this message", "spin", "opinion", "x|Shopping cart", "card|Card|Title of the card", "x|Business card", "x|Gift card message", "scorecard",
		"author", "authority", "authorization", "x|Authorised by", "idea", "identity", "x|ID", "id", "customerId", "x|Tax rate", "x|Account number", "iban|IBAN", "x|Bank", "x|Sort code",
		"x|SSN status", "certificate", "x|Number of passwords|How many to generate",
		"email|E-mail|We send a one-time code to this address.", "user|User|The name that goes with your password.", "integer|Integer|Your favorite integer (do not give us your phone number, pin, or other sensitive info)",
		"x|Value|Never enter your password here.", "x|Note|Please do not enter your card number.", "x|Reason|Why you reset your password", "x|Address|Where the recovery code was sent", "user|User|Not your password!",
		"x|Model|Counts input tokens", "x|Name|Name of the environment variable that holds the API key", "x|Login|Your username, not your password", "x|E-mail|Used for password reset",
		"x|Event|What happened when the access token expired", "x|Old account|If you forgot your password, leave this empty.",
	} {
		if f := fieldNamed(t, text); f.secret() != "" {
			t.Errorf("%q is said to ask for %s", text, f.secret())
		}
	}
	for _, kind := range []FieldKind{Boolean, SingleChoice, MultiChoice} {
		if f := (Field{Name: "password", Label: "Change the password", Kind: kind}); f.secret() != "" {
			t.Errorf("a field of kind %v is said to ask for %s", kind, f.secret())
		}
	}
	if f := (Field{Name: "x", Label: "Password last changed", Kind: Text, Format: "date"}); f.secret() != "" {
		t.Error("a date is said to be a secret")
	}
}

func TestWordsOf(t *testing.T) {
	for in, want := range map[string]string{
		"userAPIKey2": "user api key2", "api_key-Name": "api key name", "Skipper's e-mail": "skipper e mail", "don't": "don", "AWSSecret": "aws secret", "ÜberName": "über name", "": "", "2faCode": "2fa code",
		"its": "its", "key’s": "key",
	} {
		if got := strings.Join(wordsOf(in), " "); got != want {
			t.Errorf("wordsOf(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLinkIn(t *testing.T) {
	for text, want := range map[string]string{
		"See https://example.com/terms.": "https://example.com/terms", "(www.example.com)": "www.example.com", "HTTP://EXAMPLE.COM": "HTTP://EXAMPLE.COM",
		"Look at http://a.b, or https://c.d": "http://a.b",
		"e.g. https://example.com":           "", "such as https://example.com/x": "", "Example: https://example.com": "", "(e.g., https://example.com)": "", "Starts with https://": "", "https://…": "", "no link": "",
		"awww.": "", "www.": "", "for example https://a.b, see https://c.d": "https://c.d", "Your domain, like www.example.com": "",
	} {
		if got := linkIn(text); got != want {
			t.Errorf("linkIn(%q) = %q, want %q", text, got, want)
		}
	}
}
