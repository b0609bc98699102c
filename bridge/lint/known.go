package lint

import (
	"slices"
	"sort"
)

// upTo returns the findings of frames up to last, with the mutex held.
func (l *Linter) upTo(last int64) []Found {
	return l.found[:sort.Search(len(l.found), func(k int) bool { return l.found[k].Seq > last })]
}

// From lists the findings from index i on, for frames up to last, sorted by frame.
func (l *Linter) From(i int, last int64) []Found {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.upTo(last)
	return slices.Clone(known[min(i, len(known)):])
}

// At lists the findings of one frame.
func (l *Linter) At(seq int64) []Found {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.upTo(seq)[len(l.upTo(seq-1)):])
}

// Count returns how many findings there are of frames up to last.
func (l *Linter) Count(last int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.upTo(last))
}

// Counts says how many findings of each severity there are, by the label of their server.
type Counts map[string]map[Severity]int

// ByServer counts the findings of frames up to last. Readers share what it returns, and
// must not change it.
func (l *Linter) ByServer(last int64) Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.upTo(last)
	if l.counts == nil || l.counted != len(known) {
		l.counts, l.counted = Counts{}, len(known)
		for _, f := range known {
			if l.counts[f.Label] == nil {
				l.counts[f.Label] = map[Severity]int{}
			}
			l.counts[f.Label][f.Severity]++
		}
	}
	return l.counts
}
