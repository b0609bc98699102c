package lint

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
)

// nothing is the expectation that the linter finds nothing.
const nothing = ""

// judged is a request and all findings in each of the named revisions. Found has lines of
// the form "severity rule pointer".
type judged struct {
	name      string
	revisions []string
	params    string
	found     string
}

var (
	all      = []string{june, nov, july}
	withURLs = []string{nov, july}
	onlyNov  = []string{nov}
	onlyJune = []string{june}
	onlyJuly = []string{july}
)

// form returns a form with one text field.
func form(name, title, description string) string {
	schema := map[string]any{"type": "string"}
	if title != "" {
		schema["title"] = title
	}
	if description != "" {
		schema["description"] = description
	}
	property, _ := json.Marshal(schema)
	key, _ := json.Marshal(name)
	return ask(`"properties":{` + string(key) + `:` + string(property) + `}`)
}

// says returns a form with a message and one field.
func says(message, name string) string {
	text, _ := json.Marshal(message)
	return `{"message":` + string(text) + `,"requestedSchema":{"type":"object","properties":{"` + name + `":{"type":"string"}}}}`
}

// opens returns a question in URL mode that is valid in the revision.
func opens(url string) string {
	text, _ := json.Marshal(url)
	return `{"mode":"url","message":"Sign in.","url":` + string(text) + `}`
}

// harmlessFields lists fields that look like secrets but ask for none, as
// "name|title|description", the way servers word them.
var harmlessFields = []string{
	// Facts about a secret, not the secret itself.
	"token_type", "token_type|Token type|bearer or mac", "tokenType|Token|Bearer or JWT?", "token_count", "max_tokens|Max tokens|Most tokens in the answer", "maxOutputTokens", "tokens", "tokens|Tokens|How many tokens to mint",
	"page_token", "nextPageToken", "cursor|Continuation token", "token_limit|Token limit", "token_name|Token name", "token_expiry|Token expires after|In days", "stop_token|Stop token", "token_symbol|Token symbol", "erc20|ERC20 token", "tokenizer",
	"token|Environment variable that holds the token", "token|Token variable|Name of the environment variable that holds the token", "api_key_env|API key variable", "env_var|Environment variable|Where the API key is read from", "secret_name|Secret name|Name of the secret in the vault",
	"api_key_id|API key ID", "api_key_name|API key name", "apiKeyExpiry|API key expiry", "api_key_header|API key header", "key_name", "key_path|Private key file|Path of a PEM file", "password_policy|Password policy", "password_length|Password length", "passwordHint|Password hint", "password_manager|Password manager",
	"password_reset_email|Password reset e-mail", "password_changed|Password last changed", "number_of_passwords|Number of passwords|How many to generate", "credential_type|Credential type", "secret_santa|Secret Santa", "x|Secret ingredient",
	"auth_method|Authentication method", "authorization|Authorization", "author|Author", "otp_length|OTP length", "mfa_enabled|MFA enabled", "session_id|Session", "client_id|Client ID", "redirect_uri|Redirect URI",
	"has_password|Has a password", "x|API key to revoke", "x|Which API key should be deleted?", "x|Why did the one-time code not arrive?", "x|Name for the new token", "x|Standard bearer", "x|Account key figures", "x|Master key signature", "db|Database URL scheme", "x|Social security office",
	"x|Password expires", "x|Credit card type", "x|Cardholder name", "card_last4|Last 4 digits", "x|OAuth scopes", "jwt_issuer", "seed|Random seed", "verification_url", "encryption_key_id", "kms_key_arn|KMS key ARN", "x|License key", "tokenAddress|Token contract address", "vault_secret|Vault path of the secret", "x|Keystore path", "key|Key|Where the value is stored",
	// Words that also name a secret, with another meaning.
	"pin|PIN code (postal)", "pin_code|PIN code|Of your town", "pinCode|PIN Code|6-digit postal PIN", "pin|Pin|Colour of the map pin", "pin|GPIO pin|Number of the board's pin", "tan|Tan color", "tan|Tan|The shade of the leather",
	"access_key|Access key – keyboard shortcut", "accesskey|Access key|Keyboard shortcut of the button", "security_code|Security code – ISIN", "security_code|Security code|ISIN or WKN", "card|Card|Title of the card", "card_number|Card number|Number of your library card",
	"key|Key|Key of the issue", "key|Primary key", "sort_key", "x|Public key", "x|SSH public key", "issueKey", "x|Keyboard", "x|Key signature", "x|Keyword", "foreign_key|Foreign key", "s3_key|Object key", "translation_key", "partitionKey", "key|Musical key",
	"pass|Boarding pass", "pass|Ski pass", "passengers", "compass", "passport|Passport|Do you hold one?", "x|Passport country", "passed|Passed", "bypass",
	"verification_code|Verification code|Printed on the voucher", "code|Code", "promo_code|Promo code", "zip|ZIP code|5 digits", "country_code", "area_code|Area code", "error_code|Error code", "booking_code|Booking code", "license_plate|License plate", "sku|SKU",
	"place|Place|Where your pin is", "pin|GPIO pin|The 2-digit pin", "pinned", "spin", "opinion", "x|Pin this message", "x|Shopping cart", "x|Business card", "x|Gift card message", "scorecard", "identity|Identity", "idea", "id", "customer_id|Customer ID", "tax_rate|Tax rate", "account_number|Account number", "sort_code|Sort code", "bank|Bank",
	// Personal details, and texts that mention a secret.
	"name|Name", "email|E-mail|We send a one-time code to this address.", "user|User|The name that goes with your password.", "username|GitHub username", "phone|Phone", "age|Age", "date_of_birth|Date of birth",
	"value|Value|Never enter your password here.", "note|Note|Please do not enter your card number.", "reason|Reason|Why you reset your password", "address|Address|Where the recovery code was sent", "login|Login|Your username, not your password",
	"number|Favorite integer|Your favorite integer (do not give us your phone number, pin, or other sensitive info)", "event|Event|What happened when the access token expired", "old|Old account|If you forgot your password, leave this empty.", "model|Model|Counts input tokens",
	"comment|Comment|May mention passwords and API keys that leaked", "branch|Branch", "repo|Repository|owner/name", "table|Table", "endpoint|Token endpoint", "scopes|Scopes|Scopes of the access token", "city|Ville", "メール|メールアドレス", "straße|Straße",
}

