// The race detector makes this test several times slower, and nothing in it runs concurrently.

//go:build !race

package lint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/cost"
)

func TestHostileLintsEnd(t *testing.T) {
	slow := make([]string, 300)
	for i := range slow {
		slow[i] = fmt.Sprintf(`"p%d":{"type":"string","pattern":"^(a+)+$","default":"%sb"}`, i, strings.Repeat("a", 40))
	}
	broken := make([]string, 900)
	for i := range broken {
		broken[i] = fmt.Sprintf(`"p%d":{"type":["x"],"title":"password"}`, i)
	}
	for name, params := range map[string]string{
		"slow patterns": ask(`"properties":{` + strings.Join(slow, ",") + `}`),
		"many faults":   ask(`"properties":{` + strings.Join(broken, ",") + `}`),
		"huge pattern":  asking(`{"type":"string","pattern":"^((a{1,1000}){1,1000}){1,1000}$","minLength":100000000,"maxLength":1}`),
		"many members":  ask(`"properties":{},"x":{` + strings.Repeat(`"a":1,`, 100_000) + `"a":1}`),
	} {
		var findings []Finding
		took := cost.Of(func() { findings = Elicitation(in(nov, params)) })
		if took > 30*time.Second {
			t.Errorf("%s costs %v", name, took)
		}
		if len(findings) == 0 || len(findings) > maxFindings {
			t.Errorf("%s: %d findings", name, len(findings))
		}
	}
}
