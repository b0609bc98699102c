package rawjson

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Escapes of member names in a JSON pointer (RFC 6901, section 3).
var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// PointerTo returns the JSON pointer to a member of the object at pointer.
func PointerTo(pointer, name string) string { return pointer + "/" + pointerEscaper.Replace(name) }

// splitPointer returns the decoded names and indices in a JSON pointer.
func splitPointer(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = pointerUnescaper.Replace(token)
	}
	return tokens
}

// At returns the value at a JSON pointer; nil if there is none. If several members have
// the same name it takes the last, as decoders do.
func At(raw []byte, pointer string) json.RawMessage {
	if pointer != "" && pointer[0] != '/' || strings.Count(pointer, "/") > MaxDepth {
		return nil
	}
	return NewCursor(raw).find(splitPointer(pointer))
}

// find returns the value that the tokens lead to inside the value at the cursor.
func (c *Cursor) find(tokens []string) (found json.RawMessage) {
	if len(tokens) == 0 {
		return c.Value()
	}
	switch c.Kind() {
	case Object:
		for name := range c.Members() {
			if name.Is(tokens[0]) {
				found = c.find(tokens[1:])
			}
		}
	case Array:
		n, err := strconv.Atoi(tokens[0])
		if err != nil || strconv.Itoa(n) != tokens[0] {
			return nil
		}
		for i := range c.Elements() {
			if i == n {
				found = c.find(tokens[1:])
			}
		}
	}
	return found
}