// secretFields lists fields that certainly ask for a secret.
var secretFields = []string{
	"password", "userPassword", "db_password", "new-password", "passphrase", "passwd", "PWD", "x|Password (again)", "x|Ihr Passwort", "x|Contraseña", "x|密码", "password|Value",
	"apiKey", "api_key", "APIKey", "openai_api_key", "x|API key", "x|Your API Key:", "x|Stripe secret key", "AWS_SECRET_ACCESS_KEY", "x|Private key (PEM)", "x|Seed phrase",
	"accessToken", "access_token", "x|Personal access token", "bearerToken", "refresh_token", "slackBotToken", "clientSecret", "x|Webhook secret", "x|AWS credentials", "x|Credit card", "cvv", "CVC",
	"otp", "x|One-time code", "mfaCode", "x|2FA code", "x|Recovery codes", "security_answer", "x|Security answer", "x|Mother's maiden name",
	"code|Code|Enter your PIN.", "code|Code|Your 4-digit PIN", "value|Value|Please type your personal PIN", "value|Value|Paste your API key", "v|Value|Your GitHub password.", "v|Value|Enter the one-time code", "v|Value|Please enter your personal access token here.", "v|Value|Used once. Enter the password of the account.",
}

// perhapsSecretFields lists fields that may ask for a secret.
var perhapsSecretFields = []string{
	"token", "x|GitHub token", "jwt", "secret", "credentials", "pin", "x|Your PIN", "pass", "key", "x|Security code", "x|Verification code", "cardNumber", "x|Card number", "sshKey", "encryption_key",
	"connection_string", "connectionString|Connection string", "x|Database URL", "passcode", "access_key", "v|Value|The card number, without spaces", "v|Value|Your PIN", "tan",
}

// identityFields lists fields for personal data that gives no access.
var identityFields = []string{"ssn", "x|Social Security Number", "x|National ID", "nationalIdNumber", "x|Passport number", "aadhaar", "iban", "x|IBAN", "x|Driver license number"}

