package script

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
)

// reader converts nodes to rules, answers and expectations, and collects mistakes.
type reader struct {
	file     string
	env      func(string) (string, bool)
	mistakes []written.Mistake
	plan     bool   // the file is a plan, whose calls may have a witness
	renamed  string // see Script.Renamed
	source   json.RawMessage
}

// Mistakes is the error of a file with mistakes; it lists all of them.
type Mistakes struct {
	File string
	List []written.Mistake
}

func (m *Mistakes) Error() string {
	lines := make([]string, len(m.List))
	for i, one := range m.List {
		lines[i] = m.File + ":" + one.Error()
	}
	return strings.Join(lines, "\n")
}

func (r *reader) wrong(n *written.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, written.Mistake{Line: n.Line, Column: n.Column, Text: fmt.Sprintf(format, args...)})
}

// formerName records a key that has another name now.
func (r *reader) formerName(n *written.Node, former, now string) {
	if r.renamed == "" {
		r.renamed = fmt.Sprintf("%s:%d: %s is called %s now, and means the same", r.file, n.Line, former, now)
	}
}

// parse parses a file and reads its root. The error has all mistakes, sorted by place, as
// a [*Mistakes].
func (r *reader) parse(text []byte, read func(root *written.Node)) error {
	root, err := written.Parse(text)
	mistake := written.Mistake{Line: 1, Column: 1}
	switch {
	case err == nil:
		r.source = root.JSON()
		read(root)
	case errors.As(err, &mistake):
		r.mistakes = append(r.mistakes, mistake)
	default:
		mistake.Text = err.Error()
		r.mistakes = append(r.mistakes, mistake)
	}
	if len(r.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(r.mistakes, func(a, b written.Mistake) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return &Mistakes{r.file, r.mistakes}
}

// keys maps the allowed members of an object to what takes their values; see value.
type keys map[string]any

// object reads an object, and records unknown members. what names the object in
// mistakes.
func (r *reader) object(n *written.Node, what string, known keys) {
	if n.Kind != rawjson.Object {
		r.wrong(n, "%s is %s, not a mapping", what, wording.WithArticle(n.Kind))
		return
	}
	for i, name := range n.Names {
		if into := known[name.Text]; into != nil {
			r.value(n.Values[i], name.Text, into)
			continue
		}
		names := slices.Sorted(maps.Keys(known))
		names = slices.DeleteFunc(names, func(k string) bool { return k == "$schema" })
		r.wrong(name, "%s has no key %q%s", what, name.Text, suggest(name.Text, names))
	}
}

// suggest returns a hint: the most similar of the names that there are, or all of them.
func suggest(name string, names []string) string {
	return cmp.Or(wording.DidYouMean(name, names), "; it takes "+wording.Series(names))
}

// list reads an array, each of whose elements each reads.
func (r *reader) list(what string, each func(*written.Node)) func(*written.Node) {
	return func(n *written.Node) {
		if n.Kind != rawjson.Array {
			r.wrong(n, "%s is %s, not a list", what, wording.WithArticle(n.Kind))
			return
		}
		for _, v := range n.Values {
			each(v)
		}
	}
}

// kind reports whether a value has the wanted kind, and records a mistake if not.
func (r *reader) kind(n *written.Node, what string, want rawjson.Kind) bool {
	if n.Kind != want {
		r.wrong(n, "%s is %s, not %s", what, wording.WithArticle(n.Kind), wording.WithArticle(want))
	}
	return n.Kind == want
}

// value reads a value into what has its type, or with a function. what names the value in
// mistakes.
func (r *reader) value(n *written.Node, what string, into any) {
	switch into := into.(type) {
	case func(*written.Node):
		into(n)
	case *bool:
		if r.kind(n, what, rawjson.Boolean) {
			*into = string(n.Scalar) == "true"
		}
	case *int:
		r.count(n, what, 1, into)
	case *time.Duration:
		d, err := time.ParseDuration(n.Text)
		if err != nil || d < 0 {
			r.wrong(n, "%s is not a duration such as 500ms, 2s or 1m30s", what)
		}
		*into = d
	case *string:
		if r.kind(n, what, rawjson.String) {
			*into = n.Text
		}
	case **Text:
		if r.kind(n, what, rawjson.String) {
			t, err := ParseText(n.Text)
			if err != nil {
				r.wrong(n, "%s: %v", what, err)
			}
			*into = t
		}
	case **Witness:
		if r.kind(n, what, rawjson.String) {
			w, err := ParseWitness(n.Text)
			if err != nil {
				r.wrong(n, "%v", err)
			}
			*into = w
		}
	case *[]string:
		*into = []string{}
		r.list(what, func(v *written.Node) {
			if r.kind(v, "an element of "+what, rawjson.String) {
				*into = append(*into, v.Text)
			}
		})(n)
	default:
		panic(fmt.Sprintf("%s is read into %T, which is not known", what, into))
	}
}

// oneOf reads a string that must be one of words.
func (r *reader) oneOf(what string, into *string, words ...string) func(*written.Node) {
	return func(n *written.Node) {
		switch {
		case !r.kind(n, what, rawjson.String):
		case !slices.Contains(words, n.Text):
			r.wrong(n, "%s cannot be %q%s", what, n.Text, suggest(n.Text, words))
		default:
			*into = n.Text
		}
	}
}

// count reads a whole number that must not be below least.
func (r *reader) count(n *written.Node, what string, least int, into *int) {
	if !r.kind(n, what, rawjson.Number) {
		return
	}
	if _, err := fmt.Sscanf(string(n.Scalar), "%d", into); err != nil || *into < least || fmt.Sprint(*into) != string(n.Scalar) {
		r.wrong(n, "%s is %s, not a whole number from %d on", what, n.Scalar, least)
	}
}
