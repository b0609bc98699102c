package elicit

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

// TestCompiledSchemasAreKept checks content against the same schemas concurrently. Each
// check has its own result, and the number of kept schemas is limited.
func TestCompiledSchemasAreKept(t *testing.T) {
	t.Parallel()
	var checking sync.WaitGroup
	for i := range 2 * checkersMost {
		schema := json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"n":{"type":"integer","maximum":%d}}}`, i))
		for n := i - 1; n <= i+1; n++ {
			checking.Go(func() {
				problems, err := Check(schema, json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)))
				if err != nil || (len(problems) > 0) != (n > i) {
					t.Errorf("%d for at most %d: %v, %v", n, i, problems, err)
				}
			})
		}
	}
	checking.Wait()
	checkers.mu.Lock()
	defer checkers.mu.Unlock()
	if n := len(checkers.free); n == 0 || n > checkersMost {
		t.Errorf("%d are kept", n)
	}
}
