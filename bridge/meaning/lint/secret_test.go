package lint

import (
	"cmp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/elicit"
)

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
		"Visit https://example.com/terms.": "https://example.com/terms", "Open (www.example.com)": "www.example.com", "GO TO HTTP://EXAMPLE.COM": "HTTP://EXAMPLE.COM",
		"Click http://a.b, or https://c.d": "http://a.b", "[terms](https://a.b)": "https://a.b", `<a href="https://a.b">here</a>`: "https://a.b", "Please sign in at https://a.b": "https://a.b",
		"e.g. https://example.com": "", "such as https://example.com/x": "", "Example: https://example.com": "", "(e.g., https://example.com)": "", "Starts with https://": "", "https://…": "", "no link": "",
		"Visit awww.": "", "Visit www.": "", "for example https://a.b, open https://c.d": "https://c.d", "Your domain, like www.example.com": "",
		"Delete https://a.b?": "", "Open an issue. The repository is https://a.b": "", "Do not open https://a.b": "", "Sign in to continue to the shop. It deploys to https://a.b": "",
	} {
		if got := linkIn(text); got != want {
			t.Errorf("linkIn(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestGivenAway checks what is advice about fields that ask for a secret without its name.
func TestGivenAway(t *testing.T) {
	for _, c := range []struct{ name, title, description, want string }{
		{"code", "", "6 digits from your authenticator", "a one-time code"},
		{"value", "Authenticator", "The six digits that the app shows", "a one-time code"},
		{"code", "Code", "The code we sent to your phone", "a one-time code"},
		{"sms", "", "The code that you got by SMS", "a one-time code"},
		{"words", "Recovery words", "The 12 words of your wallet", "a recovery phrase"},
		{"phrase", "", "The 24 words that you wrote down", "a recovery phrase"},
		{"number", "", "The PIN of your card", "a PIN"},
		{"number", "Card", "4-digit PIN", "a PIN"},
		{"number", "", "The three digits on the back", "a card's code"},
		{"key", "", "It starts with sk-", "an API key"},
		{"build", "", "Six digits of the build number", ""},
		{"words", "", "Up to 12 words about you", ""},
		{"phrase", "Search phrase", "", ""},
		{"code", "Postal code", "5 digits", ""},
		{"card", "Card", "Which card of the board", ""},
		{"digits", "", "Last four digits of your card", ""},
		{"code", "", "The discount code we sent to you", ""},
		{"pin", "Pin", "Pin the card to the board", ""},
		{"app", "", "Which authenticator app do you use?", ""},
	} {
		f := elicit.Field{Kind: elicit.Text, Name: c.name, Label: cmp.Or(c.title, c.name), Description: c.description}
		if got := secretIn(f); got.what != c.want || got.sort != noSecret && got.sort != likely {
			t.Errorf("%v: %q (%d)", c, got.what, got.sort)
		}
	}
}
