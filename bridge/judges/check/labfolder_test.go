package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestFoldersOfTheDead expects only the folder of a killed process to be removed.
func TestFoldersOfTheDead(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := exec.Command(os.Args[0], "-test.run", "^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	mine, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	left := strings.Replace(mine, "-"+strconv.Itoa(os.Getpid())+"-", "-"+strconv.Itoa(dead.Process.Pid)+"-", 1)
	other := filepath.Join(os.TempDir(), "inspector-check-elsewhere-1-2")
	for _, folder := range []string{left, other} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	next, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the folder of a process that has ended is left: %v", err)
	}
	for _, folder := range []string{mine, other, next} {
		if _, err := os.Stat(folder); err != nil {
			t.Error(err)
		}
	}
}
