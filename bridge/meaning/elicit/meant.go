package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
)

// references finds what the parts of a schema refer to.
type references struct {
	root   json.RawMessage
	left   int // bytes that may still be searched
	nested int // objects inside objects for which values were made up
}

// Bounds on references, which can be endless.
const (
	refsMost     = 32       // one after the other
	searchedMost = 64 << 20 // bytes, in one form
	nestedMost   = 100      // objects in made-up arguments
)

func within(root json.RawMessage) *references { return &references{root: root, left: searchedMost} }

// meant returns the keywords of the simpler schema that a schema means: what its local $ref
// points to, the single schema in its allOf, and X where it says "X or null". Keywords beside
// these add to them. nullable says that null is allowed, too. With an error, the keywords are
// those of the schema itself.
func (r *references) meant(schema json.RawMessage) (k Keywords, nullable bool, err error) {
	k = KeywordsOf(schema)
	for range refsMost {
		nullable = k.withoutNull() || nullable
		name, inner := r.behind(k)
		if rawjson.KindOf(inner) != rawjson.Object {
			return k, nullable, nil
		}
		delete(k, name)
		for name, value := range KeywordsOf(inner) {
			switch was, given := k[name]; {
			case name == "title": // names the referenced type, not the property
			case !given:
				k[name] = value
			case !bytes.Equal(was, value) && !slices.Contains([]string{"description", "default", "examples", "$defs", "definitions"}, name):
				return KeywordsOf(schema), false, fmt.Errorf("its schema gives %s in two places", name)
			}
		}
	}
	return KeywordsOf(schema), false, errors.New("its schema refers on and on ($ref)")
}

// behind returns a keyword of k that stands for another schema, and that schema; nil if there
// is none.
func (r *references) behind(k Keywords) (name string, inner json.RawMessage) {
	if pointer, local := strings.CutPrefix(k.Text("$ref"), "#"); local {
		pointer, err := url.PathUnescape(pointer)
		if r.left -= len(r.root); err != nil || r.left < 0 {
			return "", nil
		}
		return "$ref", rawjson.At(r.root, pointer)
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		n := 0
		inner = nil
		for n, inner = range rawjson.Elements(k[name]) {
			if n > 0 {
				break
			}
		}
		if n == 0 && inner != nil && rawjson.Member(inner, "const") == nil {
			return name, inner
		}
	}
	return "", nil
}

// withoutNull removes null from what k allows, and reports whether it was there. It also
// unwraps a list with a single type.
func (k Keywords) withoutNull() (removed bool) {
	for _, name := range []string{"type", "enum", "anyOf", "oneOf"} {
		if name != "type" && !bytes.Contains(k[name], []byte("null")) {
			continue
		}
		var rest rawjson.ArrayWriter
		var last json.RawMessage
		found, left := false, 0
		for _, v := range rawjson.Elements(k[name]) {
			if rawjson.KindOf(v) == rawjson.Null || name == "type" && rawjson.Text(v) == "null" || rawjson.Text(rawjson.Member(v, "type")) == "null" {
				found = true
				continue
			}
			rest.Add(v)
			last, left = v, left+1
		}
		switch {
		case name == "type" && left == 1:
			k[name] = last
		case found && left > 0:
			k[name] = rest.JSON()
		}
		removed = removed || found && left > 0
	}
	return removed
}
