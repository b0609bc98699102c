package lint

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/meaning/elicit"
)

// secret is the secret that a text asks for, with the certainty of that.
type secret struct {
	what string // name for people: "a password"
	sort secretSort
}

// secretSort is the kind of a secret, and how certain it is that a phrase names one.
type secretSort int

const (
	noSecret     secretSort = iota
	certain                 // the phrase always names a secret
	likely                  // the phrase often names a secret, and sometimes something harmless
	identifying             // the number of an identity document or bank account, which is personal but not secret
	spokenOfOnly            // the text mentions a secret but asks for something else
)

// secretIn returns the secret that a field asks for. Choices, booleans, dates and e-mail
// addresses are no secrets.
func secretIn(f elicit.Field) secret {
	switch {
	case f.Kind.Entry() == elicit.Chosen:
		return secret{}
	case f.Format == "password":
		return secret{"a password", certain}
	case slices.Contains([]string{"date", "date-time", "email"}, f.Format):
		return secret{}
	}
	name, title, description := wordsOf(f.Name), []string(nil), wordsOf(f.Description)
	if f.Label != f.Name {
		title = wordsOf(f.Label)
	}
	found := secretInTexts(name, title, description, f.Description)
	if all := slices.Concat(name, title, description); found.sort == noSecret {
		return givenAway(all)
	} else if found.sort == likely && hasAny(all, vocabulary().Homonyms) {
		return secret{}
	}
	return found
}

// givenAway returns the secret that a text describes without its name, as in "6 digits from
// your authenticator".
func givenAway(text []string) secret {
	for _, g := range vocabulary().Giveaways {
		if g.pattern.MatchString(strings.Join(text, " ")) && !hasAny(text, vocabulary().Homonyms) {
			return secret{g.What, likely}
		}
	}
	return secret{}
}

// secretInTexts returns the secret that a field's texts ask for. The title counts more
// than the name, because people read it.
func secretInTexts(name, title, description []string, sentences string) secret {
	byTitle, byName, described := secretNamed(title), secretNamed(name), secretDescribed(sentences)
	switch {
	case byTitle.sort == spokenOfOnly, byTitle.sort == likely && byName.sort == spokenOfOnly:
		return secret{}
	case sentences != "" && byTitle.sort != certain && byName.sort != certain && (isKey(name) || isKey(title)):
		return described // there are many kinds of keys
	case byTitle.sort != noSecret:
		return surer(byTitle, byName)
	case slices.ContainsFunc(vocabulary().Phrases, func(p phrase) bool { return phraseAt(description, p.words) >= 0 }) && described.sort == noSecret && byName.sort != certain:
		return secret{}
	case namesVariable(description):
		return secret{}
	case byName.sort == spokenOfOnly, byName.sort == likely && !saysNothing(title):
		return described // the name "pin" is not a secret under the title "Postal code"
	}
	return surer(byName, described)
}

func surer(a, b secret) secret {
	if a.sort == noSecret || b.sort == certain && a.sort == likely {
		return b
	}
	return a
}

func isKey(text []string) bool { return len(text) == 1 && text[0] == "key" }

// saysNothing reports whether a title is missing, or so general that it fits any field.
func saysNothing(title []string) bool {
	return !slices.ContainsFunc(title, func(w string) bool {
		return !slices.Contains(vocabulary().General, w) && !slices.Contains(vocabulary().Polite, w)
	})
}

var variable = lazy.Regexp(`(?:^| )(?:variable|env)(?: |$)|` +
	`^(?:the )?(?:name of|name for|path to|path of|location of|id of|reference to|where the|number of|length of)(?: |$)`)

// namesVariable reports whether a text asks for the name or the place of a secret.
func namesVariable(text []string) bool { return variable().MatchString(strings.Join(text, " ")) }

// secretNamed returns the secret that a text names. One that asks for the name or place of a secret, or which,
// why, or what to do with it, only speaks of it.
func secretNamed(text []string) secret {
	if namesVariable(text) || len(text) > 0 && slices.Contains(vocabulary().Questions, text[0]) || hasAny(text, vocabulary().Changes) {
		return secret{"", spokenOfOnly}
	}
	spoken := false
	for _, p := range vocabulary().Phrases {
		i := phraseAt(text, p.words)
		switch {
		case i < 0:
		case isTamed(text[i+len(p.words):]) || isAbout(text[:i]):
			spoken = true
		case !spoken || p.sort != likely:
			return p.secret
		}
	}
	if spoken {
		return secret{"", spokenOfOnly}
	}
	rest := slices.DeleteFunc(slices.Clone(text), func(w string) bool { return w != "type" && slices.Contains(vocabulary().Polite, w) })
	for _, p := range vocabulary().Whole {
		switch {
		case slices.Equal(rest, p.words):
			return p.secret
		case hasPrefix(rest, p.words) && isTamed(rest[len(p.words):]):
			return secret{"", spokenOfOnly}
		}
	}
	// "GitHub token" is a secret; "tokens" and "page token" are not.
	if n := len(rest); n > 1 && rest[n-1] == "token" && !hasAny(rest[:n-1], vocabulary().Quiet) {
		return secret{"an access token", likely}
	}
	return secret{}
}

func isTamed(rest []string) bool {
	return len(rest) > 0 && slices.Contains(vocabulary().Tamed, rest[0])
}

// isAbout reports whether the words before a phrase make it the name of something else, as
// in "name of the API key".
func isAbout(before []string) bool {
	if hasAny(before, vocabulary().Elsewhere) {
		return true
	}
	for _, w := range slices.Backward(before) {
		if slices.Contains(vocabulary().About, w) {
			return true
		}
		if !slices.Contains(vocabulary().Polite, w) {
			return false
		}
	}
	return false
}

