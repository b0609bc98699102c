package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/tailscale/hujson"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/written"
)

// node is a value in a file, with its position. Numbers keep their digits, and members
// their order.
type node struct {
	line, column int
	kind         rawjson.Kind
	scalar       json.RawMessage // JSON of a scalar
	text         string          // decoded text of a string
	names        []*node         // names of an object's members
	values       []*node         // values of an object's members, or elements of an array
	size         int             // number of nodes inside, with aliases expanded
}

// mostNodes bounds the number of nodes, which aliases can multiply even in a small
// file.
const mostNodes = 1_000_000

func (n *node) member(name string) *node {
	if i := slices.IndexFunc(n.names, func(k *node) bool { return k.text == name }); i >= 0 {
		return n.values[i]
	}
	return nil
}

func (n *node) json() json.RawMessage {
	brackets := "[]"
	switch n.kind {
	case rawjson.Object:
		brackets = "{}"
	case rawjson.Array:
	default:
		return n.scalar
	}
	out := []byte(brackets[:1])
	for i, v := range n.values {
		if i > 0 {
			out = append(out, ',')
		}
		if n.kind == rawjson.Object {
			out = append(rawjson.AppendQuoted(out, n.names[i].text), ':')
		}
		out = append(out, v.json()...)
	}
	return append(out, brackets[1:]...)
}

// parse parses a file: as JSON with comments if it begins with a brace and is valid,
// else as YAML.
func parse(text []byte) (*node, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if t := rawjson.Trim(text); len(t) > 0 && t[0] == '{' {
		root, err := written.ParseJSON(text)
		switch err {
		case nil:
			r := jsonReader{text: text, line: 1, column: 1}
			return r.node(root)
		case written.ErrDepth:
			return nil, err
		}
		var flow *node // YAML mappings can have braces, too
		if flow, _ = parseYAML(text); flow != nil {
			return flow, nil
		}
		if at := new(rawjson.SyntaxError); errors.As(rawjson.Check(text), &at) {
			return nil, Mistake{at.Line, at.Column, "this is no JSON: " + at.What}
		}
		return nil, err
	}
	return parseYAML(text)
}

