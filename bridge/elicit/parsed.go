package elicit

import (
	"encoding/json"
	"sync"
)

// parsedMost is how many parsed questions are kept: more than a page shows.
const parsedMost = 300

// Parsed keeps questions parsed, by their numbers, since a page draws many of them anew
// whenever one changes. The zero value is ready for use, by several goroutines.
type Parsed struct {
	mu       sync.Mutex
	requests map[int]*Request
}

// Of parses the params of a question, unless that was done before. It returns nil for
// what cannot be parsed.
func (p *Parsed) Of(number int, params json.RawMessage) *Request {
	p.mu.Lock()
	request, known := p.requests[number]
	p.mu.Unlock()
	if known {
		return request
	}
	request, _ = Parse(params)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests == nil || len(p.requests) == parsedMost {
		p.requests = map[int]*Request{}
	}
	p.requests[number] = request
	return request
}
