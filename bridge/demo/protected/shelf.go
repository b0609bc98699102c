package protected

import "crypto/sha256"

// maxKept is how many values a shelf holds. A further one replaces the oldest, so that nobody can fill the memory.
const maxKept = 1024

// shelf maps secret keys to values. It stores hashes of the keys, so that the duration of a look-up reveals nothing about
// them.
// The zero value is ready for use.
type shelf[T any] struct {
	values map[[sha256.Size]byte]T
	order  [][sha256.Size]byte // the newest last
}

func (s *shelf[T]) put(key string, v T) {
	h := sha256.Sum256([]byte(key))
	if s.values == nil {
		s.values = map[[sha256.Size]byte]T{}
	}
	if _, known := s.values[h]; !known {
		s.order = append(s.order, h)
	}
	s.values[h] = v
	if len(s.order) > maxKept {
		delete(s.values, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *shelf[T]) get(key string) (T, bool) {
	v, ok := s.values[sha256.Sum256([]byte(key))]
	return v, ok
}

// take returns a value like get, and forgets it.
func (s *shelf[T]) take(key string) (T, bool) {
	v, ok := s.get(key)
	if ok {
		var none T
		s.put(key, none)
	}
	return v, ok
}