// harmlessMessages lists messages above a field named value that ask for nothing secret.
var harmlessMessages = []string{
	"Please provide your contact information", "Please provide your GitHub username", "Which size?", "What is your name?", "Choose a password policy", "Enter your e-mail for the password reset", "Your password has expired. Which topic is it about?",
	"Enter your password in the browser, then type the page's title here", "Do not enter your password here", "Never share your API key. What is the project called?", "Enter the name of the environment variable that holds the API key",
	"The access token expired. Which account should be used?", "Please enter the token limit", "How many tokens?", "Enter the verification status", "Confirm the password change", "Do you need a password?", "Please confirm that you have rotated the API key",
	"Delete https://example.com/ann/shop?", "The site is https://example.com. Which page?", "Deploy main to https://staging.example.com", "Fetched https://example.com/a and https://example.com/b", "Type the address, such as https://example.com", "No availability for this date. Would you like to try another?",
}

var secretMessages = []string{
	"Please enter your password", "Please enter your password.", "Enter your GitHub password to continue", "Please provide your API key to continue.", "What is your password?", "To continue, enter your password", "Sign-in needed. Enter your username and password.", "We need your API key", "Paste the access token",
}

var perhapsSecretMessages = []string{"Please enter your verification code", "Enter the security code"}

// followed lists texts that ask people to open an address.
var followed = []string{"Visit https://example.com/terms first", "Please open https://example.com", "Go to www.example.com and fetch the code", "Read [the terms](https://example.com/terms)", "Sign in at https://example.com/login first", `<a href="https://example.com">Terms</a>`}

// harmlessURLs lists addresses of URL mode without findings.
var harmlessURLs = []string{
	"https://mcp.example.com/ui/set_api_key", "https://mcp.example.com/connect?elicitationId=550e8400-e29b-41d4-a716-446655440000", "http://localhost:8080/cb", "http://127.0.0.1/", "http://[::1]:3000/x", "https://example.com/@ann",
	"https://github.com/login/oauth/authorize?client_id=Iv1.8a61f9b3a7aba766&redirect_uri=https%3A%2F%2Fmcp.example.com%2Fcb&scope=user%3Aemail&state=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJlc2ln",
	"https://accounts.google.com/o/oauth2/v2/auth?response_type=code&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=n-0S6_WzA2Mj&access_type=offline&prompt=consent",
	"https://example.com/authorize?request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3Abwc4JK-ESC0w8acc191e-Y1LTC2&client_id=s6BhdRkqt3", "https://example.com/authorize?oauth_token=Z6eEdO8MOmk394WozF5oKyuAv855l4Mlqo7hhlSLik",
	"https://example.com/reset?password=reset", "https://example.com/form?email=required&next=%2Fdone", "https://example.com/list?page_token=abc", "https://example.com/pay?amount=12.50&currency=EUR&order=4929123412341234", "https://example.com/?q=mail", "https://xn--bcher-kva.example/in?a=%20#x",
}

var judgedURLs = []struct{ url, found string }{
	{"https://ann:pw@example.com/", "violation url-credentials"},
	{"https://example.com/?password=hunter2", "violation url-credentials"},
	{"https://example.com/?k=ghp_0123456789abcdefghij0123456789abcdef", "violation url-credentials"},
	{"https://ann@example.com/", "advice url-credentials"},
	{"https://example.com/?email=ann%40example.com", "violation url-personal-data"},
	{"https://example.com/authorize?login_hint=ann%40example.com", "violation url-personal-data"},
	{"https://example.com/?ssn=123-45-6789", "violation url-personal-data"},
	{"https://example.com/?iban=DE89370400440532013000", "violation url-personal-data"},
	{"https://example.com/?card=4111111111111111", "violation url-personal-data"},
	{"https://example.com/?phone=%2B49%20170%201234567", "violation url-personal-data"},
	{"https://example.com/?dob=1990-04-01", "violation url-personal-data"},
	{"https://example.com/#email=ann%40example.com", "violation url-personal-data"},
	{"https://example.com/?ref=ann%40example.com", "advice url-personal-data"},
	{"https://example.com/?firstName=Ann", "advice url-personal-data"},
	{"https://example.com/users/ann@example.com/settings", "advice url-personal-data"},
	{"https://example.com/?access_token=0123456789abcdef", "violation url-preauthenticated"},
	{"https://example.com/#id_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2ln", "violation url-preauthenticated"},
	{"https://bucket.s3.amazonaws.com/o?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260701%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Signature=aeeed9bbccd4d02e", "violation url-preauthenticated"},
	{"https://acc.blob.core.windows.net/c/b?sv=2024-11-04&se=2026-08-01&sr=b&sp=r&sig=abc%2Bdef", "violation url-preauthenticated"},
	{"https://storage.googleapis.com/b/o?X-Goog-Credential=a&X-Goog-Signature=b", "violation url-preauthenticated"},
	{"https://example.com/?token=0123456789abcdef", "advice url-preauthenticated"},
	{"https://example.com/?sid=0123456789abcdef", "advice url-preauthenticated"},
	{"https://example.com/?sso=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl", "advice url-preauthenticated"},
	{"http://example.com/", "should url-insecure"},
	{"ftp://example.com/", "should url-insecure"},
	{"https://bücher.example/", "advice url-not-ascii"},
	{"example.com/in", "violation url-invalid"},
	{"https://exa mple.com/", "violation url-invalid"},
	{"https:///in", "violation url-invalid"},
}

