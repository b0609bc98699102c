package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Mark is a person's remark on a frame: a pin, a colour, a note. The zero Mark
// is no mark.
//
// A mark is stored as a frame itself: a frame of direction Meta, in the session
// of the marked frame, whose JSON names the marked frame by its number in the
// session; see docs/transcript.md. So marks are kept wherever frames are. Of
// several marks of one frame the latest is valid.
type Mark struct {
	Pinned bool   `json:"pinned,omitempty"`
	Colour string `json:"colour,omitempty"` // one of Colours, or ""
	Note   string `json:"note,omitempty"`   // at most MaxNote bytes
}

// Colours lists the colours that a mark can have.
func Colours() []string { return []string{"red", "amber", "green", "blue", "violet"} }

const (
	// MaxNote is the greatest length of a note in bytes.
	MaxNote = 4 << 10
	// maxMarks bounds how many frames of a log can be marked.
	maxMarks = 10_000
)

// Words returns the pin and the colour of the mark in one line.
func (m Mark) Words() string {
	pinned := ""
	if m.Pinned {
		pinned = "pinned"
	}
	return wording.Join(", ", pinned, m.Colour)
}

type markLine struct {
	Mark struct {
		Seq int64 `json:"seq"` // number of the marked frame in its session
		Mark
	} `json:"mark"`
}

// markStart is the beginning of a mark's JSON, so that IsMark need not parse
// it.
var markStart = []byte(`{"mark":`)

// IsMark reports whether the frame is a mark of another frame.
func (f *Frame) IsMark() bool { return f.Dir == Meta && bytes.HasPrefix(f.Raw, markStart) }

type marks struct {
	mu      sync.Mutex
	version int64
	of      map[int64]kept
	about   map[int64]int64 // marked frames by the Seq of the marking frame
}

// kept is a mark and the Seq of the frame that holds it; by is 0 if no frame
// does.
type kept struct {
	Mark
	by int64
}

// Mark sets the mark of a frame, in place of an earlier one. On a log made by
// Open the files are not changed: the mark stays in memory, and WriteMarks
// writes it.
func (l *Log) Mark(seq int64, m Mark) error {
	switch {
	case seq < 1 || seq > l.Len():
		return fmt.Errorf("there is no frame %d in the log", seq)
	case m.Colour != "" && !slices.Contains(Colours(), m.Colour):
		return errors.New("there is no such colour; it is one of " + strings.Join(Colours(), ", "))
	case len(m.Note) > MaxNote:
		return fmt.Errorf("a note can have %d bytes", MaxNote)
	}
	m.Note = strings.ToValidUTF8(m.Note, "\uFFFD")
	all := l.marks.all()
	if _, known := all[seq]; !known && len(all) >= maxMarks {
		return fmt.Errorf("%d frames are marked, and more cannot be", maxMarks)
	}
	by := int64(0)
	if l.spool != nil {
		by = l.Append(l.markFrame(seq, m)).Seq
	}
	l.marks.set(seq, kept{m, by})
	return nil
}

func (l *Log) markFrame(seq int64, m Mark) Frame {
	e := l.Entry(seq)
	var line markLine
	line.Mark.Seq, line.Mark.Mark = int64(e.line), m
	raw, _ := rawjson.Encode(line) // of valid UTF-8, there is no error
	of := e.Names()
	return Frame{Server: of.Server, Session: of.Session, Transport: of.Transport, Dir: Meta, Kind: NoteFrame, Raw: raw}
}

// MarkOf returns the mark of a frame, the zero Mark if there is none.
func (l *Log) MarkOf(seq int64) Mark {
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return l.marks.of[seq].Mark
}

// Marking returns the Seq of the frame that holds the mark of frame seq; 0 if
// seq is not marked, or if its mark is in memory only.
func (l *Log) Marking(seq int64) int64 {
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return l.marks.of[seq].by
}

// Marked lists the marked frames in order. version changes with every change of
// a mark.
func (l *Log) Marked() (seqs []int64, version int64) {
	l.marks.mu.Lock()
	defer l.marks.mu.Unlock()
	return slices.Sorted(maps.Keys(l.marks.of)), l.marks.version
}

func (s *marks) all() map[int64]kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.of)
}

func (s *marks) set(seq int64, m kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.by != 0 {
		s.about[m.by] = seq
	}
	now, known := s.of[seq]
	switch {
	case known && m.by != 0 && (now.by == 0 || now.by > m.by): // a later mark was set meanwhile
		return
	case m.Mark == Mark{}:
		delete(s.of, seq)
	case known || len(s.of) < maxMarks:
		s.of[seq] = m
	}
	s.version++
}

// WriteMarks writes the marks of the picked frames that exist only in memory,
// as lines of a transcript.
func (l *Log) WriteMarks(w io.Writer, picked func(seq int64) bool) error {
	all := l.marks.all()
	for _, seq := range slices.Sorted(maps.Keys(all)) {
		if m := all[seq]; m.by == 0 && picked(seq) {
			f := l.markFrame(seq, m.Mark)
			f.Size = int64(len(f.Raw))
			f.Time = l.Entry(l.Len()).Time()
			line, _ := appendLine(nil, &f)
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseMark reads the JSON of a mark, and returns it with the number of the
// marked frame in its session. An unknown colour is dropped, and a note that is
// too long is cut.
func parseMark(raw []byte) (m Mark, number int64, ok bool) {
	var line markLine
	if json.Unmarshal(raw, &line) != nil || line.Mark.Seq < 1 {
		return Mark{}, 0, false
	}
	m = line.Mark.Mark
	if !slices.Contains(Colours(), m.Colour) {
		m.Colour = ""
	}
	m.Note = wording.Head(m.Note, MaxNote)
	return m, line.Mark.Seq, true
}

// fileMarks are the marks found while files are read. resolve looks up the
// marked frames when all files have been read.
type fileMarks []fileMark

type fileMark struct {
	Mark
	of place
	by int64 // the frame that marks
}

type place struct {
	session string
	number  int64
}

// resolve sets the marks. A mark follows the frame that it marks.
func (list fileMarks) resolve(l *Log) {
	latest := make(map[place]int64) // frames that are marked, by their places
	for _, m := range list {
		latest[m.of] = 0
	}
	for seq := int64(1); len(list) > 0; seq++ {
		if m := list[0]; m.by == seq {
			if of := latest[m.of]; of != 0 {
				l.marks.set(of, kept{m.Mark, seq})
			}
			list = list[1:]
		}
		e := l.Entry(seq)
		at := place{e.Names().Session, int64(e.line)}
		if _, marked := latest[at]; marked {
			latest[at] = seq
		}
	}
}
