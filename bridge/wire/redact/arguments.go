package redact

import (
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// secretWords are the words of which one in the name of a flag or a variable says that its
// value is a secret.
var secretWords = []string{"token", "secret", "password", "passwd", "passphrase", "key", "apikey", "auth", "authorization", "credential", "credentials"}

// named finds a name and its value in a word of a command line: --token=abc, KEY=abc,
// "Authorization: Bearer abc". userInfo finds the password in an address.
var (
	named    = regexp.MustCompile(`(?s)^-{0,2}([\w.-]+)(?:=|:\s+)(.*)$`)
	userInfo = regexp.MustCompile(`://[^\s/?#@:]*:([^\s/?#@]+)@`)
)

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
		if at := userInfo.FindStringSubmatchIndex(word); at != nil {
			cut(at[2], at[3])
		}
		if at := named.FindStringSubmatchIndex(word); at != nil && r.secretName(word[at[2]:at[3]]) {
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
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return r.fields[strings.ToLower(name)] || r.headers[textproto.CanonicalMIMEHeaderKey(name)] ||
		slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretWords, word) }) &&
			!slices.ContainsFunc([]string{"file", "path", "dir"}, func(word string) bool { return slices.Contains(words, word) })
}
