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

// vocabulary is how people and programs speak of secrets, in lower case.
var vocabulary = sync.OnceValue(func() (v struct {
	Phrases  phrases // name a secret wherever they stand in a field's name or title
	Whole    phrases // name one only where they are all that a name or title says, apart from polite words
	Tamed    words   // may follow a phrase, and make it something about the secret rather than the secret itself
	Quiet    words   // stand before "token" where it is another kind of token
	Polite   words   // say nothing about what is asked for
	Homonyms words   // are of what shares its name with a secret: postal codes, keyboards, securities, colours, maps, games

	General   words // are in titles that any field could have
	Questions words // begin a text that asks which secret, why, or how
	Changes   words // are in one that asks what to do with it
	Elsewhere words // before a phrase, make it something that is not to be given
	About     words // before a phrase, make it something else, as in "name of the API key"
	Detached  words // may not stand between "your" and a secret: "your email for password resets" asks for none
	Requested words // are the verbs with which a message asks for something to be entered
	Away      words // say that it is to be entered somewhere else
	Besides   words // may be asked for together with a secret, or in asking for it
}) {
	if err := json.Unmarshal(secretsJSON, &v); err != nil {
		panic(fmt.Sprintf("reading secrets.json: %v", err))
	}
	return v
})

// words are a set of words, in JSON a list of lines of them.
type words []string

func (w *words) UnmarshalJSON(raw []byte) error {
	var lines []string
	err := json.Unmarshal(raw, &lines)
	*w = strings.Fields(strings.Join(lines, " "))
	return err
}

// A phrase names a secret.
type phrase struct {
	words []string
	secret
}

// phrases are the longest first, so that a text is taken to ask for what it says in
// full. In JSON those of the same secret are one text, separated by |.
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
