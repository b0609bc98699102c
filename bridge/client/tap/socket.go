package tap

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// folder is the name of the folder of the socket.
const folder = "elicitation-inspector"

// SocketPath returns the path of the socket at which an inspector waits for taps, and makes
// its folder, which only this user can open. The error says why the folder is not safe: a
// tap sends what a client and its server say.
func SocketPath() (string, error) {
	parent, err := socketParent()
	if err != nil {
		return "", fmt.Errorf("looking for the folder of the socket: %w", err)
	}
	dir := filepath.Join(parent, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the folder of the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("looking at the folder of the socket: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("the folder of the socket, %s, is not a folder", dir)
	}
	if err := onlyOurs(info); err != nil {
		return "", fmt.Errorf("the folder of the socket, %s, is not safe: %w", dir, err)
	}
	return filepath.Join(dir, "taps.sock"), nil
}

// ErrTaken is the error of a socket at which another inspector waits.
var ErrTaken = errors.New("another inspector waits for taps already")

// listen listens on a socket. It replaces one that an inspector has left behind.
func listen(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		if conn, other := net.DialTimeout("unix", path, time.Second); other == nil {
			return nil, errors.Join(ErrTaken, conn.Close())
		}
		if info, missing := os.Lstat(path); missing != nil || info.Mode().IsRegular() || info.IsDir() {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("removing the socket of an inspector that has ended: %w", err)
		}
		if l, err = net.Listen("unix", path); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
