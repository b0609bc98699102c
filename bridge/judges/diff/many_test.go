//go:build !race

package diff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/testdata/cost"
)

// TestManyOfAll compares a call with a thousand reports and a form with a thousand fields, all of which
// have other names and texts in the other recording, within a moment.
func TestManyOfAll(t *testing.T) {
	const many = 1000
	talk := func(word string) string {
		var fields []string
		var reports strings.Builder
		for i := range many {
			fields = append(fields, fmt.Sprintf(`"%s%d":{"type":"string","description":"%s"}`, word, i, word))
			fmt.Fprintf(&reports, `+0s s2c {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s %c%c%c"}}`+"\n", word, 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
		}
		return strings.Replace(edited(t, []string{
			`"sure":{"type":"boolean","title":"Sure"}`, strings.Join(fields, ","), `,"required":["sure"]`, "", `{"sure":true}`, `{}`,
		}), line(`"deleting"`), reports.String(), 1)
	}
	old, now := talk("old"), talk("new")
	if used := cost.Of(func() { compare(t, old, now, diff.Options{}) }); used > 20*time.Second {
		t.Errorf("it takes %s", used)
	}
}
