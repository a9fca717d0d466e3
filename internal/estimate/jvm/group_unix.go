//go:build unix && !linux

package jvm

import (
	"os"
	"syscall"
)

// ownGroup puts a child into a process group of its own, which Ctrl-C does not reach. It ends at the end of its input.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a child and what it has started.
func killGroup(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL) //nolint:errcheck // it has ended
}
