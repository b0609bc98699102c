package elicit

import (
	"encoding/json"
	"errors"
)

// Compact leaves out the white space between the tokens of one JSON value. The
// order of members, the digits of numbers and the escapes in strings stay as
// they are. It fails if raw is no JSON value.
func Compact(raw json.RawMessage) (json.RawMessage, error) {
	if len(trim(raw)) == 0 {
		return nil, errors.New("there is nothing")
	}
	if err := valid(raw); err != nil {
		return nil, err
	}
	return appendCompact(nil, raw), nil
}
