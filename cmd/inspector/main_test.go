package main

import (
	"os"
	"testing"
)

// asInspector in the environment makes the test binary the inspector.
const asInspector = "INSPECTOR_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(asInspector) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}
