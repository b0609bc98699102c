package written

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
)

// Node is a value in a file, with its position. Numbers keep their digits, and members
// their order.
type Node struct {
	Line, Column int // from 1; columns count characters
	Kind         rawjson.Kind
	Scalar       json.RawMessage // JSON of a scalar
	Text         string          // decoded text of a string
	Names        []*Node         // names of an object's members
	Values       []*Node         // values of an object's members, or elements of an array
	size         int             // number of nodes inside, with aliases expanded
}

// Mistake is one mistake in a file.
type Mistake struct {
	Line, Column int // from 1
	Text         string
}

func (m Mistake) Error() string { return fmt.Sprintf("%d:%d: %s", m.Line, m.Column, m.Text) }

// Members yields the names and values of an object's members, in order.
func (n *Node) Members() iter.Seq2[*Node, *Node] {
	return func(yield func(name, value *Node) bool) {
		for i, name := range n.Names {
			if !yield(name, n.Values[i]) {
				return
			}
		}
	}
}

// Member returns the value of the last member with a name; nil if there is none.
func (n *Node) Member(name string) (value *Node) {
	for k, v := range n.Members() {
		if k.Text == name {
			value = v
		}
	}
	return value
}

// JSON returns the value as JSON.
func (n *Node) JSON() json.RawMessage {
	brackets := "[]"
	switch n.Kind {
	case rawjson.Object:
		brackets = "{}"
	case rawjson.Array:
	default:
		return n.Scalar
	}
	out := []byte(brackets[:1])
	for i, v := range n.Values {
		if i > 0 {
			out = append(out, ',')
		}
		if n.Kind == rawjson.Object {
			out = append(rawjson.AppendQuoted(out, n.Names[i].Text), ':')
		}
		out = append(out, v.JSON()...)
	}
	return append(out, brackets[1:]...)
}

// Parse parses a file: as JSON with comments if it begins with a brace and is valid,
// else as YAML. A name that an object has twice is a mistake.
func Parse(text []byte) (*Node, error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	at := new(rawjson.SyntaxError)
	if bytes.HasPrefix(rawjson.Trim(text), []byte("{")) {
		n, err := parseJSON(text, true)
		if !errors.As(err, &at) {
			return n, err
		}
	}
	from, err := parseYAML(text)
	switch {
	case err == nil: // YAML mappings can have braces, too
		r := yamlReader{anchors: map[string]*Node{}}
		return r.node(from)
	case at.What != "":
		return nil, Mistake{at.Line, at.Column, "this is not JSON: " + at.What}
	}
	return nil, err
}

var byteOrderMark = []byte("\ufeff")

// ParseJSON parses JSON with comments and trailing commas. The error is a
// [*rawjson.SyntaxError], ErrDepth or ErrValues.
func ParseJSON(text []byte) (*Node, error) {
	return parseJSON(bytes.TrimPrefix(text, byteOrderMark), false)
}

// parseJSON is ParseJSON. With unique, an object must not have two members with the same
// name.
func parseJSON(text []byte, unique bool) (*Node, error) {
	r := jsonReader{text: standard(text), line: 1, column: 1, unique: unique}
	r.c = rawjson.NewCursor(r.text)
	n, err := r.node(0)
	if err == nil && !r.c.End() || r.c.Err() != nil {
		return nil, r.c.Err()
	}
	return n, err
}

// parseYAML returns the syntax tree of the only document.
func parseYAML(text []byte) (ast.Node, error) {
	if tooMany(text) {
		return nil, ErrValues
	}
	tokens := lexer.Tokenize(string(text))
	if tooDeep(tokens) {
		return nil, ErrDepth
	}
	file, err := parser.Parse(tokens, 0)
	var at yaml.Error
	if errors.As(err, &at) {
		position := at.GetToken().Position
		return nil, Mistake{position.Line, position.Column, "this is not valid YAML: " + at.GetMessage()}
	}
	if err != nil {
		return nil, err
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			return nil, mistakeAt(doc.Body, "a second document begins here, and only one is read")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, errors.New("the file is empty")
	}
	return body, nil
}

// tooMany reports whether a text has more signs that begin or end a value of YAML than
// ValuesMost. The tokens of such a text take some hundred times its memory.
func tooMany(text []byte) bool {
	signs, before := 0, byte('\n')
	for i, b := range text {
		switch {
		case bytes.IndexByte([]byte(",[]{}"), b) >= 0,
			b == ':' && (i+1 == len(text) || text[i+1] <= ' '),
			bytes.IndexByte([]byte(`-?!&*"'|>%@#`), b) >= 0 && bytes.IndexByte([]byte(" \t\n\r,[]{}:"), before) >= 0:
			signs++
		}
		before = b
	}
	return signs > ValuesMost
}

