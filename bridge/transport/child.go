package transport

import (
	"io"
	"os"

	"elicitation-inspector/bridge/wire"
)

// Child is a server's process that somebody else speaks with, over pipes that are not
// read or written here. It leads a process group of its own, and it is never ended here;
// only if this program is killed, the system and the guardian end the group.
type Child struct {
	Stdin          io.WriteCloser
	Stdout, Stderr io.ReadCloser
	Started        wire.Note // that says how it was started
	leader         *leader
}

// StartChild starts the process of a spec. The error says in words what is wrong with its
// command.
func StartChild(s Spec) (*Child, error) {
	p, err := launch(s)
	if err != nil {
		return nil, err
	}
	go func() { // the group is left alone from here on: what still runs in it is meant to
		<-p.exited
		started.Delete(p.group)
		p.group.unguard()
		p.group.release()
	}()
	return &Child{p.stdin, p.stdout, p.stderr, p.note, p}, nil
}

// Exited returns a channel that is closed when the process has exited.
func (c *Child) Exited() <-chan struct{} { return c.leader.exited }

// State returns how the process exited. Exited must be closed.
func (c *Child) State() *os.ProcessState { return c.leader.state }

// ExitNote describes the exit. Exited must be closed.
func (c *Child) ExitNote() wire.Note {
	exit := exitOf(c.leader.state)
	exit.Err = c.leader.waitErr
	note := exit.note()
	note.PID = c.Started.PID
	return note
}

// LastWords makes reads of both outputs end once they stay silent for a moment. Call it
// after the exit: only other processes can still hold the pipes then.
func (c *Child) LastWords() {
	c.leader.stdout.last()
	c.leader.stderr.last()
}
