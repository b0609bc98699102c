// Package playback records sessions, opens recorded ones, also those of other tools, and plays them
// in time.
package playback

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Opened is a log read from transcripts and histories.
type Opened struct {
	*wire.Log
	// Problems describes entries of histories that could not be read. The log itself
	// knows damaged lines of transcripts.
	Problems []string

	folder    string // folder of transcripts made from histories, "" if there are none
	converted []string
}

// Converted reports whether a file is a history. Its frames are then not on lines of
// the file.
func (o *Opened) Converted(path string) bool { return slices.Contains(o.converted, path) }

// Close closes the log and removes the transcripts made from histories.
func (o *Opened) Close() error {
	err := o.Log.Close()
	if o.folder != "" {
		err = errors.Join(err, os.RemoveAll(o.folder))
	}
	return err
}

// Open opens transcripts like wire.Open, and converts histories among the files.
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

// transcript returns the path of a transcript with the file's frames: the file itself,
// or one made from a history.
func (o *Opened) transcript(path string, i int) (string, error) {
	file, err := wire.OpenFile(path)
	if err != nil {
		if at := new(fs.PathError); errors.As(err, &at) && at.Path == path {
			err = at.Err // which does not name the file again
		}
		return "", fmt.Errorf("opening %q: %w", path, err)
	}
	defer file.Close()
	in := bufio.NewReader(file)
	head, err := in.Peek(64)
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("reading %q: %w", path, err)
	}
	if len(head) > 0 && head[0] == 0 {
		return "", fmt.Errorf("opening %q: it begins with zero bytes, so it is not a transcript", path)
	}
	if start := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"); !bytes.HasPrefix(start, []byte("[")) { // a history is a JSON array
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
	// The file keeps its name, because people see it. The folder is numbered, because
	// two files may have the same name.
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
