package wire

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"sync"
)

// spool is the temporary file that holds the frames' lines. Lines are gathered
// in blocks in memory, and a goroutine writes the blocks, so that no lock is
// held during I/O and an append only copies. Lines that are not written yet are
// read from memory.
//
// With a bound on the file, offsets go round in it: a block takes the place of the
// eldest ones, whose lines are lost.
//
// The file is created when the first block is full. On Unix it is unlinked as
// soon as it is open, so that not even SIGKILL leaves it behind.
type spool struct {
	dir    string
	ring   int64  // bound in bytes on the file
	failed func() // called with mu held when storage fails

	mu      *sync.Mutex // Log.mu; callers of add and room hold it
	changed *sync.Cond  // a block was sealed, written or dropped, or the spool closed
	blocks  []*block    // unwritten blocks, oldest first
	end     int64       // offset past the last line
	waiting int64       // bytes in blocks
	file    *os.File
	path    string // removed by close; "" if it is unlinked already
	err     error  // the first failure: from then on frames stay in memory
	kept    int64  // limit in bytes on blocks once err is set
	written int64  // offsets below this are in the file; others are in blocks, or lost
	gone    int64  // offsets below this have given way to later ones in the file
	lost    int64  // number of lost frames
	closed  bool

	done     chan struct{} // the writing goroutine has ended
	closing  sync.Once
	closeErr error
}

// block is a run of whole lines.
type block struct {
	off    int64
	size   int64  // in the file
	data   []byte // nil if the block was dropped because memory ran out
	lines  int64
	sealed bool // the block is complete and may be written
}

const (
	blockSize = 64 << 10
	// largeLine is the size in bytes from which a line gets a block of its own
	// and is not copied: the caller must not change it any more.
	largeLine = 256 << 10
	// maxWaiting bounds the unwritten bytes. Beyond it appends wait, so that a
	// disk slower than the wire does not fill the memory.
	maxWaiting = 8 << 20
)

var (
	errLost   = errors.New("the bytes are gone")
	errClosed = errors.New("the log is closed")
)

func newSpool(ring int64, dir string, kept int64, mu *sync.Mutex, failed func()) *spool {
	s := &spool{ring: ring, dir: dir, failed: failed, kept: kept, mu: mu, done: make(chan struct{})}
	s.changed = sync.NewCond(mu)
	go s.write()
	return s
}

// room waits until no more than maxWaiting bytes are unwritten; it releases the
// lock meanwhile. The caller holds s.mu.
func (s *spool) room() {
	for s.waiting > maxWaiting && s.err == nil && !s.closed {
		s.changed.Wait()
	}
}

// add appends a line and returns its offset. The caller holds s.mu.
func (s *spool) add(line []byte) int64 {
	off, size := s.end, int64(len(line))
	s.end += size
	if s.closed {
		return off
	}
	var b *block
	if len(s.blocks) > 0 {
		b = s.blocks[len(s.blocks)-1]
	}
	if b == nil || b.sealed || b.size > 0 && b.size+size > blockSize {
		s.seal(b)
		b = &block{off: off}
		s.blocks = append(s.blocks, b)
	}
	if size >= largeLine {
		b.data = line
	} else {
		if b.data == nil {
			b.data = make([]byte, 0, max(size, min(blockSize, off+4096)))
		}
		b.data = append(b.data, line...)
	}
	b.lines++
	b.size += size
	s.waiting += size
	if b.size >= blockSize {
		s.seal(b) // at once: after a line beyond maxWaiting, room lets no further line in
	}
	if s.err != nil {
		s.fit(b)
	}
	return off
}

// keeps reports whether lines at an offset have neither given way to later ones nor can be lost.
// The caller holds s.mu.
func (s *spool) keeps(off int64) bool { return s != nil && !s.closed && s.err == nil && off >= s.gone }

func (s *spool) seal(b *block) {
	if b != nil && !b.sealed {
		b.sealed = true
		s.changed.Broadcast()
	}
}

// fit drops unwritten blocks until they fit into s.kept bytes: the latest one
// if it is too large by itself, then the oldest ones.
func (s *spool) fit(latest *block) {
	if latest.size > s.kept {
		s.drop(latest)
	}
	for s.waiting > s.kept {
		s.drop(s.blocks[0])
		s.unqueue()
	}
}

func (s *spool) drop(b *block) {
	if b.data != nil {
		b.data, b.sealed = nil, true
		s.waiting -= b.size
		s.lost += b.lines
	}
}