func parseYAML(text []byte) (*node, error) {
	tokens := lexer.Tokenize(string(text))
	if tooDeep(tokens) {
		return nil, written.ErrDepth
	}
	file, err := parser.Parse(tokens, 0)
	var at yaml.Error
	if errors.As(err, &at) {
		position := at.GetToken().Position
		return nil, Mistake{position.Line, position.Column, "this is no YAML: " + at.GetMessage()}
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
	r := yamlReader{anchors: map[string]*node{}}
	return r.node(body)
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
			if brackets+len(columns) > written.DepthMost {
				return true
			}
			continue
		}
		line = at.Line
		for len(columns) > 0 && columns[len(columns)-1] >= at.Column {
			columns = columns[:len(columns)-1]
		}
		if columns = append(columns, at.Column); len(columns) > written.DepthMost {
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
type yamlReader struct{ anchors map[string]*node }

func (r *yamlReader) node(from ast.Node) (*node, error) {
	position := from.GetToken().Position
	n := &node{line: position.Line, column: position.Column, size: 1}
	var err error
	switch v := from.(type) {
	case *ast.MappingValueNode, *ast.MappingNode:
		n.kind = rawjson.Object
		for each := v.(ast.MapNode).MapRange(); each.Next() && err == nil; {
			err = r.member(n, each)
		}
		if len(n.names) > 0 { // the token of a mapping is its first colon
			n.line, n.column = n.names[0].line, n.names[0].column
		}
		return n, err
	case *ast.SequenceNode:
		n.kind = rawjson.Array
		for _, item := range v.Values {
			value, err := r.node(item)
			if err != nil {
				return nil, err
			}
			n.values = append(n.values, value)
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
		if known.size > mostNodes {
			return nil, mistakeAt(from, "its aliases make the file too large")
		}
		return known, nil
	case *ast.TagNode:
		if n, err = r.node(v.Value); err == nil && v.Start.Value == "!!str" && n.kind != rawjson.String {
			n.setText(v.Value.GetToken().Value)
		}
		return n, err
	}
	return n, n.read(from)
}

// member adds a member to a mapping. The merge key << adds those members of another
// mapping that the mapping does not have.
func (r *yamlReader) member(n *node, each *ast.MapNodeIter) error {
	value, err := r.node(each.Value())
	if err != nil {
		return err
	}
	key := each.Key()
	if n.size += 1 + value.size; n.size > mostNodes {
		return mistakeAt(key, "its aliases make the file too large")
	}
	if key.IsMergeKey() {
		if value.kind != rawjson.Object {
			return mistakeAt(key, "what << names is no mapping")
		}
		for i, name := range value.names {
			if n.member(name.text) == nil {
				n.names, n.values = append(n.names, name), append(n.values, value.values[i])
			}
		}
		return nil
	}
	position := key.GetToken().Position
	name := &node{line: position.Line, column: position.Column}
	name.setText(key.GetToken().Value)
	if i := slices.IndexFunc(n.names, func(k *node) bool { return k.text == name.text }); i >= 0 {
		n.names[i], n.values[i] = name, value // the earlier one came from <<, because YAML does not allow a key twice
		return nil
	}
	n.names, n.values = append(n.names, name), append(n.values, value)
	return nil
}

func (n *node) read(from ast.Node) error {
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
		n.kind, n.scalar = rawjson.Boolean, fmt.Append(nil, v.Value)
	case *ast.NullNode:
		n.kind, n.scalar = rawjson.Null, json.RawMessage("null")
	case *ast.IntegerNode:
		n.setNumber(v.Token.Value, v.Value)
	case *ast.FloatNode:
		n.setNumber(v.Token.Value, v.Value)
	default:
		return mistakeAt(from, "JSON has no such value: %s", from.GetToken().Value)
	}
	return nil
}

func (n *node) setText(text string) {
	n.kind, n.text, n.scalar = rawjson.String, text, rawjson.Quoted(text)
}

// zeros matches digits that YAML 1.1 reads as an octal number, and YAML 1.2 as a decimal
// one, and that are mostly a code, such as that of a place.
var zeros = regexp.MustCompile(`^[-+]?0[0-9]`)

// setNumber sets a number. It keeps the digits if they are valid JSON, else it formats
// value. Digits with leading zeros are text.
func (n *node) setNumber(digits string, value any) {
	if zeros.MatchString(digits) {
		n.setText(digits)
		return
	}
	n.kind, n.scalar = rawjson.Number, json.RawMessage(digits)
	if !rawjson.Valid(n.scalar) {
		n.scalar = fmt.Append(nil, value)
	}
}

// jsonReader converts JSON to nodes, and counts lines on the way.
type jsonReader struct {
	text             []byte
	at, line, column int
}

func (r *jsonReader) node(v hujson.Value) (*node, error) {
	n := r.place(v)
	var err error
	switch v := v.Value.(type) {
	case *hujson.Object:
		n.kind = rawjson.Object
		for _, m := range v.Members {
			name := r.place(m.Name)
			name.setText(m.Name.Value.(hujson.Literal).String())
			if n.member(name.text) != nil {
				return nil, Mistake{name.line, name.column, fmt.Sprintf("%q stands there twice", name.text)}
			}
			var value *node
			if value, err = r.node(m.Value); err != nil {
				return nil, err
			}
			n.names, n.values = append(n.names, name), append(n.values, value)
		}
	case *hujson.Array:
		n.kind = rawjson.Array
		for _, e := range v.Elements {
			var value *node
			if value, err = r.node(e); err != nil {
				return nil, err
			}
			n.values = append(n.values, value)
		}
	case hujson.Literal:
		n.kind, n.scalar, n.text = rawjson.KindOf(v), json.RawMessage(v), rawjson.Text(v)
	}
	return n, nil
}

// place returns a node with the position of a value. Values must come in the order of
// the file.
func (r *jsonReader) place(v hujson.Value) *node {
	for ; r.at < v.StartOffset; r.at++ {
		switch b := r.text[r.at]; {
		case b == '\n':
			r.line, r.column = r.line+1, 1
		case b&0xc0 != 0x80: // first byte of a character
			r.column++
		}
	}
	return &node{line: r.line, column: r.column}
}
