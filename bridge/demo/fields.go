package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func (v *visit) whatArrives(ctx context.Context, q question) (*mcp.CallToolResult, error) {
	a, err := v.answer(ctx, q.written(v.revision))
	if err != nil {
		return nil, err
	}
	v.outcome = struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{a.Action, a.Content}
	if !a.accepted() {
		return said("The answer was %s.", a.Action), nil
	}
	return said("Arrived: %s", a.Content), nil
}

func everyField(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	return v.whatArrives(ctx, form("form", nil))
}

type kind struct {
	Name, Message string
	Field         json.RawMessage // the property's schema; nil for the list of lockers, which is generated
	Optional      bool
}

func (k kind) id() string { return k.Name }

func (k kind) schema() string {
	answer := `"answer":` + string(k.Field)
	switch {
	case k.Field == nil:
		return object(`"answer":`+lockers(), "answer")
	case k.Optional:
		return object(answer)
	}
	return object(answer, "answer")
}

//go:embed kinds.json
var kindsJSON string

var kinds = read[[]kind](kindsJSON)

func lockers() string {
	names := make([]string, 10000)
	halls := []string{"North hall", "South hall", "Basement", "Roof"}
	for i := range names {
		names[i] = fmt.Sprintf(`"%s, %05d"`, halls[i/2500], i+1)
	}
	return `{"type":"string","title":"Locker","enum":[` + strings.Join(names, ",") + `]}`
}

func ask(ctx context.Context, v *visit, args struct{ Kind string }) (*mcp.CallToolResult, error) {
	k := chosen(args.Kind, kinds())
	return v.whatArrives(ctx, question{key: k.Name, message: k.Message, schema: k.schema()})
}
