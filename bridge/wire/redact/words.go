package redact

import (
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
)

// Query returns the query of an address, or a form, with what replace returns for each
// value that is not empty. Names and values are as they are written. A value without a
// name has the name "".
func Query(query string, replace func(name, value string) string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		switch name, value, named := strings.Cut(part, "="); {
		case named && value != "":
			parts[i] = name + "=" + replace(name, value)
		case !named && part != "":
			parts[i] = replace("", part)
		}
	}
	return strings.Join(parts, "&")
}

// WithoutQuery returns u with the values in its query redacted. The names of parameters
// stay.
func WithoutQuery(u string) string { return withoutQuery(u, func(string) {}) }

// withoutQuery is WithoutQuery, and tells each value.
func withoutQuery(u string, tell func(value string)) string {
	address, query, ok := strings.Cut(u, "?")
	if !ok {
		return u
	}
	return address + "?" + Query(query, func(_, value string) string {
		tell(value)
		return Placeholder
	})
}

// rememberQuery remembers a value in the query of an address.
func (r *Redaction) rememberQuery(value string) {
	value, _, _ = strings.Cut(value, "#")
	r.remember(value, "the query of an address", 0, false)
	if plain, err := url.QueryUnescape(value); err == nil {
		r.remember(plain, "the query of an address", 0, false)
	}
}

// addressIn finds addresses with a query in text, and addressEnd holds punctuation that
// may follow them.
var addressIn = lazy.Regexp(`[^\s"'<>]+\?[^\s"'<>]+`)

const addressEnd = ".,;:)"

// withoutQueries returns text with the values in the queries of its addresses redacted, and
// tells each of them.
func withoutQueries(text string, tell func(value string)) string {
	return addressIn().ReplaceAllStringFunc(text, func(word string) string {
		address := strings.TrimRight(word, addressEnd)
		_, query, _ := strings.Cut(address, "?")
		if !strings.Contains(query, "=") && !strings.Contains(address, "://") && address[0] != '/' {
			return word // text with a question mark
		}
		return withoutQuery(address, tell) + word[len(address):]
	})
}

var (
	// named finds a name and its value in a word of a command line: --token=abc, KEY=abc,
	// "Authorization: Bearer abc". userInfo finds the password in an address.
	named    = lazy.Regexp(`(?s)^-{0,2}([\w.-]+)(?:=|:\s+)(.*)$`)
	userInfo = lazy.Regexp(`://[^\s/?#@:]*:([^\s/?#@]+)@`)
	// secretWord finds a word which says in the name of a flag or a variable that its value
	// is a secret, and fileWord one which says that it is the name of a file.
	secretWord = wordIn("token|secret|password|passwd|passphrase|key|apikey|auth|authorization|credentials?")
	fileWord   = wordIn("file|path|dir")
)

func wordIn(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:` + words + `)(?:$|[^a-z0-9])`)
}

// arguments returns a command with its secrets redacted: the values of flags, variables
// and headers whose names are redacted elsewhere or say that they are secret, and the
// passwords in addresses. It tells each of them.
func (r *Redaction) arguments(command []string, tell func(value string)) []string {
	out := slices.Clone(command)
	for i, word := range command {
		cut := func(from, to int) {
			if from < to {
				tell(word[from:to])
				out[i] = word[:from] + Placeholder + word[to:]
			}
		}
		if at := userInfo().FindStringSubmatchIndex(word); at != nil {
			cut(at[2], at[3])
		}
		if at := named().FindStringSubmatchIndex(word); at != nil && r.secretName(word[at[2]:at[3]]) {
			cut(at[4], at[5])
		}
		if i == 0 || strings.HasPrefix(word, "-") {
			continue
		}
		if flag := command[i-1]; strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && r.secretName(strings.TrimLeft(flag, "-")) {
			cut(0, len(word))
		}
	}
	return out
}

func (r *Redaction) secretName(name string) bool {
	return r.fields[strings.ToLower(name)] || r.leavesHeader(textproto.CanonicalMIMEHeaderKey(name)) ||
		secretWord.MatchString(name) && !fileWord.MatchString(name)
}
