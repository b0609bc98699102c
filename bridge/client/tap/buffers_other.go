//go:build !linux

package tap

// widen does nothing: only Linux has pipes whose size can be chosen.
func widen(any) {}

func reserve() []byte { return make([]byte, memorySize) }
