package transport

import (
	"io"
	"os"
	"os/exec"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
)

// Child is a server's process that was started, and leads a process group of its own. What
// [StartChild] returns is spoken with by somebody else, and is never ended here; only if this
// program is killed, the system and the guardian end the group.
type Child struct {
	Stdin          io.WriteCloser
	Stdout, Stderr *output
	Started        wire.Note        // that says how it was started
	Exited         chan struct{}    // closed when the process has exited and has been reaped
	State          *os.ProcessState // how it exited; set before Exited is closed
	waitErr        error            // set before Exited is closed
	cmd            *exec.Cmd
	group          group
}

// StartChild starts the process of a spec. The error says in words what is wrong with its
// command.
func StartChild(s target.Spec) (*Child, error) {
	p, err := launch(s)
	if err != nil {
		return nil, err
	}
	go func() { // the group is left alone from here on: what still runs in it is meant to
		<-p.Exited
		started.Delete(p.group)
		p.group.unguard()
		p.group.release()
	}()
	return p, nil
}

// ExitNote describes the exit. Exited must be closed.
func (p *Child) ExitNote() wire.Note {
	exit := exitOf(p.State)
	exit.Err = p.waitErr
	note := exit.note()
	note.PID = p.Started.PID
	return note
}

// LastWords makes reads of both outputs end once they stay silent for a moment. Call it
// after the exit: only other processes can still hold the pipes then.
func (p *Child) LastWords() {
	p.Stdout.last()
	p.Stderr.last()
}
