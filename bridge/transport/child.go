package transport

import (
	"errors"
	"fmt"
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
	outputs        []*output
}

// StartChild starts the process of a spec. The error says in words what is wrong with its
// command.
func StartChild(s Spec) (*Child, error) {
	cmd, err := command(s)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", s.Command[0], err)
	}
	c := &Child{Started: noteOfStart(s, cmd), leader: &leader{cmd: cmd, exited: make(chan struct{})}}
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	stderr, errErr := cmd.StderrPipe()
	if err := errors.Join(inErr, outErr, errErr); err != nil {
		return nil, err
	}
	c.outputs = []*output{{ReadCloser: stdout}, {ReadCloser: stderr}}
	c.Stdin, c.Stdout, c.Stderr = stdin, c.outputs[0], c.outputs[1]
	if err := c.leader.start(); err != nil {
		return nil, fmt.Errorf("starting %q: %w", s.Command[0], explainStart(cmd, err))
	}
	c.Started.PID = cmd.Process.Pid
	go func() { // the group is left alone from here on: what still runs in it is meant to
		<-c.leader.exited
		started.Delete(c.leader.group)
		c.leader.group.unguard()
		c.leader.group.release()
	}()
	return c, nil
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
	for _, out := range c.outputs {
		out.last()
	}
}