// tooDeep reports whether YAML is nested too deep: by brackets, or by columns, each to the
// right of the one around it.
func tooDeep(tokens token.Tokens) bool {
	brackets, line := 0, 0
	var columns []int
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets--
		}
		at := t.Position
		if brackets > 0 || at.Line == line && t.Prev.Type != token.SequenceEntryType {
			if brackets+len(columns) > DepthMost {
				return true
			}
			continue
		}
		line = at.Line
		for len(columns) > 0 && columns[len(columns)-1] >= at.Column {
			columns = columns[:len(columns)-1]
		}
		if columns = append(columns, at.Column); len(columns) > DepthMost {
			return true
		}
	}
	return false
}

func mistakeAt(n ast.Node, format string, args ...any) Mistake {
	position := n.GetToken().Position
	return Mistake{position.Line, position.Column, fmt.Sprintf(format, args...)}
}

// yamlReader converts the syntax tree of goccy/go-yaml to nodes.
type yamlReader struct{ anchors map[string]*Node }

func (r *yamlReader) node(from ast.Node) (*Node, error) {
	position := from.GetToken().Position
	n := &Node{Line: position.Line, Column: position.Column, size: 1}
	var err error
	switch v := from.(type) {
	case *ast.MappingValueNode, *ast.MappingNode:
		n.Kind = rawjson.Object
		places := map[string]int{}
		for each := v.(ast.MapNode).MapRange(); each.Next() && err == nil; {
			err = r.member(n, places, each)
		}
		if len(n.Names) > 0 { // the token of a mapping is its first colon
			n.Line, n.Column = n.Names[0].Line, n.Names[0].Column
		}
		return n, err
	case *ast.SequenceNode:
		n.Kind = rawjson.Array
		for _, item := range v.Values {
			value, err := r.node(item)
			if err != nil {
				return nil, err
			}
			n.Values = append(n.Values, value)
			n.size += value.size
		}
		return n, nil
	case *ast.AnchorNode:
		if n, err = r.node(v.Value); err == nil {
			r.anchors[v.Name.GetToken().Value] = n
		}
		return n, err
	case *ast.AliasNode:
		name := v.Value.GetToken().Value
		known := r.anchors[name]
		if known == nil {
			return nil, mistakeAt(from, "there is no anchor %q before this alias", name)
		}
		if known.size > ValuesMost {
			return nil, mistakeAt(from, "its aliases make the file too large")
		}
		return known, nil
	case *ast.TagNode:
		if n, err = r.node(v.Value); err == nil && v.Start.Value == "!!str" && n.Kind != rawjson.String {
			n.setText(v.Value.GetToken().Value)
		}
		return n, err
	}
	return n, n.read(from)
}

// member adds a member to a mapping. The merge key << adds those members of another
// mapping that the mapping does not have.
func (r *yamlReader) member(n *Node, places map[string]int, each *ast.MapNodeIter) error {
	value, err := r.node(each.Value())
	if err != nil {
		return err
	}
	key := each.Key()
	if n.size += 1 + value.size; n.size > ValuesMost {
		return mistakeAt(key, "its aliases make the file too large")
	}
	if key.IsMergeKey() {
		if value.Kind != rawjson.Object {
			return mistakeAt(key, "what << names is not a mapping")
		}
		for i, name := range value.Names {
			if _, known := places[name.Text]; !known {
				places[name.Text] = len(n.Names)
				n.Names, n.Values = append(n.Names, name), append(n.Values, value.Values[i])
			}
		}
		return nil
	}
	position := key.GetToken().Position
	name := &Node{Line: position.Line, Column: position.Column}
	name.setText(key.GetToken().Value)
	if i, known := places[name.Text]; known {
		n.Names[i], n.Values[i] = name, value // the earlier one came from <<, because YAML does not allow a key twice
		return nil
	}
	places[name.Text] = len(n.Names)
	n.Names, n.Values = append(n.Names, name), append(n.Values, value)
	return nil
}

