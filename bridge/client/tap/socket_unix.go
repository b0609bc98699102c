//go:build unix

package tap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// socketParent returns the folder of the user's session, or else a folder of the user's in
// /tmp. Many clients start a server with little of their environment, such as those of the
// TypeScript SDK: neither XDG_RUNTIME_DIR nor TMPDIR may be needed to find the same folder.
func socketParent() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return dir, nil
	}
	user := strconv.Itoa(os.Geteuid())
	session := filepath.Join("/run/user", user) // what XDG_RUNTIME_DIR is with systemd
	if info, err := os.Lstat(session); err == nil && onlyOurs(info) == nil {
		return session, nil
	}
	dir := filepath.Join("/tmp", folder+"-"+user)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	return dir, onlyOurs(info)
}

// onlyOurs returns an error unless only this user can open the folder.
func onlyOurs(info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("it is not a folder")
	case ok && int(stat.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&0o077 != 0:
		return errors.New("other users can open it")
	}
	return nil
}
