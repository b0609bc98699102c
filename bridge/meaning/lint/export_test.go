package lint

// Judged returns the frame up to which all frames are linted.
func (l *Linter) Judged() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judged
}
