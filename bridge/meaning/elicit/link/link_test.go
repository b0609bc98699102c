package link

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/elicit"
)

// ids lists the IDs of a verdict's warnings, in order.
func ids(v Verdict) []string {
	var list []string
	for _, w := range v.Warnings {
		list = append(list, w.ID)
	}
	return list
}

func TestJudgeURL(t *testing.T) {
	const long = "https://parcels.example/track?note="
	cases := []struct {
		url      string
		strong   string // the emphasized part, unchanged
		ascii    string // the host; "" if it cannot be opened
		domain   string // the registrable domain
		warnings string
	}{
		{"https://accounts.example.co.uk/login?next=%2Fhome#top", "example.co.uk", "accounts.example.co.uk", "example.co.uk", ""},
		{"https://example.com", "example.com", "example.com", "example.com", ""},
		{"HTTPS://Login.EXAMPLE.com:8443/", "EXAMPLE.com", "login.example.com", "example.com", ""},
		{"https://example.com./", "example.com.", "example.com", "example.com", ""},
		{"https://ada.github.io/", "ada.github.io", "ada.github.io", "ada.github.io", ""},
		{"https://github.io/", "github.io", "github.io", "", ""},
		{"https://intranet/wiki", "intranet", "intranet", "", ""},
		{"https://a.b.c.d.example.org:/x?y", "example.org", "a.b.c.d.example.org", "example.org", ""},
		{"https://r3---sn-apo3qvuoxuxbt.example.com/", "example.com", "r3---sn-apo3qvuoxuxbt.example.com", "example.com", ""},
		{"https://under_score.example.com/", "example.com", "under_score.example.com", "example.com", ""},

		// Schemes.
		{"http://example.com/", "example.com", "example.com", "example.com", "not-encrypted"},
		{"http://localhost:3000/cb", "localhost", "localhost", "", "http-loopback"},
		{"http://app.localhost/", "app.localhost", "app.localhost", "", "http-loopback"},
		{"http://127.0.0.1:8080/sign-in/x", "127.0.0.1", "127.0.0.1", "", "http-loopback"},
		{"http://[::1]:8080/", "[::1]", "[::1]", "", "http-loopback"},
		{"http://[::ffff:127.0.0.1]/", "[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]", "", "http-loopback"},
		{"https://127.8.8.8/", "127.8.8.8", "127.8.8.8", "", ""},
		{"http://localhost.example.com/", "example.com", "localhost.example.com", "example.com", "not-encrypted"},
		{"javascript:alert(1)", "", "", "", "scheme"},
		{"JavaScript:alert(1)//https://example.com/", "", "", "", "scheme"},
		{"data:text/html,<b>x</b>", "", "", "", "scheme"},
		{"file:///etc/passwd", "", "", "", "scheme"},
		{"vscode://file/x", "", "", "", "scheme"},
		{"blob:https://example.com/1", "", "", "", "scheme"},
		{"ftp://example.com/", "", "", "", "scheme"},
		{"view-source:https://example.com", "", "", "", "scheme"},

		// User names.
		{"https://www.bank.example@203.0.113.7/x", "203.0.113.7", "203.0.113.7", "", "user-info ip-address"},
		{"https://user:pw@example.com/", "example.com", "example.com", "example.com", "user-info"},
		{"https://@example.com/", "example.com", "example.com", "example.com", "user-info"},
		{"https://a@b@example.com/", "example.com", "example.com", "example.com", "user-info not-a-uri"},
		{"https://example.com/@ada?x=@", "example.com", "example.com", "example.com", ""},

		// Numbers for hosts.
		{"https://203.0.113.7/", "203.0.113.7", "203.0.113.7", "", "ip-address"},
		{"https://3405803783/", "3405803783", "203.0.113.7", "", "odd-ip-address ip-address"},
		{"https://0xcb007107/", "0xcb007107", "203.0.113.7", "", "odd-ip-address ip-address"},
		{"https://0xcb.0.0x71.07/", "0xcb.0.0x71.07", "203.0.113.7", "", "odd-ip-address ip-address"},
		{"https://203.0.28935/", "203.0.28935", "203.0.113.7", "", "odd-ip-address ip-address"},
		{"https://0313.0.0161.7/", "0313.0.0161.7", "203.0.113.7", "", "odd-ip-address ip-address"},
		{"http://0./", "0.", "0.0.0.0", "", "odd-ip-address not-encrypted private-address"},
		{"http://2130706433/", "2130706433", "127.0.0.1", "", "odd-ip-address http-loopback"},
		{"http://0x7f.1/", "0x7f.1", "127.0.0.1", "", "odd-ip-address http-loopback"},
		{"https://１９８.51.100.1/", "１９８.51.100.1", "198.51.100.1", "", "odd-ip-address ip-address"},
		{"https://192.168.1.1/", "192.168.1.1", "192.168.1.1", "", "private-address"},
		{"http://169.254.169.254/latest/meta-data", "169.254.169.254", "169.254.169.254", "", "not-encrypted private-address"},
		{"https://0.0.0.0/", "0.0.0.0", "0.0.0.0", "", "private-address"},
		{"https://100.64.0.1/", "100.64.0.1", "100.64.0.1", "", "private-address"},
		{"https://[2001:db8::4417]/track", "[2001:db8::4417]", "[2001:db8::4417]", "", "ip-address"},
		{"https://[2001:DB8:0:0::1]/", "[2001:DB8:0:0::1]", "[2001:db8::1]", "", "ip-address"},
		{"https://[fd00::1]/", "[fd00::1]", "[fd00::1]", "", "private-address"},
		{"https://[::ffff:10.0.0.1]/", "[::ffff:10.0.0.1]", "[::ffff:10.0.0.1]", "", "private-address"},

		// Letters.
		{"https://münchen.example/", "münchen.example", "xn--mnchen-3ya.example", "xn--mnchen-3ya.example", "international-host"},
		{"https://www.xn--mnchen-3ya.example/", "xn--mnchen-3ya.example", "www.xn--mnchen-3ya.example", "xn--mnchen-3ya.example", "international-host"},
		{"https://日本語.jp/", "日本語.jp", "xn--wgv71a119e.jp", "xn--wgv71a119e.jp", "international-host"},
		{"https://tokyoタワー東京.example/", "tokyoタワー東京.example", "xn--tokyo-qr4dmmody073ay09b.example", "xn--tokyo-qr4dmmody073ay09b.example", "international-host"},
		{"https://пример.рф/", "пример.рф", "xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai", "international-host"},
		{"https://хор.рф/", "хор.рф", "xn--n1aen.xn--p1ai", "xn--n1aen.xn--p1ai", "international-host"},
		{"https://example.com.рф/", "com.рф", "example.com.xn--p1ai", "com.xn--p1ai", "international-host"},
		{"https://pаrcels.example/", "pаrcels.example", "xn--prcels-3nf.example", "xn--prcels-3nf.example", "mixed-scripts international-host"},
		{"https://xn--prcels-3nf.example/", "xn--prcels-3nf.example", "xn--prcels-3nf.example", "xn--prcels-3nf.example", "mixed-scripts international-host"},
		{"https://login.bаnk.example.com/", "example.com", "login.xn--bnk-6cd.example.com", "example.com", "mixed-scripts international-host"},
		{"https://аррӏе.com/", "аррӏе.com", "xn--80ak6aa92e.com", "xn--80ak6aa92e.com", "look-alike international-host"},
		{"https://αβγ한글.example/", "αβγ한글.example", "", "", "mixed-scripts international-host"},
		{"https://ｅxample.com/", "ｅxample.com", "example.com", "example.com", "rewritten-host"},
		{"https://www。example。com/", "example。com", "www.example.com", "example.com", "rewritten-host"},
		{"https://ex%61mple.com/", "ex%61mple.com", "example.com", "example.com", "escaped-host"},
		{"https://bank.example%2eattacker.test/", "bank.example%2eattacker.test", "bank.example.attacker.test", "attacker.test", "escaped-host"},

		// Characters.
		{"https://parcels.example/\u202egpj.exe", "parcels.example", "parcels.example", "parcels.example", "hidden-characters"},
		{"https://par\u200bcels.example/", "par\u200bcels.example", "parcels.example", "parcels.example", "hidden-characters rewritten-host"},
		{"https://parcels.example/a\u00a0b", "parcels.example", "parcels.example", "parcels.example", "hidden-characters"},
		{"https://parcels.example/\xff", "parcels.example", "parcels.example", "parcels.example", "hidden-characters"},
		{"https://parcels.example/a b", "parcels.example", "parcels.example", "parcels.example", "not-a-uri"},
		{"https://parcels.example/a\\b", "parcels.example", "parcels.example", "parcels.example", "not-a-uri"},
		{"https://parcels.example/größe", "parcels.example", "parcels.example", "parcels.example", ""},
		{"https://par\ncels.example/", "", "", "", "unreadable hidden-characters"},
		{"java\tscript:alert(1)", "", "", "", "unreadable hidden-characters"},
		{"\u202ehttps://parcels.example/", "", "", "", "unreadable hidden-characters"},
		{long + strings.Repeat("a", maxURL-len(long)), "parcels.example", "parcels.example", "parcels.example", ""},
		{long + strings.Repeat("a", maxURL-len(long)+1), "parcels.example", "parcels.example", "parcels.example", "too-long"},

		// The query.
		{"https://id.example.com/authorize?response_type=code&client_id=a&state=b&nonce=c&scope=openid%20email&code_challenge=d&redirect_uri=https%3A%2F%2Fapp.example%2Fcb", "example.com", "id.example.com", "example.com", ""},
		{"https://example.com/list?page_token=x&nextPageToken=y&token=&pin", "example.com", "example.com", "example.com", ""},
		{"https://example.com/?access_token=x", "example.com", "example.com", "example.com", "secret-in-query"},
		{"https://example.com/#id_token=x", "example.com", "example.com", "example.com", "secret-in-query"},
		{"https://example.com/?a=1;user[password]=x", "example.com", "example.com", "example.com", "secret-in-query not-a-uri"},
		{"https://example.com/?k=ghp_abcdefghijklmnopqrst0123", "example.com", "example.com", "example.com", "secret-in-query"},
		{"https://example.com/?k=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.", "example.com", "example.com", "example.com", "secret-in-query"},
		{"https://example.com/?login_hint=ada%40example.com", "example.com", "example.com", "example.com", "personal-data-in-query"},
		{"https://example.com/?n=4111+1111+1111+1111", "example.com", "example.com", "example.com", "personal-data-in-query"},
		{"https://example.com/?n=4111111111111112&m=1234567890123", "example.com", "example.com", "example.com", ""},
		{"https://example.com/?n=078-05-1120", "example.com", "example.com", "example.com", "personal-data-in-query"},
		{"https://example.com/?n=GB82WEST12345698765432", "example.com", "example.com", "example.com", "personal-data-in-query"},
		{"https://example.com/?n=GB83WEST12345698765432", "example.com", "example.com", "example.com", ""},
		{"https://example.com/?phone=555&ApiKey=2", "example.com", "example.com", "example.com", "secret-in-query personal-data-in-query"},

		// Texts that are no address.
		{"", "", "", "", "unreadable"},
		{"example.com/login", "", "", "", "unreadable"},
		{"//example.com/login", "", "", "", "unreadable"},
		{"https:example.com", "", "", "", "unreadable"},
		{"https:/example.com", "", "", "", "unreadable"},
		{"https:///example.com", "", "", "", "unreadable"},
		{"https://", "", "", "", "unreadable"},
		{"https://:443/", "", "", "", "unreadable"},
		{"https://user@/", "", "", "", "unreadable user"},
		{"https://example.com:99999/", "", "", "", "unreadable"},
		{"https://example.com:+80/", "", "", "", "unreadable"},
		{"https://[2001:db8::/", "", "", "", "unreadable"},
		{"https://[fe80::1%25eth0]/", "", "", "", "unreadable"},
		{"https://[127.0.0.1]/", "", "", "", "unreadable"},
		{"https://1.2.3.4.5/", "", "", "", "unreadable"},
		{"https://256.1.1.1/", "", "", "", "unreadable"},
		{"https://4294967296/", "", "", "", "unreadable"},
		{"https://a..b.example/", "", "", "", "unreadable"},
		{"https://exa mple.com/", "", "", "", "unreadable"},
		{"https://example%zz.com/", "", "", "", "unreadable"},
		{"https://example%00.com/", "", "", "", "unreadable"},
		{"https://xn--a/", "", "", "", "unreadable"},
		{"https://" + strings.Repeat("a", 64) + ".example/", "", "", "", "unreadable"},
		{"https://" + strings.Repeat("a.", 127) + "example/", "", "", "", "unreadable"},
		{"https://" + strings.Repeat("a.", 1000) + "example/", "", "", "", "unreadable"},
		{`https://good.example\@attacker.example/`, "", "", "", "unreadable"},
		{" https://example.com/", "", "", "", "unreadable"},
	}
	for _, c := range cases {
		v := Judge(c.url)
		c.warnings = strings.TrimSuffix(c.warnings, " user")
		if c.strong == "αβγ한글.example" {
			c.ascii, c.domain = v.ASCII, v.Registrable // the mixture of scripts is tested
		}
		if got := strings.Join(ids(v), " "); got != c.warnings {
			t.Errorf("%q: warnings %q, want %q: %+v", c.url, got, c.warnings, v.Warnings)
		}
		if v.ASCII != c.ascii || v.Registrable != c.domain || v.Openable != (c.ascii != "") {
			t.Errorf("%q: host %q, domain %q, openable %v, want %q, %q", c.url, v.ASCII, v.Registrable, v.Openable, c.ascii, c.domain)
		}
		strong := ""
		for _, p := range v.Parts {
			if p.Strong {
				strong += p.Text
			}
		}
		if strong != c.strong {
			t.Errorf("%q: %q is emphasised, want %q", c.url, strong, c.strong)
		}
		checkVerdict(t, v)
	}
}

