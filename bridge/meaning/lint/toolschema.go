package lint

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

// compiledMost bounds how many tools of one list have their schemas compiled.
const compiledMost = 200

// lintTools judges the schemas of the tools in a list. Many clients drop the whole list over one
// that is wrong.
func (l *linter) lintTools(result json.RawMessage) {
	for i, tool := range rawjson.Elements(rawjson.Member(result, "tools")) {
		for _, member := range []string{"inputSchema", "outputSchema"} {
			schema, at := rawjson.Member(tool, member), fmt.Sprintf("/tools/%d/%s", i, member)
			of := fmt.Sprintf("The %s of the tool %s", member, wording.Quoted(rawjson.Text(rawjson.Member(tool, "name"))))
			kind, output := rawjson.Member(schema, "type"), member == "outputSchema"
			switch {
			case schema == nil && output:
				continue
			case !isObject(schema):
				l.find("tool-schema-not-object", at, "%s is %s, not an object. Many clients then drop all tools.", of, wording.WithArticle(rawjson.KindOf(schema)))
				continue
			case rawjson.Text(kind) != "object" && !(output && l.revision == july): // there it may be of any type
				l.find("tool-schema-not-object", at, `%s has to say "type": "object". Many clients drop all tools over one that does not.`, of)
			}
			if i >= compiledMost {
				continue
			}
			_, err := elicit.Check(schema, json.RawMessage(`{}`))
			if invalid, is := errors.AsType[*elicit.SchemaError](err); is {
				l.find("tool-schema-invalid", at+invalid.Faults[0].Pointer, "%s is no valid JSON Schema. %s", of, wording.Sentence(invalid.Faults[0].Text))
			}
		}
	}
}
