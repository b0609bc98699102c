package wire

import "slices"

// Connection is one connection to a server, as its frames name it.
type Connection struct {
	Server    string // label; Frame.Server
	Session   string
	Transport string
}

// Connections lists the connections that have frames in the log, in the order
// of their first frames. Beyond some tens of thousands, later connections are
// not listed.
func (l *Log) Connections() []Connection { return l.conns.listed() }

// Head returns the part of a frame that is known without reading its line: Raw,
// Header and Message are left out. It is zero for a frame that is not in the
// log.
func (l *Log) Head(seq int64) Frame {
	if seq < 1 || seq > l.Len() {
		return Frame{}
	}
	return l.facts(seq, l.index.at(seq))
}

// settler is the actor that made an answer, and the fault with which it did so.
type settler struct{ Actor, Fault string }

// Methods, Tools, Actors and Faults list the names that occur in the log's
// frames. Names that exceed the bounds of a table are not listed.
func (l *Log) Methods() []string { return l.methods.listed() }
func (l *Log) Tools() []string   { return l.tools.listed() }
func (l *Log) Actors() []string  { return l.settlers(func(by settler) string { return by.Actor }) }
func (l *Log) Faults() []string  { return l.settlers(func(by settler) string { return by.Fault }) }

func (l *Log) settlers(name func(settler) string) (names []string) {
	for _, c := range l.details.listed() {
		if n := name(c.settler); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