// secretDescribed returns the secret that a description asks for: a sentence begins with
// it ("Your API key") or tells people to enter it. A description that only mentions a
// secret ("We send a one-time code to this address") asks for none.
func secretDescribed(description string) secret {
	for sentence := range sentencesOf(description) {
		if found, _, after := secretAsked(sentence); found.sort != noSecret && !isTamed(after) {
			return found
		}
		if rest := slices.DeleteFunc(slices.Clone(sentence), isFiller); slices.Equal(rest, []string{"pin"}) && slices.Contains(sentence, "your") {
			if slices.Contains(sentence, "digit") || hasAny(sentence, vocabulary().Requested) {
				return secret{"a PIN", certain}
			}
			return secret{"a PIN", likely}
		}
	}
	return secret{}
}

// isFiller reports whether a word says nothing of what is asked for: "enter your 4-digit".
func isFiller(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil || slices.Contains(vocabulary().Polite, word) || slices.Contains([]string{"digit", "digits", "four", "six", "secret", "personal"}, word)
}

// secretAsked returns the secret that a sentence begins with or tells people to enter, and
// the words before and after it.
func secretAsked(sentence []string) (found secret, before, after []string) {
	asked := 0
	for asked < len(sentence) && slices.Contains(vocabulary().Polite, sentence[asked]) {
		asked++
	}
	for _, p := range vocabulary().Phrases {
		i := phraseAt(sentence, p.words)
		if i < 0 || i > asked+3 || p.sort == likely && len(p.words) == 1 {
			continue // in running text, one uncertain word is not enough
		}
		if !hasAny(sentence[min(asked, i):i], vocabulary().Detached) {
			return p.secret, sentence[:i], sentence[i+len(p.words):]
		}
	}
	return secret{}, nil, nil
}

// secretInMessage returns the secret that a message asks people to enter, such as "Please
// enter your password".
func secretInMessage(message string) secret {
	for sentence := range sentencesOf(message) {
		asks := slices.DeleteFunc(slices.Clone(sentence), func(w string) bool { return slices.Contains(vocabulary().Besides, w) })
		found, before, after := secretAsked(asks)
		switch {
		case found.sort == noSecret || isTamed(after) || hasAny(after, vocabulary().Away):
		case hasAny(before, vocabulary().Requested), len(sentence) > 2 && hasPrefix(sentence, []string{"what", "is"}):
			return found
		case hasAny(sentence, vocabulary().Requested) && !hasAny(sentence, vocabulary().Away):
			if found := givenAway(sentence); found.sort != noSecret {
				return found
			}
		}
	}
	return secret{}
}

//go:embed secrets.json
var secretsJSON []byte

// vocabulary holds the words by which the linter recognizes requests for secrets, in lower
// case.
var vocabulary = sync.OnceValue(func() (v struct {
	Phrases  phrases // name a secret anywhere in a field's name or title
	Whole    phrases // name a secret only as the whole name or title, apart from polite words
	Tamed    words   // after a phrase, make it a fact about the secret
	Quiet    words   // before "token", make it another kind of token
	Polite   words   // carry no meaning
	Homonyms words   // belong to other meanings of a phrase: postal codes, keyboards, securities, colours, maps, games

	General   words // occur in titles that fit any field
	Questions words // begin a text that asks which secret, why, or how
	Changes   words // occur in a text that asks what to do with a secret
	Elsewhere words // before a phrase, show that the text does not ask for the secret
	About     words // before a phrase, make it the name of something else, as in "name of the API key"
	Detached  words // between "your" and a phrase, show that the text does not ask for it: "your email for password resets"
	Requested words // verbs of a message that asks people to enter something
	Away      words // say that people enter the secret elsewhere
	Besides   words // may come together with a secret in a request for it

	Giveaways []giveaway
}) {
	if err := json.Unmarshal(secretsJSON, &v); err != nil {
		panic(fmt.Sprintf("reading secrets.json: %v", err))
	}
	for i := range v.Giveaways {
		v.Giveaways[i].pattern = regexp.MustCompile(v.Giveaways[i].Pattern)
	}
	return v
})

// giveaway describes a secret without its name.
type giveaway struct {
	What    string
	Pattern string // of the words in lower case
	pattern *regexp.Regexp
}

// words is a set of words. In JSON it is a list of lines.
type words []string

func (w *words) UnmarshalJSON(raw []byte) error {
	var lines []string
	err := json.Unmarshal(raw, &lines)
	*w = strings.Fields(strings.Join(lines, " "))
	return err
}

// phrase is a sequence of words that names a secret.
type phrase struct {
	words []string
	secret
}

// phrases is a list of phrases, longest first, because a longer phrase is more specific.
// In JSON the phrases of one secret are one text, separated by "|".
type phrases []phrase

func (p *phrases) UnmarshalJSON(raw []byte) error {
	var terms []struct{ Sort, What, Phrases string }
	err := json.Unmarshal(raw, &terms)
	sorts := map[string]secretSort{"certain": certain, "likely": likely, "identifying": identifying}
	for _, t := range terms {
		for text := range strings.SplitSeq(t.Phrases, "|") {
			*p = append(*p, phrase{strings.Fields(text), secret{t.What, sorts[t.Sort]}})
		}
	}
	slices.SortStableFunc(*p, func(a, b phrase) int { return len(b.words) - len(a.words) })
	return err
}