// wholeCases holds requests like those in the specification's examples, the SDKs' tests
// and public servers, and requests with a defect.
var wholeCases = []judged{
	{"the specification's simple request", all, `{"message":"Please provide your GitHub username","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`, nothing},
	{"the specification's structured request", all, `{"message":"Please provide your contact information","requestedSchema":{"type":"object","properties":{"name":{"type":"string","description":"Your full name"},"email":{"type":"string","format":"email","description":"Your email address"},"age":{"type":"number","minimum":18,"description":"Your age"}},"required":["name","email"]}}`, nothing},
	{"the same with a mode, which is no fault in 2025-06-18", all, `{"mode":"form","message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`, nothing},
	{"the specification's sensitive data by URL", onlyJuly, `{"mode":"url","url":"https://mcp.example.com/ui/set_api_key","message":"Please provide your API key to continue."}`, nothing},
	{"the same with an elicitationId", onlyNov, `{"mode":"url","elicitationId":"550e8400-e29b-41d4-a716-446655440000","url":"https://mcp.example.com/ui/set_api_key","message":"Please provide your API key to continue."}`, nothing},
	{"all kinds of field of 2025-11-25", withURLs, `{"mode":"form","message":"Tell us about the trip","requestedSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
		"s":{"type":"string","title":"Display Name","description":"Description text","minLength":3,"maxLength":50,"format":"email","default":"user@example.com"},
		"n":{"type":"number","title":"Amount","minimum":0,"maximum":100,"default":50},"i":{"type":"integer","default":7},"b":{"type":"boolean","default":false},
		"c":{"type":"string","title":"Color Selection","enum":["Red","Green","Blue"],"default":"Red"},"t":{"type":"string","oneOf":[{"const":"#FF0000","title":"Red"},{"const":"#00FF00","title":"Green"}],"default":"#FF0000"},
		"m":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Red","Green","Blue"]},"default":["Red","Green"]},"k":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},"default":["a"]}}}}`, nothing},
	{"all kinds of field of 2025-06-18", onlyJune, `{"message":"Tell us about the trip","requestedSchema":{"type":"object","properties":{"s":{"type":"string","title":"Display Name","minLength":3,"maxLength":50,"format":"email"},"n":{"type":"number","minimum":0,"maximum":100},"b":{"type":"boolean","default":false},"e":{"type":"string","enum":["option1","option2"],"enumNames":["Option 1","Option 2"]}}}}`, nothing},
	{"zod: additionalProperties and $schema", all, `{"message":"Confirm","requestedSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"confirm":{"type":"boolean","description":"Are you sure?"}},"required":["confirm"],"additionalProperties":false}}`, nothing},
	{"pydantic: titles everywhere", all, `{"message":"No tables available for 2024-12-25. Would you like to try another date?","requestedSchema":{"description":"Schema for collecting user preferences.","properties":{"checkAlternative":{"description":"Would you like to check another date?","title":"Checkalternative","type":"boolean"},"alternativeDate":{"default":"2024-12-26","description":"Alternative date (YYYY-MM-DD)","title":"Alternativedate","type":"string"}},"required":["checkAlternative"],"title":"BookingPreferences","type":"object"}}`, nothing},
	{"pydantic: an optional field", withURLs, `{"message":"More?","requestedSchema":{"properties":{"note":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"Note"}},"title":"More","type":"object"}}`,
		"violation keyword-unsupported " + schem + "/properties/note/anyOf"},
	{"the everything server's form", withURLs, `{"message":"Please provide inputs for the following fields:","requestedSchema":{"type":"object","properties":{"name":{"title":"String","type":"string","description":"Your full, legal name"},"check":{"title":"Boolean","type":"boolean","description":"Agree to the terms and conditions"},"firstLine":{"title":"String with default","type":"string","description":"Favorite first line of a story","default":"It was a dark and stormy night."},"email":{"title":"String with email format","type":"string","format":"email","description":"Your email address (will be verified, and never shared with anyone else)"},"homepage":{"type":"string","format":"uri","title":"String with uri format","description":"Portfolio / personal website"},"birthdate":{"title":"String with date format","type":"string","format":"date","description":"Your date of birth"},"integer":{"title":"Integer","type":"integer","description":"Your favorite integer (do not give us your phone number, pin, or other sensitive info)","minimum":1,"maximum":100,"default":42},"number":{"title":"Number in range 1-1000","type":"number","description":"Favorite number (there are no wrong answers)","minimum":0,"maximum":1000,"default":3.14}},"required":["name"]}}`, nothing},
	{"a project generator", onlyJune, `{"message":"Configure the new project in https://github.com/ann/shop","requestedSchema":{"type":"object","properties":{"projectName":{"type":"string","title":"Project name","minLength":1},"framework":{"type":"string","enum":["react","vue"],"enumNames":["React","Vue"]},"includeTests":{"type":"boolean","default":true}},"required":["projectName"]}}`, nothing},
	{"an empty form", all, ask(`"properties":{}`), nothing},
	{"a default of text in 2025-06-18", onlyJune, asking(`{"type":"string","default":"a"}`), nothing},
	{"a format beside an enum", all, asking(`{"type":"string","enum":["a"],"format":"colour"}`), nothing},
	{"a vendor's keywords", all, asking(`{"type":"string","x-order":1,"placeholder":"Ann","widget":"textarea","example":"Ann","nullable":false,"order":3,"label":"Name"}`), nothing},
	{"titles in many scripts", all, asking(`{"type":"string","title":"Пол","description":"電子メール"}`), nothing},
	{"a key and its value", all, ask(`"properties":{"key":{"type":"string"},"value":{"type":"string"}}`), nothing},
	{"user and password", withURLs, ask(`"properties":{"user":{"type":"string"},"password":{"type":"string"}},"required":["user","password"]`), "violation secret-in-form " + schem + "/properties/password"},
	{"a choice about passwords", withURLs, asking(`{"type":"string","title":"Password","enum":["keep","reset"]}`), nothing},
	{"a switch about passwords", all, asking(`{"type":"boolean","title":"Reset the password"}`), nothing},
	{"a message for a secret over a switch", all, `{"message":"Enter your password in the dialog, then confirm.","requestedSchema":{"type":"object","properties":{"done":{"type":"boolean"}}}}`, nothing},
	{"a message for a secret over its field", withURLs, `{"message":"Please enter your password","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}`, "violation secret-in-form " + schem + "/properties/password"},
	{"a message for a secret over several fields", withURLs, `{"message":"Please enter your password","requestedSchema":{"type":"object","properties":{"first":{"type":"string"},"second":{"type":"string"}}}}`, "advice secret-in-form /message"},
	{"URL mode in 2025-06-18", onlyJune, `{"mode":"url","message":"Sign in.","url":"https://example.com/in","elicitationId":"e1"}`, "advice mode-unknown /mode\nviolation schema-missing "},
	{"an unknown mode in 2025-06-18", onlyJune, `{"mode":"voice","message":"Say it","requestedSchema":{"type":"object","properties":{}}}`, "advice mode-unknown /mode"},
	{"a url without a mode", withURLs, `{"message":"Sign in.","url":"https://example.com/in","requestedSchema":{"type":"object","properties":{}}}`, "advice form-with-url /url"},
	{"no id is due in 2026-07-28", onlyJuly, `{"mode":"url","message":"Sign in.","url":"https://example.com/in"}`, nothing},
	{"an id in 2026-07-28", onlyJuly, `{"mode":"url","message":"Sign in.","url":"https://example.com/in","elicitationId":"e1"}`, "advice id-removed /elicitationId"},
	{"no message in 2025-06-18", onlyJune, `{"requestedSchema":{"type":"object","properties":{}}}`, "violation message-missing "},
	{"all faults of a schema", all, ask(`"properties":{"password":{"type":"string"},"a":{"type":"string","minLength":-1,"maxLength":"9"},"b":{"type":"integer","multipleOf":0},"c":{"type":"thing"}},"required":["a","a"]`),
		"violation secret-in-form " + schem + "/properties/password\nviolation type-unknown " + schem + "/properties/c/type\nviolation schema-invalid " + schem + "/properties/a/maxLength\nviolation schema-invalid " + schem + "/properties/a/minLength\nviolation schema-invalid " + schem + "/properties/b/multipleOf\nviolation schema-invalid " + schem + "/required"},
	{"required and no properties", all, `{"message":"a","requestedSchema":{"type":"object","required":["name"]}}`, "violation properties-missing " + schem + "\nadvice required-unknown " + schem + "/required/0"},
	{"required and misspelt", all, ask(`"properties":{"name":{"type":"string"}},"required":["nmae"]`), "advice required-unknown " + schem + "/required/0"},
	{"a title and a description of other types", all, asking(`{"type":"string","title":1,"description":{}}`), "violation text-not-string " + p + "/title\nviolation text-not-string " + p + "/description"},
	{"a slip in a keyword", all, asking(`{"type":"string","minLenght":3,"patern":"a","discription":"b"}`), "advice keyword-misspelt " + p + "/minLenght\nadvice keyword-misspelt " + p + "/patern\nadvice keyword-misspelt " + p + "/discription"},
	{"requestSchema", withURLs, `{"message":"Which?","requestSchema":{"type":"object","properties":{}}}`, "advice keyword-misspelt /requestSchema\nviolation schema-missing "},
	{"a default of another type", withURLs, asking(`{"type":"integer","default":"three"}`), "violation default-type " + p + "/default"},
	{"a default of another type, before defaults were typed", onlyJune, asking(`{"type":"integer","default":"three"}`), "should default-invalid " + p + "/default"},
	{"a default of another value", all, asking(`{"type":"integer","maximum":3,"default":4}`), "should default-invalid " + p + "/default"},
}