func (s *spool) unqueue() {
	s.blocks[0] = nil
	s.blocks = s.blocks[1:]
}

func (s *spool) write() {
	defer close(s.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed {
		if s.err != nil || len(s.blocks) == 0 || !s.blocks[0].sealed {
			s.changed.Wait()
			continue
		}
		b := s.blocks[0]
		s.gone = max(s.gone, b.off+b.size-s.ring)
		s.mu.Unlock()
		err := s.writeBlock(b)
		s.mu.Lock()
		if err == nil {
			s.unqueue()
			s.waiting -= b.size
			s.written = b.off + b.size
		} else {
			s.err = err
			for _, b := range slices.Clone(s.blocks) {
				s.fit(b)
			}
			s.failed()
		}
		s.changed.Broadcast()
	}
}

func (s *spool) writeBlock(b *block) error {
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "inspector-*.jsonl")
		if err != nil {
			return fmt.Errorf("making the temporary file for frames: %w", err)
		}
		// Windows refuses to remove an open file; Close will.
		path := file.Name()
		if os.Remove(path) == nil {
			path = ""
		}
		s.mu.Lock()
		s.file, s.path = file, path
		s.mu.Unlock()
	}
	data, off := b.data, b.off
	if b.size > s.ring { // of which no line fits
		return nil
	}
	for part := []byte(nil); len(data) > 0; data, off = data[len(part):], off+int64(len(part)) {
		at := off % s.ring
		part = data[:min(int64(len(data)), s.ring-at)]
		if _, err := s.file.WriteAt(part, at); err != nil {
			return fmt.Errorf("writing frames to the temporary file: %w", err)
		}
	}
	return nil
}

// givenWay returns the offset before which all lines have given way to later ones.
func (s *spool) givenWay() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

func (s *spool) read(room *[]byte, off int64, n int) ([]byte, error) {
	s.mu.Lock()
	file, closed, gone, inFile := s.file, s.closed, off < s.gone, off+int64(n) <= s.written
	var piece []byte
	if !inFile {
		piece = s.inMemory(off, n)
	}
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case gone && inFile, !inFile && piece == nil:
		return nil, errLost
	case !inFile:
		return piece, nil
	}
	piece = sized(room, n)
	for rest := piece; len(rest) > 0; {
		at := off % s.ring
		part := rest[:min(int64(len(rest)), s.ring-at)]
		if _, err := file.ReadAt(part, at); err != nil {
			return nil, fmt.Errorf("reading frames from the temporary file: %w", err)
		}
		rest, off = rest[len(part):], off+int64(len(part))
	}
	if off-int64(n) < s.givenWay() { // a later block was written meanwhile
		return nil, errLost
	}
	return piece, nil
}

// inMemory returns n bytes at off from a single block, nil if no block holds
// them. The caller holds s.mu.
func (s *spool) inMemory(off int64, n int) []byte {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].off+s.blocks[i].size > off })
	if i == len(s.blocks) || s.blocks[i].off > off {
		return nil
	}
	b := s.blocks[i]
	at := int(off - b.off)
	if at+n > len(b.data) {
		return nil
	}
	return b.data[at : at+n : at+n]
}

// sized returns n bytes of the room, which grows if it is too small, or fresh ones if it is nil.
func sized(room *[]byte, n int) []byte {
	if room == nil {
		return make([]byte, n)
	}
	*room = slices.Grow((*room)[:0], n)
	return (*room)[:n]
}

func (s *spool) stats(st *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Bytes = s.written - s.gone
	st.Memory += s.waiting
	st.Lost = s.lost
	switch {
	case s.err != nil:
		st.Where = "memory: " + s.err.Error()
	case s.file == nil:
		st.Where = "memory"
	default:
		st.Where = "a temporary file in " + s.dir
	}
}

func (s *spool) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// close ends the spool and removes its file. A further call waits for the first.
func (s *spool) close() error {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.changed.Broadcast()
		s.mu.Unlock()
		<-s.done

		s.mu.Lock()
		s.blocks, s.waiting = nil, 0
		file, path := s.file, s.path
		s.changed.Broadcast()
		s.mu.Unlock()
		if file != nil {
			s.closeErr = file.Close()
		}
		if path != "" {
			s.closeErr = errors.Join(s.closeErr, os.Remove(path))
		}
	})
	return s.closeErr
}
