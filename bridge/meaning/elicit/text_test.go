package elicit

import "testing"

func TestTexts(t *testing.T) {
	testKind(t, Text, []kindCase{
		{`{"type":"string"}`, `
missing: Required.
example: "text"
another: "pangolin-76546"
spoiled: wrong-type 12345`},
		{`{"type":"string","minLength":3,"maxLength":5}`, `
limits: at least 3 characters, at most 5 characters
hints: 3 to 5 characters
missing: Required.
example: "text"
another: "pango"
spoiled: wrong-type 12345, too-short "xx", too-long "xxxxxx"`},
		{`{"type":"string","maxLength":1}`, `
limits: at most 1 character
hints: at most 1 character
missing: Required.
example: "t"
spoiled: wrong-type 12345, too-long "xx"`},
		{`{"type":"string","format":"email"}`, `
limits: format email
hints: an email address
missing: Required.
example: "made.up.4711@example.com"
another: "pangolin76546@example.com"
spoiled: wrong-type 12345, wrong-format "not a valid email"`},
		{`{"type":"string","format":"date"}`, `
limits: format date
hints: a date, like 2026-08-01
missing: Required.
example: "2026-01-31"
another: "2031-07-14"
spoiled: wrong-type 12345, wrong-format "not a valid date"`},
		{`{"type":"string","format":"date-time","minLength":5}`, `
limits: format date-time, at least 5 characters
hints: RFC 3339 with an offset, like 2026-08-01T09:30:00+02:00, at least 5 characters
missing: Required.
example: "2026-01-31T12:00:00Z"
another: "2031-07-14T09:41:17Z"
spoiled: wrong-type 12345, too-short "xxxx", wrong-format "not a valid date-time"`},
		{`{"type":"string","format":"ipv6"}`, `
limits: format ipv6
hints: format ipv6
missing: Required.
example: "2001:db8::1"
spoiled: wrong-type 12345, wrong-format "not a valid ipv6"`},
		{`{"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"}`, `
limits: pattern ^[A-Z]{2}-[0-9]+$
hints: must match
missing: Required.
example: "AA-0"
spoiled: wrong-type 12345, pattern-mismatch "does not match"`},
	})
}
