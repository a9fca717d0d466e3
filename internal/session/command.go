package session

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"dubbo-wire/internal/exit"
)

// child is the running command of a capture.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error
	// stopped: the session ended it, because the capture was over.
	stopped bool
}

// findCommand fails if the command does not exist.
func (l *Session) findCommand() error {
	if len(l.Command) == 0 {
		return nil
	}
	_, err := exec.LookPath(l.Command[0])
	return cannotRun(l.Command[0], err)
}

func cannotRun(name string, err error) error {
	if err == nil {
		return nil
	}
	var not *exec.Error
	if errors.As(err, &not) {
		err = not.Err
	}
	return exit.Usagef("%s cannot be run: %v", name, err)
}

// startCommand starts the command of a capture, if there is one. It has the rights that dubbo-wire was started with, or
// those of --user.
func (l *Session) startCommand() error {
	if len(l.Command) == 0 {
		return nil
	}
	c := exec.Command(l.Command[0], l.Command[1:]...) //nolint:gosec // what the user asked for
	c.Stdin, c.Stdout, c.Stderr = l.Input.Stdin, l.Places.Stdout, l.Input.Stderr
	if l.Record.File == "-" {
		c.Stdout = l.Input.Stderr
	}
	if err := c.Start(); err != nil {
		return cannotRun(l.Command[0], err)
	}
	l.child = &child{cmd: c, done: make(chan struct{})}
	go func() {
		l.child.err = c.Wait()
		close(l.child.done)
	}()
	return nil
}

// ended reports whether the command has ended.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// endWait is how long a command may take to end after a signal.
const endWait = 5 * time.Second

// end ends the command with SIGTERM, and then with SIGKILL.
func (c *child) end() {
	c.stopped = true
	for _, s := range []os.Signal{syscall.SIGTERM, os.Kill} {
		_ = c.cmd.Process.Signal(s)
		select {
		case <-c.done:
			return
		case <-time.After(endWait):
		}
	}
}

// code returns the exit code of a command that ended by itself, or as shells do 128 plus the number of the signal that ended
// it.
func (c *child) code() int {
	if c.stopped || !c.ended() || c.err == nil {
		return 0
	}
	var ended *exec.ExitError
	if !errors.As(c.err, &ended) {
		return exit.Partly
	}
	if s, ok := ended.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return ended.ExitCode()
}
