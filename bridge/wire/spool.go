package wire

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// spool is the temporary file that holds the frames' lines. Lines are gathered
// in memory, in blocks, and a goroutine writes the blocks, so that no lock is
// held during I/O and an append costs a copy. What is not written yet is read
// from memory.
//
// The file is made when the first block is full. On Unix it is unlinked as
// soon as it is open, so that not even SIGKILL leaves it behind.
type spool struct {
	dir    string
	failed func() // called, without a lock held, when storage has failed

	mu      *sync.Mutex // the log's; add, addLarge and room are called with it held
	changed *sync.Cond  // blocks were written, dropped, or the spool closed
	blocks  []*block    // not written, oldest first
	end     int64       // offset past the last line
	waiting int64       // bytes in blocks
	file    *os.File
	path    string // to be removed in the end; "" if it has no name any more
	err     error  // the first failure: from then on frames stay in memory
	kept    int64  // once err is set: bytes in memory at most
	written int64  // offsets below this are in the file
	dropped int64  // once err is set: offsets from written to here are gone
	lost    int64  // frames in them
	closed  bool

	full chan struct{} // a block is ready to be written, or the spool is closed
	done chan struct{} // the writing goroutine has ended
}

// block is a run of whole lines.
type block struct {
	off    int64
	size   int64 // in the file
	data   []byte
	lines  int64
	sealed bool // full: nothing is added, and it may be written
	// A large line is not copied: borrowed refers to bytes that belong to
	// whoever added it, who waits for settled before giving them back.
	borrowed [][]byte
	settled  chan struct{}
	gone     bool // not written, and too large to be kept
}

const (
	blockSize = 64 << 10
	// largeLine is the size from which on a line is not copied.
	largeLine = 256 << 10
	// maxWaiting bounds what waits to be written. Beyond it, appends wait: the
	// disk is slower than the wire, and memory is no place for the difference.
	maxWaiting = 8 << 20
)

var (
	errLost   = errors.New("the bytes are gone")
	errClosed = errors.New("the log is closed")
)

func newSpool(dir string, kept int64, mu *sync.Mutex, failed func()) *spool {
	s := &spool{dir: dir, failed: failed, kept: kept, mu: mu, full: make(chan struct{}, 1), done: make(chan struct{})}
	s.changed = sync.NewCond(mu)
	go s.write()
	return s
}

// room waits until the disk has caught up, and lets go of the lock meanwhile.
// The caller holds s.mu.
func (s *spool) room() {
	for s.waiting > maxWaiting && s.err == nil && !s.closed {
		s.changed.Wait()
	}
}

// add copies a line to the end and says where it begins. The caller holds s.mu.
func (s *spool) add(line []byte) int64 {
	off := s.end
	if s.closed {
		s.end += int64(len(line))
		return off
	}
	b := s.last()
	if b == nil || b.sealed || len(b.data)+len(line) > blockSize && len(b.data) > 0 {
		s.seal(b)
		b = &block{off: s.end, data: make([]byte, 0, max(len(line), min(blockSize, int(s.end)+4096)))}
		s.blocks = append(s.blocks, b)
	}
	b.data = append(b.data, line...)
	b.lines++
	b.size += int64(len(line))
	s.end += int64(len(line))
	s.waiting += int64(len(line))
	if b.size >= blockSize {
		s.seal(b) // at once: a line that alone fills what may wait is followed by none
	}
	s.fit()
	return off
}

// addLarge adds a line in parts without copying them. The parts must not
// change before settled is closed. The caller holds s.mu.
func (s *spool) addLarge(parts ...[]byte) (off int64, settled <-chan struct{}) {
	s.seal(s.last())
	b := &block{off: s.end, lines: 1, sealed: true, borrowed: parts, settled: make(chan struct{})}
	for _, part := range parts {
		b.size += int64(len(part))
	}
	s.end += b.size
	if s.closed {
		close(b.settled)
		return b.off, b.settled
	}
	s.blocks = append(s.blocks, b)
	s.waiting += b.size
	if s.err != nil {
		s.keep(b)
		s.fit()
	}
	s.wake()
	return b.off, b.settled
}

func (s *spool) last() *block {
	if len(s.blocks) == 0 {
		return nil
	}
	return s.blocks[len(s.blocks)-1]
}

func (s *spool) seal(b *block) {
	if b != nil && !b.sealed {
		b.sealed = true
		s.wake()
	}
}

func (s *spool) wake() {
	select {
	case s.full <- struct{}{}:
	default:
	}
}

// fit lets the oldest blocks go where they cannot be written and take more
// memory than they may.
func (s *spool) fit() {
	for s.err != nil && s.waiting > s.kept && len(s.blocks) > 0 {
		b := s.blocks[0]
		s.blocks[0] = nil
		s.blocks = s.blocks[1:]
		s.dropped = b.off + b.size
		if !b.gone {
			s.waiting -= b.size
			s.lost += b.lines
		}
	}
}