func (n *Node) read(from ast.Node) error {
	switch v := from.(type) {
	case *ast.StringNode:
		if v.Token.Type == token.StringType && rawjson.KindOf([]byte(v.Value)) == rawjson.Number && rawjson.Valid([]byte(v.Value)) {
			n.setNumber(v.Value, nil) // the YAML parser takes numbers with an exponent, and very long ones, for strings
		} else {
			n.setText(v.Value)
		}
	case *ast.LiteralNode:
		n.setText(v.Value.Value)
	case *ast.BoolNode:
		n.Kind, n.Scalar = rawjson.Boolean, fmt.Append(nil, v.Value)
	case *ast.NullNode:
		n.Kind, n.Scalar = rawjson.Null, json.RawMessage("null")
	case *ast.IntegerNode:
		n.setNumber(v.Token.Value, v.Value)
	case *ast.FloatNode:
		n.setNumber(v.Token.Value, v.Value)
	default:
		return mistakeAt(from, "JSON has no such value: %s", from.GetToken().Value)
	}
	return nil
}

func (n *Node) setText(text string) {
	n.Kind, n.Text, n.Scalar = rawjson.String, text, rawjson.Quoted(text)
}

// zeros matches digits that YAML 1.1 reads as an octal number, and YAML 1.2 as a decimal
// one, and that are mostly a code, such as that of a place.
var zeros = lazy.Regexp(`^[-+]?0[0-9]`)

// setNumber sets a number. It keeps the digits if they are valid JSON, else it formats
// value. Digits with leading zeros are text.
func (n *Node) setNumber(digits string, value any) {
	if zeros().MatchString(digits) {
		n.setText(digits)
		return
	}
	n.Kind, n.Scalar = rawjson.Number, json.RawMessage(digits)
	if !rawjson.Valid(n.Scalar) {
		n.Scalar = fmt.Append(nil, value)
	}
}

// jsonReader converts JSON to nodes, and counts lines on the way.
type jsonReader struct {
	text             []byte
	c                *rawjson.Cursor
	at, line, column int // a position in text
	values           int // read so far, names included
	unique           bool
}

// node reads the value at the cursor. After a syntax error, its result has no meaning.
func (r *jsonReader) node(depth int) (*Node, error) {
	n := r.place(r.c.Offset())
	n.Kind = r.c.Kind()
	if depth >= DepthMost && (n.Kind == rawjson.Object || n.Kind == rawjson.Array) {
		return nil, ErrDepth
	}
	if r.values > ValuesMost {
		return nil, ErrValues
	}
	switch n.Kind {
	case rawjson.Object:
		names := map[string]bool{}
		for text := range r.c.Members() {
			before := r.text[:r.c.Offset()]
			quote := bytes.LastIndexByte(before[:bytes.LastIndexByte(before, ':')], '"') // behind the name
			name := r.place(quote - len(text) - 1)
			name.setText(text.String())
			if r.unique && names[name.Text] {
				return nil, Mistake{name.Line, name.Column, fmt.Sprintf("%q stands there twice", name.Text)}
			}
			names[name.Text] = true
			value, err := r.node(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Names, n.Values = append(n.Names, name), append(n.Values, value)
		}
	case rawjson.Array:
		for range r.c.Elements() {
			value, err := r.node(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Values = append(n.Values, value)
		}
	default:
		n.Scalar = r.c.Value()
		n.Text = rawjson.Text(n.Scalar)
	}
	return n, nil
}

// place returns a node with the position of an offset. Offsets must not decrease.
func (r *jsonReader) place(offset int) *Node {
	r.values++
	for ; r.at < offset; r.at++ {
		switch b := r.text[r.at]; {
		case b == '\n':
			r.line, r.column = r.line+1, 1
		case utf8.RuneStart(b):
			r.column++
		}
	}
	return &Node{Line: r.line, Column: r.column}
}

var (
	comments = lazy.Regexp(`"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/`)
	commas   = lazy.Regexp(`"(?:[^"\\]|\\.)*"|[{\[:,]\s*,|,\s*[}\]]`)
	inLines  = lazy.Regexp(`[^\n]`)
)

// standard returns JSON with spaces in place of its comments and trailing commas.
func standard(text []byte) []byte {
	text = comments().ReplaceAllFunc(text, func(found []byte) []byte {
		if found[0] == '/' {
			return inLines().ReplaceAll(found, []byte(" "))
		}
		return found
	})
	return commas().ReplaceAllFunc(text, func(found []byte) []byte {
		if last := found[len(found)-1]; found[0] == ',' && last != ',' {
			return append([]byte(" "), found[1:]...)
		}
		return found
	})
}
