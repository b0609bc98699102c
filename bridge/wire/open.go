package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// files are the transcripts behind a log made by Open, laid end to end.
type files struct {
	list    []openFile
	indexed atomic.Int64 // bytes indexed so far
	total   int64

	mu      sync.Mutex
	near    run    // what was read last
	spare   []byte // for the next run
	damage  []Damage
	damaged int64
	err     error // why indexing ended early
	stop    context.CancelFunc
	done    chan struct{} // indexing has ended
}

// run is a stretch of the log that was read at an offset; data is nil if it is not kept.
type run struct {
	off  int64
	data []byte
}

// ahead is how many bytes are read at once, and kept, for those who read one line after another.
const ahead = 64 << 10

type openFile struct {
	path string
	file *os.File
	base int64 // offset of its first byte in the log
	size int64 // in bytes, when it was opened
}

// Damage is a line of a transcript that holds no frame, with the reason.
type Damage struct {
	File string
	LineError
}

func (d *Damage) Error() string { return fmt.Sprintf("%s, %s", d.File, d.LineError.Error()) }

const maxDamage = 1000

// Open makes a read-only log of one or several transcripts: of the inspector's
// own, or of session logs of mcpsnoop. Unknown fields and empty lines are
// ignored; a line that holds no frame is Damage.
//
// Open returns at once and reads the files in the background, once from front
// to back: Len grows, Grown reports growth as it does for appended frames, and
// a frame can be read as soon as Len counts it. The frames stay in the files,
// which may grow but must not change otherwise while the log is open.
//
// Frames are numbered in the order of the files and of their lines.
func Open(paths ...string) (*Log, error) {
	fs := &files{done: make(chan struct{})}
	for _, path := range paths {
		file, err := OpenFile(path)
		if err == nil {
			var info os.FileInfo
			if info, err = file.Stat(); err == nil {
				fs.list = append(fs.list, openFile{path, file, fs.total, info.Size()})
				fs.total += info.Size()
				continue
			}
			file.Close()
		}
		for _, f := range fs.list {
			f.file.Close()
		}
		return nil, fmt.Errorf("opening the transcript %q: %w", path, err)
	}
	l := newLog()
	l.files, l.store = fs, fs
	var ctx context.Context
	ctx, fs.stop = context.WithCancel(context.Background())
	go l.readFiles(ctx)
	return l, nil
}

