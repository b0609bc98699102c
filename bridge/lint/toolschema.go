package lint

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// compiledMost bounds how many schemas of one list of tools are compiled.
const compiledMost = 200

// lintTools judges the schemas of the tools in a list. Many clients drop the whole list over one
// that is wrong.
func (l *linter) lintTools(result json.RawMessage) {
	for i, tool := range rawjson.Elements(rawjson.Member(result, "tools")) {
		at := fmt.Sprintf("/tools/%d", i)
		l.lintToolSchema(at, tool, "inputSchema", i < compiledMost)
		if rawjson.Member(tool, "outputSchema") != nil {
			l.lintToolSchema(at, tool, "outputSchema", i < compiledMost)
		}
	}
}

func (l *linter) lintToolSchema(at string, tool json.RawMessage, member string, compile bool) {
	schema := rawjson.Member(tool, member)
	of := fmt.Sprintf("The %s of the tool %s", member, wording.Quoted(rawjson.Text(rawjson.Member(tool, "name"))))
	find := func(pointer, format string, args ...any) {
		l.find("tool-schema-not-object", at+pointer, "%s %s Many clients then drop all tools.", of, fmt.Sprintf(format, args...))
	}
	before, pointer, kind := len(l.findings), "/"+member, rawjson.Member(schema, "type")
	properties, required := rawjson.KindOf(rawjson.Member(schema, "properties")), rawjson.KindOf(rawjson.Member(schema, "required"))
	switch t := rawjson.KindOf(schema); {
	case t == rawjson.None:
		find("", `is missing. For a tool without parameters, write {"type": "object"}.`)
	case t != rawjson.Object:
		find(pointer, "is %s, not an object.", wording.WithArticle(t))
	case l.revision == july && member == "outputSchema": // may be of any type
	case kind == nil:
		find(pointer, `has to say "type": "object".`)
	case rawjson.Text(kind) != "object":
		find(pointer+"/type", `has the type %s; it has to be "object".`, wording.Shorten(string(kind), 60))
	case properties != rawjson.None && properties != rawjson.Object:
		find(pointer+"/properties", "has properties that are %s, not an object.", wording.WithArticle(properties))
	case required != rawjson.None && required != rawjson.Array:
		find(pointer+"/required", "has a required that is %s, not a list.", wording.WithArticle(required))
	}
	if !compile || rawjson.KindOf(schema) != rawjson.Object || len(l.findings) > before {
		return
	}
	_, err := elicit.Check(schema, json.RawMessage(`{}`))
	if invalid, is := errors.AsType[*elicit.SchemaError](err); is {
		l.find("tool-schema-invalid", at+pointer+invalid.Faults[0].Pointer, "%s is no valid JSON Schema. %s", of, wording.Sentence(invalid.Faults[0].Text))
	}
}
