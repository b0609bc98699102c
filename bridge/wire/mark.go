package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
)

// Mark is what a person noted of a frame. The zero Mark says nothing.
//
// A mark is a frame itself: a line of direction meta, in the session of the
// frame that it is about, whose JSON names that frame by its number in the
// session; see docs/transcript.md. So it is kept wherever frames are. The
// latest mark of a frame holds.
type Mark struct {
	Pinned bool
	Colour string // one of Colours, or ""
	Note   string // at most MaxNote bytes
}

// Colours are those that a frame can be marked with.
func Colours() []string { return []string{"red", "amber", "green", "blue", "violet"} }

const (
	// MaxNote is how many bytes of a note are kept.
	MaxNote = 4 << 10
	// maxMarks bounds how many frames are marked.
	maxMarks = 10_000
)

// ErrNoSuchColour, ErrNoteTooLong and ErrTooManyMarks are what Log.Mark refuses.
var (
	ErrNoSuchColour = errors.New("there is no such colour; it is one of " + strings.Join(Colours(), ", "))
	ErrNoteTooLong  = fmt.Errorf("a note can have %d bytes", MaxNote)
	ErrTooManyMarks = fmt.Errorf("%d frames are marked, and more cannot be", maxMarks)
)

// markLine is the JSON of a mark.
type markLine struct {
	Mark struct {
		Seq    int64  `json:"seq"` // of the frame, as its session counts
		Pinned bool   `json:"pinned,omitempty"`
		Colour string `json:"colour,omitempty"`
		Note   string `json:"note,omitempty"`
	} `json:"mark"`
}

// markStart is how the JSON of a mark begins. That costs an append next to
// nothing to look for.
var markStart = []byte(`{"mark":`)

// marks are the marks of a log.
type marks struct {
	log *Log // whose frames are marked

	settling  chan struct{} // held by the one that looks frames up
	unsettled atomic.Int64  // how many were not looked up yet

	mu      sync.Mutex
	version int64
	of      map[int64]kept
	about   map[int64]int64 // the frame that one marks, by the latter
	// pending are marks whose frames have not been looked up.
	pending []pendingMark
}

// kept is a mark and the frame that says it, 0 if none does.
type kept struct {
	Mark
	by int64
}

type pendingMark struct {
	conn   uint16 // of the frame that marks
	number int64
	kept
}

// Mark marks a frame, in place of what was said of it before. Of a log made by
// Open the files stay as they are: the mark is kept in memory, and WriteMarks
// writes it.
func (l *Log) Mark(seq int64, m Mark) error {
	switch {
	case seq < 1 || seq > l.Len():
		return fmt.Errorf("there is no frame %d in the log", seq)
	case m.Colour != "" && !slices.Contains(Colours(), m.Colour):
		return ErrNoSuchColour
	case len(m.Note) > MaxNote:
		return ErrNoteTooLong
	}
	m.Note = strings.ToValidUTF8(m.Note, "\uFFFD")
	all := l.allMarks()
	if _, known := all[seq]; !known && len(all) >= maxMarks {
		return ErrTooManyMarks
	}
	if l.spool == nil {
		l.marks.mu.Lock()
		defer l.marks.mu.Unlock()
		l.marks.set(seq, kept{m, 0})
		return nil
	}
	f, err := l.markFrame(seq, m)
	if err != nil {
		return err
	}
	l.Append(f)
	return nil
}

// markFrame is the frame that marks another.
func (l *Log) markFrame(seq int64, m Mark) (Frame, error) {
	e := l.index.at(seq)
	number, err := l.numberOf(e)
	if err != nil {
		return Frame{}, fmt.Errorf("marking frame %d: %w", seq, err)
	}
	var line markLine
	line.Mark.Seq, line.Mark.Pinned, line.Mark.Colour, line.Mark.Note = number, m.Pinned, m.Colour, m.Note
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		return Frame{}, fmt.Errorf("marking frame %d: %w", seq, err)
	}
	of := l.facts(seq, e)
	return Frame{
		Server: of.Server, Session: of.Session, Transport: of.Transport, Dir: Meta, Kind: NoteFrame,
		Raw: bytes.TrimSpace(raw.Bytes()),
	}, nil
}

// MarkOf is what was noted of a frame.
func (l *Log) MarkOf(seq int64) Mark {
	l.marks.settle()
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return l.marks.of[seq].Mark
}

// Marked lists the frames that are marked, in order. version is another one
// whenever a mark has changed.
func (l *Log) Marked() (seqs []int64, version int64) {
	l.marks.settle()
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return slices.Sorted(maps.Keys(l.marks.of)), l.marks.version
}

// markedBy is the frame that one marks, 0 if it marks none that is in the log.
func (l *Log) markedBy(seq int64) int64 {
	l.marks.settle()
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return l.marks.about[seq]
}

// allMarks is a copy of all marks.
func (l *Log) allMarks() map[int64]kept {
	l.marks.settle()
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return maps.Clone(l.marks.of)
}

