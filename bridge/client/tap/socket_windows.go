package tap

import "os"

// socketParent returns the folder of the user's application data, which Windows keeps from
// other users.
func socketParent() (string, error) { return os.UserCacheDir() }

// onlyOurs accepts every folder. It does not check access rights, because Windows already
// lets only the user into the folder that socketParent returns.
func onlyOurs(os.FileInfo) error { return nil }
