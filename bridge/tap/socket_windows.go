package tap

import "os"

// socketParent returns the folder of the user's application data, which Windows keeps from
// other users.
func socketParent() (string, error) { return os.UserCacheDir() }

// onlyOurs accepts every folder: the access rights of the user's application data are those
// of Windows.
func onlyOurs(os.FileInfo) error { return nil }