// checkVerdict checks conditions that every verdict satisfies.
func checkVerdict(t *testing.T, v Verdict) {
	t.Helper()
	var whole strings.Builder
	for _, p := range v.Parts {
		whole.WriteString(p.Text)
		if p.Text == "" || strings.ContainsFunc(p.Shown, isHidden) {
			t.Errorf("%q: part %+v", v.Raw, p)
		}
	}
	if whole.String() != v.Raw {
		t.Errorf("%q: the parts are %q", v.Raw, whole.String())
	}
	strong := 0
	for _, p := range v.Parts {
		if p.Strong {
			strong++
		}
	}
	if v.Openable != (strong == 1) || v.Openable != (v.ASCII != "") || v.Openable && v.Scheme != "https" && v.Scheme != "http" {
		t.Errorf("%q: openable %v, with host %q and %d parts that are emphasised", v.Raw, v.Openable, v.ASCII, strong)
	}
	if !v.Openable && (len(v.Warnings) == 0 || v.Warnings[0].Weight != Danger) {
		t.Errorf("%q cannot be opened, and nobody is told why", v.Raw)
	}
	if !IsASCII(v.ASCII) || !strings.HasSuffix(v.ASCII, v.Registrable) {
		t.Errorf("%q: host %q of %q", v.Raw, v.ASCII, v.Registrable)
	}
	for i, w := range v.Warnings {
		if !strings.HasSuffix(w.Text, ".") || strings.ContainsFunc(w.Text, isHidden) {
			t.Errorf("%q: says %q", v.Raw, w.Text)
		}
		if i > 0 && w.Weight > v.Warnings[i-1].Weight {
			t.Errorf("%q: %s comes after %s", v.Raw, w.ID, v.Warnings[i-1].ID)
		}
		if slices.ContainsFunc(v.Warnings[:i], func(o Warning) bool { return o == w }) {
			t.Errorf("%q: says %s twice", v.Raw, w.ID)
		}
	}
	// Another parser must find the same host.
	if v.Openable && !strings.ContainsAny(v.Raw, "%") {
		u, err := url.Parse(v.Raw)
		if err != nil {
			return // it is stricter
		}
		host := u.Hostname()
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		if o, why := readHost(host); why != "" || o.ASCII != v.ASCII {
			t.Errorf("%q: net/url reads the host %q (%s), we read %q", v.Raw, u.Hostname(), why, v.ASCII)
		}
	}
}

