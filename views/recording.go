package views

import "time"

// Recording is what the page says of where frames are kept: in the log, and in
// a transcript if one is being written.
type Recording struct {
	File   string    // path of the transcript, "" if none is being written
	Name   string    // its last part
	Since  time.Time // when it was begun
	Lines  int64     // frames in it
	Missed int64     // frames that could not be written
	Err    string    // why it has stopped; "" if it goes on

	// Remains says which values that are left out stand in the transcript all the
	// same: in this one, or else in the last.
	Remains []string

	Lost  int64  // frames whose bytes are gone
	Where string // where the log is, in words

	Folder  string // in which a transcript would be made
	Typed   string // the name that was asked for, or is suggested
	Fresh   bool   // no file that exists is to be continued
	Problem string // why it was not begun
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
