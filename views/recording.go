package views

import "time"

// Recording describes where frames are kept: in the log, and in a transcript if one is
// being written.
type Recording struct {
	File   string    // path of the transcript, "" if none is being written
	Name   string    // last part of the path
	Since  time.Time // start of the recording
	Lines  int64     // frames in the transcript
	Missed int64     // frames that could not be written
	Err    string    // why the recording has stopped; "" while it runs

	// Remains lists secrets that are left out of frames, but that are in this transcript,
	// or else in the last one.
	Remains []string

	Lost  int64  // frames whose bytes are lost
	Where string // where the log is, in words

	Folder  string // folder for transcripts
	Typed   string // the requested or suggested name
	Fresh   bool   // do not append to an existing file
	Problem string // why the recording was not started
}

// state is the class of the control.
func (r Recording) state() string {
	switch {
	case r.Err != "":
		return "broken"
	case r.File != "":
		return "on"
	}
	return "off"
}
