package wire

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// LineNumbers says on which line of its file each of some frames stands,
// counted from 1. It reads the files up to there. It is empty for a log that
// Open has not made.
func (l *Log) LineNumbers(seqs []int64) (map[int64]int64, error) {
	lines := make(map[int64]int64, len(seqs))
	if l.files == nil {
		return lines, nil
	}
	seqs = slices.Clone(seqs)
	slices.SortFunc(seqs, func(a, b int64) int { return cmp.Compare(l.index.at(a).off, l.index.at(b).off) })
	for _, file := range l.files.list {
		in := bufio.NewReaderSize(io.NewSectionReader(file.file, 0, file.size), 256<<10)
		line, at := int64(1), file.base
		for len(seqs) > 0 && l.index.at(seqs[0]).off < file.base+file.size {
			for off := l.index.at(seqs[0]).off; at < off; {
				piece, err := in.ReadSlice('\n')
				at += int64(len(piece))
				switch {
				case err == nil:
					line++
				case err != bufio.ErrBufferFull:
					return nil, fmt.Errorf("counting the lines of %q: %w", file.path, err)
				}
			}
			lines[seqs[0]] = line
			seqs = seqs[1:]
		}
	}
	return lines, nil
}
