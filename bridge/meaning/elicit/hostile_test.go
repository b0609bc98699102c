// The race detector makes these tests several times slower, and nothing in them runs concurrently.

//go:build !race

package elicit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/cost"
)

func TestHostileSchemas(t *testing.T) {
	big := func(n int, item func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(item(i))
		}
		return b.String()
	}
	choice := func(i int) string { return fmt.Sprintf(`"c%d"`, i) }
	tenThousand := `{"properties":{"p":{"type":"string","enum":[` + big(10_000, choice) + `]}}}`
	fields, err := FieldsOf([]byte(tenThousand))
	if err != nil || len(fields) != 1 || len(fields[0].Choices) != 10_000 {
		t.Fatalf("10,000 choices give %d fields, %v", len(fields), err)
	}
	for name, tt := range map[string]struct{ schema, err string }{
		"too many properties": {`{"properties":{` + big(maxFields+1, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}`, "more than 1000 properties"},
		"endless references":  {`{"properties":{` + big(maxFields, func(i int) string { return fmt.Sprintf(`"p%d":{"$ref":"#/$defs/a"}`, i) }) + `},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, ""},
		"too deep":            {`{"properties":{"a":` + strings.Repeat(`{"properties":{"a":`, 1000) + "{}" + strings.Repeat("}}", 1000) + "}}", "nested more than"},
		"16 MiB of choices":   {`{"properties":{"p":{"enum":[` + strings.Repeat(`"",`, 16<<20/3) + `""]}}}`, ""},
		"16 MiB of nothing":   {`{"properties":{"p":{"type":"string"}},"x":[` + strings.Repeat(`1,`, 8<<20) + `1]}`, ""},
	} {
		var fields []Field
		var err error
		took := cost.Of(func() { fields, err = FieldsOf([]byte(tt.schema)) })
		if tt.err == "" && (err != nil || len(fields) != 1 && len(fields) != maxFields) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %d fields, %v; want error %q", name, len(fields), err, tt.err)
		}
		if took > 30*time.Second {
			t.Errorf("%s costs %v", name, took)
		}
	}
}

func TestHostileChecksEnd(t *testing.T) {
	doubling := `{"$ref":"#/$defs/a40","$defs":{"a0":{"type":"string"}`
	for i := 1; i <= 40; i++ {
		doubling += fmt.Sprintf(`,"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i-1, i-1)
	}
	doubling += "}}"
	slow := `{"properties":{`
	content := `{`
	for i := range 100 {
		slow += fmt.Sprintf(`"p%d":{"pattern":"^(a+)+$"},`, i)
		content += fmt.Sprintf(`"p%d":"%sb",`, i, strings.Repeat("a", 40))
	}
	slow, content = slow[:len(slow)-1]+"}}", content[:len(content)-1]+"}"
	for name, tt := range map[string]struct{ schema, content, err, problems string }{
		"doubling references": {doubling, `{}`, "takes more than 3s", ""},
		"slow patterns":       {slow, content, "could not be told within 100ms", ""},
		"endless reference":   {`{"$ref":"#"}`, `{}`, "", "-1  : The schema refers to itself without end."},
		"deep schema":         {strings.Repeat(`{"properties":{"a":`, 50) + `{"type":"null"}` + strings.Repeat("}}", 50), `{"a":{"a":1}}`, "", ""},
		"deeper than is read": {strings.Repeat(`{"not":`, 100_000) + "{}" + strings.Repeat("}", 100_000), `{}`, "nested more than", ""},
		"many parts":          {`{"allOf":[` + strings.Repeat(`{"type":"object"},`, 100_000) + `{}]}`, `{}`, "more than 5000 parts", ""},
		"many words":          {`{"properties":{"p":{"pattern":"^(` + strings.Repeat("word|", 30_000) + `)$"}}}`, `{"p":"x"}`, "is too large", ""},
	} {
		var problems []Problem
		var err error
		took := cost.Of(func() { problems, err = Check([]byte(tt.schema), []byte(tt.content)) })
		if took > 30*time.Second {
			t.Errorf("%s costs %v", name, took)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || lines(problems) != tt.problems {
			t.Errorf("%s: %v, %s", name, err, lines(problems))
		}
		if Unchecked(err) != (err != nil) {
			t.Errorf("%s: the schema is called invalid: %v", name, err)
		}
	}
	if _, err := Check([]byte(`{"properties":{"p":{"pattern":"("}}}`), []byte(`{}`)); err == nil || Unchecked(err) {
		t.Errorf("a schema that is none: %v", err)
	}
}