func judgedCases() []judged {
	cases := slices.Clone(wholeCases)
	field := func(text string) (name, params string) {
		parts := append(strings.Split(text, "|"), "", "")
		return parts[0], form(parts[0], parts[1], parts[2])
	}
	fields := func(list []string, found string, rule string) {
		for _, text := range list {
			name, params := field(text)
			want := found
			if found != nothing {
				want = found + " " + rule + " " + rawjson.PointerTo(schem+"/properties", name)
			}
			cases = append(cases, judged{"the field " + text, all, params, want})
		}
	}
	fields(harmlessFields, nothing, "")
	fields(secretFields, "violation", "secret-in-form")
	fields(perhapsSecretFields, "advice", "secret-in-form")
	fields(identityFields, "advice", "identity-in-form")
	messages := func(list []string, revisions []string, found string) {
		for _, text := range list {
			cases = append(cases, judged{"the message " + text, revisions, says(text, "value"), found})
		}
	}
	messages(harmlessMessages, all, nothing)
	messages(secretMessages, all, "violation secret-in-form /message")
	messages(perhapsSecretMessages, all, "advice secret-in-form /message")
	messages(followed, withURLs, "should url-in-form /message")
	messages(followed, onlyJune, nothing)
	for _, text := range harmlessURLs {
		cases = append(cases, judged{"the address " + text, onlyJuly, opens(text), nothing})
	}
	for _, u := range judgedURLs {
		cases = append(cases, judged{"the address " + u.url, onlyJuly, opens(u.url), u.found + " /url"})
	}
	return cases
}

// TestJudgedRequests expects exactly the findings of each case in each of its revisions.
func TestJudgedRequests(t *testing.T) {
	silent, n := 0, 0
	for _, c := range judgedCases() {
		for _, revision := range c.revisions {
			if n++; c.found == nothing {
				silent++
			}
			var lines []string
			for _, f := range Elicitation(in(revision, c.params)) {
				lines = append(lines, f.Severity.String()+" "+f.Rule+" "+f.Pointer)
				if f.Severity != Advice && strings.Contains(f.Text, " may be ") {
					t.Errorf("%s: a guess is more than advice: %s", c.name, f.Text)
				}
			}
			got, want := strings.Join(lines, "\n"), c.found
			if got != want {
				t.Errorf("%s in %s\n%s\n got %s\nwant %s", c.name, revision, c.params, got, want)
			}
		}
	}
	t.Logf("%d requests, %d of them with nothing to find", n, silent)
}