// keep makes a block that will not be written independent of the bytes that
// it borrowed, or lets them go if they are too many.
func (s *spool) keep(b *block) {
	if b.borrowed == nil {
		return
	}
	if b.size > s.kept {
		b.gone = true
		s.waiting -= b.size
		s.lost += b.lines
	} else {
		b.data = make([]byte, 0, b.size)
		for _, part := range b.borrowed {
			b.data = append(b.data, part...)
		}
	}
	b.borrowed = nil
	close(b.settled)
}

// write is the goroutine that writes full blocks.
func (s *spool) write() {
	defer close(s.done)
	for range s.full {
		for {
			s.mu.Lock()
			if s.closed {
				s.mu.Unlock()
				return
			}
			if s.err != nil || len(s.blocks) == 0 || !s.blocks[0].sealed {
				s.mu.Unlock()
				break
			}
			b := s.blocks[0]
			s.mu.Unlock()

			err := s.writeBlock(b)

			s.mu.Lock()
			if err != nil {
				s.err = err
				s.dropped = s.written
				for _, b := range s.blocks {
					s.keep(b)
				}
				s.fit()
			} else {
				s.blocks[0] = nil
				s.blocks = s.blocks[1:]
				s.waiting -= b.size
				s.written = b.off + b.size
				if b.settled != nil {
					close(b.settled)
				}
			}
			s.changed.Broadcast()
			s.mu.Unlock()
			if err != nil {
				s.failed()
			}
		}
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
	parts, off := b.borrowed, b.off
	if parts == nil {
		parts = [][]byte{b.data}
	}
	for _, part := range parts {
		if _, err := s.file.WriteAt(part, off); err != nil {
			return fmt.Errorf("writing frames to the temporary file: %w", err)
		}
		off += int64(len(part))
	}
	return nil
}

func (s *spool) read(buf []byte, off int64, n int) ([]byte, error) {
	var out []byte
	for {
		piece, err := s.piece(buf, off, n-len(out))
		if err != nil {
			return nil, err
		}
		if out == nil && len(piece) == n {
			return piece, nil
		}
		// Part is in the file and part in memory.
		if out == nil {
			out, buf = make([]byte, 0, n), nil
		}
		out = append(out, piece...)
		off += int64(len(piece))
		if len(out) == n {
			return out, nil
		}
	}
}

// piece returns some of the n bytes at off: those that are in one place.
func (s *spool) piece(buf []byte, off int64, n int) ([]byte, error) {
	s.mu.Lock()
	for off >= s.written {
		if s.err != nil && off < s.dropped {
			s.mu.Unlock()
			return nil, errLost
		}
		b := s.blockAt(off)
		switch {
		case s.closed || b == nil:
			s.mu.Unlock()
			return nil, errClosed
		case b.borrowed != nil:
			settled := b.settled
			s.mu.Unlock()
			<-settled
			s.mu.Lock()
			continue
		case b.gone:
			s.mu.Unlock()
			return nil, errLost
		}
		at := int(off - b.off)
		piece := b.data[at:min(at+n, len(b.data)):len(b.data)]
		s.mu.Unlock()
		return piece[:len(piece):len(piece)], nil
	}
	file, closed := s.file, s.closed
	n = int(min(int64(n), s.written-off))
	s.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	piece := sized(buf, n)
	if _, err := file.ReadAt(piece, off); err != nil {
		return nil, fmt.Errorf("reading frames from the temporary file: %w", err)
	}
	return piece, nil
}

// sized is n bytes of buf, or new ones.
func sized(buf []byte, n int) []byte {
	if n <= cap(buf) {
		return buf[:n]
	}
	return make([]byte, n)
}

// blockAt finds the block in memory that holds the byte at off.
func (s *spool) blockAt(off int64) *block {
	lo, hi := 0, len(s.blocks)
	for lo < hi {
		mid := (lo + hi) / 2
		if s.blocks[mid].off+s.blocks[mid].size > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo < len(s.blocks) && s.blocks[lo].off <= off {
		return s.blocks[lo]
	}
	return nil
}

// stats fills in what the spool knows.
func (s *spool) stats(st *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Bytes = s.written
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

func (s *spool) close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.wake()
	<-s.done

	s.mu.Lock()
	for _, b := range s.blocks {
		if b.borrowed != nil {
			b.borrowed, b.data = nil, nil
			close(b.settled)
		}
	}
	s.blocks, s.waiting = nil, 0
	file, path := s.file, s.path
	s.changed.Broadcast()
	s.mu.Unlock()
	var err error
	if file != nil {
		err = file.Close()
		if path != "" {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}
