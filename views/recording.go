package views

import (
	"strconv"
	"time"
)

// Recording is what the page says of where frames are kept: in the log, and in
// a transcript if one is being written.
type Recording struct {
	File   string    // path of the transcript, "" if none is being written
	Name   string    // its last part
	Since  time.Time // when it was begun
	Lines  int64     // frames in it
	Missed int64     // frames that could not be written
	Err    string    // why it has stopped; "" if it goes on

	Frames int64  // in the log
	Bytes  int64  // that they take
	Lost   int64  // frames whose bytes are gone
	Where  string // in words

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

// kept says where frames are, and how much room they take there.
func (r Recording) kept() string {
	if r.Bytes == 0 {
		return r.Where
	}
	return r.Where + " (" + size(r.Bytes) + ")"
}

// size words a number of bytes in the units that people compare files by.
func size(n int64) string {
	switch {
	case n < 1000:
		return plural(int(n), "byte", "bytes")
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	case n < 1_000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 2, 64) + " GB"
}
