package elicit

import (
	"encoding/json"
	"sync"
)

// Bounds on the compiled schemas that are kept.
const (
	checkersMost = 64
	schemaMost   = 32 << 10 // bytes of a schema's text
)

// checkers keeps schemas compiled, since most are checked against again and again.
var checkers keptCheckers

type keptCheckers struct {
	mu   sync.Mutex
	free map[string]*checker // by the schema's text; those in use are not among them
}

// take returns a checker for a schema, which nothing else uses until give. It has yet to
// be compiled if there is none.
func (k *keptCheckers) take(schema json.RawMessage) *checker {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.free[string(schema)]
	if c == nil {
		return new(checker)
	}
	delete(k.free, string(schema))
	return c
}

// give returns a checker that is of use again.
func (k *keptCheckers) give(schema json.RawMessage, c *checker) {
	if len(schema) > schemaMost {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.free == nil || len(k.free) == checkersMost {
		k.free = map[string]*checker{}
	}
	k.free[string(schema)] = c
}
