package calls

// Request is what a call asks for, while the call is kept.
func (cs *Calls) Request(number int) (Request, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c, err := cs.find(number)
	if err != nil {
		return Request{}, false
	}
	return c.Request, true
}
