//go:build !unix

package cost

import "time"

// Of returns the time that f takes: the processor time is not to be had.
func Of(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
