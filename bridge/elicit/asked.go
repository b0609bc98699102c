package elicit

import "encoding/json"

// ValueAt is the value that a path of names leads to, from object to object;
// nil if there is none, or raw is no JSON.
func ValueAt(raw json.RawMessage, path ...string) json.RawMessage {
	if valid(raw) != nil {
		return nil
	}
	for _, name := range path {
		raw = member(raw, name)
	}
	return raw
}

// StringAt decodes the string that a path of names leads to. It reports false
// for anything else.
func StringAt(raw json.RawMessage, path ...string) (string, bool) {
	value := ValueAt(raw, path...)
	if typeOf(value) != typeString {
		return "", false
	}
	s, _ := unquote(value)
	return s, true
}

// NamesAt lists the members of the object that a path of names leads to.
func NamesAt(raw json.RawMessage, path ...string) []string {
	var names []string
	for name := range members(ValueAt(raw, path...)) {
		names = append(names, name)
	}
	return names
}

// Pointed is the value that a JSON pointer names; nil if there is none, or raw
// is no JSON.
func Pointed(raw json.RawMessage, ptr string) json.RawMessage {
	if valid(raw) != nil {
		return nil
	}
	return at(raw, ptr)
}
