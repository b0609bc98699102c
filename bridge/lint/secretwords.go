package lint

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

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
}) {
	if err := json.Unmarshal(secretsJSON, &v); err != nil {
		panic(fmt.Sprintf("reading secrets.json: %v", err))
	}
	return v
})

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