// Marking is the frame that says what MarkOf does, 0 if none does: because
// nothing is noted, or because it is kept in memory only.
func (l *Log) Marking(seq int64) int64 {
	l.marks.settle()
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return l.marks.of[seq].by
}

// WriteMarks writes the marks of those frames that no frame of the log says,
// as lines of a transcript.
func (l *Log) WriteMarks(w io.Writer, picked func(seq int64) bool) error {
	all := l.allMarks()
	for _, seq := range slices.Sorted(maps.Keys(all)) {
		if m := all[seq]; m.by == 0 && picked(seq) {
			f, err := l.markFrame(seq, m.Mark)
			if err != nil {
				return err
			}
			f.Size = int64(len(f.Raw))
			f.Time = l.index.at(l.Len()).at()
			line, _ := appendLine(nil, &f)
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// heed takes note of a frame that is a mark.
func (l *Log) heed(f *Frame, e *entry) {
	if f.Dir != Meta || !bytes.HasPrefix(f.Raw, markStart) {
		return
	}
	m, number, ok := parseMark(f.Raw)
	if !ok {
		return
	}
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	if len(l.marks.pending) < maxMarks {
		l.marks.unsettled.Add(1)
		l.marks.pending = append(l.marks.pending, pendingMark{e.conn, number, kept{m, f.Seq}})
	}
}

// parseMark reads the JSON of a mark. What makes no sense in it is left out.
func parseMark(raw []byte) (m Mark, number int64, ok bool) {
	var line markLine
	if json.Unmarshal(raw, &line) != nil || line.Mark.Seq < 1 {
		return Mark{}, 0, false
	}
	m = Mark{line.Mark.Pinned, line.Mark.Colour, line.Mark.Note}
	if !slices.Contains(Colours(), m.Colour) {
		m.Colour = ""
	}
	if end := MaxNote; len(m.Note) > end {
		for !utf8.RuneStart(m.Note[end]) {
			end--
		}
		m.Note = m.Note[:end]
	}
	return m, line.Mark.Seq, true
}

func (s *marks) set(seq int64, m kept) {
	if s.of == nil {
		s.of = make(map[int64]kept)
	}
	now, known := s.of[seq]
	switch {
	case m.by != 0 && m.by < now.by:
		return
	case m.Mark == Mark{}:
		delete(s.of, seq)
	case known || len(s.of) < maxMarks:
		s.of[seq] = m
	}
	s.version++
}

// settle looks up the frames of pending marks. It returns when all that were
// pending are settled, be it by another caller.
func (s *marks) settle() {
	if s.unsettled.Load() == 0 {
		return
	}
	s.settling <- struct{}{}
	defer func() { <-s.settling }()
	s.mu.Lock()
	pending := s.pending
	s.pending = nil
	s.mu.Unlock()
	defer s.unsettled.Add(-int64(len(pending)))
	slices.SortFunc(pending, func(a, b pendingMark) int { return cmp.Compare(a.by, b.by) })
	sessions := make(map[string][]int64)
	for _, p := range pending {
		k, known := s.log.conns.at(p.conn)
		if !known {
			continue
		}
		seqs, listed := sessions[k.Session]
		if !listed {
			seqs = s.log.session(k.Session)
			sessions[k.Session] = seqs
		}
		if seq, ok := s.log.numbered(seqs, p); ok {
			s.mu.Lock()
			s.set(seq, p.kept)
			if s.about == nil {
				s.about = make(map[int64]int64)
			}
			s.about[p.by] = seq
			s.mu.Unlock()
		}
	}
}

// numbered finds the frame that a mark is about, of those of its session.
func (l *Log) numbered(seqs []int64, p pendingMark) (seq int64, ok bool) {
	// Numbers rise within a session. A mark is about what came before it.
	before, _ := slices.BinarySearch(seqs, p.by)
	i := sort.Search(before, func(i int) bool {
		n, err := l.numberOf(l.index.at(seqs[i]))
		return err != nil || n >= p.number
	})
	if i == before {
		return 0, false
	}
	n, err := l.numberOf(l.index.at(seqs[i]))
	return seqs[i], err == nil && n == p.number
}

// session lists the frames of a session.
func (l *Log) session(name string) (seqs []int64) {
	for seq := int64(1); seq <= l.Len(); seq++ {
		if k, known := l.conns.at(l.index.at(seq).conn); known && k.Session == name {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// headSize is how much of a line is read for the fields in front of its body.
const headSize = 2 << 10

// numberOf is the number that a frame has in its session, as its line says.
func (l *Log) numberOf(e *entry) (int64, error) {
	for size := min(e.length, headSize); ; size = e.length {
		line, err := l.store.read(nil, e.off, int(size))
		if err != nil {
			return 0, err
		}
		var number int64
		found := false
		c := rawjson.NewCursor(line)
		for name := range c.Members() {
			if string(name) == "seq" {
				found = setInt(&number, c.Value())
				break
			}
		}
		if found || size == e.length {
			return number, nil
		}
	}
}
