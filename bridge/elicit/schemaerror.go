package elicit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// SchemaError reports that a schema is invalid by the JSON Schema dialect it uses.
type SchemaError struct {
	Faults []Problem // sorted by pointer, at least one; pointers lead into the schema
}

func (e *SchemaError) Error() string { return e.Faults[0].Text }

func schemaError(err error, schema json.RawMessage) error {
	var load *jsonschema.LoadURLError
	var notFound *jsonschema.JSONPointerNotFoundError
	var noAnchor *jsonschema.AnchorNotFoundError
	var regex *jsonschema.InvalidRegexError
	var invalid *jsonschema.SchemaValidationError
	var failed *jsonschema.ValidationError
	switch {
	case errors.As(err, &load):
		return fmt.Errorf("the schema refers to %s, and other documents are never loaded", wording.Quoted(strings.TrimPrefix(load.URL, "inspector:///")))
	case errors.As(err, &notFound):
		return dangling(notFound.URL)
	case errors.As(err, &noAnchor):
		return dangling(noAnchor.Reference)
	case errors.As(err, &regex):
		return &SchemaError{[]Problem{fault(fragment(regex.URL), regex.Err.Error())}}
	case errors.As(err, &invalid) && errors.As(invalid.Err, &failed):
		at := fragment(invalid.URL)
		x := &explainer{content: rawjson.At(schema, at)}
		x.explain(failed)
		var faults []Problem
		for _, p := range x.problems {
			faults = append(faults, fault(at+p.Pointer, strings.ReplaceAll(strings.TrimSuffix(p.Text, "."), "You entered", "It is")))
		}
		// The validator reports errors in no fixed order.
		slices.SortFunc(faults, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Text, b.Text))
		})
		if len(faults) > 0 {
			return &SchemaError{faults}
		}
	}
	return fmt.Errorf("the schema cannot be checked against: %w", err)
}

func dangling(reference string) error {
	return &SchemaError{[]Problem{{Field: -1, Text: fmt.Sprintf("the schema refers to %s, which is not there", wording.Quoted(fragment(reference)))}}}
}

func fault(pointer, what string) Problem {
	where := cmp.Or(pointer, "its root")
	return Problem{Field: -1, Pointer: pointer, Text: "the schema is wrong at " + where + ": " + what}
}

// fragment returns the decoded part of a URL after the #.
func fragment(u string) string {
	_, f, _ := strings.Cut(u, "#")
	if decoded, err := url.PathUnescape(f); err == nil {
		return decoded
	}
	return f
}
