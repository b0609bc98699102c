package diff

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/keep/script"
)

// like is a pattern for a text, as answers files have it.
type like struct {
	source string
	*script.Text
}

func (l *like) matches(text string) bool { return l.Text.Matches(text) }

// Learned returns the places in which two recordings of the same build differ, and the differences
// that are more than another value at a place, such as a question that only one of them has.
func (r *Report) Learned() (varies []Varying, rest []Difference) {
	for i := range r.Differences {
		d := &r.Differences[i]
		if d.part == "" {
			rest = append(rest, *d)
			continue
		}
		v := Varying{Tool: d.tool, Part: d.part, Pointer: d.Pointer, Why: wording.Shorten(d.Text, 200)}
		a, b := rawjson.Text(d.Old), rawjson.Text(d.New)
		if a != "" && b != "" {
			if source := common(a, b); strings.Trim(source, "* ") != "" {
				if text, err := script.ParseText(source); err == nil {
					v.Like = &like{source, text}
				}
			}
		}
		if !slices.ContainsFunc(varies, func(other Varying) bool {
			return other.Tool == v.Tool && other.Part == v.Part && other.Pointer == v.Pointer && (other.Like == nil || v.Like != nil && other.Like.source == v.Like.source)
		}) {
			varies = append(varies, v)
		}
	}
	return varies, rest
}

// common returns the pattern of two texts, with * in place of the words in which they differ.
func common(a, b string) string {
	x, y := words().FindAllStringIndex(a, -1), words().FindAllStringIndex(b, -1)
	if len(x) != len(y) || len(a)+len(b) > textMost {
		return "*"
	}
	var out strings.Builder
	at, other := 0, 0
	for i := range x {
		if a[at:x[i][0]] != b[other:y[i][0]] {
			return "*"
		}
		out.WriteString(script.Literal(a[at:x[i][0]]))
		if word := a[x[i][0]:x[i][1]]; word == b[y[i][0]:y[i][1]] {
			out.WriteString(script.Literal(word))
		} else {
			out.WriteString("*")
		}
		at, other = x[i][1], y[i][1]
	}
	if a[at:] != b[other:] {
		return "*"
	}
	return out.String() + script.Literal(a[at:])
}

// WriteVarying writes a file of what varies, to be read and edited by people.
func WriteVarying(varies []Varying) string {
	var b strings.Builder
	b.WriteString("# Places in which recordings of the same build differ. inspector diff takes another value there for no difference.\nvolatile:")
	if len(varies) == 0 {
		b.WriteString(" []\n")
		return b.String()
	}
	b.WriteString("\n")
	for _, v := range varies {
		before := "  - "
		add := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, "%s%s: %s\n", before, name, wording.EscapeJSON(rawjson.Quoted(value)))
				before = "    "
			}
		}
		add("tool", v.Tool)
		add("part", v.Part)
		add("pointer", v.Pointer)
		if v.Like != nil {
			add("like", v.Like.source)
		}
		add("why", v.Why)
	}
	return b.String()
}

// Parts are the parts of a conversation in which a value may vary.
var Parts = []string{
	"arguments", "message", "url", "params", "schema", "answer", "result", "error", "notification", "capabilities", "instructions",
	"tools/list", "prompts/list", "resources/list", "resources/templates/list",
}

// ParseVarying reads a file of what varies. The error has a line for each mistake, which begins with
// the file, the line and the column.
func ParseVarying(file string, text []byte) ([]Varying, error) {
	root, err := written.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	var mistakes []string
	wrong := func(n *written.Node, format string, args ...any) {
		mistakes = append(mistakes, file+":"+written.Mistake{Line: n.Line, Column: n.Column, Text: fmt.Sprintf(format, args...)}.Error())
	}
	list := root.Member("volatile")
	if list == nil || list.Kind != rawjson.Array {
		wrong(root, `there must be a list "volatile"`)
		list = &written.Node{}
	}
	for name := range root.Members() {
		if name.Text != "volatile" {
			wrong(name, "%q is unknown%s", name.Text, wording.DidYouMean(name.Text, []string{"volatile"}))
		}
	}
	var varies []Varying
	for _, entry := range list.Values {
		var v Varying
		if entry.Kind != rawjson.Object {
			wrong(entry, "it must be an object, not %s", wording.WithArticle(entry.Kind))
			continue
		}
		keys := map[string]*string{"tool": &v.Tool, "part": &v.Part, "pointer": &v.Pointer, "why": &v.Why}
		for name, value := range entry.Members() {
			into := keys[name.Text]
			switch {
			case into == nil && name.Text != "like":
				wrong(name, "%q is unknown%s", name.Text, wording.DidYouMean(name.Text, []string{"tool", "part", "pointer", "like", "why"}))
			case value.Kind != rawjson.String:
				wrong(value, "%q must be a text, not %s", name.Text, wording.WithArticle(value.Kind))
			case into != nil:
				*into = value.Text
			default:
				pattern, err := script.ParseText(value.Text)
				if err != nil {
					wrong(value, "%v", err)
				}
				v.Like = &like{value.Text, pattern}
			}
		}
		if !slices.Contains(Parts, v.Part) {
			wrong(entry, `"part" must be %s, not %q%s`, wording.Alternatives(Parts), v.Part, wording.DidYouMean(v.Part, Parts))
		}
		varies = append(varies, v)
	}
	if mistakes != nil {
		return nil, fmt.Errorf("%s", strings.Join(mistakes, "\n"))
	}
	return varies, nil
}