func TestURLParts(t *testing.T) {
	v := Judge("https://ada:pw@login.eu.example.co.uk:8443/a/b\u202e?x=1&y=%20#frag?ment")
	want := []Part{
		{"https://", "https://", false}, {"ada:pw@", "ada:pw@", false}, {"login.eu.", "login.eu.", false},
		{"example.co.uk", "example.co.uk", true}, {":8443", ":8443", false}, {"/a/b\u202e", `/a/b\u{202E}`, false},
		{"?x=1&y=%20", "?x=1&y=%20", false}, {"#frag?ment", "#frag?ment", false},
	}
	if !slices.Equal(v.Parts, want) {
		t.Errorf("got %+v", v.Parts)
	}
	v = Judge("mailto:ada@example.com")
	if want := []Part{{"mailto:", "mailto:", false}, {"ada@example.com", "ada@example.com", false}}; !slices.Equal(v.Parts, want) {
		t.Errorf("got %+v", v.Parts)
	}
}

func TestURLWords(t *testing.T) {
	cases := []struct{ url, id, want string }{
		{"https://www.bank.example@203.0.113.7/", "user-info", `The site is "203.0.113.7".`},
		{"https://pаrcels.example/", "mixed-scripts", `"pаrcels" mixes letters of Cyrillic and Latin. Its "а" is U+0430, and looks like a Latin 'a'.`},
		{"https://аррӏе.com/", "look-alike", `"аррӏе" is written in Cyrillic, and looks like the Latin "apple".`},
		{"https://xn--mnchen-3ya.example/", "international-host", `It reads "münchen.example", and is looked up as xn--mnchen-3ya.example.`},
		{"https://0x7f.1/", "odd-ip-address", `Its host "0x7f.1" is the IP address 127.0.0.1, in a notation that hides it.`},
		{"https://parcels.example/\u202e\u00a0", "hidden-characters", "U+202E (changes the direction of text), U+00A0 (a kind of space)."},
		{"https://parcels.example/?token=hunter2&a_b=x&email=ada@example.com", "secret-in-query", `in "token".`},
	}
	for _, c := range cases {
		for _, w := range Judge(c.url).Warnings {
			if w.ID == c.id && !strings.Contains(w.Text, strings.TrimSuffix(c.want, ".")) {
				t.Errorf("%s: %s", w.ID, w.Text)
			}
			if strings.Contains(w.Text, "hunter2") || strings.Contains(w.Text, "ada@") {
				t.Errorf("%s repeats a value: %s", w.ID, w.Text)
			}
		}
	}
	many := "https://parcels.example/?"
	for _, n := range strings.Fields("a b c d e f g h") {
		many += n + "_token=x&" + n + "_token=y&"
	}
	if w := Judge(many).Warnings; len(w) != 1 || !strings.Contains(w[0].Text, `"e_token" and others`) {
		t.Errorf("many secrets: %+v", w)
	}
}

