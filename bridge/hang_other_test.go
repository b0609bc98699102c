//go:build !unix

package bridge_test

func ignoreSignals() {}

// alive is only implemented on Unix.
func alive(int) bool { return false }
