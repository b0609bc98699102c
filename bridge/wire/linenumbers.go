package wire

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// LineNumbers maps each of the frames to its line in its file, counted from 1.
// It reads the files up to the last of these lines. The map is empty for a log
// that Open has not made.
func (l *Log) LineNumbers(seqs []int64) (map[int64]int64, error) {
	lines := make(map[int64]int64, len(seqs))
	if l.files == nil {
		return lines, nil
	}
	seqs = slices.Clone(seqs)
	slices.SortFunc(seqs, func(a, b int64) int { return cmp.Compare(l.index.at(a).off, l.index.at(b).off) })
	for _, file := range l.files.list {
		in := newLineReader(io.NewSectionReader(file.file, 0, file.size), 0)
		for len(seqs) > 0 && l.index.at(seqs[0]).off < file.base+file.size {
			line, err := in.next()
			if err != nil {
				return nil, fmt.Errorf("counting the lines of %q: %w", file.path, err)
			}
			for len(seqs) > 0 && l.index.at(seqs[0]).off == file.base+line.off {
				lines[seqs[0]] = line.number
				seqs = seqs[1:]
			}
		}
	}
	return lines, nil
}
