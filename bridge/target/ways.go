package target

import "errors"

var errNotYet = errors.New("not built yet")

func openHTTP(s Spec, t *tap, opts Options) (way, error) { return nil, errNotYet }
