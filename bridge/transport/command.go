package transport

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// command prepares the process of a spec. Like a shell, it looks a program without a
// folder up in the PATH that the process will have.
func command(s Spec) (*exec.Cmd, error) {
	if s.Dir != "" {
		switch info, err := os.Stat(s.Dir); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("its working directory %q does not exist", s.Dir)
		case err != nil:
			return nil, fmt.Errorf("its working directory: %w", err)
		case !info.IsDir():
			return nil, fmt.Errorf("its working directory %q is no directory", s.Dir)
		}
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), s.Env...)
	if path, ok := pathOf(s.Env); ok && filepath.Base(s.Command[0]) == s.Command[0] {
		if found := lookIn(path, s.Command[0]); found != "" {
			cmd.Path, cmd.Err = found, nil
		} else {
			cmd.Err = &exec.Error{Name: s.Command[0], Err: exec.ErrNotFound}
		}
	}
	if cmd.Err != nil {
		return nil, explainStart(cmd, cmd.Err)
	}
	return cmd, nil
}

// pathOf returns the PATH that env sets; ok is false if it sets none.
func pathOf(env []string) (path string, ok bool) {
	for _, kv := range env {
		k, v, found := strings.Cut(kv, "=")
		if found && (k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "PATH")) {
			path, ok = v, true
		}
	}
	return path, ok
}

func lookIn(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // an empty entry would mean the current directory
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return ""
}

func explainStart(cmd *exec.Cmd, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("there is no such program in PATH: %w", err)
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("it was found in the current directory only; write it with a leading %q to run it: %w", "."+string(filepath.Separator), err)
	case errors.Is(err, fs.ErrNotExist):
		path := cmd.Path
		if cmd.Dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(cmd.Dir, path)
		}
		if _, statErr := os.Stat(path); statErr == nil {
			return fmt.Errorf("%s names an interpreter that does not exist: %w", path, err)
		}
		return fmt.Errorf("there is no file %s: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be executed: %w", cmd.Path, err)
	default:
		return err
	}
}
