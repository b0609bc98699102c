//go:build !unix

package inspection_test

func ignoreSignals() {}

// alive is only implemented on Unix.
func alive(int) bool { return false }
