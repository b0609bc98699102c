package lint

import (
	"strings"
	"testing"
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