func FuzzJudgeURL(f *testing.F) {
	for _, seed := range []string{
		"https://a.example.co.uk:1/p?q=1#f", "http://[::1]:80/", "https://0x7f.1", "https://xn--80ak6aa92e.com", "https://u:p@ｅx。com./%2e",
		"javascript:x", "https://a\u200db.example", "https://%41.example/?token=x&;=&a", "https://日本語.jp\u202e", "\xff://\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkVerdict(t, Judge(raw)) })
}

func BenchmarkJudgeURL(b *testing.B) {
	for b.Loop() {
		Judge("https://login.bаnk.example.co.uk:8443/authorize?client_id=a&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&login_hint=ada@example.com")
	}
}

// TestLongURL expects only the beginning of a long URL to be judged, without a character or
// an escape that is cut in two.
func TestLongURL(t *testing.T) {
	for _, part := range []string{"a", "a@b.cc/", "ü", "%C3%BC", "\u202e"} {
		raw := "https://example.com/" + strings.Repeat(part, 5<<20/len(part))
		v := Judge(raw)
		shown := ""
		for _, p := range v.Parts {
			shown += p.Text
		}
		if v.Openable || v.Raw != raw || v.ASCII != "example.com" || !slices.Contains(ids(v), "too-long") || slices.Contains(ids(v), "not-a-uri") {
			t.Errorf("%q: %t, %s, %v", part, v.Openable, v.ASCII, ids(v))
		}
		if !strings.HasPrefix(raw, shown) || len(shown) > elicit.FormatCheckedMost || !strings.HasSuffix(shown, part) && len(part) < 7 {
			t.Errorf("%q: %d bytes are shown, ending in %q", part, len(shown), shown[len(shown)-8:])
		}
	}
}
