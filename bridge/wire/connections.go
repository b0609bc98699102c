package wire

import "slices"

// Connection is one connection to a server, as its frames name it.
type Connection struct {
	Server    string // label; Frame.Server
	Session   string
	Transport string
}

// Connections lists the connections that have frames in the log, in the order
// in which they came. Of very many (tens of thousands) only the first are listed.
func (l *Log) Connections() []Connection { return l.conns.listed() }

// Head is a frame as far as it is known without reading its line: Raw, Header
// and Message are left out. It is zero for a frame that is not in the log.
func (l *Log) Head(seq int64) Frame {
	if seq < 1 || seq > l.Len() {
		return Frame{}
	}
	return l.facts(seq, l.index.at(seq))
}

// settler is who made an answer, and by which fault.
type settler struct{ Actor, Fault string }

// Methods, Tools, Actors and Faults list the names that frames in the log have. Of
// very many only the first are listed.
func (l *Log) Methods() []string { return l.methods.listed() }
func (l *Log) Tools() []string   { return l.tools.listed() }
func (l *Log) Actors() []string  { return l.settlers(func(by settler) string { return by.Actor }) }
func (l *Log) Faults() []string  { return l.settlers(func(by settler) string { return by.Fault }) }

func (l *Log) settlers(name func(settler) string) (names []string) {
	for _, by := range l.actors.listed() {
		if n := name(by); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
