// Package playback opens recorded sessions, those of other tools too, and plays
// them by the clock.
package playback

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Opened is a log of transcripts and histories.
type Opened struct {
	*wire.Log
	// Problems are entries of histories that could not be read, in words. Damaged
	// lines of transcripts are known to the log.
	Problems []string

	folder    string // of transcripts made from histories, "" if there are none
	converted []string
}

// Converted reports whether a file is a history, so that its frames do not stand
// on lines of its own.
func (o *Opened) Converted(path string) bool { return slices.Contains(o.converted, path) }

// Close closes the log.
func (o *Opened) Close() error {
	err := o.Log.Close()
	if o.folder != "" {
		err = errors.Join(err, os.RemoveAll(o.folder))
	}
	return err
}

// Open is wire.Open for files of which some may be histories.
func Open(paths ...string) (opened *Opened, err error) {
	o := &Opened{}
	defer func() {
		if err != nil && o.folder != "" {
			err = errors.Join(err, os.RemoveAll(o.folder))
		}
	}()
	paths = slices.Clone(paths)
	for i, path := range paths {
		if paths[i], err = o.transcript(path, i); err != nil {
			return nil, err
		}
	}
	o.Log, err = wire.Open(paths...)
	return o, err
}

// transcript is the path of a transcript that holds what the file does.
func (o *Opened) transcript(path string, i int) (string, error) {
	file, err := wire.OpenFile(path)
	if err != nil {
		return "", fmt.Errorf("opening %q: %w", path, err)
	}
	defer file.Close()
	in := bufio.NewReader(file)
	head, err := in.Peek(64)
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("reading %q: %w", path, err)
	}
	if len(head) > 0 && head[0] == 0 {
		return "", fmt.Errorf("opening %q: it begins with zero bytes, so it is no transcript", path)
	}
	if !Is(head) {
		return path, nil
	}
	o.converted = append(o.converted, path)
	frames, problems, err := Read(in, path)
	if err != nil {
		return "", fmt.Errorf("%q: %w", path, err)
	}
	for _, p := range problems {
		o.Problems = append(o.Problems, path+", "+p)
	}
	if o.folder == "" {
		if o.folder, err = os.MkdirTemp("", "inspector-history-"); err != nil {
			return "", fmt.Errorf("making room for a transcript of %q: %w", path, err)
		}
	}
	// The file keeps its name, because people see it; two may have the same.
	folder := filepath.Join(o.folder, fmt.Sprint(i))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", fmt.Errorf("making room for a transcript of %q: %w", path, err)
	}
	made := filepath.Join(folder, filepath.Base(path))
	return made, write(made, frames)
}

func write(path string, frames []wire.Frame) (err error) {
	recorder, err := wire.OpenRecorder(path, wire.RecordOptions{Redact: redact.Nothing(), New: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, recorder.Close()) }()
	log, err := wire.NewLog(wire.Options{Dir: filepath.Dir(path), MaxFrame: sizeMost})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	defer log.Record(recorder)()
	for _, f := range frames {
		log.Append(f)
	}
	return recorder.Err()
}