// OpenFile opens a regular file for reading. For anything else the error says
// what it is; opening a pipe does not wait for its other end.
func OpenFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if err := regular(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Reading returns how many bytes of how many a log made by Open has read. They
// are equal when it has read all. For other logs both are 0.
func (l *Log) Reading() (read, total int64) {
	if l.files == nil {
		return 0, 0
	}
	return l.files.indexed.Load(), l.files.total
}

// Wait waits until a log made by Open has read its files.
func (l *Log) Wait(ctx context.Context) error {
	if l.files == nil {
		return nil
	}
	select {
	case <-l.files.done:
		return l.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WaitFirst waits until a log made by Open has a frame, or has read its files.
func (l *Log) WaitFirst(ctx context.Context) error {
	for l.files != nil {
		grown := l.Grown()
		if l.Len() > 0 {
			return nil
		}
		select {
		case <-l.files.done:
			return l.Err()
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Damage lists the damaged lines found so far, the first 1,000 of them, and
// counts them all.
func (l *Log) Damage() (list []Damage, total int64) {
	if l.files == nil {
		return nil, 0
	}
	l.files.mu.Lock()
	defer l.files.mu.Unlock()
	return l.files.damage[:len(l.files.damage):len(l.files.damage)], l.files.damaged
}

func (l *Log) readFiles(ctx context.Context) {
	defer l.wake()
	defer close(l.files.done)
	var marks fileMarks
	defer func() {
		if ctx.Err() == nil {
			marks.resolve(l)
		}
		l.mu.Lock()
		l.sessions, l.pairs.requests, l.pairs.earlier = nil, nil, nil // no frame comes after these
		l.mu.Unlock()
	}()
	for i := range l.files.list {
		f := &l.files.list[i]
		if err := l.readFile(ctx, f, &marks); err != nil {
			l.files.mu.Lock()
			l.files.err = fmt.Errorf("reading the transcript %q: %w", f.path, err)
			l.files.mu.Unlock()
			return
		}
	}
}

func (l *Log) readFile(ctx context.Context, file *openFile, marks *fileMarks) error {
	in := newLineReader(io.NewSectionReader(file.file, 0, file.size), maxLine)
	p := parser{texts: make(map[string]string)}
	since := 0
	for {
		line, err := in.next()
		if err == io.EOF {
			l.files.indexed.Store(file.base + file.size)
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.parseText(line); err != nil {
			l.files.mu.Lock()
			if l.files.damaged++; len(l.files.damage) < maxDamage {
				l.files.damage = append(l.files.damage, Damage{file.path, *err})
			}
			l.files.mu.Unlock()
		} else if !p.blank {
			f := &p.frame
			f.readResultFlags()
			l.mu.Lock()
			e := l.enter(f, p.headers != nil || p.snooped != nil)
			e.off, e.length = file.base+line.off, uint32(line.size)
			l.seal(e, f, p.body)
			l.mu.Unlock()
			if f.IsMark() && len(*marks) < maxMarks {
				if m, number, ok := parseMark(f.Raw); ok {
					*marks = append(*marks, fileMark{m, place{f.Session, number}, f.Seq})
				}
			}
		}
		// Waking pages once per chunk is often enough.
		if since++; since == chunkLen || in.in.Buffered() == 0 {
			since = 0
			l.files.indexed.Store(file.base + in.off)
			l.wake()
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
}

func (fs *files) read(room *[]byte, off int64, n int) ([]byte, error) {
	f := fs.at(off)
	if off-f.base+int64(n) > f.size {
		return nil, fmt.Errorf("reading the transcript %q: %w", f.path, io.ErrUnexpectedEOF)
	}
	b := sized(room, n)
	fs.mu.Lock()
	near := fs.near
	if near.has(off, n) {
		copy(b, near.data[off-near.off:])
		fs.mu.Unlock()
		return b, nil
	}
	piece := fs.spare
	fs.spare = nil
	fs.mu.Unlock()
	next := run{off: off}
	if n < ahead && off > near.off-ahead && off < near.off+2*ahead {
		from := max(f.base, off-ahead/4)
		piece = slices.Grow(piece[:0], 2*ahead)[:min(f.base+f.size, off+ahead)-from]
		if _, err := f.file.ReadAt(piece, from-f.base); err == nil {
			next = run{from, piece}
		}
	}
	if next.has(off, n) {
		copy(b, next.data[off-next.off:])
	} else if _, err := f.file.ReadAt(b, off-f.base); err != nil {
		return nil, fs.changed(f, err)
	}
	fs.mu.Lock()
	fs.near, fs.spare = next, fs.near.data
	fs.mu.Unlock()
	if info, err := f.file.Stat(); err == nil && info.Size() < f.size {
		fs.changed(f, fmt.Errorf("it was cut to %d of %d bytes", info.Size(), f.size))
	}
	return b, nil
}

// has reports whether the run has all of n bytes at off.
func (r *run) has(off int64, n int) bool {
	return off >= r.off && off+int64(n) <= r.off+int64(len(r.data))
}

func (fs *files) at(off int64) *openFile {
	for i := len(fs.list) - 1; i > 0; i-- {
		if off >= fs.list[i].base {
			return &fs.list[i]
		}
	}
	return &fs.list[0]
}

// changed records that a file is no longer as it was when it was indexed, and
// returns the error. Frames that can still be read are shown all the same.
func (fs *files) changed(f *openFile, err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("it was cut")
	}
	err = fmt.Errorf("the transcript %q has changed since it was opened, so its frames may be wrong: %w", f.path, err)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.err == nil {
		fs.err = err
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

func (fs *files) stats(st *Stats) {
	st.Bytes = fs.total
	var names []string
	for _, f := range fs.list {
		names = append(names, filepath.Base(f.path))
	}
	st.Where = strings.Join(names, ", ")
}

func (fs *files) failure() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.err
}

func (fs *files) close() error {
	fs.stop()
	<-fs.done
	var errs []error
	for _, f := range fs.list {
		errs = append(errs, f.file.Close())
	}
	return errors.Join(errs...)
}

// LineNumbers maps each of the frames to its line in its file, counted from 1.
// It reads the files up to the last of these lines. The map is empty for a log
// that Open has not made.
func (l *Log) LineNumbers(seqs []int64) (map[int64]int64, error) {
	lines := make(map[int64]int64, len(seqs))
	if l.files == nil {
		return lines, nil
	}
	seqs = slices.Clone(seqs)
	slices.SortFunc(seqs, func(a, b int64) int { return cmp.Compare(l.Entry(a).off, l.Entry(b).off) })
	for _, file := range l.files.list {
		in := newLineReader(io.NewSectionReader(file.file, 0, file.size), 0)
		for len(seqs) > 0 && l.Entry(seqs[0]).off < file.base+file.size {
			line, err := in.next()
			if err != nil {
				return nil, fmt.Errorf("counting the lines of %q: %w", file.path, err)
			}
			for len(seqs) > 0 && l.Entry(seqs[0]).off == file.base+line.off {
				lines[seqs[0]] = line.number
				seqs = seqs[1:]
			}
		}
	}
	return lines, nil
}
