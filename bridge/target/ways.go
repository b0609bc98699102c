package target

import "errors"

var errNotYet = errors.New("not built yet")

func openBuiltin(s Spec, t *tap, opts Options) (way, error) { return nil, errNotYet }
func openHTTP(s Spec, t *tap, opts Options) (way, error)    { return nil, errNotYet }
func openProcess(s Spec, t *tap, opts Options) (way, error) { return nil, errNotYet }
