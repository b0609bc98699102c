package elicit

import (
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	long := strings.Repeat
	for format, tt := range map[string]struct{ good, bad []string }{
		"email": {
			good: []string{"a@b", "a.b+c@example.com", `"a b\"@"@example.com`, "x@[192.0.2.1]", "x@[IPv6:2001:db8::1]", "o'neil@xn--bcher-kva.example",
				long("a", 64) + "@example.com", "a@" + long("b", 63) + ".com"},
			bad: []string{"", "a", "@b.c", "a@", "a b@c.d", "a..b@c.d", ".a@c.d", "a.@c.d", "a@b..c", "a@b.c.", "a@-b.c", "a@b-.c", "ä@b.c", "a@bü.c", "a@b_c.d",
				"a@b.c ", "a@[192.0.2]", "a@[2001:db8::1]", `"a"b@c.d`, `"a@c.d`, "a@b@c.d", "Name <a@b.c>", long("a", 65) + "@b.c", "a@" + long("b", 64) + ".c", "a@" + long("b.", 130) + "c"},
		},
		"uri": {
			good: []string{"https://example.com", "HTTP://a.b:8080/x/y;z?q=%20&r[]#f"[:24], "mailto:a@b.c", "urn:isbn:0451450523", "file:///etc/hosts", "https://u:p@[2001:db8::7]:443/a?b=c#d",
				"ldap://[v1.fe80]/c", "tel:+1-816-555-1212", "a:", "https://example.com/%C3%A9", "data:text/plain,hi", "x-y+z.1:rest", "http://a.b?", "http://:80", "https:///x", "https://a.b/a//b/?/?"},
			bad: []string{"", "example.com", "/path", "//example.com/x", "#f", "?a:b", "1a:b", ":x", "ht tp://x", "https://exa mple.com", "https://example.com/é", "https://bücher.example",
				"https://a.b/%zz", "https://a.b/%2", "https://a.b/<x>", `https://a.b/\`, "https://a.b/{x}", "https://a.b/#a#b", "https://[::1", "https://[::g]/", "https://[::1]x/", "https://a.b:80a/",
				"https://a@b@c/", "https://[192.0.2.1]/", "https://a.b/[x]", "https://a.b/\n"},
		},
		"date": {
			good: []string{"2026-01-31", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"},
			bad:  []string{"", "2026-1-31", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "20260131", "2026-01-31T00:00:00Z", "+2026-01-31", "2026/01/31", "２026-01-31", " 2026-01-31"},
		},
		"date-time": {
			good: []string{"2026-01-31T09:30:00Z", "2026-01-31t09:30:00z", "2026-01-31T09:30:00.123456789012Z", "2026-01-31T09:30:00+02:00", "2026-01-31T09:30:00-00:00", "2026-01-31T23:59:59+23:59",
				"2016-12-31T23:59:60Z", "2017-01-01T01:59:60+02:00", "2016-12-31T15:59:60.5-08:00"},
			bad: []string{"", "2026-01-31", "2026-01-31T09:30:00", "2026-01-31T09:30Z", "2026-01-31 09:30:00Z", "2026-02-30T09:30:00Z", "2026-01-31T24:00:00Z", "2026-01-31T09:60:00Z", "2026-01-31T09:30:61Z",
				"2026-01-31T09:30:60Z", "2026-01-31T09:30:00.Z", "2026-01-31T09:30:00,5Z", "2026-01-31T09:30:00+0200", "2026-01-31T09:30:00+02", "2026-01-31T09:30:00+24:00", "2026-01-31T09:30:00+02:60",
				"2026-01-31T09:30:00Zx", "2026-01-31T9:30:00Z", "2026-01-31T+9:30:00Z", "2026-01-31T09:30:00é"},
		},
	} {
		for _, s := range tt.good {
			if err := formats[format].check(s); err != nil {
				t.Errorf("%s: %q: %v", format, s, err)
			}
		}
		for _, s := range tt.bad {
			if err := formats[format].check(s); err == nil {
				t.Errorf("%s: %q passes", format, s)
			}
		}
	}
}
